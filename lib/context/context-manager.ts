/** Everything that is done to a history before a request, in one object. */

import { AppliedSummary } from '../compaction/apply-summary'
import { checkMessages, readCompactOptions } from '../compaction/options'
import { SpillwayError } from '../errors'
import { MediaSaver } from '../history/media-notes'
import { RECIPIENT_CHECKS, type Recipient } from '../overflow/provider-limits'
import { adopt, forgetGone, HistoryPruner } from '../pruning/pruner'
import { leftResults } from '../pruning/report'
import type { PromptUsage } from '../pruning/usage'
import { Semaphore } from '../util/semaphore'
import { tellCaller, warn } from '../util/warn'
import { type Check, checkOptions, flag, moment, signal } from '../validation/options'
import { wrong } from '../validation/validate'
import { compacted } from './compact'
import { Images } from './images'
import { type ListedMessage, listedMessages } from './listed-messages'
import {
  addressTo,
  environmentTokens,
  forget,
  forgetShared,
  type Inner,
  lasting,
  lastingAfterChange,
  overLimits,
  requestTokens,
  resumeFolds,
  withinLimits,
} from './manager-parts'
import {
  CONTEXT_CHECKS,
  type ContextManagerOptions,
  checkParts,
  compactOptions,
  POLICIES,
  prunerOptions,
} from './options'
import type { ContextReport, PreparedContext } from './report'
import { contextSavings } from './savings'
import { guarded } from './shorten-results'
import { type ContextManagerState, readManagerState } from './state'
import { compactionOutcome, ledgerOutcome, mediaOutcome, overflowOutcome, policyOutcome } from './step-reports'

/** Options of {@link ContextManager.prepare}: who the request is sent to, for its documented limits, and the rest. */
export interface PrepareContextOptions extends Recipient {
  /** Milliseconds since the epoch. @default Date.now() */
  now?: number
  /** Compacts whatever the size. @default false */
  force?: boolean
  /** Ends the preparation; it rejects with `ABORTED`. */
  signal?: AbortSignal | undefined
}

const inners = new WeakMap<object, Inner<never>>()

const REQUEST: Readonly<Record<string, Check>> = {
  now: moment,
  force: flag,
  signal,
  ...RECIPIENT_CHECKS,
}

/**
 * Prepares the history before each request: recorded metadata, outdated results, superseded reads, a budget of
 * results, compaction, and a guard that truncates results if the request still does not fit, in this order. Each step can be
 * turned off, and reports what it did and why.
 *
 * Use one manager per session, and pass the full stored history every time; it is never changed. Decisions are kept: a pruned
 * result stays pruned with the same bytes, and a summary is applied again until the next one. To store the compacted history, take
 * `history` of the result, and pass that from then on.
 *
 * @example
 * const manager = new ContextManager({ contextWindow: 200_000, ledger, compaction: { summarize } })
 * const { messages, report } = await manager.prepare(stored)
 */
export class ContextManager<M = unknown> {
  /** @throws SpillwayError `INVALID_ARGUMENT` if an option is unknown or not allowed */
  constructor(options: ContextManagerOptions<M> = {}) {
    inners.set(this, open(options) as Inner<never>)
  }

  /**
   * The messages for the next request.
   *
   * @param messages the whole stored history, in any format that `detectFormat` knows. Never changed
   * @param options facts about this request
   * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed; `COMPACTION` if compaction no longer helps and the
   * request would exceed the window; `ABORTED` if the signal is aborted
   */
  async prepare(messages: readonly M[], options: PrepareContextOptions = {}): Promise<PreparedContext<M>> {
    checkOptions('options', options, REQUEST)
    const inner = innerOf<M>(this)
    const { signal: stop } = options
    let isBegun = false
    try {
      return await inner.turns.take(async () => {
        isBegun = true
        return prepare(inner, messages, options)
      }, stop)
    } catch (error) {
      // The call before it may take long, or never end.
      throw isBegun ? error : aborted(stop)
    }
  }

  /**
   * Learns from the usage of the response to the last request, as `HistoryPruner.observe` does. From then on `fits`, compaction
   * and the guard count as the provider does, with everything that is sent in addition to the history.
   */
  observe(usage: unknown): PromptUsage {
    return innerOf(this).pruner.observe(usage)
  }

  /** Reads from a response which results the provider cleared by itself, as `HistoryPruner.accept` does. */
  accept(response: unknown): ReturnType<HistoryPruner['accept']> {
    const inner = innerOf(this)
    const edits = inner.pruner.accept(response)
    if (edits !== undefined) forget(inner, edits.toolCallIds)
    return edits
  }

  /** Returns the steps of the last request as readable sentences. */
  explain(): string {
    const { last } = innerOf(this)
    if (last === undefined) return 'Nothing was prepared yet.'
    const { tokensBefore, tokensAfter } = last
    const steps = last.steps.map(({ step, reason }) => `${step}: ${reason}`)
    return [
      ...steps,
      `By estimate, the history has ${Math.round(tokensBefore)} tokens, and the request ${Math.round(tokensAfter)} of them.`,
    ].join('\n')
  }

  /**
   * Returns each message of the stored history with its state in a request, and its tokens before and after: the list that
   * `<spillway-context>` shows. `prepared` is a result of `prepare`, as it was returned.
   * @throws SpillwayError `INVALID_ARGUMENT` if `prepared` is not the object that `prepare` of this manager returned
   */
  listMessages(prepared: PreparedContext<M>): ListedMessage[] {
    const inner = innerOf(this)
    const request = inner.requests.get(Object(prepared))
    if (request === undefined) throw wrong('prepared', prepared, 'the object that prepare of this manager returned')
    return listedMessages(inner, request)
  }

  /** Returns the state for `JSON.stringify`: a session that continues in another process sends the same bytes as before. */
  toJSON(): ContextManagerState {
    const { pruner, appliedSummary, state, images, thinkingRemovedBefore } = innerOf(this)
    const without = images.toJSON()
    return {
      version: 1,
      pruner: pruner.toJSON(),
      appliedSummary: appliedSummary?.toJSON() ?? null,
      compaction: state ?? null,
      ...(without && { images: without }),
      ...(thinkingRemovedBefore > 0 && { thinkingRemovedBefore }),
    }
  }

  /**
   * Returns a manager that continues where another stopped.
   * @throws SpillwayError `INVALID_ARGUMENT` if the state was not returned by `toJSON`, or an option is not allowed
   */
  static fromJSON<M = unknown>(
    state: ContextManagerState | string,
    options: ContextManagerOptions<M> = {},
  ): ContextManager<M> {
    const { pruner, appliedSummary, compaction, images, thinkingRemovedBefore = 0 } = readManagerState(state)
    const manager = new ContextManager<M>(options)
    const inner = innerOf<M>(manager)
    const made = HistoryPruner.fromJSON(pruner, prunerOptions(options, inner.tell, inner.counts))
    const resumed = appliedSummary === null ? undefined : AppliedSummary.fromJSON<M>(appliedSummary)
    const lasting = {
      appliedSummary: resumed,
      isResumed: true,
      images: new Images<M>(images),
      state: compaction ?? undefined,
      thinkingRemovedBefore,
    }
    inners.set(manager, { ...inner, pruner: made, ...lasting } as Inner<never>)
    return manager
  }
}

/** Returns a manager that prunes with a given pruner, and saves files for a session; several sessions may share one without. */
export function managerOf<M>(
  pruner: HistoryPruner,
  options: ContextManagerOptions<M>,
  sessionId: string | undefined,
): ContextManager<M> {
  const manager = new ContextManager<M>(options)
  const own = { pruner, saver: new MediaSaver(options.storage, sessionId), isShared: sessionId === undefined }
  inners.set(manager, { ...innerOf<M>(manager), ...own } as Inner<never>)
  return manager
}

function innerOf<M>(manager: ContextManager<M>): Inner<M> {
  return inners.get(manager) as unknown as Inner<M>
}

function open<M>(options: ContextManagerOptions<M>): Inner<M> {
  checkOptions('options', options, CONTEXT_CHECKS)
  checkParts(options)
  const { onError = (error: SpillwayError) => warn('context', error) } = options
  const tell = (error: SpillwayError) => tellCaller('onError', onError, error)
  const { limits, unit } = readCompactOptions(compactOptions(options, undefined))
  const isTokens = unit === 'tokens' && limits !== undefined
  const counts = { known: 0 }
  return {
    options,
    isShared: false,
    saver: new MediaSaver(options.storage),
    pruner: new HistoryPruner(prunerOptions(options, tell, counts)),
    turns: new Semaphore(1),
    tell,
    // Characters are not counted from request to request, and a token hardly ever has more than sixteen.
    limit: isTokens ? limits.trigger : (limits?.trigger ?? Number.POSITIVE_INFINITY) / 16,
    usable: isTokens ? limits.usable : Number.POSITIVE_INFINITY,
    counts,
    recipient: {},
    limits: { bytes: Number.POSITIVE_INFINITY, images: Number.POSITIVE_INFINITY },
    environment: undefined,
    appliedSummary: undefined,
    isResumed: false,
    images: new Images(undefined),
    thinkingRemovedBefore: 0,
    state: undefined,
    last: undefined,
    lastSent: undefined,
    requests: new WeakMap(),
  }
}

function aborted(signal: AbortSignal | undefined): SpillwayError {
  return new SpillwayError('ABORTED', 'the preparation was aborted', { cause: signal?.reason })
}

async function prepare<M>(
  inner: Inner<M>,
  messages: readonly M[],
  request: PrepareContextOptions,
): Promise<PreparedContext<M>> {
  checkMessages(messages)
  if (request.signal?.aborted) throw aborted(request.signal)
  const { options, pruner, counts } = inner
  const now = request.now ?? Date.now()
  addressTo(inner, request, messages)
  forgetShared(inner)
  const environment = environmentTokens(inner)
  const bounded = await withinLimits(inner, messages, lasting(inner, messages), now)
  let { history } = bounded
  // A preview asks the ledger as well.
  counts.known = 0
  let pruned = pruner.prune(history, { now })
  const rounds = [pruned.report]
  const compaction = await compacted(inner, messages, history, pruned, request)
  if (compaction !== undefined) {
    history = compaction.history
    if (compaction.changed) {
      // The provider's cache is lost anyway: everything else that may be pruned is pruned now, not at the next request.
      pruned = pruner.prune(history, { now })
      rounds.push(pruned.report)
      forgetGone(pruner)
    }
  }
  // A provider that refused the request has the last word, whatever the estimate says.
  const isRefused = request.force === true && compaction?.changed !== true
  const sent = pruned.report.tokensAfter
  const guard = await guarded(inner, pruned.messages, sent, {
    isRefused,
    compaction: compaction?.report,
    signal: request.signal,
  })
  if (guard !== undefined && guard.texts.length > 0) {
    adopt(pruner, guard.texts)
    history = lastingAfterChange(inner, messages)
    pruned = pruner.prune(history, { now })
  }
  const { tokensBefore, tokensAfter } = pruned.report
  const wholeTokens = requestTokens(inner, tokensAfter)
  const hasRoom = wholeTokens <= inner.usable
  const over = overLimits(inner, pruned.messages)
  // Nothing helps any more, and the request would be refused.
  const { contextWindow = 0, reserveTokens = 0 } = options
  const refused = !hasRoom && wholeTokens > contextWindow - reserveTokens
  if (refused && compaction?.report.reason === 'thrash') throw compaction.report.error
  const report: ContextReport = {
    steps: [
      ledgerOutcome(options.ledger, counts.known),
      mediaOutcome(bounded.media, over),
      ...POLICIES.map((type) => policyOutcome(type, options[type] !== false, rounds)),
      compactionOutcome(options.compaction !== false, compaction),
      overflowOutcome(options.overflow !== false && Number.isFinite(inner.usable), guard),
    ],
    tokensBefore: tokensBefore + (inner.appliedSummary?.saved ?? 0) + inner.images.saved,
    tokensAfter,
    environmentTokens: environment,
    left: [...new Set([...rounds.flatMap((round) => leftResults(round.pruned)), ...(compaction?.left ?? [])])],
    leftCalls: compaction?.leftCalls ?? [],
    usable: inner.usable,
    fits: hasRoom && over === undefined,
    pruning: pruned.report,
    savings: contextSavings(pruned.report),
    ...(compaction && { compaction: compaction.report }),
  }
  inner.last = report
  inner.lastSent = { history: [...history], sent: pruned.messages }
  forget(inner, report.left, report.leftCalls)
  resumeFolds(inner, pruned.messages)
  const { requestOptions } = pruned
  const prepared = { messages: pruned.messages, history, report, ...(requestOptions && { requestOptions }) }
  inner.requests.set(prepared, { stored: [...messages], sent: pruned.messages, appliedSummary: inner.appliedSummary })
  return prepared
}
