/** Prunes old parts of a history from requests, with regard to the provider's cache. */

import { SpillwayError } from '../errors'
import { warnUnreadable } from '../history/format-warning'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import { type Check, checkOptions, moment, wrongState } from '../validation/options'
import { listed, readable, wrong } from '../validation/validate'
import { HistoryReader } from './history-reader'
import { ObservedUsage, type SentRequest } from './observed-usage'
import {
  finiteOrNull,
  type HistoryPrunerOptions,
  type PrunerSettings,
  pruningError,
  readPrunerOptions,
} from './options'
import type { PolicyName } from './policies'
import {
  type AnthropicEditing,
  anthropicEditing,
  checkEditing,
  type DropThinkingOptions,
  dropThinkingOptions,
  type OpenAIEditing,
  openaiEditing,
  type ProviderEdits,
  readProviderEdits,
  type ToProviderOptions,
} from './provider-editing'
import type { HistoryItem } from './prunable-item'
import { explainReport, type PrunedItem, type PruneReason, type PruneReport, prunedItem, unreadReport } from './report'
import { type HistoryPrunerState, readPrunerState } from './state'
import { type PromptUsage, readUsage } from './usage'

/** Result of {@link HistoryPruner.prune}. */
export interface PruneResult<M> {
  messages: M[]
  report: PruneReport
  /** Only with `thinking: 'provider-drops'`: fields that the request needs, or the provider refuses it. Adapters set them. */
  requestOptions?: DropThinkingOptions
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
 * Pruned items stay pruned: once replaced, an item has the same bytes in every later request. Calls keep their results, because
 * only texts are replaced. Never replaced are results that the model has not seen yet,
 * results whose call is not in the history, and results that are no longer than their placeholder. Images and files of a result
 * are pruned with
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
   * Never throws because of the history: unreadable messages stay unchanged, and if pruning fails, the messages are returned
   * unpruned and `onError` receives the reason.
   *
   * @param messages the whole history, in any format that `detectFormat` knows. Never changed
   * @param options `now` is the time in milliseconds since the epoch, `Date.now()` by default
   * @returns a new array in which changed messages are copies and unchanged ones the same objects (`===`); `messages` itself
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
      result = { messages: messages as M[], report: unreadReport() }
    }
    inner.last = result.report
    const requestOptions = dropThinkingOptions(inner.settings.editing)
    return requestOptions === undefined ? result : { ...result, requestOptions }
  }

  /**
   * Learns from the usage of the response to the last request, with the field names of its provider or framework:
   * the tokens of a prompt, whether the cache was still there after the pause before, and prices where the usage has costs
   * or says that the cache lasts an hour. Call it after each response; a second call for the same request teaches nothing about the cache.
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
   * Returns the fields of a request that ask the provider to edit the history by itself, with the rules of this pruner as far as
   * the provider supports them: Anthropic's clearing of tool results and of reasoning and its compaction, or OpenAI's compaction.
   * With `schedule:
   * 'cold'`, or if requests are not pruned, the two do not interfere.
   * @throws SpillwayError `INVALID_ARGUMENT` for another provider, or an option that is not allowed
   */
  toProvider(provider: 'anthropic', options?: ToProviderOptions): AnthropicEditing
  toProvider(provider: 'openai', options?: ToProviderOptions): OpenAIEditing
  toProvider(provider: 'anthropic' | 'openai', options: ToProviderOptions = {}): AnthropicEditing | OpenAIEditing {
    const { settings } = innerOf(this)
    checkEditing(options)
    if (provider === 'openai') return openaiEditing(settings.editing, options)
    if (provider !== 'anthropic') throw wrong('provider', provider, listed(['anthropic', 'openai']))
    return anthropicEditing(settings.editing, settings, options)
  }

  /**
   * Reads from a response which results the provider cleared by itself. From then on they count as left out of the request: a
   * result with a pointer to one of them gets its text back. `toolCallIds` lists them, for `FoldSession.forget`.
   *
   * Never throws. Returns `undefined` if the response does not mention edits; then nothing changes.
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
    return last === undefined ? 'Nothing was decided yet.' : explainReport(last)
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
      ...(reader.restoredKeys.size > 0 && { restored: [...reader.restoredKeys] }),
      ...(observed && { observed }),
    }
  }

  /**
   * Returns a pruner that continues where another stopped.
   * @throws SpillwayError `INVALID_ARGUMENT` if the state was not returned by `toJSON`, or an option is not allowed
   */
  static fromJSON(state: HistoryPrunerState | string, options?: HistoryPrunerOptions): HistoryPruner {
    return readable('state', () => resumed(readPrunerState(state), options))
  }
}

function resumed(state: HistoryPrunerState, options: HistoryPrunerOptions | undefined): HistoryPruner {
  const pruner = new HistoryPruner(options)
  inners.set(pruner, innerAt(state, innerOf(pruner).settings))
  return pruner
}

/** A pruner in the state of another. */
function innerAt(state: HistoryPrunerState, settings: PrunerSettings): Inner {
  const { placeholders, trims, account, carried, sizes, adopted, withoutThinking, unseenFrom, observed, ...more } =
    state
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
    restored: new Set(more.restored),
  })
  const usage = new ObservedUsage(settings.known, settings.hasOwnPrices, observed)
  const inner = { settings, handle, usage, reader, last: undefined, sent: undefined }
  correct(inner)
  return inner
}

/**
 * The messages that {@link HistoryPruner.prune} would return now, without recording them as sent. Never throws.
 * @internal
 */
export function preview<M>(pruner: HistoryPruner, messages: readonly M[], now: number): readonly M[] {
  try {
    // Sending them reports what is wrong.
    const settings = { ...innerOf(pruner).settings, tell: () => {} }
    return prune(innerAt(pruner.toJSON(), settings), messages, now).messages
  } catch {
    return messages
  }
}

/**
 * Sends these texts in place of results from now on, as if the pruner had left them out.
 * @internal
 */
export function adopt(pruner: HistoryPruner, texts: readonly { index: number; place: number; text: string }[]): void {
  innerOf(pruner).reader.adopt(texts)
}

/**
 * Remembers the texts of messages that a summary replaces in the histories to come: a pointer may refer to them.
 * @internal
 */
export function learnTexts(pruner: HistoryPruner, messages: readonly unknown[]): void {
  innerOf(pruner).reader.learnTexts(messages)
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
    prices,
    cheapest,
    cacheLifetimeMs: finiteOrNull(lifetimeMs),
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
    throw wrongState('account', account)
  }
}

const REQUEST: Readonly<Record<string, Check>> = {
  now: moment,
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
  call(() => native.prunerAppend(handle, shared, columns.messages, columns.items, columns.paths, [...columns.uses]))
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
  const restored = reader.restoreFolded(boundTo)
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
