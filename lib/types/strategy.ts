/** Strategies that shorten a text, and the rules of `smart`. */

import type { TruncationConfig } from './config'

/** Result of a strategy. */
export interface StrategyResult {
  content: string
  removedLines?: number
  removedBytes?: number
}

/** A strategy truncates a text. */
export interface TruncationStrategy {
  readonly name: string
  needsTruncation(content: string, config: TruncationConfig): boolean
  truncate(content: string, config: TruncationConfig): StrategyResult
}

/**
 * A kind of line that the strategy `smart` looks for. If several rules match a line, built-in ones included, the one with
 * the highest weight decides.
 */
export interface SmartRule {
  /** The line must contain one of these; ASCII letters match in either case. 1 to 64 texts of 3 to 128 bytes, without line breaks. */
  words: readonly string[]
  /**
   * The line must also match this: a regular expression of Rust's `regex` crate, which takes linear time; 1 to 4,096 bytes, no
   * look-around and
   * no back-references. A `RegExp` keeps its source and the flags `i`, `m` and `s`; `u` is always on. It sees the line
   * without the escapes of a terminal, at most its first 1,024 bytes. Default: the words alone decide.
   */
  pattern?: string | RegExp
  /**
   * How much the line matters, 0 to 1,000. Errors have 850 and more, words like `failed` 720, warnings 250; 0 is a veto: such a
   * line does not count as an error, whatever else is in it.
   */
  weight: number
  /**
   * Number of lines before it that help to understand it, 0 to 32.
   * @default 0
   */
  before?: number
  /**
   * Number of lines after it that help to understand it, 0 to 32. A stack trace after it is always included.
   * @default 0
   */
  after?: number
}

/** Options of `SmartStrategy`. */
export interface SmartStrategyOptions {
  /** At most 64, on top of the built-in ones. */
  rules?: readonly SmartRule[]
}
