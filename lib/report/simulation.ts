/**
 * Simulates a session as it would have been with Spillway. The agent is assumed to do the same, except for results that it would
 * have to fetch again.
 */

import { HistoryPruner } from '../pruning/pruner'
import { createOutputTools } from '../tools/output-tools'
import { takeTurns } from '../util/take-turns'
import { HiddenTexts } from './hidden-texts'
import type { SessionPrices } from './prices'
import { type PaidAs, RequestMeter, type RequestPart } from './request-cost'
import { type ChatMessage, type LoggedRequest, requestsOf, sourceOf, tokensOf, tokensOfText } from './requests'
import { type EnteredSession, entered, type Shortened } from './simulated-results'
import type { SessionLog } from './types'

/** Priced tokens of a session with Spillway. */
export interface Simulation {
  /** All requests, and the calls that fetched something again. */
  cost: number
  /** Priced tokens of results that were fetched again, with the requests for them. */
  refetches: number
  /** Priced tokens of the declarations of the tools that read saved outputs. */
  declarations: number
  /** Tokens that were sent again because something in front of them changed. */
  rewritten: number
  truncated: Shortened
  folded: Shortened
  /** Items that were left out of later requests. */
  pruned: number
  /** Results that were fetched again. */
  refetched: number
}

/** Tokens of the call that fetches a result again. */
const CALL_TOKENS = 50

/** Bytes of a page of a saved output, in tokens: that much is fetched again at most. */
const PAGE_TOKENS = (32 * 1024) / 4

/** The account of a replay. */
interface Account {
  refetches: number
  declarations: number
  pruned: number
  refetched: number
}

/** A result that was fetched again: it stays as long as the message that it follows. */
interface Refetch {
  original: ChatMessage
  part: RequestPart
}

const DECLARED: RequestPart = { of: {}, tokens: Math.ceil(tokensOfText(declarations())) }

function declarations(): string {
  const tools = createOutputTools({ readRange: unused, search: unused })
  return JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))
}

function unused(): never {
  throw new Error('only the declaration is used')
}

/** Replays a session with everything, and with the results bounded and folded as they enter but nothing pruned. */
export async function simulate(
  log: SessionLog,
  prices: SessionPrices,
  signal?: AbortSignal,
): Promise<{ everything: Simulation; entering: Simulation }> {
  const turn = takeTurns(signal)
  const session = await entered(log.messages, turn)
  const pruner = new HistoryPruner({
    prices: { read: prices.read, write: prices.write, miss: prices.write },
    cacheLifetimeMs: prices.lifetimeMs,
    estimateTokens: tokensOfText,
    ledger: session.ledger,
  })
  return {
    everything: await new Replay(session, prices, pruner).run(turn),
    entering: await new Replay(session, prices).run(turn),
  }
}

/** One replay of a session. */
class Replay {
  private readonly meter: RequestMeter
  private readonly hidden = new HiddenTexts()
  private readonly refetches = new Map<ChatMessage, Refetch[]>()
  private readonly account: Account = { refetches: 0, declarations: 0, pruned: 0, refetched: 0 }
  private now = 0

  constructor(
    private readonly session: EnteredSession,
    private readonly prices: SessionPrices,
    private readonly pruner?: HistoryPruner,
  ) {
    this.meter = new RequestMeter(prices.lifetimeMs)
  }

  async run(turn: () => Promise<void> | undefined): Promise<Simulation> {
    const { session, meter, account, prices } = this
    for (const request of requestsOf(session.messages)) {
      await turn()
      this.send(request)
    }
    const calls = account.refetched * CALL_TOKENS * prices.output
    const { truncated, folded } = session
    return {
      ...account,
      refetches: account.refetches + calls,
      cost: meter.cost(prices) + calls,
      rewritten: meter.tokens.rewritten,
      truncated,
      folded,
    }
  }

  private send({ messages, answer, pause, time }: LoggedRequest): void {
    this.now = time ?? this.now + pause
    const sent = this.pruned(messages)
    this.hide(messages, sent)
    this.meter.request(this.partsOf(messages, sent), pause, (part, as) => this.book(part, as))
    const missing = this.missing(messages, sent, answer)
    if (missing.length === 0) return
    this.fetch(missing, messages.at(-1) as ChatMessage)
    // The answer comes with one more request.
    this.meter.request(this.partsOf(messages, sent), 0, (part, as) => {
      this.book(part, as)
      if (!(part.of instanceof Fetched)) this.account.refetches += this.costOf(part, as)
    })
  }

  private pruned(messages: readonly ChatMessage[]): readonly ChatMessage[] {
    if (this.pruner === undefined) return messages
    const { messages: sent, report } = this.pruner.prune(messages, { now: this.now })
    this.account.pruned += report.pruned.length
    return sent
  }

  private hide(messages: readonly ChatMessage[], sent: readonly ChatMessage[]): void {
    for (let at = 0; at < messages.length; at++) {
      const message = messages[at] as ChatMessage
      if (message.role !== 'tool') continue
      const [whole, shown] = [this.wholeOf(message), (sent[at] as ChatMessage).content]
      if (whole !== shown) this.hidden.hide(message, whole, shown)
    }
  }

  private wholeOf(message: ChatMessage): string {
    return this.session.originals.get(sourceOf(message)) ?? message.content
  }

  private missing(messages: readonly ChatMessage[], sent: readonly ChatMessage[], answer: ChatMessage): ChatMessage[] {
    return this.hidden.missing(answer, sent, (original) => {
      return messages.includes(original) && !this.isFetched(messages, original)
    })
  }

  private isFetched(messages: readonly ChatMessage[], original: ChatMessage): boolean {
    return messages.some((message) => this.refetches.get(message)?.some((each) => each.original === original))
  }

  private fetch(missing: readonly ChatMessage[], after: ChatMessage): void {
    const fetched = missing.map((original): Refetch => {
      const tokens = CALL_TOKENS + Math.min(PAGE_TOKENS, Math.ceil(tokensOfText(this.wholeOf(original))))
      return { original, part: { of: new Fetched(), tokens } }
    })
    this.refetches.set(after, [...(this.refetches.get(after) ?? []), ...fetched])
    this.account.refetched += fetched.length
  }

  private partsOf(messages: readonly ChatMessage[], sent: readonly ChatMessage[]): RequestPart[] {
    const parts = [DECLARED]
    for (let at = 0; at < messages.length; at++) {
      const [of, shown] = [messages[at] as ChatMessage, sent[at] as ChatMessage]
      const text = shown === of ? undefined : textOf(shown)
      parts.push({ of, text, tokens: tokensOf(shown) })
      for (const { part } of this.refetches.get(of) ?? []) parts.push(part)
    }
    return parts
  }

  private book(part: RequestPart, as: PaidAs): void {
    if (part === DECLARED) this.account.declarations += this.costOf(part, as)
    else if (part.of instanceof Fetched) this.account.refetches += this.costOf(part, as)
  }

  private costOf({ tokens }: RequestPart, as: PaidAs): number {
    return tokens * (as === 'cached' ? this.prices.read : this.prices.write)
  }
}

/** Names a result that was fetched again. */
class Fetched {}

const texts = new WeakMap<ChatMessage, string>()

/** The text of a message that was changed; a changed message is sent with many requests. */
function textOf(message: ChatMessage): string {
  let text = texts.get(message)
  if (text === undefined) {
    text = JSON.stringify([message.content, message.tool_calls])
    texts.set(message, text)
  }
  return text
}
