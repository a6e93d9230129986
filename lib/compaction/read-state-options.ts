/** The options of the record of files that were read. */

import { type Check, checkOptions } from '../validation/options'
import { wrong } from '../validation/validate'

/** Options of the part of a summary about files that were read before it. */
export interface ReadStateOptions {
  /** The folder that relative paths start in. Files outside of it, also behind links, are named without their state. */
  root: string
  /** Tokens of the record at most; the newest reads count first. @default 600 */
  maxTokens?: number
  /** Number of files, those read last, whose text as it is now is added to the summary. A whole number. @default 0 */
  restoreFiles?: number
  /** Tokens of these texts at most, together. A file that does not fit is left out. @default 4000 */
  restoreTokens?: number
}

const whole: Check = ['a whole number of at least 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0]

const CHECKS: { readonly [K in keyof Required<ReadStateOptions>]: Check } = {
  root: ['the path of a folder', (value) => typeof value === 'string' && value !== ''],
  maxTokens: whole,
  restoreFiles: whole,
  restoreTokens: whole,
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function checkReadState(of: string, options: ReadStateOptions): void {
  checkOptions(of, options, CHECKS)
  if (options.root === undefined) throw wrong(`${of}.root`, undefined, CHECKS.root[0])
}
