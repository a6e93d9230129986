/** The parts of a {@link ContextManager}, and the history as its earlier changes have left it. */

import type { Fold } from '../compaction/apply-summary'
import { environmentTexts } from '../compaction/prompt'
import type { CompactionState } from '../compaction/report'
import { SpillwayError } from '../errors'
import { isUnusedSession } from '../fold/fold-session'
import { withoutBoundThinking } from '../history/bound-thinking'
import { Estimate } from '../history/estimate'
import { detectFormat, viewsIn, viewsOf } from '../history/formats'
import { valueBytes } from '../history/request-bytes'
import { isLimited, isWithinLimits, type MediaLimits, mediaLimits, requestSize } from '../overflow/media-limits'
import { countedTokens, type HistoryPruner, learnTexts } from '../pruning/pruner'
import { forgetResults } from '../tools/fold-result'
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
  /** The session that files are saved for. */
  readonly sessionId: string | undefined
  readonly pruner: HistoryPruner
  readonly turns: Semaphore
  readonly tell: (error: SpillwayError) => void
  readonly limit: number
  readonly usable: number
  readonly counts: { known: number }
  environment: { of: unknown; tokens: number; bytes: number } | undefined
  fold: Fold<M> | undefined
  /** The summary was made in another process: what it replaces was not read here. */
  isResumed: boolean
  images: Images<M>
  /** The messages of the stored history in front of this index go out without their signed reasoning. */
  thinkingRemovedBefore: number
  state: CompactionState | undefined
  last: ContextReport | undefined
  /** By the results of `prepare`. */
  readonly requests: WeakMap<object, Request>
}

/** A history as it was stored when a request was made of it, what was sent, and the compaction that was in force. */
export interface Request {
  readonly stored: readonly unknown[]
  readonly sent: readonly unknown[]
  readonly fold: Pick<Fold<unknown>, 'summaryAt' | 'shows'> | undefined
}

/** The limits that the caller has set. */
function givenLimits<M>({ maxRequestBytes: bytes, maxImages: images }: ContextManagerOptions<M>): Partial<MediaLimits> {
  return { ...(bytes !== undefined && { bytes }), ...(images !== undefined && { images }) }
}

/** Takes out images and files that a request cannot hold. Returns how many, and their tokens. */
export async function withinLimits<M>(
  inner: Inner<M>,
  stored: readonly M[],
  sent: readonly M[],
): Promise<{ items: number; freed: number }> {
  const { images, fold, options, sessionId, tell } = inner
  const { storage, language, estimateTokens } = options
  const estimate = new Estimate(estimateTokens, tell)
  const before = images.saved
  const at = fold?.placesIn(stored.length) ?? ((index: number) => index)
  const tokensOf = (some: readonly M[]) => estimate.of(some, viewsOf(some))
  const { bytes: beside } = environmentSize(inner)
  const items = await boundMedia({ images, stored, sent, at }, givenLimits(options), {
    storage,
    language,
    beside,
    tokensOf,
  })
  return { items, freed: images.saved - before }
}

/** The size of a request that exceeds a limit, and the limits; `undefined` for all others. */
export function overLimits<M>(inner: Inner<M>, sent: readonly M[]): OverLimits | undefined {
  const limits = mediaLimits(detectFormat(sent), givenLimits(inner.options))
  if (!isLimited(limits)) return undefined
  const size = requestSize(sent, environmentSize(inner).bytes)
  return isWithinLimits(size, limits) ? undefined : { size, limits }
}

/** The stored history with its compactions. */
export function lasting<M>(inner: Inner<M>, stored: readonly M[]): M[] {
  const folded = inner.fold === undefined ? (stored as M[]) : inner.fold.apply(stored)
  if (inner.fold !== undefined && folded !== undefined && inner.isResumed) learnTexts(inner.pruner, stored)
  inner.isResumed = false
  if (folded !== undefined) return withoutRemovedThinking(inner, stored, inner.images.apply(stored, folded))
  inner.fold = undefined
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
function withoutRemovedThinking<M>({ thinkingRemovedBefore, fold }: Inner<M>, stored: readonly M[], history: M[]): M[] {
  if (thinkingRemovedBefore === 0) return history
  const at = fold?.placesIn(stored.length) ?? ((index: number) => index)
  let end = 0
  while (end < history.length && at(end) < thinkingRemovedBefore) end++
  return withoutBoundThinking(history, viewsIn(history), 0, end)
}

/** Tokens and bytes of what is sent beside the history; counted again when it is another object. */
function environmentSize<M>(inner: Inner<M>): { tokens: number; bytes: number } {
  const { environment, estimateTokens } = inner.options
  if (inner.environment === undefined || inner.environment.of !== environment) {
    const estimate = new Estimate(estimateTokens, inner.tell)
    const tokens = environmentTexts(environment).reduce((sum, text) => sum + estimate.text(text), 0)
    inner.environment = { of: environment, tokens, bytes: valueBytes(environment) }
  }
  return inner.environment
}

export function environmentTokens<M>(inner: Inner<M>): number {
  return environmentSize(inner).tokens
}

/** Tokens of a request whose history is estimated at `tokens`: as the provider counts them, once it has counted. */
export function requestTokens<M>(inner: Inner<M>, tokens: number): number {
  return countedTokens(inner.pruner, tokens) ?? tokens + environmentTokens(inner)
}

/** Restores a fold session that was not used yet from what is sent: another process folded it. Never throws. */
export function resumeFolds<M>({ options, tell }: Inner<M>, sent: readonly M[]): void {
  const { fold, ledger } = options
  if (!isUnusedSession(fold)) return
  try {
    fold.restore(sent, ledger === undefined ? {} : { ledger })
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
