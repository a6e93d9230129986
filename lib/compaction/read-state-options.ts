/** The options of the record of files that were read. */

import { renamed, SpillwayError } from '../errors'
import { MemoryStorage } from '../storage/memory-storage'
import type { RedactionOptions } from '../types'
import { type Check, checkOptions, folder, wholeFrom } from '../validation/options'
import { isRecord, readable, wrong } from '../validation/validate'

/** Options of the part of a summary about files that were read before it. */
export interface ReadStateOptions {
  /** The folder that relative paths start from. Files outside of it, also after following links, are listed without their state. */
  root: string
  /** Maximum tokens of the list; the newest reads come first. @default 600 */
  maxTokens?: number
  /** Number of files, those read last, whose current text is added to the summary. A whole number. @default 0 */
  restoreFiles?: number
  /** Maximum tokens of these texts together. A file that does not fit is left out. @default 4000 */
  restoreTokens?: number
  /**
   * Redaction of these texts, which are part of the summary and stored with it. Well-known forms of secrets are redacted unless
   * `known` is false. Files whose names indicate secrets, such as `.env`, are never added.
   * @default { known: true }
   */
  redact?: RedactionOptions
}

const CHECKS: { readonly [K in keyof Required<ReadStateOptions>]: Check } = {
  root: folder,
  maxTokens: wholeFrom(0),
  restoreFiles: wholeFrom(0),
  restoreTokens: wholeFrom(0),
  redact: ['an object such as { known: true }', isRecord],
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function checkReadState(of: string, options: ReadStateOptions): void {
  checkOptions(of, options, CHECKS)
  if (options.root === undefined) throw wrong(`${of}.root`, undefined, CHECKS.root[0])
  const { redact } = options
  const copy = readable(`${of}.redact`, () => ({ ...redact }))
  try {
    redactorOf({ ...options, redact: copy })
  } catch (error) {
    const { message, field, cause } = renamed({ redact: `${of}.redact` }, error) as SpillwayError
    const shown = message.replace(`"${of}`, () => `"${of.replace(/^options\./, '')}`)
    throw new SpillwayError('INVALID_ARGUMENT', shown, { field, cause })
  }
}

/** Returns the storage that redacts what it keeps, by these options. */
export function redactorOf({ redact }: ReadStateOptions): MemoryStorage {
  return new MemoryStorage({ redact: { known: true, ...redact } })
}
