/** The result of a truncation, and the facts that its notice is made from. */

import type { TruncationDirection } from './config'
import type { SavedPart, SaveError } from './storage'
import type { TestRun } from './test-run'

/** Limit that stopped the preview. */
export type TruncationLimit = 'lines' | 'bytes' | 'tokens'

/**
 * A stretch of the original text that the preview shows. Lines count from 1, bytes from 0; ends are exclusive for bytes,
 * inclusive for lines.
 */
export interface ShownRange {
  fromLine: number
  toLine: number
  fromByte: number
  toByte: number
}

/** A line that was truncated because not even one line fitted: `shownBytes` of its `totalBytes` are in the preview. */
export interface PartialLine {
  line: number
  shownBytes: number
  totalBytes: number
}

/**
 * The result if nothing was truncated: the same content that was passed in; for bytes, their text; with `terminal`, the text that
 * a terminal would show.
 */
export interface UntouchedResult<C = string> {
  content: C
  truncated: false
  /** Path of the raw output. Only with `terminal`, and only if the raw output exceeds the limits. */
  raw?: RawOutput
}

/** Facts about the saved raw output, when the text that a terminal would show is within the limits. */
export type RawOutput = Pick<TruncatedResult, 'outputPath' | 'saveError' | 'savedPart' | 'redactions'>

/** Result of an output that was truncated. */
export interface TruncatedResult<C = string> {
  /** Text for the model: preview and notice. */
  content: C
  truncated: true
  /** Path of the saved output. `''` if it could not be saved; `saveError` then says why. */
  outputPath: string
  /** Lines of the original that the preview does not show at all. */
  removedLines?: number
  /** Bytes of the original that the preview does not show, including line breaks at the cut. */
  removedBytes?: number
  /** The kept text without the notice, within the limits. */
  preview?: string
  /** The notice: what is missing, where the full output is, and how to read it. */
  hint?: string
  keptLines?: number
  keptBytes?: number
  totalLines?: number
  totalBytes?: number
  /** The limit that was reached first, which is the one that the notice names. */
  limitedBy?: TruncationLimit
  /** The parts of the original that the preview shows, in order. */
  ranges?: ShownRange[]
  /** Set if single lines were truncated. */
  partialLines?: PartialLine[]
  /** The test run that the output reports. Only with the strategy `tests`, and only if a known runner printed it. */
  testRun?: TestRun
  /** Set if the output was truncated although its tool turned truncation off, because it exceeded the hard ceiling. */
  ceilingReached?: boolean
  /** Set when the full output could not be saved anywhere. */
  saveError?: SaveError
  /** Set when the saved file holds only a part of the output, because that is longer than `maxFileBytes`. */
  savedPart?: SavedPart
  /** Number of secrets that were redacted in the saved output. Absent without `redact`, and when nothing was saved. */
  redactions?: number
  /** Set when a custom strategy was not called, because a capture grew longer than `customStrategyBytes`. */
  strategyBypassed?: boolean
}

/** Result of a truncation: a union discriminated by `truncated`. */
export type TruncationResult<C = string> = UntouchedResult<C> | TruncatedResult<C>

/** The facts for a notice. */
export interface NoticeInfo {
  toolName: string
  failed: boolean
  direction: TruncationDirection
  limitedBy: TruncationLimit
  removedLines: number
  removedBytes: number
  keptLines: number
  keptBytes: number
  totalLines: number
  totalBytes: number
  ranges: ShownRange[]
  partialLines: PartialLine[]
  ceilingReached: boolean
  /** `''` when nothing was saved. */
  outputPath: string
  saveError?: SaveError
  savedPart?: SavedPart
  redactions?: number
  availableTools: readonly string[]
}
