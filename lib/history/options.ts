/** The options of {@link simplifyOutdatedTerminalResults}, checked. */

import type { OutputOwner } from '../truncation/previews'
import { atLeastZero, type Check, checkOptions, count, flag, milliseconds, owner, strings } from '../validation/options'
import type { ToolResultKnowledge } from './ledger'
import { DEFAULT_PLACEHOLDER, ENGLISH_PLACEHOLDER } from './message-cache'
import type { OutdatedResultInfo, SimplifiedReport, SimplifyOutdatedOptions } from './outdated'

const DEFAULT_MAX_AGE_MS = 15 * 60 * 1000
const DEFAULT_KEEP_RECENT = 5

/** Every option with its value. */
export interface Rules {
  now: number
  maxAgeMs: number
  keepRecent: number
  countErrors: boolean
  stderrIsError: boolean
  terminalTools: readonly string[] | undefined
  /** What stands in for a result by default. */
  standard: string
  placeholder: string | ((info: OutdatedResultInfo) => string)
  ledger: ToolResultKnowledge | undefined
  storage: OutputOwner | undefined
  onSimplified: ((report: SimplifiedReport) => void) | undefined
}

const CHECKS: { readonly [K in keyof SimplifyOutdatedOptions]-?: Check } = {
  now: [
    'a number of milliseconds since the epoch',
    (value) => atLeastZero(value) && value !== Number.POSITIVE_INFINITY,
  ],
  maxAgeMs: milliseconds,
  keepRecent: count,
  countErrors: flag,
  stderrIsError: flag,
  terminalTools: strings,
  placeholder: ['a string or a function', (value) => typeof value === 'string' || typeof value === 'function'],
  language: ["'en' or 'zh-CN'", (value) => value === 'en' || value === 'zh-CN'],
  ledger: ['a ToolResultLedger', (value) => typeof (value as ToolResultKnowledge | null)?.get === 'function'],
  storage: owner,
  onSimplified: ['a function', (value) => typeof value === 'function'],
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readOptions(options: SimplifyOutdatedOptions | undefined): Rules {
  if (options !== undefined) checkOptions('options', options, CHECKS)
  const {
    now,
    maxAgeMs,
    keepRecent,
    countErrors,
    stderrIsError,
    terminalTools,
    placeholder,
    language,
    ledger,
    storage,
    onSimplified,
  } = options ?? {}
  const standard = language === 'en' ? ENGLISH_PLACEHOLDER : DEFAULT_PLACEHOLDER
  return {
    now: now ?? Date.now(),
    maxAgeMs: maxAgeMs ?? DEFAULT_MAX_AGE_MS,
    keepRecent: keepRecent ?? DEFAULT_KEEP_RECENT,
    countErrors: countErrors ?? false,
    stderrIsError: stderrIsError ?? true,
    terminalTools,
    // The text goes to a provider, and one lone surrogate makes a request invalid.
    placeholder: typeof placeholder === 'string' ? placeholder.toWellFormed() : (placeholder ?? standard),
    standard,
    ledger,
    storage,
    onSimplified,
  }
}
