/** The options of {@link compactHistory}, checked, and the numbers that they come to. */

import type { ThinkingMode } from '../history/bound-thinking'
import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { call, native } from '../native/native'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import type { NoticeLanguage, TruncationProfile } from '../types'
import { isArray } from '../util/guards'
import {
  aboveZero,
  anything,
  atLeastZero,
  type Check,
  checkOptions,
  count,
  finite,
  flag,
  fn,
  isAboveZero,
  noticeLanguage,
  object,
  oneOf,
  string,
  strings,
  wholeFrom,
  windowTokens,
} from '../validation/options'
import { checkSignal, wrong } from '../validation/validate'
import type { CompactionHooks } from './hooks'
import { checkReadState, type ReadStateOptions } from './read-state-options'
import type { CompactionState } from './report'
import type { CompactionEnvironment, SummaryRequest } from './types'

/** The agent whose numbers are used: `moryflow`, `opencode` or `takumi`. */
export type CompactionProfile = Extract<TruncationProfile, 'moryflow' | 'opencode' | 'takumi'>

/** Writes a summary: usually a request to a model. */
export type Summarize<M = unknown> = (
  request: SummaryRequest<M>,
) => string | { text: string } | Promise<string | { text: string }>

/** Options of {@link compactHistory}. */
export interface CompactOptions<M = unknown> {
  /** The model's window in tokens. 0, `NaN`, `Infinity` or nothing: unknown; then `maxChars` decides. */
  contextWindow?: number
  /** Writes summaries. Without it only old outputs are removed. */
  summarize?: Summarize<M>
  /**
   * Milliseconds that the summariser may take, or `Infinity`.
   * @default 120000
   */
  summarizeTimeoutMs?: number
  /**
   * Token limit of a summary. Never more than 15 % of the usable window.
   * @default 4096
   */
  maxSummaryTokens?: number
  /**
   * Input limit of the summariser, in tokens.
   * @default `contextWindow`, or 32,000 if it is unknown
   */
  summarizerWindow?: number
  /**
   * The numbers of a known agent, as defaults of the other options. `moryflow`: the decision record's, four characters to a
   * token. `opencode`: when all but 20,000 tokens are used; the newest 40,000 tokens of outputs stay, and none are removed unless
   * 20,000 can. `takumi`: at 70 % of the window, with the same outputs.
   */
  profile?: CompactionProfile
  /** `false`: compacts only on request. @default true */
  enabled?: boolean
  /** Compacts whatever the size, and although compaction is switched off. @default false */
  force?: boolean
  /**
   * Makes the history fit into this number of tokens, regardless of the window; for a recovery from an overflow.
   */
  targetTokens?: number
  /**
   * Compaction begins above this share of the usable tokens: the window minus the room for an answer (4,096 tokens or a fifth) and
   * minus `reserveTokens`. Above 0, at most 1.
   * @default 0.8
   */
  triggerShare?: number
  /**
   * Compaction begins above this number of UTF-16 units if the window is unknown; `Infinity`: never.
   * @default 120000
   */
  maxChars?: number
  /** Tokens that stay free in addition to the room for an answer. @default 0 */
  reserveTokens?: number
  /**
   * Number of newest turns kept byte for byte, as long as they fit. The newest user message is always kept. A
   * whole number; 0 is 1.
   * @default 3
   */
  recentTurns?: number
  /**
   * Outputs of these tools stay. `*` stands for any characters; case and `-`, `_`, `.` between words do not matter.
   * @default ['task', 'tasks_*', 'write', 'edit', 'move', 'delete']
   */
  protectedTools?: readonly string[]
  /** Parts of the request besides the history. */
  environment?: CompactionEnvironment
  /**
   * Tokens that the provider counted for these messages and the other parts of the request. Estimates are scaled to it.
   */
  usedTokens?: number
  /**
   * Returns the tokens of a text. If it throws or returns no number, a warning is issued and the built-in estimate is used.
   * @default the built-in estimate
   */
  estimateTokens?: (text: string) => number
  /**
   * The language of the texts that Spillway adds to the history.
   * @default that of what the user said
   */
  language?: NoticeLanguage
  /** Metadata recorded when the tools finished: the path of the saved output, and the tool name. */
  ledger?: ToolResultKnowledge
  /**
   * The storage that full outputs were saved in: only paths that it owns are used. Without it, a path printed by the tool is used
   * only if this process saved it, and a path that the host wrote into a message is trusted. Images that leave are saved in it if it has
   * `saveBytes`.
   */
  storage?: OutputOwner
  /**
   * `keep-prefix`: signed reasoning after the first changed message is removed, because current Claude models refuse it there.
   * `ignore`: it stays.
   * @default 'keep-prefix'
   */
  thinking?: ThinkingMode
  /**
   * Adds to a summary the files that were read before it, with the lines read and whether they have changed since, and on request
   * the current text of the files read last. These files are opened; without this option, no file is.
   * @default none
   */
  readState?: ReadStateOptions
  /** State of an earlier compaction of this session: `report.state`. */
  state?: CompactionState | undefined
  /** Called before a summary is written, and after a compaction. */
  hooks?: CompactionHooks<M>
  /** Milliseconds that a hook may take. @default 5000 */
  hookTimeoutMs?: number
  /** Ends the compaction; it rejects with `ABORTED`. */
  signal?: AbortSignal | undefined
}

/** The sizes that decide: tokens, or UTF-16 units if the window is unknown. */
export interface CompactionLimits {
  trigger: number
  usable: number
  cut: number
  summary: number
}

/** The options with their defaults. */
export interface CompactSettings<M> {
  readonly options: CompactOptions<M>
  /** `undefined`: the window is unknown, and no number of characters is too many. */
  readonly limits: CompactionLimits | undefined
  readonly unit: 'tokens' | 'chars'
  readonly recentTurns: number
  readonly protectedTools: readonly string[]
  readonly placeholder: string | undefined
  readonly quarters: boolean
  readonly inclusive: boolean
  readonly protectOutput: number
  readonly minOutput: number
  readonly timeoutMs: number
  readonly hookTimeoutMs: number
  readonly summarizerTokens: number
}

const tokens: Check = ['a number of tokens of at least 0', atLeastZero]

/** Validation of each option. */
export const COMPACT_CHECKS: { readonly [K in keyof CompactOptions]-?: Check } = {
  contextWindow: windowTokens,
  summarize: fn,
  summarizeTimeoutMs: aboveZero,
  maxSummaryTokens: aboveZero,
  summarizerWindow: aboveZero,
  profile: oneOf(...native.compactionProfiles()),
  enabled: flag,
  force: flag,
  targetTokens: tokens,
  triggerShare: ['a number above 0, and at most 1', (value) => isAboveZero(value) && (value as number) <= 1],
  maxChars: aboveZero,
  reserveTokens: finite(0),
  recentTurns: count,
  protectedTools: strings,
  environment: object,
  usedTokens: finite(0),
  estimateTokens: fn,
  language: noticeLanguage,
  ledger: LEDGER_CHECK,
  storage: owner,
  thinking: oneOf('keep-prefix', 'ignore'),
  readState: object,
  state: object,
  hooks: object,
  hookTimeoutMs: aboveZero,
  signal: anything,
}

const ENVIRONMENT: { readonly [K in keyof CompactionEnvironment]-?: Check } = {
  systemPrompt: string,
  tools: anything,
  skills: anything,
}

const STATE: { readonly [K in keyof CompactionState]-?: Check } = {
  answers: wholeFrom(0),
  recent: ['an array of whole numbers', (value) => isArray(value) && value.every(wholeFrom(0)[1])],
  failures: wholeFrom(0),
  failedAt: wholeFrom(0),
}

const HOOKS: { readonly [K in keyof CompactionHooks]-?: Check } = {
  'compaction.before': ['a function, or several', isFunctions],
  'compaction.after': ['a function, or several', isFunctions],
}

function isFunctions(value: unknown): boolean {
  const all = isArray(value) ? value : [value]
  return all.every((one) => typeof one === 'function')
}

interface Numbers {
  triggerShare: number
  inclusive: boolean
  maxChars: number | null
  recentTurns: number
  protectOutputTokens: number
  minOutputTokens: number
  protectedTools: string[]
  placeholder: string | null
  measure: 'estimate' | 'quarters'
}

const MAX_SUMMARY_TOKENS = 4096
const SUMMARIZE_TIMEOUT_MS = 120_000
const HOOK_TIMEOUT_MS = 5000
const SUMMARIZER_TOKENS = 32_000

/** Characters that are taken for a token where everything is counted in characters. */
export const COUNTED_CHARS_PER_TOKEN = 4

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readCompactOptions<M>(options: CompactOptions<M>, of = 'options'): CompactSettings<M> {
  checkOptions(of, options, COMPACT_CHECKS)
  checkSignal(`${of}.signal`, options.signal)
  if (options.environment !== undefined) checkOptions(`${of}.environment`, options.environment, ENVIRONMENT)
  if (options.readState !== undefined) checkReadState(`${of}.readState`, options.readState)
  if (options.state !== undefined) checkOptions(`${of}.state`, options.state, STATE)
  if (options.hooks !== undefined) checkOptions(`${of}.hooks`, options.hooks, HOOKS)
  const numbers = numbersOf(options.profile)
  const { contextWindow, targetTokens, reserveTokens = 0, maxSummaryTokens = MAX_SUMMARY_TOKENS } = options
  const window = contextWindow !== undefined && contextWindow > 0 && Number.isFinite(contextWindow)
  const chars = options.maxChars ?? numbers.maxChars ?? Number.POSITIVE_INFINITY
  const unit = window || targetTokens !== undefined ? 'tokens' : 'chars'
  const perToken = unit === 'tokens' ? 1 : COUNTED_CHARS_PER_TOKEN
  const limitsOf = (chars: number | null): CompactionLimits | null => {
    const sizes = {
      profile: options.profile,
      target: finiteOrNothing(targetTokens),
      window: window ? contextWindow : undefined,
      chars: finiteOrNothing(chars ?? undefined),
      triggerShare: options.triggerShare ?? numbers.triggerShare,
      reserved: reserveTokens,
      summary: Math.min(maxSummaryTokens, Number.MAX_SAFE_INTEGER) * perToken,
    }
    return JSON.parse(call(() => native.compactionLimits(JSON.stringify(sizes))))
  }
  // If no limit is known and a compaction is forced all the same, the default is used.
  const limits = limitsOf(chars) ?? (options.force === true ? limitsOf(numbersOf(undefined).maxChars) : null)
  const recentTurns = options.recentTurns ?? numbers.recentTurns
  return {
    options,
    limits: limits ?? undefined,
    unit,
    recentTurns: Math.min(recentTurns, 0xffff_ffff),
    protectedTools: options.protectedTools ?? numbers.protectedTools,
    placeholder: numbers.placeholder ?? undefined,
    quarters: numbers.measure === 'quarters',
    inclusive: numbers.inclusive,
    protectOutput: numbers.protectOutputTokens * perToken,
    minOutput: numbers.minOutputTokens * perToken,
    timeoutMs: options.summarizeTimeoutMs ?? SUMMARIZE_TIMEOUT_MS,
    hookTimeoutMs: options.hookTimeoutMs ?? HOOK_TIMEOUT_MS,
    summarizerTokens: options.summarizerWindow ?? (window ? (contextWindow as number) : SUMMARIZER_TOKENS),
  }
}

/** The numbers of a profile; without one the defaults. */
function numbersOf(profile: CompactionProfile | undefined): Numbers {
  return JSON.parse(call(() => native.compactionNumbers(profile)))
}

// JSON has no infinity; an unlimited target counts as no target.
function finiteOrNothing(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined
}

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function checkMessages(messages: unknown): void {
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  // A sparse array can claim any length; reading each element would take too long.
  if (messages.length > MAX_MESSAGES) throw wrong('messages', messages, 'an array of at most ten million messages')
}

const MAX_MESSAGES = 10_000_000
