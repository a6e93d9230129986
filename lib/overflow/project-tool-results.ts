/** Projection of a history's tool results, stable across requests. */

import { warnUnreadable } from '../history/format-warning'
import { detectFormat } from '../history/formats'
import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { shortenFolded } from '../history/restore-folds'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import { isArray, isCount } from '../util/guards'
import { amount, checkOptions, fn, number, object, windowTokens } from '../validation/options'
import { wrong } from '../validation/validate'
import { boundResults, type CutText, type SentResult } from './limit-results'
import { checkedWindow, type OverflowProfile, overflowProfile, profileLimits } from './limits'

/** The form in which the results of a history were sent. Plain data, safe for `JSON.stringify`. */
export interface ProjectionState {
  readonly version: 1
  /**
   * By the id of the call; results without one by their tool and place.
   * @internal
   */
  readonly sent: Readonly<Record<string, SentResult>>
}

/** Options of {@link projectToolResults}. */
export interface ProjectOptions {
  /** The model's window in tokens; `NaN` or `Infinity` if unknown. */
  contextWindowTokens: number
  /** State that the last call returned; without it this is the first request. */
  state?: ProjectionState | undefined
  /**
   * Whose numbers and words.
   * @default 'openclaw'
   */
  profile?: OverflowProfile
  /**
   * Your own cap for one result: characters as the profile counts them, within 30 % of the window.
   * @default 16,000 below 100,000 tokens, else 32,000
   */
  maxChars?: number
  /**
   * Budget of all results together: characters.
   * @default as many as the window has tokens, at least the cap of one result, at most 256,000
   */
  maxTotalChars?: number
  /**
   * Returns true if a saved output that a result names still exists; only then does the model get its path. A tool can print any
   * path, so return true only for your own paths.
   * @default whether `storage` owns the path, or this process saved it
   */
  outputExists?: (path: string) => boolean
  /** The storage that full outputs were saved in: only paths that it owns are named. */
  storage?: OutputOwner
  /**
   * A `ToolResultLedger` with the records of a `FoldSession`: a result whose pointer would lose its target gets its text back before
   * results are shortened.
   */
  ledger?: ToolResultKnowledge
}

/** Report of {@link projectToolResults}. */
export interface Projection<M> {
  /** The messages for the request; the input array itself if nothing was truncated. */
  messages: M[]
  /** For the next request. */
  state: ProjectionState
  report: {
    /** Number of truncated results. */
    shortened: number
    /** Characters of all results, as the profile counts them: in the history, and in the request. */
    charsBefore: number
    charsAfter: number
    /** True if a result that was sent before is sent in another form, so that the provider's prompt cache is lost from there on. */
    rebaselined: boolean
  }
}

const CHECKS = {
  contextWindowTokens: windowTokens,
  state: object,
  profile: overflowProfile,
  maxChars: number,
  maxTotalChars: amount,
  outputExists: fn,
  storage: owner,
  ledger: LEDGER_CHECK,
} as const

/**
 * Limits the tool results of a request to a cap for each and a budget for all, always in the same way: a result is sent again with
 * the same bytes as long as its text is the same, because a provider's prompt cache only matches an unchanged prefix. It may
 * become shorter later, but never longer again.
 *
 * Results of the newest turn are protected: they get a quarter of the budget, or the newest result in full. Results that were sent
 * before are truncated only if the newest would not get that share; then by enough for several turns, and the report says so. The
 * largest of the older results are truncated first; then the oldest are replaced by a line that says so, and that names the file
 * with the full output, if the result named it and a storage confirms that it saved it.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is not allowed
 */
export function projectToolResults<M>(messages: readonly M[], options: ProjectOptions): Projection<M> {
  checkOptions('options', options, CHECKS)
  const { profile = 'openclaw', maxChars, maxTotalChars, outputExists, storage } = options
  const limits = profileLimits(
    profile,
    checkedWindow(options.contextWindowTokens, 'options.contextWindowTokens'),
    maxChars,
  )
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const { projection: cap, request, weighted, minKeep } = limits
  const bounds = { profile, weighted, cap, budget: maxTotalChars ?? request, minKeep, outputExists, storage }
  const before = readState(options.state)
  let weightBefore: number | undefined
  const bounded = shortenFolded(messages, options.ledger, (given) => {
    const made = boundResults(given, bounds, before)
    weightBefore ??= made.weightBefore
    return made
  })
  const { count, weightAfter, rebaselined, sent } = bounded
  if (count === 0) warnUnreadable('projectToolResults', messages, detectFormat(messages))
  return {
    messages: bounded.messages,
    state: { version: 1, sent: Object.fromEntries(sent) },
    report: { shortened: count, charsBefore: weightBefore ?? 0, charsAfter: weightAfter, rebaselined },
  }
}

/** A state that was modified counts as not sent. */
function readState(state: ProjectionState | undefined): Map<string, SentResult> {
  if (state === undefined) return new Map()
  const { version, sent } = state
  if (version !== 1) throw wrong('options.state.version', version, '1')
  return new Map(Object.entries(Object(sent) as Record<string, SentResult>).filter(([, one]) => isSent(one)))
}

function isSent(value: unknown): value is SentResult {
  const { source, weight, cuts, line } = Object(value) as Partial<SentResult>
  return (
    typeof source === 'string' &&
    Number.isFinite(weight) &&
    (line === undefined || typeof line === 'string') &&
    (cuts === undefined || (isArray(cuts) && cuts.every((cut) => cut === null || isCut(cut))))
  )
}

function isCut(value: unknown): value is CutText {
  const { head, tail, middle, suffix } = Object(value) as Partial<CutText>
  return isCount(head) && isCount(tail) && typeof middle === 'string' && typeof suffix === 'string'
}
