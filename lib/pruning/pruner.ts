/** A history as it is sent to a model: without the old parts that it can do without, and with a cache in mind. */

import { SpillwayError } from '../errors'
import type { HistoryFormatName } from '../history/message-view'
import { warnUnreadable } from '../history/notes'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import { type Check, checkOptions, parsedState } from '../validation/options'
import { wrong } from '../validation/validate'
import { HistoryReader } from './history-reader'
import { isObserved, type ObservedState, ObservedUsage, type SentRequest } from './observed-usage'
import {
  finiteOrNull,
  type HistoryPrunerOptions,
  type PrunedInfo,
  type PrunerSettings,
  pruningError,
  readPrunerOptions,
} from './options'
import { infoOf } from './placeholder'
import type { PolicyName } from './policies'
import {
  type AnthropicEditing,
  anthropicEditing,
  checkEditing,
  type OpenAIEditing,
  openaiEditing,
  type ProviderEdits,
  readProviderEdits,
  type ToProviderOptions,
} from './provider-editing'
import type { HistoryItem } from './prunable-item'
import { type PromptUsage, readUsage } from './usage'

/** Why something was left out, or was not. */
export type PruneReason =
  /** There is nothing that may go. */
  | 'nothing-to-free'
  /** The cache has expired anyway, or the change costs less than it frees. */
  | 'free'
  /** The accumulated cost of carrying it approaches the cost of the change. */
  | 'pays'
  /** The schedule is `always`. */
  | 'always'
  /** It has not been carried long enough. */
  | 'too-early'
  /** The schedule is `cold`, and the cache is not. */
  | 'warm'
  /** It would pay, but what was saved so far and `maxLoss` do not cover the price yet. */
  | 'savings-too-small'
  /** The messages could not be read; they go out as they are. */
  | 'unreadable'
  /** The messages are in no known format; they go out as they are. */
  | 'unknown-format'

/** An item that was pruned for the first time. */
export interface PrunedItem extends PrunedInfo {
  /** Index of the message. */
  index: number
  /** The policy that selected it; the first if there are several. */
  policy: PolicyName
  /** True if its start and its end stay; it can still be pruned later. */
  trimmed?: true
}

/** Report of one call of {@link HistoryPruner.prune}. Priced tokens are tokens times their price. */
export interface PruneReport {
  reason: PruneReason
  /** Items pruned or trimmed for the first time. */
  pruned: PrunedItem[]
  /** Number of items that are pruned or trimmed by now. */
  total: number
  /** Tokens of all messages, estimated. */
  tokensBefore: number
  /** Tokens of the messages that are sent, estimated. */
  tokensAfter: number
  /** True if the provider's cache had expired. */
  cold: boolean
  /** Tokens that became free, or, if none did, that could have. */
  freed: number
  /** Priced tokens that freeing them costs at this request; negative if it saves at once. */
  price: number
  /** Priced tokens that carrying them has cost so far. */
  carried: number
  /** Priced tokens that may be spent on a change: the savings so far and the share of `maxLoss`. */
  savings: number
  /** Priced tokens of all requests so far, and what they would have been without pruning. */
  cost: { paid: number; unpruned: number }
  /** Number of messages at the start in which nothing changes, because signed reasoning is bound to them; missing if there are none. */
  bound?: number
  /** Number of results that the provider left out by itself, as `accept` read; missing if there are none. */
  clearedByProvider?: number
  /** Format of the history; `undefined` if no message is in a known format. */
  format?: HistoryFormatName
}

/** Result of {@link HistoryPruner.prune}. */
export interface PruneResult<M> {
  messages: M[]
  report: PruneReport
}

/** State of a pruner, as JSON. */
export interface HistoryPrunerState {
  version: 1
  /**
   * Placeholders, by the key of the item.
   * @internal
   */
  placeholders: [key: string, text: string][]
  /**
   * Limits of trimmed items, in UTF-16 units of their start and end, and the texts between and after them.
   * @internal
   */
  trims: [key: string, head: number, tail: number, middle: string, suffix: string][]
  /**
   * The account, in the binary's terms.
   * @internal
   */
  account: object
  /**
   * For each item, the number of requests that carried it since it could have been pruned.
   * @internal
   */
  carried: (number | null)[]
  /**
   * A number per message of the last request by which it is known again.
   * @internal
   */
  sizes: number[]
  /**
   * The keys of items that are left out although the model may not have seen them: a `ContextManager` had no room.
   * @internal
   */
  adopted?: string[]
  /**
   * Indexes of the messages whose signed reasoning is removed.
   * @internal
   */
  withoutThinking?: number[]
  /**
   * Where every call is an element of its own: the model has not seen the elements from this one on.
   * @internal
   */
  unseenFrom?: number
  /**
   * Number of results that the provider leaves out by itself.
   * @internal
   */
  clearedByProvider?: number
  /**
   * Facts learned from the usage of responses.
   * @internal
   */
  observed?: ObservedState
}

interface Answer {
  goes: number[]
  trims: number[]
  policies: number[]
  withoutThinkingFrom?: number
  decision: {
    reason: PruneReason
    freed: number
    price: number
    carried: number
    savings: number
    cold: boolean
  }
  tokensBefore: number
  tokensAfter: number
  savings: { paid: number; unpruned: number }
  repeated: number
  pause?: number | null
}

/** Internal state of a pruner. */
interface Inner {
  readonly settings: PrunerSettings
  readonly reader: HistoryReader
  readonly handle: object
  readonly usage: ObservedUsage
  last: PruneReport | undefined
  /** The last request, until its usage is known. */
  sent: SentRequest | undefined
}

const inners = new WeakMap<HistoryPruner, Inner>()

/**
 * Prunes old parts of a history from requests, with regard to the provider's prompt cache. One pruner
 * belongs to one session: call {@link prune} once before every request, with the whole history.
 *
 * Pruned items stay pruned: once replaced, an item has the same bytes in every later request. Pairs of calls and
 * results stay whole, because only texts are replaced. Never replaced are results that the model has not seen yet,
 * results whose call is not in view, and results no longer than their placeholder. Images and files of a result are pruned with
 * its text, and the placeholder names them.
 */
export class HistoryPruner {
  /** @throws SpillwayError `INVALID_ARGUMENT` if an option is unknown or not allowed */
  constructor(options?: HistoryPrunerOptions) {
    const settings = readPrunerOptions(options)
    const handle = call(() => native.prunerOpen(JSON.stringify(settings.rules)))
    const usage = new ObservedUsage(settings.known, settings.hasOwnPrices)
    inners.set(this, { settings, handle, usage, reader: new HistoryReader(settings), last: undefined, sent: undefined })
  }

  /**
   * Returns the messages to send now, and records them as sent.
   *
   * Never throws because of the history: unreadable messages stay as they are, and if everything fails, the
   * messages are returned unpruned and `onError` receives the reason.
   *
   * @param messages the whole history, in any format that `detectFormat` knows. Never changed
   * @param options `now` is the time in milliseconds since the epoch, `Date.now()` by default
   * @returns a new array in which changed messages are copies and all others are the very same objects; `messages` itself
   * if nothing is pruned. The copies are returned again by the next call: to mark one for a cache, replace it by another copy
   */
  prune<M>(messages: readonly M[], options: { now?: number } = {}): PruneResult<M> {
    const inner = innerOf(this)
    let result: PruneResult<M>
    try {
      result = prune(inner, messages, timeOf(inner.settings, options))
    } catch (thrown) {
      inner.settings.tell(
        thrown instanceof SpillwayError ? thrown : pruningError('the history could not be read', thrown),
      )
      inner.reader.forget()
      result = { messages: messages as M[], report: unreadable() }
    }
    inner.last = result.report
    return result
  }

  /**
   * Learns from the usage of the response to the last request, under whatever field names its provider or framework has:
   * the tokens of a prompt, whether the cache was still there after the pause before, and prices where the usage has costs
   * or says that the cache lasts an hour. Call it after each response; a second call for the same request learns nothing about the cache.
   *
   * Never throws. A usage with negative counts, without tokens or in unknown names teaches nothing; one with more hits
   * than tokens only the number of tokens. `problem` says so.
   */
  observe(usage: unknown): PromptUsage {
    const inner = innerOf(this)
    const { isLongLived, prices, ...read } = readUsage(usage)
    inner.usage.observe({ isLongLived, ...(prices && { prices }), ...read }, inner.sent)
    inner.sent = undefined
    correct(inner)
    return read
  }

  /**
   * The fields by which a request asks the provider to edit the history by itself, by the rules of this pruner as far as the
   * provider has them: Anthropic's clearing of tool results and of reasoning and its compaction, or OpenAI's compaction. With `schedule:
   * 'cold'`, or without a pruner in front, the two do not stand in each other's way.
   * @throws SpillwayError `INVALID_ARGUMENT` for another provider, or an option that is not allowed
   */
  toProvider(provider: 'anthropic', options?: ToProviderOptions): AnthropicEditing
  toProvider(provider: 'openai', options?: ToProviderOptions): OpenAIEditing
  toProvider(provider: 'anthropic' | 'openai', options: ToProviderOptions = {}): AnthropicEditing | OpenAIEditing {
    const { settings } = innerOf(this)
    checkEditing(options)
    if (provider === 'openai') return openaiEditing(settings.editing, options)
    if (provider !== 'anthropic') throw wrong('provider', provider, "'anthropic' or 'openai'")
    return anthropicEditing(settings.editing, settings, options)
  }

  /**
   * Learns from a response what its provider left out of the request by itself. Results that it has cleared are taken as not in
   * view from then on: what was folded into a pointer to one of them gets its text back. `toolCallIds` names them, for
   * `FoldSession.forget`.
   *
   * Never throws. `undefined` if the response says nothing of edits; then what was known stays.
   */
  accept(response: unknown): (ProviderEdits & { toolCallIds: string[] }) | undefined {
    const { reader } = innerOf(this)
    const edits = readProviderEdits(response)
    if (edits === undefined) return undefined
    reader.clearedByProvider = edits.clearedToolUses
    return { ...edits, toolCallIds: reader.cleared().flatMap(({ toolCallId }) => toolCallId ?? []) }
  }

  /** Returns the last decision, as sentences for a person. */
  explain(): string {
    const { last } = innerOf(this)
    return last === undefined ? 'Nothing was decided yet.' : explanation(last)
  }

  /** Returns the state for `JSON.stringify`: a session that continues in another process sends the same bytes as before. */
  toJSON(): HistoryPrunerState {
    const { handle, reader, usage } = innerOf(this)
    const observed = usage.toJSON()
    const { account, carried } = JSON.parse(call(() => native.prunerState(handle)))
    const trims = [...reader.trims].map(
      ([key, { head, tail, middle, suffix }]): HistoryPrunerState['trims'][number] => [key, head, tail, middle, suffix],
    )
    const adopted = [...reader.adopted]
    return {
      version: 1,
      placeholders: [...reader.placeholders],
      trims,
      account,
      ...reader.state(carried),
      ...(adopted.length > 0 && { adopted }),
      ...(reader.withoutThinking.size > 0 && { withoutThinking: [...reader.withoutThinking] }),
      ...(Number.isFinite(reader.grownFrom) && { unseenFrom: reader.grownFrom }),
      ...(reader.clearedByProvider > 0 && { clearedByProvider: reader.clearedByProvider }),
      ...(observed && { observed }),
    }
  }

  /**
   * Returns a pruner that continues where another stopped.
   * @throws SpillwayError `INVALID_ARGUMENT` if the state is not one that `toJSON` gave, or an option is not allowed
   */
  static fromJSON(state: HistoryPrunerState | string, options?: HistoryPrunerOptions): HistoryPruner {
    const { placeholders, trims, account, carried, sizes, adopted, withoutThinking, unseenFrom, observed, ...more } =
      readState(state)
    const pruner = new HistoryPruner(options)
    const { settings } = innerOf(pruner)
    const handle = openAt(settings, account)
    const reader = new HistoryReader(settings, {
      placeholders: new Map(placeholders),
      trims: new Map(trims.map(([key, head, tail, middle, suffix]) => [key, { head, tail, middle, suffix }])),
      carried,
      sizes,
      adopted: new Set(adopted),
      withoutThinking: new Set(withoutThinking),
      unseenFrom,
      clearedByProvider: more.clearedByProvider ?? 0,
    })
    const usage = new ObservedUsage(settings.known, settings.hasOwnPrices, observed)
    const inner = { settings, handle, usage, reader, last: undefined, sent: undefined }
    correct(inner)
    inners.set(pruner, inner)
    return pruner
  }
}

/**
 * Sends these texts in the place of results from now on, as if the pruner had left them out.
 * @internal
 */
export function adopt(pruner: HistoryPruner, texts: readonly { index: number; place: number; text: string }[]): void {
  innerOf(pruner).reader.adopt(texts)
}

/**
 * Lets everybody know what the messages that were read last say.
 * @internal
 */
export function share(pruner: HistoryPruner): void {
  innerOf(pruner).reader.share()
}

/**
 * Forgets the placeholders of items that are not in the history that was read last.
 * @internal
 */
export function forgetGone(pruner: HistoryPruner): void {
  innerOf(pruner).reader.forgetGone()
}

/**
 * The tokens that the provider will count of a request, by the estimate of its history; `undefined` if nothing was observed.
 * @internal
 */
export function countedTokens(pruner: HistoryPruner, estimated: number): number | undefined {
  return innerOf(pruner).usage.tokensOf(estimated)
}

/** Decides by what was observed from now on. */
function correct({ handle, usage, settings, last }: Pick<Inner, 'handle' | 'usage' | 'settings' | 'last'>): void {
  const { prices, cheapest, lifetimeMs } = usage.rule
  const { tokensAfter: tokens = 0 } = last ?? {}
  const correction = {
    ...{ prices, cheapest, cacheLifetimeMs: finiteOrNull(lifetimeMs) },
    uncounted: (usage.tokensOf(tokens) ?? tokens) - tokens,
  }
  try {
    native.prunerCorrect(handle, JSON.stringify(correction))
  } catch (thrown) {
    settings.tell(pruningError('the usage could not be used', thrown))
  }
}

function innerOf(pruner: HistoryPruner): Inner {
  return inners.get(pruner) as Inner
}

function openAt({ rules }: PrunerSettings, account: object): object {
  try {
    return native.prunerOpen(JSON.stringify(rules), JSON.stringify(account))
  } catch {
    throw wrong('state.account', account, 'an account as toJSON gives it')
  }
}

const REQUEST: Readonly<Record<string, Check>> = {
  now: ['a number of milliseconds since the epoch', Number.isFinite],
}

/** Invalid options must not fail a request. */
function timeOf({ tell }: PrunerSettings, options: { now?: number }): number {
  try {
    checkOptions('options', options, REQUEST)
    return options.now ?? Date.now()
  } catch (thrown) {
    tell(thrown instanceof SpillwayError ? thrown : pruningError('options cannot be read', thrown))
    return Date.now()
  }
}

function prune<M>(inner: Inner, messages: readonly M[], now: number): PruneResult<M> {
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const { reader, handle } = inner
  const { shared, columns, resumed, unseenFrom, boundTo } = reader.read(messages)
  call(() => native.prunerAppend(handle, shared, columns.messages, columns.items, columns.paths))
  if (resumed !== undefined) call(() => native.prunerResume(handle, resumed.shared, resumed.lastRequest))
  const answer = JSON.parse(call(() => native.prunerDecide(handle, now, boundTo, unseenFrom))) as Answer
  const { policies } = inner.settings
  const policyOf = (at: number) => policies[answer.policies[at] as number] as PolicyName
  const pruned: PrunedItem[] = []
  for (const place of answer.goes) {
    const item = reader.items[place] as HistoryItem
    reader.leaveOut(item, item.placeholder)
    pruned.push(prunedItem(item, policyOf(pruned.length)))
  }
  for (const place of answer.trims) {
    const item = reader.items[place] as HistoryItem
    reader.trim(item)
    pruned.push(Object.assign(prunedItem(item, policyOf(pruned.length)), { trimmed: true as const }))
  }
  if (answer.withoutThinkingFrom !== undefined) reader.leaveThinkingOut(answer.withoutThinkingFrom)
  const restored = reader.restoreFolded()
  const tokensAfter = answer.tokensAfter + restored
  inner.sent = { tokens: tokensAfter, repeated: answer.repeated, pauseMs: answer.pause ?? undefined }
  const { format } = reader
  const isUnread = warnUnreadable('HistoryPruner', messages, format)
  const report: PruneReport = {
    ...answer.decision,
    ...(isUnread && { reason: 'unknown-format' as const }),
    pruned,
    total: reader.gone - reader.restored,
    tokensBefore: answer.tokensBefore,
    tokensAfter,
    cost: answer.savings,
    ...(boundTo > 0 && { bound: boundTo }),
    ...(reader.clearedByProvider > 0 && { clearedByProvider: reader.cleared().length }),
    ...(format !== undefined && { format }),
  }
  return { messages: reader.project(messages), report }
}

function prunedItem(item: HistoryItem, policy: PolicyName): PrunedItem {
  const pruned = infoOf(item) as PrunedItem
  pruned.index = item.index
  pruned.policy = policy
  return pruned
}

function unreadable(): PruneReport {
  const nothing = { freed: 0, price: 0, carried: 0, savings: 0, cold: false, tokensBefore: 0, tokensAfter: 0, total: 0 }
  return { reason: 'unreadable', pruned: [], ...nothing, cost: { paid: 0, unpruned: 0 } }
}

function explanation(report: PruneReport): string {
  const { reason, freed, price, carried, savings, cost, cold } = report
  const [tokens, costs, rent, available] = [freed, price, carried, savings].map((value) => round(value))
  const sentences: Record<PruneReason, string> = {
    'nothing-to-free':
      report.bound === undefined
        ? 'Nothing could be pruned.'
        : `Nothing could be pruned: signed reasoning is bound to the first ${report.bound} messages.`,
    free: cold
      ? `The cache was cold, so ${tokens} tokens were pruned at once.`
      : `${tokens} tokens were pruned, because nothing after them had to be paid again.`,
    pays: `${tokens} tokens were pruned: carrying them had cost ${rent} priced tokens, and the change costs ${costs}.`,
    always: `${tokens} tokens were pruned, as the schedule prunes at once.`,
    'too-early': `${tokens} tokens could be pruned, but the change would cost ${costs} priced tokens, and carrying them has cost ${rent} so far.`,
    warm: `${tokens} tokens could be pruned, and will be when the cache is cold.`,
    'savings-too-small': `${tokens} tokens could be pruned and that would pay, but the change costs ${costs} priced tokens, and only ${available} may be spent.`,
    unreadable: 'The history could not be read and is sent unchanged.',
    'unknown-format': 'The history is in no known format and is sent unchanged.',
  }
  const share = cost.unpruned > 0 ? (100 * cost.paid) / cost.unpruned : 100
  const cleared = report.clearedByProvider
    ? ` The provider has cleared ${report.clearedByProvider} results by itself.`
    : ''
  return `${sentences[reason]}${cleared} So far the session has cost ${share.toFixed(1)} % of what it would have cost without pruning.`
}

function round(value: number): string {
  return String(Math.round(value))
}

const TRIM_TYPES = 'string,number,number,string,string'

function readState(state: unknown): HistoryPrunerState {
  const given = parsedState(state)
  const {
    version,
    placeholders,
    trims = [],
    account,
    carried,
    sizes,
    adopted = [],
    withoutThinking = [],
    unseenFrom = 0,
    clearedByProvider = 0,
    observed,
  } = given
  const isPair = (pair: unknown) => isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')
  const isTrim = (trim: unknown) =>
    isArray(trim) && trim.length === 5 && trim.map((value) => typeof value).join() === TRIM_TYPES
  const isNumber = (value: unknown) => typeof value === 'number' && value >= 0
  const problem =
    version !== 1
      ? ['version', version, '1']
      : !isArray(placeholders) || !placeholders.every(isPair)
        ? ['placeholders', placeholders, 'pairs of strings']
        : !isArray(trims) || !trims.every(isTrim)
          ? ['trims', trims, 'arrays of a string, two numbers and two strings']
          : !isArray(carried) || !carried.every((value) => value === null || isNumber(value))
            ? ['carried', carried, 'an array of numbers and null']
            : !isArray(sizes) || !sizes.every(isNumber)
              ? ['sizes', sizes, 'an array of numbers']
              : !isArray(adopted) || !adopted.every((key) => typeof key === 'string')
                ? ['adopted', adopted, 'an array of strings']
                : !isArray(withoutThinking) || !withoutThinking.every(isNumber)
                  ? ['withoutThinking', withoutThinking, 'an array of numbers']
                  : !isNumber(unseenFrom)
                    ? ['unseenFrom', unseenFrom, 'a number']
                    : !isNumber(clearedByProvider)
                      ? ['clearedByProvider', clearedByProvider, 'a number']
                      : typeof account !== 'object' || account === null
                        ? ['account', account, 'an object']
                        : observed !== undefined && !isObserved(observed)
                          ? ['observed', observed, 'an object']
                          : undefined
  if (problem !== undefined) {
    const [field, value, allowed] = problem as [string, unknown, string]
    throw wrong(`state.${field}`, value, `${allowed}, as toJSON gives it`)
  }
  return { ...(given as unknown as HistoryPrunerState), trims: trims as HistoryPrunerState['trims'] }
}
