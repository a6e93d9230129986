/** Prepares requests before they are sent, and shortens those that were too long. A failure never prevents a request. */

import type { OverflowClass } from 'spillway'
import type { DropThinkingOptions } from 'spillway/history'
import type { OverflowRecoveryState } from 'spillway/overflow'
import { resumeSession } from '../../fold/fold-session'
import type { ToolResultKnowledge } from '../../history/ledger'
import { changedResults } from '../../history/restore-folds'
import { classifyOverflow } from '../../overflow/classify-overflow'
import type { Recipient } from '../../overflow/provider-limits'
import { recoverFromOverflow } from '../../overflow/recover-from-overflow'
import { leftResults, type PrunedItem } from '../../pruning/report'
import { forgetResults } from '../../tools/fold-result'
import { definedOf } from '../../util/defined'
import { isArray } from '../../util/guards'
import { LruCache } from '../../util/lru-cache'
import { catchLater } from '../../util/warn'
import { badAnswer, isRecord } from '../../validation/validate'
import { approvalsOf } from './approvals'
import { isControl, tell, tellError } from './controls'
import { Prefixes } from './recovered-prefixes'
import type { AdapterControls, HistoryControl, PreparedMessages } from './types'

/** Default window where neither the caller nor the provider names one; limits are a share of it. */
const USUAL_WINDOW = 200_000

/** A provider counts more than we estimate: what fits by the estimate may be refused again. */
const USUAL_RETRIES = 3

/** A request as it is sent. */
export interface OutgoingRequest<M> {
  /** As the framework brought them. */
  readonly original: readonly M[]
  /** As they are sent. */
  readonly messages: readonly M[]
  readonly sessionId: string | undefined
  /** Who it is sent to. */
  readonly recipient?: Recipient
  /** Fields that the request needs besides the messages. */
  readonly options?: DropThinkingOptions | undefined
}

/** A request that was too long, while it is being shortened. */
interface Attempt {
  state: OverflowRecoveryState | undefined
  retries: number
}

/** Request handling of an adapter. One for all sessions. */
export class Requests {
  readonly #controls: AdapterControls
  readonly #sessions = new LruCache<string | undefined, { control: HistoryControl | undefined }>()
  readonly #observed = new LruCache<string | undefined, unknown>()
  readonly #prefixes = new Prefixes()

  constructor(controls: AdapterControls) {
    this.#controls = controls
  }

  /** Returns the messages to send. Never rejects: a failure is reported, and the history is sent unchanged. */
  async prepare<M>(original: readonly M[], sessionId?: string, recipient: Recipient = {}): Promise<OutgoingRequest<M>> {
    let messages = original
    let options: DropThinkingOptions | undefined
    try {
      const { permission } = this.#controls
      if (permission !== undefined) approvalsOf(permission).settle(original, sessionId)
      messages = this.#prefixes.apply(original)
      const control = this.#controlOf(sessionId, recipient)
      if (control !== undefined) ({ messages, options } = await this.#ask(control, messages, sessionId, recipient))
    } catch (thrown) {
      tellError(this.#controls, 'history', thrown, sessionId)
    }
    this.#resume(messages, sessionId)
    return { original, messages, sessionId, recipient, options }
  }

  /** The history of a first request is what another process left: later results point to it. Never throws. */
  #resume(messages: readonly unknown[], sessionId: string | undefined): void {
    const { fold, ledger } = this.#controls
    try {
      resumeSession(fold, messages, isKnowledge(ledger) ? ledger : undefined)
    } catch (thrown) {
      tellError(this.#controls, 'history', thrown, sessionId)
    }
  }

  /**
   * Hands the usage of the last response to the control of a session. Never throws. `response` identifies the response: where it
   * comes again with the next request, it is handed on once.
   */
  observe(sessionId: string | undefined, usage: unknown, response: unknown = usage): void {
    if (!isRecord(usage) || this.#observed.get(sessionId) === response) return
    this.#observed.set(sessionId, response)
    try {
      catchLater('history', this.#knownControl(sessionId)?.observe?.(usage))
    } catch (thrown) {
      tellError(this.#controls, 'history', thrown, sessionId)
    }
  }

  /**
   * Hands on what a response says of edits by its provider: to the control of a session, and the results that left to `fold` and
   * `doomLoop`, so that no later pointer names them and reading them again is not a loop. `places` are those where a framework may put it; one that says nothing changes nothing. Never throws.
   */
  accept(sessionId: string | undefined, places: readonly unknown[]): void {
    try {
      const control = this.#knownControl(sessionId)
      for (const place of places) {
        const edits = isRecord(place) ? control?.accept?.(place) : undefined
        catchLater('history', edits)
        const { toolCallIds } = Object(edits) as { toolCallIds?: unknown }
        this.#forget({ left: toolCallIds })
      }
    } catch (thrown) {
      tellError(this.#controls, 'history', thrown, sessionId)
    }
  }

  /** Tells `fold` and `doomLoop` which results are not sent any more, and `fold` of which of them neither is the call. */
  #forget({ left, leftCalls }: { left?: unknown; leftCalls?: unknown }): void {
    if (!isArray(left) || left.length === 0) return
    forgetResults(this.#controls.fold, left as string[], isArray(leftCalls) ? (leftCalls as string[]) : [])
    this.#controls.doomLoop?.forget?.(left as string[])
  }

  /** The control of a session that has sent a request. */
  #knownControl(sessionId: string | undefined): HistoryControl | undefined {
    const { history } = this.#controls
    return typeof history === 'function' ? this.#sessions.get(sessionId)?.control : history
  }

  #controlOf(sessionId: string | undefined, recipient: Recipient): HistoryControl | undefined {
    const { history } = this.#controls
    if (typeof history !== 'function') return history
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known.control
    const control: unknown = history(sessionId, definedOf({ ...recipient }))
    if (control !== undefined && !isControl(control))
      throw badAnswer('history', control, 'an object with prune or prepare')
    this.#sessions.set(sessionId, { control })
    return control
  }

  async #ask<M>(
    control: HistoryControl,
    messages: readonly M[],
    sessionId: string | undefined,
    recipient: Recipient,
  ): Promise<Pick<OutgoingRequest<M>, 'messages' | 'options'>> {
    const now = (this.#controls.now ?? Date.now)()
    const answer: PreparedMessages =
      'prune' in control
        ? await control.prune(messages, { now })
        : await control.prepare(messages, { now, ...definedOf({ ...recipient }) })
    if (!isArray(answer?.messages) || (answer.messages.length === 0 && messages.length > 0)) {
      throw badAnswer('history', answer?.messages, 'messages')
    }
    this.#forget(leftWith(answer.report))
    tell(this.#controls, {
      type: 'prepared',
      ...(sessionId !== undefined && { sessionId }),
      report: answer.report,
    })
    return { messages: answer.messages as readonly M[], options: answer.requestOptions }
  }

  /**
   * The cached prefix of a history that was just shortened is lost, so the pruner prunes everything that it may now: with the next
   * request it would break the prefix a second time.
   */
  async #prunedNow<M>(
    messages: readonly M[],
    { sessionId, recipient = {} }: OutgoingRequest<M>,
  ): Promise<readonly M[]> {
    try {
      const control = this.#controlOf(sessionId, recipient)
      return control === undefined ? messages : (await this.#ask(control, messages, sessionId, recipient)).messages
    } catch (thrown) {
      tellError(this.#controls, 'history', thrown, sessionId)
      return messages
    }
  }

  /**
   * Sends a request, and retries it, shortened, if it was too long.
   * @param send one request; what it throws, and what `overflowed` says of its answer, is looked at
   * @throws the error of the last request, unchanged
   */
  async send<M, R>(
    request: OutgoingRequest<M>,
    send: (messages: readonly M[]) => PromiseLike<R>,
    options: { signal?: AbortSignal | undefined; overflowed?: (answer: R) => unknown } = {},
  ): Promise<R> {
    const attempt: Attempt = { state: undefined, retries: 0 }
    let current = request
    for (;;) {
      let trouble: unknown
      let answered: { answer: R } | undefined
      try {
        const answer = await send(current.messages)
        trouble = options.overflowed?.(answer)
        if (trouble === undefined) return answer
        answered = { answer }
      } catch (thrown) {
        trouble = thrown
      }
      const shorter = await this.recover(current, trouble, attempt, options.signal)
      if (shorter === undefined) {
        if (answered !== undefined) return answered.answer
        throw trouble
      }
      current = shorter
    }
  }

  /** Returns a request that was too long, shortened; nothing for another error, or if no step helps. Never rejects. */
  async recover<M>(
    request: OutgoingRequest<M>,
    trouble: unknown,
    attempt: Attempt,
    signal?: AbortSignal,
  ): Promise<OutgoingRequest<M> | undefined> {
    const { recovery = {}, ledger } = this.#controls
    if (recovery === false || attempt.retries >= (recovery.retries ?? USUAL_RETRIES) || signal?.aborted)
      return undefined
    const { retries: _, contextWindowTokens, ...options } = recovery
    const { original, messages, sessionId, recipient } = request
    try {
      const overflow = overflowOf(trouble, contextWindowTokens)
      if (overflow === undefined) return undefined
      const window = contextWindowTokens ?? (overflow.kind === 'overflow' ? overflow.limitTokens : undefined)
      const recovered = await recoverFromOverflow<unknown>({
        ...options,
        ...recipient,
        messages,
        contextWindowTokens: window ?? USUAL_WINDOW,
        overflow,
        ...(isKnowledge(ledger) && { ledger }),
        ...(attempt.state && { state: attempt.state }),
        ...(signal && { signal }),
      })
      attempt.state = recovered.report.state
      attempt.retries += 1
      this.#prefixes.remember(original, recovered.messages)
      this.#forget(changedResults(messages, recovered.messages))
      const { report } = recovered
      tell(this.#controls, { type: 'recovered', ...(sessionId !== undefined && { sessionId }), overflow, report })
      return { ...request, options: undefined, messages: await this.#prunedNow(recovered.messages as M[], request) }
    } catch (thrown) {
      if (!signal?.aborted) tellError(this.#controls, 'recovery', thrown, sessionId)
      return undefined
    }
  }
}

/** True if a receiver of records can also be asked for them. */
function isKnowledge(ledger: unknown): ledger is ToolResultKnowledge {
  return typeof (ledger as ToolResultKnowledge | undefined)?.get === 'function'
}

/** The calls whose results left the request, as the report of a pruner or a context manager says. */
function leftWith(report: unknown): { left?: unknown; leftCalls?: unknown } {
  const { left, leftCalls, pruned } = Object(report) as { left?: unknown; leftCalls?: unknown; pruned?: unknown }
  return left === undefined && isArray(pruned) ? { left: leftResults(pruned as PrunedItem[]) } : { left, leftCalls }
}

/** A fresh count of attempts. */
export function firstAttempt(): Attempt {
  return { state: undefined, retries: 0 }
}

/** Refusals other than overflows that a changed history can fix. */
const RECOVERED: readonly string[] = ['field', 'thinking-binding', 'encrypted-reasoning']

/** Returns the overflow that an error or an answer reports; nothing if it is about something else. */
export function overflowOf(trouble: unknown, contextWindow: number | undefined): OverflowClass | undefined {
  const found = classifyOverflow(trouble, contextWindow === undefined ? {} : { contextWindow })
  if (!found.overflow && !RECOVERED.includes(found.kind)) return undefined
  // An answer that stopped at the window counts what went in, which is less than what there was no room for.
  const { actualTokens, ...rest } = found
  return found.matched === 'stop-reason' ? rest : found
}
