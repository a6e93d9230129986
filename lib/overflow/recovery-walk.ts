/** One recovery: runs the steps of the state machine on one history. */

import { SpillwayError } from '../errors'
import { withoutRefusedThinking, withoutStaleThinking } from '../history/bound-thinking'
import { Estimate } from '../history/estimate'
import { warnUnreadable } from '../history/format-warning'
import { formatOf, type ReadViews, viewsIn } from '../history/formats'
import { addsChinese } from '../history/language'
import { noteOf } from '../history/media-notes'
import type { MessageView } from '../history/message-view'
import { restoreFolds, shortenFolded } from '../history/restore-folds'
import { isAnswer } from '../history/roles'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { tellCaller } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { checkOptions } from '../validation/options'
import { describe, invalid, wrong } from '../validation/validate'
import { budgetsOf } from './budget'
import { boundResults } from './limit-results'
import { MAX_OVERFLOW_COMPACTION_ATTEMPTS, type OverflowLimits, type OverflowProfile, profileLimits } from './limits'
import { leavingAfterRefusal } from './media-limits'
import { alone, breaksPairs } from './pairs'
import type { OverflowReport, OverflowStep, RecoverOptions } from './recovery-options'
import { isRefusedThinking, RECOVER_CHECKS, readRecoveryState, windowOf } from './recovery-options'
import {
  type Counters,
  nextTransition,
  type OverflowEvent,
  type OverflowState,
  type OverflowTransition,
} from './state-machine'

const DEFAULT_MAX_ATTEMPTS = 16

/** One way through the machine. */
export class Walk<M> {
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
  /** Tokens by estimate of a request that its provider found too large although they would fit. */
  private readonly fitting: number | undefined
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
    private readonly context: RecoveryContext = {},
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
    // The provider found it too long, at any estimate of ours.
    const { actualTokens = 0 } = options.overflow ?? {}
    // A number with which it would have fitted is of something else; believed, the request would be sent again unchanged, indefinitely.
    const named = actualTokens > this.target ? actualTokens : this.window + 1
    const isTooLong = options.overflow !== undefined && !isRefusedThinking(options.overflow)
    const lighter = isTooLong && actualTokens === 0 && estimated <= this.target ? this.withoutMedia() : undefined
    const actual = isTooLong && lighter === undefined ? Math.max(named, estimated) : undefined
    this.fitting = actual !== undefined && actualTokens === 0 && estimated <= this.target ? estimated : undefined
    this.ratio = actual !== undefined && estimated > 0 ? actual / estimated : 1
    this.tokens = estimated * this.ratio
    this.tokensBefore = this.tokens
    this.event = this.tokens <= this.target ? 'fits' : 'nothing'
    if (isRefusedThinking(options.overflow)) this.leaveOutRefused()
    if (lighter !== undefined) this.take('media', lighter.messages, lighter.count)
    const { attempts = 0, compactions = 0, truncated = false } = readRecoveryState(options.state)
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
    const leaving = leavingAfterRefusal(this.messages, this.options)
    const format = this.read.format
    if (leaving.length === 0 || format === undefined) return undefined
    const { language } = this.options
    const chinese = addsChinese(language, this.read.views)
    const messages = this.messages.slice()
    for (const { index, media } of leaving) {
      const notes = media.map((medium) => (medium === undefined ? null : noteOf(medium, undefined, chinese)))
      messages[index] = (formatOf(format, messages[index])?.withoutMedia(messages[index] as object, notes) ??
        messages[index]) as M
    }
    return { messages, count: leaving.length }
  }

  /** Leaves out signed reasoning that would follow a message that a step changed. */
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
    const { outputExists, storage, ledger } = options
    const bounds = { profile, weighted, cap, minKeep, outputExists, storage }
    const bound = (budget: number | null) =>
      shortenFolded(this.messages, ledger, (given) =>
        boundResults(given, { ...bounds, budget }, undefined, given === this.messages ? this.read : viewsIn(given)),
      )
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
      const compact = async () => options.compact?.(this.messages.slice(), info)
      const answer = await withTimeout(Number.POSITIVE_INFINITY, compact, { signal })
      const messages = isArray(answer) ? answer : (answer as { messages?: readonly M[] } | undefined)?.messages
      if (answer !== undefined && answer !== null && !isArray(messages)) {
        throw new TypeError(`compact answered ${describe(answer)} instead of messages`)
      }
      // A compaction that changed nothing would change nothing again.
      const made = messages && restoreFolds(this.messages, messages as readonly M[], options.ledger)
      if (!this.settle('compaction', made, 0, 'there was nothing to compact')) {
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
      const required = `at least ${Math.ceil(this.minProgress)} are required`
      const change = saved < 0 ? `it adds ${-saved} tokens` : `it saves ${saved} tokens, but ${required}`
      this.note(step, 'nothing', tokens, results, change)
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
    if (!this.context.dry) tellCaller('onStep', onStep, { ...noted })
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

  /** Why no compaction was tried; nothing if one was, because the steps have its outcome. */
  private uncompacted(): string | undefined {
    const { compact, duringCompaction } = this.options
    const { compactions, maxCompactions } = this.counters
    if (this.context.compaction !== undefined) return this.context.compaction
    if (this.steps.some(({ step }) => step === 'compaction')) return undefined
    if (compact === undefined) return 'nothing could be compacted, because no compact was given'
    if (duringCompaction) return 'nothing was compacted, because the request was a compaction itself'
    if (maxCompactions === 0) return 'nothing was compacted, because maxCompactions is 0'
    return compactions >= maxCompactions ? `all ${maxCompactions} compactions are used up` : undefined
  }

  failure(): SpillwayError {
    const report = this.report()
    const { tokensAfter, targetTokens, tokensBefore, contextWindowTokens } = report
    const tried = this.steps.map(({ step, tokensBefore, tokensAfter, reason }) =>
      reason === undefined ? `${step}: ${tokensBefore} to ${tokensAfter} tokens` : `${step}: ${reason}`,
    )
    const { attempts, maxAttempts } = this.counters
    const compaction = this.uncompacted()
    const more = compaction === undefined ? '' : `; ${compaction}`
    const over = attempts >= maxAttempts ? `; all ${maxAttempts} attempts are used up` : ''
    const size =
      this.fitting === undefined
        ? `the history has about ${tokensAfter} tokens (${tokensBefore} at first) and may have ${targetTokens} of a window of ` +
          `${contextWindowTokens}`
        : `the provider refused the size of the request, which has about ${this.fitting} tokens by estimate`
    return new SpillwayError(
      'OVERFLOW',
      `${size}${over}. Tried: ${tried.join('; ') || 'nothing'}${more}. Start a new session, or use a model with a ` +
        'larger context window.',
      { report, ...(this.cause !== undefined && { cause: this.cause }) },
    )
  }
}

/** Facts about a recovery that its options do not have. */
export interface RecoveryContext {
  /** True for a plan: nothing is compacted, and no callback is called. */
  dry?: boolean
  /** The outcome of a compaction that the caller made before, in words. */
  compaction?: string
}

const SILENT: readonly MessageView['role'][] = ['system', 'other']

function resumeOf(views: readonly MessageView[]): OverflowReport['resume'] {
  const speaks = (view: MessageView) => (view.role === 'assistant' ? isAnswer(view) : !SILENT.includes(view.role))
  const last = views.findLast(speaks)
  if (last === undefined) return 'prompt'
  if (last.results.length > 0 || last.calls.length > 0) return 'transcript'
  return last.role === 'assistant' ? 'ended' : 'prompt'
}
