/** The parts of a {@link ContextManager}, and the history as its earlier changes have left it. */

import type { AppliedSummary } from '../compaction/apply-summary'
import { environmentTexts } from '../compaction/prompt'
import type { CompactionState } from '../compaction/report'
import { SpillwayError } from '../errors'
import { resumeSession } from '../fold/fold-session'
import { withoutBoundThinking } from '../history/bound-thinking'
import { Estimate } from '../history/estimate'
import { detectFormat, viewsIn, viewsOf } from '../history/formats'
import type { MediaSaver } from '../history/media-notes'
import { valueBytes } from '../history/request-bytes'
import { isLimited, isWithinLimits, mediaLimits, requestSize, sharedMessages } from '../overflow/media-limits'
import type { MediaLimits, Recipient } from '../overflow/provider-limits'
import { countedTokens, type HistoryPruner, learnTexts, preview } from '../pruning/pruner'
import { forgetResults } from '../tools/fold-result'
import { definedOf } from '../util/defined'
import { messageOf } from '../util/message-of'
import type { Semaphore } from '../util/semaphore'
import { catchLater } from '../util/warn'
import { boundMedia } from './bounded-media'
import type { Images } from './images'
import type { ContextManagerOptions } from './options'
import type { ContextReport } from './report'
import type { OverLimits } from './step-reports'

export interface Inner<M> {
  readonly options: ContextManagerOptions<M>
  /** Several sessions may share the manager: it remembers nothing that left a request. */
  readonly isShared: boolean
  /** Saves images and files that leave. */
  readonly saver: MediaSaver
  readonly pruner: HistoryPruner
  readonly turns: Semaphore
  readonly tell: (error: SpillwayError) => void
  readonly limit: number
  readonly usable: number
  readonly counts: { known: number }
  /** Who the request is sent to that is prepared. */
  recipient: Recipient
  /** The limits of that request. */
  limits: MediaLimits
  environment: { of: unknown; tokens: number; bytes: number | undefined } | undefined
  appliedSummary: AppliedSummary<M> | undefined
  /** The summary was made in another process: what it replaces was not read here. */
  isResumed: boolean
  images: Images<M>
  /** The messages of the stored history in front of this index go out without their signed reasoning. */
  thinkingRemovedBefore: number
  state: CompactionState | undefined
  last: ContextReport | undefined
  /** The last history, and what was sent of it. */
  lastSent: { history: readonly M[]; sent: readonly M[] } | undefined
  /** By the results of `prepare`. */
  readonly requests: WeakMap<object, Request>
}

/** A history as it was stored when a request was made of it, what was sent, and the compaction that was in force. */
export interface Request {
  readonly stored: readonly unknown[]
  readonly sent: readonly unknown[]
  readonly appliedSummary: Pick<AppliedSummary<unknown>, 'summaryAt' | 'shows'> | undefined
}

/** Takes note of who a request of these messages is sent to, and of its limits. */
export function addressTo<M>(inner: Inner<M>, { provider, model }: Recipient, messages: readonly M[]): void {
  const { maxRequestBytes: bytes, maxImages: images } = inner.options
  inner.recipient = { provider, model }
  inner.limits = mediaLimits(detectFormat(messages), definedOf({ bytes, images }), inner.recipient)
}

/**
 * Takes out images and files that a request cannot hold. Returns the history without them, how many they are, and their tokens.
 * Previews what will be pruned instead of pruning: a request is priced once.
 */
export async function withinLimits<M>(
  inner: Inner<M>,
  stored: readonly M[],
  lastingHistory: M[],
  now: number,
): Promise<{ history: M[]; media: { items: number; freed: number } }> {
  const before = inner.images.saved
  let history = lastingHistory
  let items = 0
  // A preview reads the whole history; most often what is pruned already is enough.
  if (overLimits(inner, withKnownPruning(inner, history)) === undefined) return { history, media: { items, freed: 0 } }
  // Without its images a history may be pruned differently.
  while (overLimits(inner, history) !== undefined) {
    const left = await leaveOut(inner, stored, preview(inner.pruner, history, now))
    if (left === 0) break
    items += left
    history = lastingAfterChange(inner, stored)
  }
  return { history, media: { items, freed: inner.images.saved - before } }
}

/** A history without what the last request left out: it stays pruned. */
function withKnownPruning<M>(inner: Inner<M>, history: M[]): readonly M[] {
  const { lastSent } = inner
  if (lastSent === undefined || !isLimited(inner.limits)) return history
  const shared = sharedMessages(history, lastSent.history)
  return [...lastSent.sent.slice(0, shared), ...history.slice(shared)]
}

/** Replaces images and files of a request by notes. Returns how many. */
async function leaveOut<M>(inner: Inner<M>, stored: readonly M[], sent: readonly M[]): Promise<number> {
  const { images, appliedSummary, options, limits, isShared, saver, tell } = inner
  const { language, estimateTokens } = options
  const estimate = new Estimate(estimateTokens, tell)
  const at = storedPlacesIn(appliedSummary, stored.length)
  const tokensOf = (some: readonly M[]) => estimate.of(some, viewsOf(some))
  return boundMedia({ images, stored, sent, at }, limits, {
    saver,
    language,
    beside: environmentBytes(inner),
    isKept: !isShared,
    tokensOf,
  })
}

/** Where in the stored history a message of the lasting one is. */
export function storedPlacesIn(
  appliedSummary: { placesIn: AppliedSummary<unknown>['placesIn'] } | undefined,
  length: number,
): (index: number) => number {
  return appliedSummary?.placesIn(length) ?? ((index) => index)
}

/** Forgets what left earlier requests, which may be those of another session. */
export function forgetShared<M>(inner: Inner<M>): void {
  if (!inner.isShared) return
  inner.images.keep()
  inner.thinkingRemovedBefore = 0
}

/** The size of a request that exceeds a limit, and the limits; `undefined` for all others. */
export function overLimits<M>(inner: Inner<M>, sent: readonly M[]): OverLimits | undefined {
  const { limits } = inner
  if (!isLimited(limits)) return undefined
  const size = requestSize(sent, environmentBytes(inner))
  return isWithinLimits(size, limits) ? undefined : { size, limits }
}

/** The stored history with its compactions. */
export function lasting<M>(inner: Inner<M>, stored: readonly M[]): M[] {
  const compacted = inner.appliedSummary === undefined ? (stored as M[]) : inner.appliedSummary.apply(stored)
  if (inner.appliedSummary !== undefined && compacted !== undefined && inner.isResumed) learnTexts(inner.pruner, stored)
  inner.isResumed = false
  if (compacted !== undefined)
    return withoutRemovedThinking(
      inner,
      stored,
      inner.images.apply(stored, compacted, storedPlacesIn(inner.appliedSummary, stored.length)),
    )
  inner.appliedSummary = undefined
  inner.images.keep()
  inner.thinkingRemovedBefore = 0
  return stored as M[]
}

/** The same once something has changed: the signed reasoning that was made by then is bound to what was there before. */
export function lastingAfterChange<M>(
  inner: Inner<M>,
  stored: readonly M[],
  thinking: unknown = inner.options.pruning?.thinking,
): M[] {
  if (thinking !== 'ignore' && thinking !== 'provider-drops') inner.thinkingRemovedBefore = stored.length
  return lasting(inner, stored)
}

/** The history without the signed reasoning that an earlier change has outdated. */
function withoutRemovedThinking<M>(
  { thinkingRemovedBefore, appliedSummary }: Inner<M>,
  stored: readonly M[],
  history: M[],
): M[] {
  if (thinkingRemovedBefore === 0) return history
  const at = storedPlacesIn(appliedSummary, stored.length)
  let end = 0
  while (end < history.length && at(end) < thinkingRemovedBefore) end++
  return withoutBoundThinking(history, viewsIn(history), 0, end)
}

/** Tokens and bytes of what is sent beside the history; counted again when it is another object. Bytes only if they are limited. */
function environmentSize<M>(inner: Inner<M>): { of: unknown; tokens: number; bytes: number | undefined } {
  const { environment, estimateTokens } = inner.options
  if (inner.environment === undefined || inner.environment.of !== environment) {
    const estimate = new Estimate(estimateTokens, inner.tell)
    const tokens = environmentTexts(environment).reduce((sum, text) => sum + estimate.text(text), 0)
    inner.environment = { of: environment, tokens, bytes: undefined }
  }
  return inner.environment
}

function environmentBytes<M>(inner: Inner<M>): number {
  const size = environmentSize(inner)
  size.bytes ??= valueBytes(size.of)
  return size.bytes
}

export function environmentTokens<M>(inner: Inner<M>): number {
  return environmentSize(inner).tokens
}

/** Tokens of a request whose history is estimated at `tokens`: as the provider counts them, once it has counted. */
export function requestTokens<M>(inner: Inner<M>, tokens: number): number {
  return countedTokens(inner.pruner, tokens) ?? tokens + environmentTokens(inner)
}

/** Restores a fold session from the first request, if another process folded some of it. Never throws. */
export function resumeFolds<M>({ options, tell }: Inner<M>, sent: readonly M[]): void {
  const { fold, ledger } = options
  try {
    resumeSession(fold, sent, ledger)
  } catch (thrown) {
    tell(new SpillwayError('CALLBACK', `fold: ${messageOf(thrown)}`, { cause: thrown }))
  }
}

/**
 * Tells those who know results by their calls that these are not sent any more, and of which of them neither is the call. Never
 * throws.
 */
export function forget<M>(
  { options, tell }: Inner<M>,
  left: readonly string[],
  leftCalls: readonly string[] = [],
): void {
  if (left.length === 0) return
  const tellers = {
    doomLoop: () => catchLater('doomLoop', options.doomLoop?.forget(left)),
    fold: () => forgetResults(options.fold, left, leftCalls),
  }
  for (const [name, tellOf] of Object.entries(tellers)) {
    try {
      tellOf()
    } catch (thrown) {
      tell(new SpillwayError('CALLBACK', `${name}: ${messageOf(thrown)}`, { cause: thrown }))
    }
  }
}
