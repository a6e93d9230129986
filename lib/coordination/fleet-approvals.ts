/** Questions about tool calls that are asked in one process and answered in another. */

import { type AskContext, type AskResponse, chosenRule, type GateResponse } from '../approval/gate-options'
import { isQuestion, type PendingRequest } from '../approval/gate-state'
import { SpillwayError } from '../errors'
import type { SuggestedRule } from '../permission/types'
import { randomUUID } from '../util/crypto'
import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'
import { tellCaller, warn } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { type Check, checkOptions, fn, isNonEmptyString, positiveMilliseconds, wholeFrom } from '../validation/options'
import { invalid, isRecord, wrong } from '../validation/validate'
import type { Coordination } from './coordination'
import { checkNeeded, coordination as coordinationCheck } from './options'
import { waitForAnswer } from './wait-for-answer'

const QUESTIONS = 'questions'
const ANSWERS = 'answers'
const DAY_MS = 86_400_000

/** Options of {@link FleetApprovals}. */
export interface FleetApprovalsOptions {
  /** Where questions and answers are kept: `redisCoordination(…)`, `postgresCoordination(…)`, or your own. */
  coordination: Coordination
  /**
   * Milliseconds after which an unanswered call is denied, even if the server could not be reached.
   * @default Infinity: a call waits until it is answered or its signal is aborted
   */
  answerTimeoutMs?: number
  /** The reason that such a call is given. @default 'no answer within … ms' */
  timeoutReason?: string
  /** Milliseconds that a question and its answer are stored for a worker that takes over the session. @default 7 days */
  keepMs?: number
  /** Maximum milliseconds between two checks for an answer; notifications of the server cause a check at once. @default 5000 */
  pollMs?: number
  /** Receives each failure to reach the server; the call continues to wait. @default a warning of the process */
  onError?: (error: unknown) => void
}

/** The callback of the host, which may fail; without one, each failure is a warning. */
function teller(onError: FleetApprovalsOptions['onError']): (error: unknown) => void {
  if (onError === undefined) return (error) => warn('FleetApprovals', error)
  return (error) => tellCaller('onError', onError, error)
}

const CHECKS: Readonly<Record<keyof FleetApprovalsOptions, Check>> = {
  coordination: coordinationCheck,
  answerTimeoutMs: positiveMilliseconds,
  timeoutReason: ['a sentence', isNonEmptyString],
  keepMs: wholeFrom(1, 'milliseconds'),
  pollMs: wholeFrom(1, 'milliseconds'),
  onError: fn,
}

/** An answer as it is stored. */
interface Answer {
  response: GateResponse
  rule?: SuggestedRule
  /** Distinguishes an answer from an equal one of another process. */
  by: string
}

/**
 * Lets one process ask a question and another answer it. The first answer counts.
 *
 * A question is identified by its call: session, `toolCallId`, tool, arguments and folders. If another worker takes over the
 * session and requests the same call, no second question is asked, and an answer that was given meanwhile is used. Calls without a
 * `sessionId`, or with arguments that JSON cannot represent, always get a new question. While the server cannot be reached,
 * nothing is allowed: calls wait.
 *
 * @example
 * const approvals = new FleetApprovals({ coordination })
 * const gate = new PermissionGate(policy, { ask: approvals.ask }) // in a worker
 * createOutputHandler({ outputs, approvals }) // in the process of the page
 */
export class FleetApprovals {
  private readonly options: Required<FleetApprovalsOptions>
  /** Questions that wait, or are being taken from the server. */
  private readonly open = new Set<Promise<unknown>>()
  private readonly closing = new AbortController()

  /** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
  constructor(options: FleetApprovalsOptions) {
    checkOptions('options', options, CHECKS)
    checkNeeded(options, CHECKS, 'coordination')
    const { coordination, answerTimeoutMs = Number.POSITIVE_INFINITY, keepMs = 7 * DAY_MS, pollMs = 5000 } = options
    const { timeoutReason = `no answer within ${answerTimeoutMs} ms`, onError } = options
    this.options = { coordination, answerTimeoutMs, timeoutReason, keepMs, pollMs, onError: teller(onError) }
  }

  /** Stores a question for other processes, and waits for the first answer: the `ask` of a `PermissionGate`. */
  readonly ask = (request: PendingRequest, context: AskContext): Promise<AskResponse> =>
    this.whileOpen(this.answerTo(request, context))

  private async answerTo(request: PendingRequest, { call, signal }: AskContext): Promise<AskResponse> {
    const { coordination, answerTimeoutMs, timeoutReason, pollMs, onError, keepMs } = this.options
    // Ids of calls begin again in each session, so without one an answer might be that to another agent.
    const isShared = call !== undefined && request.sessionId !== undefined
    const id = isShared ? call : randomUUID()
    const question = JSON.stringify({ ...request, id })
    const lookOnce = async () => {
      const answer = await coordination.get(`${ANSWERS}/${id}`)
      // Kept as it was first asked. It is stored again if the server lost it.
      if (answer === undefined) await coordination.first(`${QUESTIONS}/${id}`, question, keepMs)
      return answer
    }
    let looked: Promise<unknown> = Promise.resolve()
    // The problem of the server, as far as it is known by now.
    let outage: string | undefined
    const look = () => {
      const found = lookOnce()
      outage ??= 'it has not answered'
      looked = found.then(
        () => {
          outage = undefined
        },
        (error) => {
          outage = messageOf(error)
        },
      )
      return found
    }
    const watch = (wake: () => void) =>
      coordination.watch(ANSWERS, (key) => {
        if (key === undefined || key === `${ANSWERS}/${id}`) wake()
      })
    const ended = signal === undefined ? this.closing.signal : AbortSignal.any([signal, this.closing.signal])
    let answer: string | undefined
    try {
      answer = await waitForAnswer({ look, watch, pollMs, timeoutMs: answerTimeoutMs, signal: ended, onError })
      answer ??= await this.reject(id, timeoutReason, outage)
    } finally {
      // The call does not wait for it, and a question that stays is left out of `pending` once it is answered.
      void this.whileOpen(this.takeBack(id, looked))
    }
    const { response, rule } = readAnswer(answer)
    return response === 'always' && rule !== undefined ? { always: rule } : response
  }

  /** Lists the open questions of all workers, the oldest first. */
  async pending(): Promise<PendingRequest[]> {
    const { coordination } = this.options
    const listed = await coordination.list(QUESTIONS)
    const questions = listed.flatMap(({ key, value }) => readQuestion(key, value) ?? [])
    const answers = await Promise.all(questions.map(({ id }) => coordination.get(`${ANSWERS}/${id}`)))
    // The worker that asked removes a question that is answered, unless it is gone.
    return questions.filter((_, at) => answers[at] === undefined).sort((a, b) => a.askedAt - b.askedAt)
  }

  /**
   * Answers a question of any worker. `always` stores the first suggested rule in the gate that asked, or the given rule if it was shown.
   * @throws SpillwayError `INVALID_ARGUMENT` if the question is unknown or was already answered. After `COORDINATION` the answer
   * may or may not have been stored, and can be given again
   */
  async respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void> {
    const { coordination, keepMs } = this.options
    checkResponse(response)
    if (typeof id !== 'string' || !/^[\w-]{1,100}$/.test(id)) throw wrong('id', id, 'the id of a question that waits')
    const asked = await coordination.get(`${QUESTIONS}/${id}`)
    const question = asked === undefined ? undefined : readQuestion(`${QUESTIONS}/${id}`, asked)
    if (question === undefined) throw wrong('id', id, 'the id of a question that waits')
    if (response === 'always') chosenRule(question.suggestedRules, rule)
    const answer: Answer = { response, ...(rule !== undefined && { rule }), by: randomUUID() }
    const text = JSON.stringify(answer)
    const counts = await withRetries(() => coordination.first(`${ANSWERS}/${id}`, text, keepMs))
    await coordination.remove(`${QUESTIONS}/${id}`)
    if (counts !== text) throw invalid('id', `the question "${id}" was answered before; the first answer counts`)
  }

  /** Calls the listener when a question was asked or answered, until the returned function is called. */
  listen(listener: () => void): () => void {
    return this.options.coordination.watch(QUESTIONS, () => tellCaller('listener', listener))
  }

  /** Withdraws the questions that wait, so that their calls are denied, and resolves when they have left the server. The coordination stays open. */
  async close(): Promise<void> {
    this.closing.abort(new SpillwayError('ABORTED', 'the approvals were closed'))
    while (this.open.size > 0) await Promise.allSettled(this.open)
  }

  /** @param looked a look that is under way stores the question again */
  private async takeBack(id: string, looked: Promise<unknown>): Promise<void> {
    const { coordination, onError, pollMs } = this.options
    await withTimeout(pollMs, () => looked).catch(() => {})
    await coordination.remove(`${QUESTIONS}/${id}`).catch(onError)
  }

  private whileOpen<T>(work: Promise<T>): Promise<T> {
    const over = work.finally(() => this.open.delete(over))
    this.open.add(over)
    return over
  }

  /**
   * Rejects a question, unless it is answered at the same moment: then that answer counts. A server that could not be reached is not
   * waited for.
   */
  private async reject(id: string, reason: string, outage: string | undefined): Promise<string> {
    const { coordination, keepMs, pollMs, onError } = this.options
    const why = outage === undefined ? reason : `${reason}; the server of the questions cannot be reached: ${outage}`
    const rejection = JSON.stringify({ response: { reject: why }, by: randomUUID() } satisfies Answer)
    const stored = withTimeout(pollMs, () => coordination.first(`${ANSWERS}/${id}`, rejection, keepMs)).catch(
      (error) => {
        onError(error)
        return rejection
      },
    )
    if (outage === undefined) return stored
    void this.whileOpen(stored)
    return rejection
  }
}

function checkResponse(response: unknown): void {
  if (response === 'once' || response === 'always') return
  const reason = isRecord(response) ? response.reject : undefined
  if (reason !== true && typeof reason !== 'string') {
    throw wrong('response', response, "'once', 'always' or { reject: a reason or true }")
  }
}

/** A question that another process stored; nothing if the value is not the question with this key. */
function readQuestion(key: string, text: string): PendingRequest | undefined {
  const value = parse(text)
  return isQuestion(value) && key === `${QUESTIONS}/${value.id}` ? value : undefined
}

/** The gate checks the response again: an invalid text denies the call. */
function readAnswer(text: string): Answer {
  const value = parse(text)
  if (!isRecord(value)) throw wrong('answer', value, 'an answer to the question')
  checkResponse(value.response)
  return value as unknown as Answer
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return messageOf(error)
  }
}
