import type { ThinkingMode } from '../history/bound-thinking'
import type { EstimateTokens } from '../history/estimate'
import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import type { NoticeLanguage } from '../types'
import { asText } from '../util/guards'
import {
  amount,
  array,
  checkOptions,
  flag,
  fn,
  noticeLanguage,
  object,
  oneOf,
  signal,
  wholeFrom,
  windowTokens,
} from '../validation/options'
import { describe, invalid, isRecord, wrong } from '../validation/validate'
import { checkedWindow, type OverflowProfile, overflowProfile } from './limits'
import { RECIPIENT_CHECKS, type Recipient } from './provider-limits'
import type { OverflowEvent } from './state-machine'

/** Classification of a provider's error, as `classifyOverflow` returns it. */
export interface OverflowFacts {
  overflow: boolean
  kind: string
  actualTokens?: number | undefined
  limitTokens?: number | undefined
}

/** Result of one step of a recovery. */
export interface OverflowStep {
  step: 'oversized' | 'aggregate' | 'compaction' | 'thinking' | 'media'
  /**
   * `fits`: the history fits. `smaller`: it is shorter by at least `minProgressTokens`. `nothing`, `refused`, `error`: the history
   * is as before.
   */
  event: OverflowEvent
  /** Estimated tokens of the history. */
  tokensBefore: number
  /** Size after the step; with `nothing` and `refused` the result was discarded. */
  tokensAfter: number
  /** Number of results that the step truncated; for `media`, of messages whose images and files were removed. */
  results: number
  /** Why the step changed nothing. */
  reason?: string
}

/** Attempts that a recovery has used; pass it to the next one of the same turn. Plain data. */
export interface OverflowRecoveryState {
  /** Number of steps tried. It is only reset in the next turn. */
  attempts: number
  compactions: number
  /** True if results were truncated. */
  truncated: boolean
}

/** Report of a recovery. */
export interface OverflowReport {
  profile: OverflowProfile
  /** The window that was used, in tokens. */
  contextWindowTokens: number
  /** Token budget of the history: the window without `reserveTokens` and a margin of 4,096 or a fifth. */
  targetTokens: number
  /** Estimated tokens before and after, scaled to the provider's count. */
  tokensBefore: number
  tokensAfter: number
  steps: OverflowStep[]
  state: OverflowRecoveryState
  /**
   * The next step. `prompt`: the history ends with a user message, send it again. `transcript`: it ends in the middle of
   * a turn; let the model continue, and do not repeat the user's words. `ended`: the model had answered already.
   */
  resume: 'prompt' | 'transcript' | 'ended'
}

/** Result of the caller's compaction: the new messages, or nothing if there was nothing to compact. */
export type Compacted<M> = readonly M[] | { messages: readonly M[] } | undefined

/** Options of {@link recoverFromOverflow}. */
export interface RecoverOptions<M> extends Recipient {
  /** The history that was too long, in any format that {@link detectFormat} knows. Never changed. */
  messages: readonly M[]
  /** The model's window in tokens. A limit that the provider's error names counts if it is less. */
  contextWindowTokens: number
  /**
   * Classification of the provider's error by `classifyOverflow`. Estimates are scaled to the number in it. Without
   * it the history is only checked, before it is sent.
   */
  overflow?: OverflowFacts
  /** True if compaction itself overflowed; then it is not tried. */
  duringCompaction?: boolean
  /**
   * Tokens of a text.
   * @default an estimate by its script
   */
  estimateTokens?: EstimateTokens
  /** Shortens the history, usually by a summary. Without it only tool results can be shortened. */
  compact?: (
    messages: M[],
    info: { targetTokens: number; attempt: number; signal: AbortSignal | undefined },
  ) => Compacted<M> | Promise<Compacted<M>>
  /**
   * The upstream system of numbers, words and order: `openclaw-2026-02` compacts first.
   * @default 'openclaw'
   */
  profile?: OverflowProfile
  /**
   * Maximum number of steps in one turn, over all recoveries that share a `state`.
   * @default 16
   */
  maxAttempts?: number
  /**
   * Maximum number of compactions among them.
   * @default 3
   */
  maxCompactions?: number
  /**
   * Minimum number of tokens by which a step must shorten the history if it does not make it fit; otherwise the step is discarded.
   * @default a hundredth of `contextWindowTokens`
   */
  minProgressTokens?: number
  /**
   * Tokens that the system prompt, the tools and the answer need.
   * @default 0
   */
  reserveTokens?: number
  /** State returned by earlier recoveries of this turn. */
  state?: OverflowRecoveryState | undefined
  /** Ends the recovery; it rejects with `ABORTED`. */
  signal?: AbortSignal | undefined
  /** Called for each step. If it throws, a warning is emitted and nothing else changes. */
  onStep?: (step: OverflowStep) => void
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
  /**
   * `keep-prefix`: signed reasoning after the first changed message is removed, because current Claude models refuse it there.
   * `ignore`: it stays.
   * @default 'keep-prefix'
   */
  thinking?: ThinkingMode
  /** The language of the notes in place of images and files. @default that of what the user said */
  language?: NoticeLanguage
}

/** Result of {@link recoverFromOverflow}. */
export interface Recovered<M> {
  messages: M[]
  report: OverflowReport
}

/** Plan of a recovery. */
export interface OverflowPlan extends OverflowReport {
  /**
   * The outcome as far as it is known: `compaction` stands for the result of the caller's compaction, which is not known
   * before.
   */
  outcome: 'retry' | 'compaction' | 'failed'
}

const OVERFLOW_FACTS = ['overflow', 'kind', 'actualTokens', 'limitTokens'] satisfies (keyof OverflowFacts)[]

/** Validation of each option. */
export const RECOVER_CHECKS = {
  messages: array,
  contextWindowTokens: windowTokens,
  overflow: [
    'an object',
    (value: unknown) => isRecord(value) && OVERFLOW_FACTS.every((name) => typeof value[name] !== 'function'),
  ],
  duringCompaction: flag,
  estimateTokens: fn,
  compact: fn,
  profile: overflowProfile,
  maxAttempts: wholeFrom(0),
  maxCompactions: wholeFrom(0),
  minProgressTokens: amount,
  reserveTokens: amount,
  state: object,
  signal,
  onStep: fn,
  outputExists: fn,
  storage: owner,
  ledger: LEDGER_CHECK,
  thinking: oneOf('keep-prefix', 'ignore'),
  language: noticeLanguage,
  ...RECIPIENT_CHECKS,
} as const

/** Returns the window that a history has to fit into. */
export function windowOf<M>({ contextWindowTokens, overflow }: RecoverOptions<M>): number {
  const window = checkedWindow(contextWindowTokens, 'options.contextWindowTokens')
  if (
    overflow !== undefined &&
    overflow.overflow !== true &&
    overflow.kind !== 'field' &&
    !isRefusedThinking(overflow)
  ) {
    const got = `an error of kind ${asText(overflow.kind) || describe(overflow.kind)}`
    throw invalid('options.overflow', `expected an overflow, received ${got}`)
  }
  const limit = overflow?.limitTokens
  const known = [window, limit].filter((tokens) => typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0)
  if (known.length === 0) throw wrong('options.contextWindowTokens', contextWindowTokens, 'a number of tokens')
  return Math.min(...(known as number[]))
}

/** True if the provider refused reasoning, and not the length. */
export function isRefusedThinking(overflow: OverflowFacts | undefined): boolean {
  return overflow?.kind === 'thinking-binding' || overflow?.kind === 'encrypted-reasoning'
}

const STATE = { attempts: wholeFrom(0), compactions: wholeFrom(0), truncated: flag } as const

/** @throws SpillwayError `INVALID_ARGUMENT` that names the field */
export function readRecoveryState(state: OverflowRecoveryState | undefined): Partial<OverflowRecoveryState> {
  if (state === undefined) return {}
  checkOptions('options.state', state, STATE)
  return state
}
