/** Everything that is done to a history before a request, in one object. */

import { Fold, type FoldState } from '../compaction/apply-summary'
import { checkMessages, readCompactOptions } from '../compaction/options'
import { environmentTexts } from '../compaction/prompt'
import type { CompactionReport, CompactionState } from '../compaction/report'
import { Run } from '../compaction/run-compaction'
import { SpillwayError } from '../errors'
import { withoutBoundThinking } from '../history/bound-thinking'
import { Estimate } from '../history/estimate'
import { detectFormat, formatNamed, viewOf, viewsIn, viewsOf } from '../history/formats'
import { recoverAsFar } from '../overflow/recover-from-overflow'
import { adopt, countedTokens, forgetGone, HistoryPruner, share } from '../pruning/pruner'
import { leftResults, type PruneReport } from '../pruning/report'
import type { HistoryPrunerState } from '../pruning/state'
import type { PromptUsage } from '../pruning/usage'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { Semaphore } from '../util/semaphore'
import { catchLater, warn } from '../util/warn'
import { type Check, checkOptions, flag, parsedState } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'
import { boundMedia } from './bounded-media'
import { Images, type ImagesState, isImages } from './images'
import {
  anything,
  CONTEXT_CHECKS,
  type ContextManagerOptions,
  checkParts,
  compactOptions,
  POLICIES,
  prunerOptions,
} from './options'
import { type ContextSavings, contextSavings } from './savings'
import {
  type ContextStep,
  compactionOutcome,
  type Guarded,
  ledgerOutcome,
  mediaOutcome,
  overflowOutcome,
  policyOutcome,
} from './steps'

/** Report of {@link ContextManager.prepare}. */
export interface ContextReport {
  /** In the order in which they are done. */
  steps: ContextStep[]
  /** Estimated tokens of the stored history, and of the sent messages, without the other parts of the request. */
  tokensBefore: number
  tokensAfter: number
  /** Tokens of what is sent beside the history. */
  environmentTokens: number
  /** Ids of the calls whose results left the request now: pruned, or replaced by a compaction. */
  left: string[]
  /** Budget of both together; `Infinity` if the window is unknown. */
  usable: number
  /** True if they have no more; as the provider counts them once `observe` was called. */
  fits: boolean
  pruning: PruneReport
  /** The savings of pruning in all requests so far. */
  savings: ContextSavings
  /** Only if it was asked for at this request. */
  compaction?: CompactionReport
}

/** Result of {@link ContextManager.prepare}. */
export interface PreparedContext<M> {
  /** For the request. */
  messages: M[]
  /**
   * The history with its compactions, and nothing else left out: for callers who want to store that. The very array that
   * went in if there was none.
   */
  history: M[]
  report: ContextReport
}

/** State of a manager, as JSON. */
export interface ContextManagerState {
  version: 1
  /** @internal */
  pruner: HistoryPrunerState
  /** @internal */
  fold: FoldState | null
  /** @internal */
  compaction: CompactionState | null
  /**
   * Messages that go out without their images.
   * @internal
   */
  images?: ImagesState
  /**
   * Number of messages of the stored history that go out without signed reasoning, because something in front of it changed.
   * @internal
   */
  thinkingRemovedBefore?: number
}

interface Inner<M> {
  readonly options: ContextManagerOptions<M>
  readonly pruner: HistoryPruner
  readonly turns: Semaphore
  readonly tell: (error: SpillwayError) => void
  readonly limit: number
  readonly usable: number
  readonly counts: { known: number }
  environment: { of: unknown; tokens: number } | undefined
  fold: Fold<M> | undefined
  images: Images<M>
  /** The messages of the stored history in front of this index go out without their signed reasoning. */
  thinkingRemovedBefore: number
  state: CompactionState | undefined
  last: ContextReport | undefined
}

const inners = new WeakMap<object, Inner<never>>()

const REQUEST: Readonly<Record<string, Check>> = {
  now: ['a number of milliseconds since the epoch', Number.isFinite],
  force: flag,
  signal: anything,
}

/**
 * Prepares the history before each request: recorded metadata, outdated results, superseded reads, a budget of
 * results, compaction, and a guard against what still does not fit, in this order. Each step can be switched off, and says
 * what it did and why.
 *
 * One manager belongs to one session, and gets the whole stored history every time; it is never changed. Decisions
 * hold: a pruned result stays pruned with the same bytes, and a summary is applied again until the next. A host that
 * stores the compacted history takes `history` of the answer, and passes that from then on.
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
   * @param options `now`: milliseconds since the epoch, `Date.now()` by default; `force`: compact whatever the size;
   * `signal` ends it
   * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed; `COMPACTION` if compacting does not help any more, and
   * the request would be over the window;
   * `ABORTED` if the signal says so
   */
  prepare(
    messages: readonly M[],
    options: { now?: number; force?: boolean; signal?: AbortSignal } = {},
  ): Promise<PreparedContext<M>> {
    const inner = innerOf<M>(this)
    return inner.turns.take(async () => prepare(inner, messages, options))
  }

  /**
   * Learns from the usage of the response to the last request, as `HistoryPruner.observe` does. From then on `fits`, compaction
   * and the guard count as the provider does, with everything that is sent beside the history.
   */
  observe(usage: unknown): PromptUsage {
    return innerOf(this).pruner.observe(usage)
  }

  /** Learns from a response what its provider left out by itself, as `HistoryPruner.accept` does. */
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
    return [...steps, `${Math.round(tokensBefore)} tokens are stored, ${Math.round(tokensAfter)} go out.`].join('\n')
  }

  /** Returns the state for `JSON.stringify`: a session that continues in another process sends the same bytes as before. */
  toJSON(): ContextManagerState {
    const { pruner, fold, state, images, thinkingRemovedBefore } = innerOf(this)
    const without = images.toJSON()
    return {
      version: 1,
      pruner: pruner.toJSON(),
      fold: fold?.toJSON() ?? null,
      compaction: state ?? null,
      ...(without && { images: without }),
      ...(thinkingRemovedBefore > 0 && { thinkingRemovedBefore }),
    }
  }

  /**
   * Returns a manager that continues where another stopped.
   * @throws SpillwayError `INVALID_ARGUMENT` if the state is not one that `toJSON` gave, or an option is not allowed
   */
  static fromJSON<M = unknown>(
    state: ContextManagerState | string,
    options: ContextManagerOptions<M> = {},
  ): ContextManager<M> {
    const { pruner, fold, compaction, images, thinkingRemovedBefore = 0 } = readState(state)
    const manager = new ContextManager<M>(options)
    const inner = innerOf<M>(manager)
    const made = HistoryPruner.fromJSON(pruner, prunerOptions(options, inner.tell, inner.counts))
    const resumed = fold === null ? undefined : Fold.fromJSON<M>(fold)
    const lasting = {
      fold: resumed,
      images: new Images<M>(images),
      state: compaction ?? undefined,
      thinkingRemovedBefore,
    }
    inners.set(manager, { ...inner, pruner: made, ...lasting } as Inner<never>)
    return manager
  }
}

function innerOf<M>(manager: ContextManager<M>): Inner<M> {
  return inners.get(manager) as unknown as Inner<M>
}

function open<M>(options: ContextManagerOptions<M>): Inner<M> {
  checkOptions('options', options, CONTEXT_CHECKS)
  checkParts(options)
  const { onError = (error: SpillwayError) => warn('context', error) } = options
  const tell = (error: SpillwayError) => {
    try {
      catchLater('onError', onError(error))
    } catch (thrown) {
      warn('onError', thrown)
    }
  }
  const { limits, unit } = readCompactOptions(compactOptions(options, undefined))
  const isTokens = unit === 'tokens' && limits !== undefined
  const counts = { known: 0 }
  return {
    options,
    pruner: new HistoryPruner(prunerOptions(options, tell, counts)),
    turns: new Semaphore(1),
    tell,
    // Characters are not counted from request to request, and a token hardly ever has more than sixteen.
    limit: isTokens ? limits.trigger : (limits?.trigger ?? Number.POSITIVE_INFINITY) / 16,
    usable: isTokens ? limits.usable : Number.POSITIVE_INFINITY,
    counts,
    environment: undefined,
    fold: undefined,
    images: new Images(undefined),
    thinkingRemovedBefore: 0,
    state: undefined,
    last: undefined,
  }
}

async function prepare<M>(
  inner: Inner<M>,
  messages: readonly M[],
  request: { now?: number; force?: boolean; signal?: AbortSignal },
): Promise<PreparedContext<M>> {
  checkOptions('options', request, REQUEST)
  checkMessages(messages)
  const { options, pruner, counts } = inner
  const now = request.now ?? Date.now()
  counts.known = 0
  let history = lasting(inner, messages)
  const media = await withinLimits(inner, messages, history)
  if (media.items > 0) history = lastingAfterChange(inner, messages)
  const environment = environmentTokens(inner)
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
  const guard = await guarded(inner, pruned.messages, sent, { isRefused, signal: request.signal })
  if (guard !== undefined && guard.texts.length > 0) {
    adopt(pruner, guard.texts)
    history = lastingAfterChange(inner, messages)
    pruned = pruner.prune(history, { now })
  }
  const { tokensBefore, tokensAfter } = pruned.report
  const wholeTokens = requestTokens(inner, tokensAfter)
  const fits = wholeTokens <= inner.usable
  // Nothing helps any more, and the request would be refused.
  const { contextWindow = 0, reserveTokens = 0 } = options
  const refused = !fits && wholeTokens > contextWindow - reserveTokens
  if (refused && compaction?.report.reason === 'thrash') throw compaction.report.error
  const report: ContextReport = {
    steps: [
      ledgerOutcome(options.ledger, counts.known),
      mediaOutcome(media),
      ...POLICIES.map((type) => policyOutcome(type, options[type] !== false, rounds)),
      compactionOutcome(options.compaction !== false, compaction),
      overflowOutcome(options.overflow !== false && Number.isFinite(inner.usable), guard),
    ],
    tokensBefore: tokensBefore + (inner.fold?.saved ?? 0) + inner.images.saved,
    tokensAfter,
    environmentTokens: environment,
    left: [...new Set([...rounds.flatMap((round) => leftResults(round.pruned)), ...(compaction?.left ?? [])])],
    usable: inner.usable,
    fits,
    pruning: pruned.report,
    savings: contextSavings(pruned.report),
    ...(compaction && { compaction: compaction.report }),
  }
  inner.last = report
  forget(inner, report.left)
  return { messages: pruned.messages, history, report }
}

/** Takes out images and files that a request cannot hold. Returns how many, and their tokens. */
async function withinLimits<M>(
  { images, fold, options, tell }: Inner<M>,
  stored: readonly M[],
  history: readonly M[],
): Promise<{ items: number; freed: number }> {
  const { maxRequestBytes: bytes, maxImages, storage, language, estimateTokens } = options
  const limits = { ...(bytes !== undefined && { bytes }), ...(maxImages !== undefined && { images: maxImages }) }
  const estimate = new Estimate(estimateTokens, tell)
  const before = images.saved
  const at = fold?.placesIn(stored.length) ?? ((index: number) => index)
  const tokensOf = (some: readonly M[]) => estimate.of(some, viewsOf(some))
  const items = await boundMedia({ images, stored, history, at }, limits, { storage, language, tokensOf })
  return { items, freed: images.saved - before }
}

/** The stored history with its compactions. */
function lasting<M>(inner: Inner<M>, stored: readonly M[]): M[] {
  const folded = inner.fold === undefined ? (stored as M[]) : inner.fold.apply(stored)
  if (folded !== undefined) return withoutRemovedThinking(inner, stored, inner.images.apply(stored, folded))
  inner.fold = undefined
  inner.images.keep()
  inner.thinkingRemovedBefore = 0
  return stored as M[]
}

/** The same once something has changed: the signed reasoning that was made by then is bound to what was there before. */
function lastingAfterChange<M>(inner: Inner<M>, stored: readonly M[]): M[] {
  const { thinking } = inner.options.pruning ?? {}
  if (thinking !== 'ignore' && thinking !== 'provider-drops') inner.thinkingRemovedBefore = stored.length
  return lasting(inner, stored)
}

/** The history without the signed reasoning that an earlier change has outdated. */
function withoutRemovedThinking<M>({ thinkingRemovedBefore, fold }: Inner<M>, stored: readonly M[], history: M[]): M[] {
  if (thinkingRemovedBefore === 0) return history
  const at = fold?.placesIn(stored.length) ?? ((index: number) => index)
  let end = 0
  while (end < history.length && at(end) < thinkingRemovedBefore) end++
  return withoutBoundThinking(history, viewsIn(history), 0, end)
}

/** Tokens of what is sent beside the history; counted again when it is another object. */
function environmentTokens<M>(inner: Inner<M>): number {
  const { environment, estimateTokens } = inner.options
  if (inner.environment === undefined || inner.environment.of !== environment) {
    const estimate = new Estimate(estimateTokens, inner.tell)
    const tokens = environmentTexts(environment).reduce((sum, text) => sum + estimate.text(text), 0)
    inner.environment = { of: environment, tokens }
  }
  return inner.environment.tokens
}

/** Tokens of a request whose history is estimated at `tokens`: as the provider counts them, once it has counted. */
function requestTokens<M>(inner: Inner<M>, tokens: number): number {
  return countedTokens(inner.pruner, tokens) ?? tokens + environmentTokens(inner)
}

/** Tells those who know results by their calls that these are not sent any more. Never throws. */
function forget<M>({ options, tell }: Inner<M>, toolCallIds: readonly string[]): void {
  if (toolCallIds.length === 0) return
  for (const name of ['doomLoop', 'fold'] as const) {
    try {
      options[name]?.forget(toolCallIds)
    } catch (thrown) {
      tell(new SpillwayError('CALLBACK', `${name}: ${messageOf(thrown)}`, { cause: thrown }))
    }
  }
}

/** The history after a compaction. */
interface Compacted<M> {
  history: M[]
  report: CompactionReport
  freed: number
  changed: boolean
  /** Ids of the calls whose results left. */
  left: string[]
}

/** Compacts if it is time. */
async function compacted<M>(
  inner: Inner<M>,
  stored: readonly M[],
  history: M[],
  pruned: { messages: M[]; report: PruneReport },
  { force = false, signal }: { force?: boolean; signal?: AbortSignal },
): Promise<Compacted<M> | undefined> {
  const { options, pruner, limit } = inner
  if (options.compaction === false) return undefined
  const { tokensAfter } = pruned.report
  if (!force && requestTokens(inner, tokensAfter) <= limit) return undefined
  share(pruner)
  const usedTokens = countedTokens(pruner, tokensAfter)
  const settings = readCompactOptions({
    ...compactOptions(options, inner.state),
    force,
    ...(signal && { signal }),
    ...(usedTokens !== undefined && { usedTokens }),
  })
  const run = new Run(pruned.messages, settings, history)
  const thrash = run.thrash()
  const done = thrash === undefined ? await run.go() : run.refused(thrash)
  const { messages, report, summary, replaced, imageless } = done
  inner.state = report.state
  const estimate = new Estimate(options.estimateTokens, inner.tell)
  const tokensOf = (some: readonly M[]) => estimate.of(some, viewsOf(some))
  const freed = messages === pruned.messages ? 0 : pruned.report.tokensAfter - tokensOf(messages)
  if (summary !== undefined) {
    const fold = Fold.after(stored, inner.fold, report, summary, tokensOf)
    if (fold?.apply(stored) === undefined) return { history, report, freed: 0, changed: false, left: [] }
    inner.fold = fold
    inner.images.keep((index) => fold.shows(index))
  }
  if (report.format !== undefined && imageless.indices.length > 0) {
    const at = inner.fold?.placesIn(stored.length) ?? ((index: number) => index)
    const { format } = report
    inner.images.add(stored, imageless.indices.map(at), { format, note: imageless.note }, tokensOf)
  }
  if (replaced.length > 0) adopt(pruner, replaced)
  const changed = summary !== undefined || replaced.length > 0 || imageless.indices.length > 0
  const after = changed ? lastingAfterChange(inner, stored) : history
  const callAt = ({ index, place }: { index: number; place: number }) =>
    viewsIn(history).views[index]?.results[place]?.callId
  const gone = replaced.flatMap((one) => callAt(one) ?? [])
  const left = summary === undefined ? gone : resultsWithout(history, after)
  return { history: after, report, freed, changed, left }
}

/** Ids of the calls whose results are in one history and not in the other. */
function resultsWithout<M>(before: readonly M[], after: readonly M[]): string[] {
  const idsIn = (messages: readonly M[]) =>
    viewsIn(messages).views.flatMap(({ results }) => results.flatMap(({ callId }) => callId ?? []))
  const stay = new Set(idsIn(after))
  return idsIn(before).filter((id) => !stay.has(id))
}

/** Shortens results if the messages still do not fit, or were refused and nothing else helped. */
async function guarded<M>(
  inner: Inner<M>,
  messages: M[],
  tokens: number,
  { isRefused, signal }: { isRefused: boolean; signal: AbortSignal | undefined },
): Promise<Guarded | undefined> {
  const { options, pruner, usable, tell } = inner
  const { overflow = 'openclaw', reserveTokens = 0, estimateTokens, storage } = options
  const whole = requestTokens(inner, tokens)
  const reserved = Math.max(reserveTokens + whole - tokens, 0)
  const fits = whole <= usable
  if (overflow === false || options.contextWindow === undefined || (fits && !isRefused)) return undefined
  // The estimate of a refused request was too small, so less than it must be sent.
  const contextWindow = fits ? whole + reserveTokens : options.contextWindow
  share(pruner)
  try {
    const recovered = await recoverAsFar({
      messages,
      contextWindowTokens: contextWindow,
      reserveTokens: reserved,
      profile: overflow,
      ...(estimateTokens && { estimateTokens }),
      ...(storage && { storage }),
      ...(signal && { signal }),
    })
    const { problem, report } = recovered
    const { tokensBefore, tokensAfter } = report
    // Insufficient savings cost the provider's cache at every request; that pays only if the request would be refused otherwise.
    const room = contextWindow - reserved
    if (problem !== undefined && !(tokens > room && tokensAfter <= room)) {
      return { texts: [], freed: 0, problem: problem.message }
    }
    const texts = changedTexts(messages, recovered.messages)
    return { texts, freed: tokensBefore - tokensAfter, problem: problem?.message }
  } catch (error) {
    if ((error as SpillwayError).code === 'ABORTED') throw error
    tell(error instanceof SpillwayError ? error : new SpillwayError('INTERNAL', messageOf(error)))
    return { texts: [], freed: 0, problem: messageOf(error) }
  }
}

/** The results that have another text. */
function changedTexts<M>(before: readonly M[], after: readonly M[]): Guarded['texts'] {
  const format = detectFormat(before)
  if (format === undefined) return []
  return after.flatMap((message, index) => {
    if (message === before[index]) return []
    const old = viewOf(format, before[index]).results
    return viewOf(format, message).results.flatMap(({ text }, place) => {
      const joined = typeof text === 'string' ? text : text.join('\n')
      const was = old[place]?.text ?? ''
      return joined === (typeof was === 'string' ? was : was.join('\n')) ? [] : [{ index, place, text: joined }]
    })
  })
}

function readState(state: unknown): ContextManagerState {
  const { version, pruner, fold = null, compaction = null, images, thinkingRemovedBefore } = parsedState(state)
  if (version !== 1) throw wrong('state.version', version, '1')
  if (!isRecord(pruner)) throw wrong('state.pruner', pruner, 'what toJSON gave')
  if (fold !== null && !isFold(fold)) throw wrong('state.fold', fold, 'what toJSON gave')
  if (compaction !== null && !isRecord(compaction)) throw wrong('state.compaction', compaction, 'what toJSON gave')
  if (images !== undefined && !isImages(images)) throw wrong('state.images', images, 'what toJSON gave')
  if (
    thinkingRemovedBefore !== undefined &&
    !(Number.isSafeInteger(thinkingRemovedBefore) && (thinkingRemovedBefore as number) >= 0)
  ) {
    throw wrong('state.thinkingRemovedBefore', thinkingRemovedBefore, 'what toJSON gave')
  }
  if (compaction !== null) readCompactOptions({ state: compaction as unknown as CompactionState }, 'state')
  return {
    version,
    pruner: pruner as unknown as HistoryPrunerState,
    fold: fold as FoldState | null,
    compaction: compaction as unknown as CompactionState | null,
    ...(images !== undefined && { images: images as ImagesState }),
    ...(thinkingRemovedBefore !== undefined && { thinkingRemovedBefore: thinkingRemovedBefore as number }),
  }
}

function isFold(value: unknown): boolean {
  const { first, head, from, sizes, text, format, saved } = Object(value) as Partial<FoldState>
  const isPlace = (place: unknown) => Number.isSafeInteger(place) && (place as number) >= 0
  return (
    isPlace(first) &&
    isPlace(from) &&
    isArray(head) &&
    head.length === 2 &&
    head.every(isPlace) &&
    isArray(sizes) &&
    sizes.length === from &&
    sizes.every(Number.isFinite) &&
    typeof text === 'string' &&
    formatNamed(format as never) !== undefined &&
    Number.isFinite(saved)
  )
}
