/** Permission for the calls of a host: rules first, then the user, by elicitation. */

import {
  type GateEvent,
  type GuardedTool,
  guardTool,
  type PendingRequest,
  PermissionGate,
  type PermissionPolicy,
  type Tool,
} from 'spillway'
import { isRecord } from '../../context'

/** Sends a request to the host and answers its result; rejects where the host refuses it. */
export type AskHost = (method: string, params: object, signal?: AbortSignal) => Promise<unknown>

const FORWARDED = Symbol('forwarded')
const MOST_SHOWN = 2000

export class Asking {
  /** Whether the host can put a question to the user. */
  canElicit = false
  private readonly gate: PermissionGate
  /** By call: ends where it is decided, however that came about. */
  private readonly undecided = new Map<string, AbortController>()

  constructor(
    private readonly policy: PermissionPolicy,
    configFile: string | undefined,
    private readonly askHost: AskHost,
  ) {
    const onEvent = (event: GateEvent) => {
      if (event.type === 'asked') void this.ask(event.request)
    }
    this.gate = new PermissionGate(policy, { onEvent, ...(configFile !== undefined && { configFile }) })
  }

  /** What the host said that it can do. */
  learn(capabilities: unknown): void {
    const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
    // Hosts that know only addresses say so; one that says nothing more knows forms.
    this.canElicit = isRecord(elicitation) && (Object.keys(elicitation).length === 0 || elicitation.form !== undefined)
    if (!this.canElicit) {
      process.emitWarning('mcp: the host has no elicitation, so what would be asked is denied', 'SpillwayWarning')
    }
  }

  /** The refusal as a result of the tool, or nothing if the call may go on. */
  async judge(
    call: { tool: string; args: unknown; toolCallId: string; sessionId?: string },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { tool, args, toolCallId, sessionId } = call
    const undecided = new AbortController()
    this.undecided.set(toolCallId, undecided)
    try {
      const guarded: GuardedTool<Tool> = guardTool(
        { name: tool, execute: () => FORWARDED as never } as unknown as Tool,
        { permission: this.canElicit ? this.gate : this.policy, refusal: 'mcp' },
      )
      const answer = await guarded.execute(args as never, { toolCallId, sessionId, signal } as never)
      return answer === (FORWARDED as unknown) ? undefined : answer
    } finally {
      this.undecided.delete(toolCallId)
      undecided.abort()
    }
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

function questionOf({ tool, args, reasons, targets, suggestedRules }: PendingRequest): object {
  const [rule] = suggestedRules
  const shown = JSON.stringify(args, null, 2) ?? ''
  const always = rule === undefined ? [] : [['always', `Always allow ${rule.pattern}`]]
  const answers = [['once', 'Allow this call'], ...always, ['reject', 'Do not allow it']]
  const text = shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN).toWellFormed()}…` : shown
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
