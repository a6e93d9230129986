/** Recovery from a request that did not fit: a state machine, whose steps are done here. */

import { SpillwayError } from '../errors'
import { type ThinkingMode, withoutRefusedThinking, withoutStaleThinking } from '../history/bound-thinking'
import { Estimate, type EstimateTokens } from '../history/estimate'
import { formatNamed, type ReadViews, viewsIn } from '../history/formats'
import type { HistoryFormatName, MessageView } from '../history/message-view'
import { warnUnreadable } from '../history/notes'
import { isAnswer } from '../history/roles'
import { call, native } from '../native/native'
import type { OutputOwner } from '../storage/saved-outputs'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { catchLater, warn } from '../util/warn'
import { checkOptions, oneOf, owner } from '../validation/options'
import { describe, invalid, wrong } from '../validation/validate'
import { budgetsOf } from './budget'
import { boundResults } from './limit-results'
import {
  CHECK,
  checkedWindow,
  MAX_OVERFLOW_COMPACTION_ATTEMPTS,
  type OverflowLimits,
  type OverflowProfile,
  profileLimits,
  transitions,
} from './limits'
import { leavingAfterRefusal, noteOf } from './media-limits'
import { alone, breaksPairs } from './pairs'
import {
  type Counters,
  nextTransition,
  type OverflowEvent,
  type OverflowState,
  type OverflowTransition,
} from './state-machine'

/** Every transition of {@link recoverFromOverflow}. */
export const OVERFLOW_TRANSITIONS: readonly Readonly<OverflowTransition>[] = Object.freeze(
  transitions.map((row) => Object.freeze(row)),
)

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
  /** `fits`: that is enough. `smaller`: by enough to count. `nothing`, `refused`, `error`: the history is as before. */
  event: OverflowEvent
  /** Estimated tokens of the history. */
  tokensBefore: number
  /** Size after the step; with `nothing` and `refused` the result was discarded. */
  tokensAfter: number
  /** Results that the step shortened; of `media`, the messages without their images and files. */
  results: number
  /** Why nothing came of it. */
  reason?: string
}

/** Attempts that a recovery has used; pass it to the next one of the same turn. Plain data. */
export interface OverflowRecoveryState {
  /** Steps that were tried. Nothing but the next turn makes it smaller. */
  attempts: number
  compactions: number
  /** Results were cut. */
  truncated: boolean
}

/** Report of a recovery. */
export interface OverflowReport {
  profile: OverflowProfile
  /** The window that was used, in tokens. */
  contextWindowTokens: number
  /** Token budget of the history: the window without `reserveTokens` and a margin of 4,096 or a fifth. */
  targetTokens: number
  /** Estimated tokens before and after, brought into line with what the provider counted. */
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
export interface RecoverOptions<M> {
  /** The history that did not fit, in any format that {@link detectFormat} knows. Never changed. */
  messages: readonly M[]
  /** The model's window in tokens. A limit that the provider's error names counts if it is less. */
  contextWindowTokens: number
  /**
   * Classification of the provider's error by `classifyOverflow`. Estimates are scaled to the number in it. Without
   * it the history is only checked, before it is sent.
   */
  overflow?: OverflowFacts
  /** True if compaction itself overflowed: it is not tried. */
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
   * Tokens by which a step that does not make the history fit must shorten it, or it counts as nothing.
   * @default a hundredth of `contextWindowTokens`
   */
  minProgressTokens?: number
  /**
   * Tokens that the system prompt, the tools and the answer need.
   * @default 0
   */
  reserveTokens?: number
  /** Attempts that earlier recoveries of this turn used. */
  state?: OverflowRecoveryState
  /** Ends the recovery; it rejects with `ABORTED`. */
  signal?: AbortSignal
  /** Called for each step. If it throws, a warning is emitted and nothing else changes. */
  onStep?: (step: OverflowStep) => void
  /**
   * Returns true if a saved output that a result names still exists; only then is it named to the model. A tool can print any path:
   * return true only for paths of your own.
   * @default whether `storage` owns the path, or this process saved it
   */
  outputExists?: (path: string) => boolean
  /** The storage that full outputs were saved in: only paths that it owns are named. */
  storage?: OutputOwner
  /**
   * `keep-prefix`: signed reasoning after the first message that changes is left out, because current Claude models refuse it there.
   * `ignore`: it stays.
   * @default 'keep-prefix'
   */
  thinking?: ThinkingMode
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

/** Validation of each option. */
export const RECOVER_CHECKS = {
  messages: CHECK.array,
  contextWindowTokens: CHECK.atLeastZeroOrUnknown,
  overflow: CHECK.object,
  duringCompaction: CHECK.flag,
  estimateTokens: CHECK.function,
  compact: CHECK.function,
  profile: CHECK.profile,
  maxAttempts: CHECK.whole,
  maxCompactions: CHECK.whole,
  minProgressTokens: CHECK.atLeastZero,
  reserveTokens: CHECK.atLeastZero,
  state: CHECK.object,
  signal: ['an AbortSignal', (value: unknown) => typeof (value as AbortSignal | null)?.aborted === 'boolean'],
  onStep: CHECK.function,
  outputExists: CHECK.function,
  storage: owner,
  thinking: oneOf('keep-prefix', 'ignore'),
} as const

const DEFAULT_MAX_ATTEMPTS = 16

/**
 * Makes a history fit into the model's window again, cheapest step first: results that are too long are cut, then all
 * results together are held to a budget, then the caller's compaction is asked; {@link OVERFLOW_TRANSITIONS} has every
 * way through. Each step must make progress, none may part a call from its result, and with `maxAttempts` used up it is
 * over: it ends with a history that fits by the estimate, or with an error.
 *
 * `recoverFromOverflow.plan` takes the same arguments and returns the planned steps: nothing is compacted, no callback is called, and nothing
 * changes. The sizes are those that the steps would reach; the result of compaction is not known, so a plan ends there.
 *
 * @returns new messages, in which everything that was not shortened is the very same object, and a report
 * @throws SpillwayError `OVERFLOW` if nothing helped; its message says what was tried and its `report` has the sizes.
 * `ABORTED` if the signal says so. `INVALID_ARGUMENT` if an option is not allowed, or `overflow` is no overflow
 */
export async function recoverFromOverflow<M>(options: RecoverOptions<M>): Promise<Recovered<M>> {
  const { problem, ...recovered } = await recoverAsFar(options)
  if (problem !== undefined) throw problem
  return recovered
}

/**
 * The same for who sends the messages in any case: if it is not enough, with what was gained, and the error.
 * @internal
 */
export async function recoverAsFar<M>(
  options: RecoverOptions<M>,
): Promise<Recovered<M> & { problem: SpillwayError | undefined }> {
  const walk = new Walk(options)
  for (;;) {
    walk.checkSignal()
    const state = walk.advance()
    if (state === 'retry' || state === 'failed') {
      walk.leaveOutStale()
      const problem = state === 'failed' ? walk.failure() : undefined
      return { messages: walk.result(), report: walk.report(), problem }
    }
    if (state === 'compaction') await walk.compact()
    else walk.shorten(state)
  }
}

recoverFromOverflow.plan = <M>(options: RecoverOptions<M>): OverflowPlan => {
  const walk = new Walk(options, true)
  for (;;) {
    const state = walk.advance()
    if (state === 'retry' || state === 'failed' || state === 'compaction') {
      // Nothing was used up.
      const used = { attempts: 0, compactions: 0, truncated: false, ...options.state }
      return { ...walk.report(), state: used, outcome: state }
    }
    walk.shorten(state)
  }
}

/** One way through the machine. */
class Walk<M> {
  private readonly options: RecoverOptions<M>
  private readonly profile: OverflowProfile
  private readonly order: OverflowTransition['order']
  private readonly window: number
  private readonly limits: OverflowLimits
  private readonly target: number
  private readonly minProgress: number
  private readonly estimate: Estimate
  /** The provider's tokens for one of ours. */
  private readonly ratio: number
  private readonly counters: Counters
  private readonly steps: OverflowStep[] = []
  private readonly tokensBefore: number
  private messages: readonly M[]
  private read: ReadViews
  /** Calls and results that lack their counterpart: see {@link breaksPairs}. */
  private alone: ReadonlyMap<string, number> | undefined
  private tokens: number
  private state: OverflowState = 'start'
  private event: OverflowEvent
  private cause: unknown

  constructor(
    options: RecoverOptions<M>,
    private readonly dry = false,
  ) {
    checkOptions('options', options, RECOVER_CHECKS)
    this.options = options
    this.profile = options.profile ?? 'openclaw'
    this.order = JSON.parse(call(() => native.overflowOrder(this.profile)))
    this.window = windowOf(options)
    this.limits = profileLimits(this.profile, this.window)
    this.target = call(() => native.targetTokens(this.window, options.reserveTokens ?? 0))
    this.minProgress = options.minProgressTokens ?? this.window / 100
    this.estimate = new Estimate(options.estimateTokens)
    if (!isArray(options.messages)) throw wrong('options.messages', options.messages, 'an array')
    this.messages = options.messages
    this.read = viewsIn(this.messages)
    warnUnreadable('recoverFromOverflow', this.messages, this.read.format)
    const estimated = this.estimate.of(this.messages, this.read.views)
    // Whatever we counted, the provider found it too long.
    const { actualTokens = 0 } = options.overflow ?? {}
    // A number with which it would have fitted is of something else; believed, the request would be sent again unchanged, indefinitely.
    const named = actualTokens > this.target ? actualTokens : this.window + 1
    const isTooLong = options.overflow !== undefined && !isRefusedThinking(options.overflow)
    const lighter = isTooLong && actualTokens === 0 && estimated <= this.target ? this.withoutMedia() : undefined
    const actual = isTooLong && lighter === undefined ? Math.max(named, estimated) : undefined
    this.ratio = actual !== undefined && estimated > 0 ? actual / estimated : 1
    this.tokens = estimated * this.ratio
    this.tokensBefore = this.tokens
    this.event = this.tokens <= this.target ? 'fits' : 'nothing'
    if (isRefusedThinking(options.overflow)) this.leaveOutRefused()
    if (lighter !== undefined) this.take('media', lighter.messages, lighter.count)
    const { attempts = 0, compactions = 0, truncated = false } = readState(options.state)
    this.counters = {
      attempts,
      maxAttempts: options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
      compactions,
      maxCompactions: options.maxCompactions ?? MAX_OVERFLOW_COMPACTION_ATTEMPTS,
      canCompact: options.compact !== undefined && options.duringCompaction !== true,
      truncated,
      squeezed: false,
    }
  }

  /** Enters the next state, and counts. */
  advance(): Exclude<OverflowState, 'start'> {
    const { counters } = this
    const next = nextTransition(this.order, this.state, this.event, counters)
    if (next?.resetsCompactions) counters.compactions = 0
    const state = (next?.to ?? 'failed') as Exclude<OverflowState, 'start'>
    if (state !== 'retry' && state !== 'failed') counters.attempts++
    if (state === 'compaction') counters.compactions++
    this.state = state
    return state
  }

  /** The provider refused reasoning that is sent again: it goes, and nothing else if that fits. */
  private leaveOutRefused(): void {
    const made = withoutRefusedThinking(this.messages as M[], this.read)
    if (made === this.messages) {
      throw invalid(
        'options.overflow',
        'the provider refused reasoning, and none that could be left out is in the history',
      )
    }
    this.take('thinking', made, 0)
  }

  /** Takes what was done before the first state. */
  private take(step: OverflowStep['step'], made: readonly M[], results: number): void {
    const read = viewsIn(made)
    const tokens = this.tokensOf(made, read)
    this.note(step, tokens <= this.target ? 'fits' : 'smaller', tokens, results)
    this.messages = made
    this.read = read
    this.tokens = tokens
  }

  /**
   * The messages without their oldest images and files; `undefined` if these have too few bytes to be what the provider refused. A
   * request that has few tokens and was too long had too many bytes.
   */
  private withoutMedia(): { messages: M[]; count: number } | undefined {
    const leaving = leavingAfterRefusal(this.messages)
    const format = formatNamed(this.read.format as HistoryFormatName)
    if (leaving.length === 0 || format === undefined) return undefined
    const messages = this.messages.slice()
    for (const { index, media } of leaving) {
      const notes = media.map((medium) => noteOf(medium, undefined, false))
      messages[index] = (format.withoutMedia(messages[index] as object, notes) ?? messages[index]) as M
    }
    return { messages, count: leaving.length }
  }

  /** Leaves out signed reasoning that would stand behind a message that a step changed. */
  leaveOutStale(): void {
    if (this.options.thinking === 'ignore') return
    const made = withoutStaleThinking(this.options.messages, this.messages as M[], this.read)
    if (made === this.messages) return
    this.messages = made
    this.read = viewsIn(made)
    this.tokens = this.tokensOf(made, this.read)
  }

  /** A step that shortens results. */
  shorten(step: 'oversized' | 'aggregate'): void {
    const { profile, limits, options } = this
    const { perResult: cap, weighted, minKeep } = limits
    const { outputExists, storage } = options
    const bounds = { profile, weighted, cap, minKeep, outputExists, storage }
    const bound = (budget: number | null) => boundResults(this.messages, { ...bounds, budget }, undefined, this.read)
    const [first = null, ...others] = step === 'aggregate' ? this.budgets() : []
    let { messages, count } = bound(first)
    for (const budget of others) {
      if (this.tokensOf(messages) <= this.target) break
      ;({ messages, count } = bound(budget))
    }
    const reason = step === 'oversized' ? 'no result is too long' : 'the results are within their budget'
    if (this.settle(step, count > 0 ? messages : undefined, count, reason)) this.counters.truncated = true
  }

  /** Budget of all results: see {@link budgetsOf}. */
  private budgets(): (number | null)[] {
    const { counters, limits } = this
    const compactionLeft = counters.canCompact && counters.compactions < counters.maxCompactions
    counters.squeezed ||= !compactionLeft
    return budgetsOf(this.read, limits, this.estimate, (this.tokens - this.target) / this.ratio, compactionLeft)
  }

  private tokensOf(messages: readonly M[], { views } = viewsIn(messages)): number {
    return this.estimate.of(messages, views) * this.ratio
  }

  /** The caller's compaction. */
  async compact(): Promise<void> {
    const { options, counters, target } = this
    try {
      const { signal } = options
      const info = { targetTokens: Math.floor(target / this.ratio), attempt: counters.compactions, signal }
      const answer = await unlessAborted(signal, async () => options.compact?.(this.messages.slice(), info))
      const messages = isArray(answer) ? answer : (answer as { messages?: readonly M[] } | undefined)?.messages
      if (answer !== undefined && answer !== null && !isArray(messages)) {
        throw new TypeError(`compact answered ${describe(answer)} instead of messages`)
      }
      // A compaction that changed nothing would change nothing again.
      if (!this.settle('compaction', messages as readonly M[] | undefined, 0, 'there was nothing to compact')) {
        counters.canCompact = false
      }
    } catch (error) {
      this.checkSignal()
      this.cause = error
      counters.canCompact = false
      this.note('compaction', 'error', this.tokens, 0, messageOf(error))
    }
  }

  /** Takes what a step made, if that is progress and breaks nothing. */
  private settle(step: OverflowStep['step'], made: readonly M[] | undefined, results: number, none: string): boolean {
    if (made === undefined) {
      this.note(step, 'nothing', this.tokens, 0, none)
      return false
    }
    if (made.length === 0 && this.messages.length > 0) {
      this.note(step, 'refused', 0, results, 'no message would be left')
      return false
    }
    const read = viewsIn(made)
    const tokens = this.tokensOf(made, read)
    this.alone ??= alone(this.messages, this.read)
    const left = alone(made, read)
    if (breaksPairs(this.alone, left)) {
      this.note(step, 'refused', tokens, results, 'a call would be parted from its result')
      return false
    }
    const fits = tokens <= this.target
    if (tokens >= this.tokens || (!fits && this.tokens - tokens < this.minProgress)) {
      const saved = Math.round(this.tokens - tokens)
      this.note(step, 'nothing', tokens, results, `it saves ${saved} tokens, and ${Math.ceil(this.minProgress)} count`)
      return false
    }
    this.note(step, fits ? 'fits' : 'smaller', tokens, results)
    this.messages = made
    this.read = read
    this.alone = left
    this.tokens = tokens
    return true
  }

  private note(
    step: OverflowStep['step'],
    event: OverflowEvent,
    tokensAfter: number,
    results: number,
    reason?: string,
  ): void {
    this.event = event
    const noted: OverflowStep = {
      step,
      event,
      tokensBefore: Math.round(this.tokens),
      tokensAfter: Math.round(tokensAfter),
      results,
      ...(reason !== undefined && { reason }),
    }
    this.steps.push(noted)
    const { onStep } = this.options
    if (onStep === undefined || this.dry) return
    try {
      catchLater('onStep', onStep({ ...noted }))
    } catch (error) {
      warn('onStep', error)
    }
  }

  checkSignal(): void {
    const { signal } = this.options
    if (signal?.aborted) throw new SpillwayError('ABORTED', 'the recovery was aborted', { cause: signal.reason })
  }

  result(): M[] {
    return this.messages as M[]
  }

  report(): OverflowReport {
    const { attempts, compactions, truncated } = this.counters
    return {
      profile: this.profile,
      contextWindowTokens: this.window,
      targetTokens: Math.round(this.target),
      tokensBefore: Math.round(this.tokensBefore),
      tokensAfter: Math.round(this.tokens),
      steps: this.steps,
      state: { attempts, compactions, truncated },
      resume: resumeOf(this.read.views),
    }
  }

  failure(): SpillwayError {
    const report = this.report()
    const { tokensAfter, targetTokens, tokensBefore, contextWindowTokens } = report
    const tried = this.steps.map(({ step, tokensBefore, tokensAfter, reason }) =>
      reason === undefined ? `${step}: ${tokensBefore} to ${tokensAfter} tokens` : `${step}: ${reason}`,
    )
    const { attempts, maxAttempts } = this.counters
    const more = this.options.compact === undefined ? '; nothing could be compacted, because no compact was given' : ''
    const over = attempts >= maxAttempts ? `; all ${maxAttempts} attempts are used up` : ''
    return new SpillwayError(
      'OVERFLOW',
      `the history has about ${tokensAfter} tokens (${tokensBefore} at first) and may have ${targetTokens} of a window of ` +
        `${contextWindowTokens}${over}. Tried: ${tried.join('; ') || 'nothing'}${more}. Start a new session, or use a model with a ` +
        'larger context window.',
      { report, ...(this.cause !== undefined && { cause: this.cause }) },
    )
  }
}

function windowOf<M>({ contextWindowTokens, overflow }: RecoverOptions<M>): number {
  const window = checkedWindow(contextWindowTokens, 'options.contextWindowTokens')
  if (
    overflow !== undefined &&
    overflow.overflow !== true &&
    overflow.kind !== 'field' &&
    !isRefusedThinking(overflow)
  ) {
    const got = `an error of kind ${String(overflow.kind)}`
    throw invalid('options.overflow', `expected an overflow, received ${got}`)
  }
  const limit = overflow?.limitTokens
  const known = [window, limit].filter((tokens) => typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0)
  if (known.length === 0) throw wrong('options.contextWindowTokens', contextWindowTokens, 'a number of tokens')
  return Math.min(...(known as number[]))
}

/** True if the provider refused reasoning, and not the length. */
function isRefusedThinking(overflow: OverflowFacts | undefined): boolean {
  return overflow?.kind === 'thinking-binding' || overflow?.kind === 'encrypted-reasoning'
}

const STATE = { attempts: CHECK.whole, compactions: CHECK.whole, truncated: CHECK.flag } as const

function readState(state: OverflowRecoveryState | undefined): Partial<OverflowRecoveryState> {
  if (state === undefined) return {}
  checkOptions('options.state', state, STATE)
  return state
}

const SILENT: readonly MessageView['role'][] = ['system', 'other']

function resumeOf(views: readonly MessageView[]): OverflowReport['resume'] {
  const speaks = (view: MessageView) => (view.role === 'assistant' ? isAnswer(view) : !SILENT.includes(view.role))
  const last = views.findLast(speaks)
  if (last === undefined) return 'prompt'
  if (last.results.length > 0 || last.calls.length > 0) return 'transcript'
  return last.role === 'assistant' ? 'ended' : 'prompt'
}

/** Resolves to the answer of a caller's function; rejects as soon as the signal aborts, since the function may never settle. */
async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return work()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}
