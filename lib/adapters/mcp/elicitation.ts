/** Permission for the calls of a host: rules first, then the user, by elicitation. */

import { randomUUID } from 'node:crypto'
import {
  type GateEvent,
  type GuardedTool,
  guardTool,
  type PendingRequest,
  PermissionGate,
  type PermissionPolicy,
  type Tool,
} from 'spillway'
import { withTimeout } from '../../util/with-timeout'
import { isRecord } from '../../validation/validate'
import type { McpProxyOptions } from './options'
import { textBlock } from './truncate-result'

/** Sends a request to the host and answers its result; rejects where the host refuses it. */
export type AskHost = (method: string, params: object, signal?: AbortSignal) => Promise<unknown>

/** A call that is judged. */
export interface JudgedCall {
  tool: string
  args: unknown
  toolCallId: string
  sessionId?: string | undefined
}

/** A call may go on, is refused by a result, or waits for an answer to the question in a result. */
export type Verdict = { isAllowed: true } | { refusal: unknown } | { question: object }

/** A question that a host answers by making the call again. */
interface Open {
  call: string
  request: PendingRequest
  outcome: Promise<unknown>
  controller: AbortController
}

const FORWARDED = Symbol('forwarded')
const MAX_SHOWN = 2000
/** Questions that wait for the call to be made again. */
const MAX_OPEN = 1000
/** The name of our question among those of a result. */
const QUESTION = 'spillway_permission'

export class Asking {
  /** True if the host can put a question to the user. */
  canElicit = false
  private hasWarned = false
  private readonly gate: PermissionGate
  /** By call: ends where it is decided, however that came about. */
  private readonly undecided = new Map<string, AbortController>()
  /** Listeners by call: each receives the question if it is not sent to the host as a request. */
  private readonly listeners = new Map<string, (request: PendingRequest) => void>()
  private readonly open = new Map<string, Open>()

  private readonly configFile: string | undefined
  /** Questions that the host cannot show are answered elsewhere: see {@link questions}. */
  private readonly isShared: boolean

  constructor(
    private readonly policy: PermissionPolicy,
    private readonly askHost: AskHost,
    { configFile, approvalsDir, ask }: Pick<McpProxyOptions, 'configFile' | 'approvalsDir' | 'ask'>,
  ) {
    this.configFile = configFile
    this.isShared = approvalsDir !== undefined || ask !== undefined
    const onEvent = (event: GateEvent) => {
      if (event.type !== 'asked' || !this.canElicit) return
      const listener = this.listeners.get(event.request.toolCallId)
      if (listener) listener(event.request)
      else void this.ask(event.request)
    }
    const elsewhere: McpProxyOptions['ask'] =
      ask && ((request, context) => (this.canElicit ? untilSettled(context.signal) : ask(request, context)))
    this.gate = new PermissionGate(policy, {
      onEvent,
      ...(elsewhere !== undefined && { ask: elsewhere }),
      ...(configFile !== undefined && { configFile }),
    })
  }

  /** The questions that wait for an answer. */
  get questions(): PermissionGate {
    return this.gate
  }

  /** The capabilities of the host. */
  learn(capabilities: unknown): void {
    const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
    // Hosts that know only addresses say so; one that says nothing more knows forms.
    this.canElicit = isRecord(elicitation) && (Object.keys(elicitation).length === 0 || elicitation.form !== undefined)
    if (this.canElicit || this.isShared || this.hasWarned) return
    this.hasWarned = true
    process.emitWarning('mcp: the host has no elicitation, so what would be asked is denied', 'SpillwayWarning')
  }

  /** Decides about a call; a question is put to the user by a request to the host. */
  async judge(call: JudgedCall, signal: AbortSignal): Promise<Verdict> {
    return this.verdictOf(call, await this.outcomeOf(call, signal))
  }

  /**
   * Decides about a call of a protocol without requests of servers: a question is a result, and the host makes the call again.
   */
  async judgeByResult(call: JudgedCall, signal: AbortSignal): Promise<Verdict> {
    if (!this.canElicit) return this.judge(call, signal)
    const controller = new AbortController()
    const forward = () => controller.abort()
    if (signal.aborted) forward()
    else signal.addEventListener('abort', forward, { once: true })
    const asked = new Promise<PendingRequest>((resolve) => this.listeners.set(call.toolCallId, resolve))
    const outcome = this.outcomeOf(call, controller.signal).finally(() => this.listeners.delete(call.toolCallId))
    outcome.catch(() => {})
    const first = await Promise.race([outcome.then((answer) => ({ answer })), asked.then((request) => ({ request }))])
    // The request has been answered from here on; that it is cancelled means nothing any more.
    signal.removeEventListener('abort', forward)
    if ('answer' in first) return this.verdictOf(call, first.answer)
    const state = `spillway:${randomUUID()}`
    this.open.set(state, { call: keyOf(call), request: first.request, outcome, controller })
    if (this.open.size > MAX_OPEN) {
      const [oldest] = this.open.keys()
      this.open.get(oldest!)?.controller.abort()
      this.open.delete(oldest!)
    }
    const params = { mode: 'form', ...questionOf(first.request) }
    return {
      question: {
        resultType: 'input_required',
        inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
        requestState: state,
      },
    }
  }

  /** The verdict where a call is the answer to a question; nothing if it answers none of ours, or is another call. */
  async answered(
    call: JudgedCall,
    { requestState, inputResponses }: Record<string, unknown>,
  ): Promise<Verdict | undefined> {
    const open = typeof requestState === 'string' ? this.open.get(requestState) : undefined
    if (open === undefined) return undefined
    this.open.delete(requestState as string)
    const response = isRecord(inputResponses) ? inputResponses[QUESTION] : undefined
    if (open.call !== keyOf(call)) {
      open.controller.abort()
      return undefined
    }
    // Decided in the meantime.
    await this.gate.respond(open.request.id, responseOf(response)).catch(() => {})
    return this.verdictOf(call, await open.outcome)
  }

  /** The refusal as a result of the tool, or that the call may go on. */
  private async outcomeOf(call: JudgedCall, signal: AbortSignal): Promise<unknown> {
    const { tool, args, toolCallId, sessionId } = call
    const undecided = new AbortController()
    this.undecided.set(toolCallId, undecided)
    try {
      const guarded: GuardedTool<Tool> = guardTool(
        { name: tool, execute: () => FORWARDED as never } as unknown as Tool,
        { permission: this.canElicit || this.isShared ? this.gate : this.policy, refusal: 'mcp' },
      )
      return await guarded.execute(args as never, { toolCallId, sessionId, signal } as never)
    } finally {
      this.undecided.delete(toolCallId)
      undecided.abort()
    }
  }

  private verdictOf(call: JudgedCall, answer: unknown): Verdict {
    if (answer === (FORWARDED as unknown)) return { isAllowed: true }
    const advice = this.canElicit || this.isShared ? undefined : this.adviceFor(call)
    if (advice === undefined || !isRecord(answer) || !Array.isArray(answer.content)) return { refusal: answer }
    return { refusal: { ...answer, content: [...(answer.content as unknown[]), textBlock(advice)] } }
  }

  /** Advice for the user where the host cannot show a question; `undefined` if there is none. */
  private adviceFor({ tool, args, sessionId }: JudgedCall): string | undefined {
    const { decision, suggestedRules } = this.policy.evaluate({ tool, args, sessionId, headless: false } as never)
    if (decision !== 'ask') return undefined
    const rule = suggestedRules[0] ?? { domain: 'mcp', pattern: tool, decision: 'allow' }
    const shown = JSON.stringify({ domain: rule.domain, pattern: rule.pattern, decision: 'allow' })
    const file = this.configFile ?? 'a file that is given to spillway mcp by --config FILE'
    return (
      'This host cannot show a question to the user (it has no elicitation for forms), so the user was not asked. Tell the user: to ' +
      `allow such calls, add the rule ${shown} to agents.runtime.permission.rules in ${file}, and start the server again.`
    )
  }

  private async ask(request: PendingRequest): Promise<void> {
    let response: Parameters<PermissionGate['respond']>[1]
    try {
      const { signal } = this.undecided.get(request.toolCallId) ?? {}
      response = responseOf(await this.askHost('elicitation/create', questionOf(request), signal))
    } catch {
      response = { reject: 'the question could not be put to the user' }
    }
    // Decided in the meantime.
    await this.gate.respond(request.id, response).catch(() => {})
  }
}

/** Never answers: the host does. */
function untilSettled(signal: AbortSignal): Promise<never> {
  return withTimeout(Number.POSITIVE_INFINITY, () => new Promise(() => {}), { signal })
}

/** Identity of the call that is judged: another tool or other arguments are another call. */
function keyOf({ tool, args }: JudgedCall): string {
  return JSON.stringify([tool, args])
}

function questionOf({ tool, args, reasons, targets, suggestedRules }: PendingRequest): object {
  const [rule] = suggestedRules
  const shown = JSON.stringify(args, null, 2) ?? ''
  const always = rule === undefined ? [] : [['always', `Always allow ${rule.pattern}`]]
  const answers = [['once', 'Allow this call'], ...always, ['reject', 'Do not allow it']]
  const text = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN).toWellFormed()}…` : shown
  const why = [...targets, ...reasons].map((each) => `\n- ${each}`).join('')
  return {
    message: `May ${tool} be called?${why}\n\n${text}`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          enum: answers.map(([value]) => value),
          enumNames: answers.map(([, title]) => title),
        },
      },
      required: ['decision'],
    },
  }
}

function responseOf(result: unknown): 'once' | 'always' | { reject: true } {
  const decision = isRecord(result) && result.action === 'accept' && isRecord(result.content) && result.content.decision
  return decision === 'once' || decision === 'always' ? decision : { reject: true }
}
