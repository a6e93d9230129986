/** How much of a context the results of tools may take: the document's constants, and the limits of each profile. */

import { call, native } from '../native/native'
import type { TruncationProfile } from '../types'
import { type Check, checkOptions, number, oneOf } from '../validation/options'
import { wrong } from '../validation/validate'
import type { OverflowTransition } from './state-machine'

const constants = JSON.parse(native.overflowConstants()) as {
  HARD_MAX_TOOL_RESULT_CHARS: number
  MIN_KEEP_CHARS: number
  MAX_TOOL_RESULT_CONTEXT_SHARE: number
  MAX_OVERFLOW_COMPACTION_ATTEMPTS: number
  GUARD_TRUNCATION_SUFFIX: string
  charsPerToken: number
  cut: CutWords
  transitions: OverflowTransition[]
}

/** The maximum length of a result, whatever the window: 400,000 UTF-16 units, about 100,000 tokens. */
export const HARD_MAX_TOOL_RESULT_CHARS: number = constants.HARD_MAX_TOOL_RESULT_CHARS

/** The minimum length kept of a result if the budget allows it: 2,000 UTF-16 units. The cap takes precedence. */
export const MIN_KEEP_CHARS: number = constants.MIN_KEEP_CHARS

/** The share of the window that one result may take: 0.3. */
export const MAX_TOOL_RESULT_CONTEXT_SHARE: number = constants.MAX_TOOL_RESULT_CONTEXT_SHARE

/** Maximum number of compactions in one recovery: 3. */
export const MAX_OVERFLOW_COMPACTION_ATTEMPTS: number = constants.MAX_OVERFLOW_COMPACTION_ATTEMPTS

/** Ends a result that {@link guardSession} cut before it was written. */
export const GUARD_TRUNCATION_SUFFIX: string = constants.GUARD_TRUNCATION_SUFFIX

/** Marker that a truncation leaves in a text. */
export interface CutWords {
  /** Texts before and after the number of removed characters. */
  readonly openings: readonly string[]
  readonly counted: string
  /** Text between the head and the tail. */
  readonly middle: string
}

/** The words of all profiles. */
export const cutWords: CutWords = constants.cut

/** Characters that make a token, by the rules of the profiles. */
export const CHARS_PER_TOKEN = constants.charsPerToken

/** The transitions as the binary has them. */
export const transitions: readonly OverflowTransition[] = constants.transitions

/**
 * The system whose numbers, wording and order are used: `openclaw` has the newest (16,000, 32,000 or 64,000 characters by window, Chinese,
 * Japanese and Korean characters counting four times, and a budget for all results together), `openclaw-2026-02` those of
 * the document (30 % of the window, at most 400,000 UTF-16 units, compaction first).
 */
export type OverflowProfile = Extract<TruncationProfile, 'openclaw' | 'openclaw-2026-02'>

/** The profiles by name. */
export const PROFILES: readonly OverflowProfile[] = ['openclaw', 'openclaw-2026-02']

/** The limits for one window, in characters as the profile counts them. */
export interface OverflowLimits {
  perResult: number
  projection: number
  request: number | null
  recovery: number | null
  minKeep: number
  weighted: boolean
}

/** A cap of the caller that is not above 0 is ignored. */
export function profileLimits(profile: OverflowProfile, window: number, cap?: number): OverflowLimits {
  const own = cap !== undefined && cap > 0 ? Math.floor(cap) : undefined
  return JSON.parse(call(() => native.overflowLimits(profile, window, own)))
}

/**
 * Returns the limit of one tool result: 30 % of the window at four characters per token, and never more than
 * {@link HARD_MAX_TOOL_RESULT_CHARS}.
 *
 * @param contextWindowTokens the model's window in tokens, at least 0; `NaN` or `Infinity` if unknown
 * @returns UTF-16 units: 153,600 for 128,000 tokens
 * @throws SpillwayError `INVALID_ARGUMENT` if the number is invalid, or an option is not allowed
 */
export function calculateMaxToolResultChars(contextWindowTokens: number, options: MaxCharsOptions = {}): number {
  checkOptions('options', options, { profile: overflowProfile, maxChars: number })
  const { profile = 'openclaw-2026-02', maxChars } = options
  return profileLimits(profile, checkedWindow(contextWindowTokens), maxChars).perResult
}

/** Options of {@link calculateMaxToolResultChars}. */
export interface MaxCharsOptions {
  /**
   * The upstream system of the numbers: with `openclaw` 16,000, 32,000 or 64,000 by window, and 16,000 if it is unknown.
   * @default 'openclaw-2026-02'
   */
  profile?: OverflowProfile
  /** Your own cap. It may not exceed 30 % of the window; a number that is not above 0 is ignored. */
  maxChars?: number
}

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function checkedWindow(window: unknown, field = 'contextWindowTokens'): number {
  if (typeof window !== 'number' || window < 0) throw wrong(field, window, 'a number of tokens of at least 0')
  return window
}

export const overflowProfile: Check = oneOf(...PROFILES)
