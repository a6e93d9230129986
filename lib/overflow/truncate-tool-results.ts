/** The document's functions over the messages of a request. */

import { warnUnreadable } from '../history/format-warning'
import { detectFormat, viewsIn, viewsOf } from '../history/formats'
import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { shortenFolded } from '../history/restore-folds'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import { isArray } from '../util/guards'
import { checkOptions, fn, number, string, wholeFrom } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'
import { boundResults } from './limit-results'
import { checkedWindow, type OverflowLimits, type OverflowProfile, overflowProfile, profileLimits } from './limits'
import { resultsOf, weightOf } from './results'

/** Options of the truncating functions. */
export interface TruncateResultsOptions {
  /**
   * Whose numbers and words.
   * @default 'openclaw-2026-02'
   */
  profile?: OverflowProfile
  /**
   * A cap of your own for one result: characters as the profile counts them. It holds within 30 % of the window; a number
   * that is not above 0 is ignored.
   * @default by the profile and the window
   */
  maxChars?: number
  /**
   * Characters of each text that stay if the cap allows it, at least 0.
   * @default 2000, or 0 with the profile `openclaw`
   */
  minKeepChars?: number
  /**
   * Suffix of a truncated text; `{removed}` is replaced by the number of removed characters.
   * @default by the profile
   */
  suffix?: string
  /**
   * Budget of all results together: characters, at least 0. `false` turns it off.
   * @default none, or the budget of a recovery with the profile `openclaw`
   */
  maxTotalChars?: number | false
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

const isTotal = (value: unknown) => value === false || (typeof value === 'number' && value >= 0)

const CHECKS = {
  profile: overflowProfile,
  maxChars: number,
  minKeepChars: wholeFrom(0),
  suffix: string,
  maxTotalChars: ['a number of at least 0, or false', isTotal],
  outputExists: fn,
  storage: owner,
  ledger: LEDGER_CHECK,
} as const

/** Result of {@link truncateOversizedToolResultsInMessages}. */
export interface TruncatedMessages<M> {
  /** The messages for the request; the input array itself if nothing was truncated. */
  messages: M[]
  /** Results that were shortened. */
  truncatedCount: number
}

/** Every option with its value. */
export interface TruncateRules {
  options: TruncateResultsOptions
  profile: OverflowProfile
  limits: OverflowLimits
  budget: number | null
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readTruncateOptions(window: unknown, options: TruncateResultsOptions = {}): TruncateRules {
  checkOptions('options', options, CHECKS)
  const { profile = 'openclaw-2026-02', maxChars, maxTotalChars } = options
  const limits = profileLimits(profile, checkedWindow(window), maxChars)
  const budget = maxTotalChars === undefined ? limits.recovery : maxTotalChars === false ? null : maxTotalChars
  return { options, profile, limits, budget }
}

/** Shortens what is too long by these rules. */
export function truncateBy<M>(messages: readonly M[], { options, profile, limits, budget }: TruncateRules) {
  const { perResult: cap, weighted, minKeep } = limits
  const { minKeepChars = minKeep, suffix, outputExists, storage } = options
  const bounds = { profile, weighted, cap, budget, minKeep: minKeepChars, suffix, outputExists, storage }
  return shortenFolded(messages, options.ledger, (given) => boundResults(given, bounds))
}

/**
 * Truncates the tool results that are too long for the model's window, in a copy of the messages. Use it for requests, not for the
 * stored history. It accepts every format that {@link detectFormat} knows.
 *
 * Keeps the start of a long result, up to a line break if one is in the last fifth, and also the end if that contains the outcome.
 * Several texts of one result share the cap in proportion to their lengths. A line at the end says how many characters were
 * removed. The cap includes that line, and takes precedence over {@link MIN_KEEP_CHARS}. Unchanged messages
 * are returned as the same objects (`===`).
 *
 * @param contextWindowTokens the model's window in tokens; `NaN` or `Infinity` if unknown
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array, or the window or an option is not allowed
 */
export function truncateOversizedToolResultsInMessages<M>(
  messages: readonly M[],
  contextWindowTokens: number,
  options?: TruncateResultsOptions,
): TruncatedMessages<M> {
  const rules = readTruncateOptions(contextWindowTokens, options)
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const { messages: shortened, count } = truncateBy(messages, rules)
  if (count === 0) warnUnreadable('truncateOversizedToolResultsInMessages', messages, detectFormat(messages))
  return { messages: shortened, truncatedCount: count }
}

/**
 * The length of a tool result's texts: UTF-16 units. Images are not counted. Returns 0 for other messages and for values that are
 * not messages.
 */
export function getToolResultTextLength(message: unknown): number {
  return resultsOf(viewsOf([message])).reduce((sum, result) => sum + weightOf(result, false), 0)
}

/**
 * Returns true if truncating could help: a tool result is longer than the window allows, or, with the profile `openclaw`, all of
 * them together are. A quick check to decide if a recovery is worth trying.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array, or another parameter is not allowed
 */
export function sessionLikelyHasOversizedToolResults(
  params: { messages: readonly unknown[]; contextWindowTokens: number } & TruncateResultsOptions,
): boolean {
  if (!isRecord(params)) throw wrong('params', params, 'an object')
  const { messages, contextWindowTokens, ...options } = params
  const { limits, budget } = readTruncateOptions(contextWindowTokens, options)
  if (!isArray(messages)) throw wrong('params.messages', messages, 'an array')
  const { format, views } = viewsIn(messages)
  warnUnreadable('sessionLikelyHasOversizedToolResults', messages, format)
  let total = 0
  for (const result of resultsOf(views)) {
    const weight = weightOf(result, limits.weighted)
    if (weight > limits.perResult) return true
    total += Math.min(weight, limits.perResult)
  }
  return budget !== null && total > budget
}
