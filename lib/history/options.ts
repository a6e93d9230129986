/** The options of `simplifyOutdatedTerminalResults`, checked. */

import { type OutputOwner, owner } from '../storage/saved-outputs'
import type { NoticeLanguage } from '../types'
import {
  atLeastZero,
  type Check,
  checkOptions,
  count,
  flag,
  fn,
  milliseconds,
  noticeLanguage,
  stringOrFn,
  strings,
} from '../validation/options'
import { LEDGER_CHECK, type ToolResultKnowledge } from './ledger'
import { DEFAULT_PLACEHOLDER, ENGLISH_PLACEHOLDER } from './message-cache'

/** Facts about an outdated result, for its placeholder. */
export interface OutdatedResultInfo {
  /** The tool, from the result or from the call that it answers. */
  toolName?: string
  toolCallId?: string
  /** When the tool finished: milliseconds since the epoch. */
  timestamp: number
  /** Milliseconds from then to `now`. */
  ageMs: number
  /** Size of the result's text: UTF-8 bytes. */
  bytes: number
  /**
   * Where the full output was saved, from the ledger, the message's `outputPath`, `truncationPath` or `outputPath` of its
   * `metadata`, or the notice in its text.
   */
  outputPath?: string
}

/** Report of one call. */
export interface SimplifiedReport {
  /** Results that were replaced; at least 1. */
  count: number
  /**
   * UTF-8 bytes that were saved: those of the texts, minus those of their placeholders. Negative if the placeholders are longer.
   */
  bytes: number
  /** The same in tokens, estimated. */
  tokens: number
  /** Indices of the replaced messages, ascending. */
  indices: number[]
}

/** Options of `simplifyOutdatedTerminalResults`. */
export interface SimplifyOutdatedOptions {
  /**
   * The time that ages are measured at: milliseconds since the epoch, at least 0.
   * @default Date.now()
   */
  now?: number
  /**
   * Results up to this age are kept: milliseconds, at least 0. `Infinity` keeps all.
   * @default 900000
   */
  maxAgeMs?: number
  /**
   * Number of newest results, of any tool, that are kept at any age. A whole number of at least 0, or `Infinity`.
   * @default 5
   */
  keepRecent?: number
  /**
   * True if errors count among the newest results. Errors are never replaced in either case.
   * @default false
   */
  countErrors?: boolean
  /**
   * True if a result with a non-empty `stderr` counts as an error.
   * @default true
   */
  stderrIsError?: boolean
  /**
   * The tools that run commands in a terminal; case and `-`, `_`, `.` between words do not matter. Replaces the built-in
   * list (`terminal-execute`, `bash`, `shell`, `exec`, `exec_command`, `run_command`, `run_shell_command`, …), and overrides the
   * built-in list of other tools (`read`, `filesystem-read`, `grep`, `edit`, …). For tools in neither list, the text decides.
   */
  terminalTools?: readonly string[]
  /**
   * Placeholder of an outdated result, or a function that returns one for each. If the function throws or returns
   * something else than a string, the default is used and a warning is emitted.
   * @default '此命令返回内容已过时', or what `language` says
   */
  placeholder?: string | ((info: OutdatedResultInfo) => string)
  /**
   * The language of the default placeholder; in English `[Outdated output of a command was removed]`.
   * @default 'zh-CN'
   */
  language?: NoticeLanguage
  /**
   * Metadata recorded when the tools finished. It is more reliable than the message about the tool of a result, whether the
   * call failed (an exit code of 0 outweighs a text that starts like an error), and where the full output was saved; and
   * when it finished, if the message has no time.
   */
  ledger?: ToolResultKnowledge
  /**
   * The storage that full outputs were saved in: with it, a placeholder only receives paths that it owns. Without it paths in
   * the host's messages are trusted.
   */
  storage?: OutputOwner
  /** Called at the end of a call that replaced something. If it throws, a warning is emitted and nothing else changes. */
  onSimplified?: (report: SimplifiedReport) => void
}

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
  /** Default placeholder of a result. */
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
  placeholder: stringOrFn,
  language: noticeLanguage,
  ledger: LEDGER_CHECK,
  storage: owner,
  onSimplified: fn,
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readOutdatedOptions(options: SimplifyOutdatedOptions | undefined): Rules {
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
    // The text is sent to a provider, and one lone surrogate makes a request invalid.
    placeholder: typeof placeholder === 'string' ? placeholder.toWellFormed() : (placeholder ?? standard),
    standard,
    ledger,
    storage,
    onSimplified,
  }
}
