/**
 * Questions that the host puts to the user in its own way, before the tool is called. The host asks for a judgement, more
 * than once for the same call; the gate hears of each question once, and of what came of it.
 */

import type { GateCall, GateDecision, PermissionCall, PermissionVerdict, ToolControls } from 'spillway'
import { viewsOf } from '../../history/formats'
import { tellError } from './controls'
import { Recent } from './sessions'
import type { AdapterControls } from './types'

/** A call that the host wants to have judged. */
export type JudgedCall = Omit<GateCall, 'signal'>

/** A judgement; the reason is for people and models. */
export interface Judgement {
  decision: 'allow' | 'deny' | 'ask'
  reason: string
}

type Permission = NonNullable<ToolControls['permission']>
type Gate = Extract<Permission, { request: unknown }>
type Policy = Extract<Permission, { evaluate: unknown }>

interface Question {
  /** Takes the question back, so that the gate does not wait for ever for what the host has settled. */
  readonly withdraw: AbortController
  approved: boolean
}

const all = new WeakMap<object, HostApprovals>()

/** The approvals of a gate or a policy: whoever is given the same one knows the same questions. */
export function approvalsOf(permission: Permission): HostApprovals {
  const known = all.get(permission) ?? new HostApprovals(permission)
  all.set(permission, known)
  return known
}

/** What is to be judged of a call. */
export interface CallToJudge {
  tool: string
  args: unknown
  toolCallId: string
  sessionId?: string | undefined
}

/** Judges a call by the `permission` of the controls. What cannot be judged is denied, and told. Never rejects. */
export async function judge(
  controls: Pick<AdapterControls, 'permission' | 'mode' | 'onEvent'>,
  { sessionId, ...call }: CallToJudge,
): Promise<Judgement> {
  const { permission, mode } = controls
  if (permission === undefined) return { decision: 'allow', reason: '' }
  try {
    const more = { ...(sessionId !== undefined && { sessionId }), ...(mode !== undefined && { mode }) }
    return await approvalsOf(permission).judge({ ...call, ...more })
  } catch (thrown) {
    tellError(controls, 'permission', thrown, sessionId)
    return { decision: 'deny', reason: 'The call could not be judged.' }
  }
}

class HostApprovals {
  readonly #permission: Permission
  readonly #questions = new Recent<string, Question>(10_000)

  constructor(permission: Permission) {
    this.#permission = permission
  }

  /** Whether the call may run, must not, or is for the host to ask about. */
  async judge(call: JudgedCall): Promise<Judgement> {
    const permission = this.#permission
    const verdict = 'request' in permission ? await this.#judgeByGate(permission, call) : evaluate(permission, call)
    const { decision, reasons } = verdict
    if (decision === 'ask' && !this.#questions.get(call.toolCallId)) {
      this.#questions.set(call.toolCallId, { withdraw: new AbortController(), approved: false })
    }
    return { decision, reason: reasons.join('; ') }
  }

  async #judgeByGate(gate: Gate, call: JudgedCall): Promise<Pick<PermissionVerdict, 'decision' | 'reasons'>> {
    const withdraw = new AbortController()
    const answer = gate.request({ ...call, signal: withdraw.signal })
    const waiting = pendingOf(gate, call.toolCallId)
    if (waiting !== undefined) {
      if (!this.#questions.get(call.toolCallId)) this.#questions.set(call.toolCallId, { withdraw, approved: false })
      return { decision: 'ask', reasons: waiting.reasons }
    }
    // A gate that does not say what is pending asks by itself.
    const { decision, message, verdict } = await answer
    return { decision, reasons: message === undefined ? verdict.reasons : [message] }
  }

  /** The host calls the tool: whoever it asked has agreed. */
  approve(toolCallId: string): void {
    const question = this.#questions.get(toolCallId)
    if (question !== undefined) question.approved = true
  }

  /** The host will not call the tool. */
  withdraw(toolCallId: string): void {
    this.#questions.get(toolCallId)?.withdraw.abort()
    this.#questions.delete(toolCallId)
  }

  /** Questions whose call has its result: the host has settled them, and nobody waits for an answer any more. */
  settle(messages: readonly unknown[]): void {
    if (this.#questions.size === 0) return
    for (const { results } of viewsOf(messages)) {
      for (const { callId } of results) {
        if (callId !== undefined) this.withdraw(callId)
      }
    }
  }

  /** The permission for `guardTool`: what the host has asked about is not asked again. */
  get permission(): Gate {
    return { request: (call) => this.#request(call) }
  }

  async #request(call: GateCall): Promise<GateDecision> {
    const permission = this.#permission
    const approved = this.#questions.get(call.toolCallId)?.approved === true
    if (!('request' in permission)) {
      const verdict = permission.evaluate(factsOf(call))
      const allowed = verdict.decision === 'allow' || (verdict.decision === 'ask' && approved)
      const by = verdict.decision === 'ask' && approved ? 'once' : 'rule'
      return { decision: allowed ? 'allow' : 'deny', by, mode: call.mode ?? 'agent', verdict }
    }
    const answer = permission.request(call)
    if (approved) await respond(permission, call.toolCallId)
    return answer
  }
}

function evaluate(policy: Policy, call: JudgedCall): PermissionVerdict {
  return policy.evaluate(factsOf(call))
}

function factsOf(call: GateCall | JudgedCall): PermissionCall {
  const { toolCallId: _, signal: __, ...facts } = call as GateCall
  return facts
}

/** What a `PermissionGate` has beside `request`. */
interface Answerable extends Gate {
  pending(): { id: string; toolCallId: string; reasons: string[] }[]
  respond(id: string, response: 'once'): Promise<void>
}

function pendingOf(gate: Gate, toolCallId: string): { id: string; reasons: string[] } | undefined {
  const { pending, respond } = gate as Partial<Answerable>
  if (typeof pending !== 'function' || typeof respond !== 'function') return undefined
  return (gate as Answerable).pending().find((one) => one.toolCallId === toolCallId)
}

async function respond(gate: Gate, toolCallId: string): Promise<void> {
  const question = pendingOf(gate, toolCallId)
  if (question !== undefined) await (gate as Answerable).respond(question.id, 'once')
}
