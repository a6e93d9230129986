/**
 * Questions that the host puts to the user in its own way, before the tool is called. The host requests a judgement more
 * than once for the same call; the gate is notified of each question once, and of its outcome.
 */

import type { GateCall, GateDecision, PermissionCall, PermissionVerdict, ToolControls } from 'spillway'
import { type IdentifiedCall, identityOf } from '../../approval/call-key'
import { viewsOf } from '../../history/formats'
import { definedOf } from '../../util/defined'
import { LruCache } from '../../util/lru-cache'
import { tellError } from './controls'
import type { AdapterControls } from './types'

/** Says why a call whose tool has no readable name is denied. */
export const NO_TOOL_NAME = 'The name of the tool cannot be read, so the call is not judged and did not run.'

/** A call that the host wants to have judged. */
export type ApprovalCall = Omit<GateCall, 'signal'>

/** A judgement; the reason is for people and models. */
export interface Judgement {
  decision: 'allow' | 'deny' | 'ask'
  reason: string
}

type Permission = NonNullable<ToolControls['permission']>
type Gate = Extract<Permission, { request: unknown }>
type Policy = Extract<Permission, { evaluate: unknown }>

interface Question {
  readonly call: Pick<IdentifiedCall, 'toolCallId' | 'sessionId'>
  /** Withdraws the question, so that the gate does not wait indefinitely for a call that the host has settled. */
  readonly withdraw: AbortController
  isApproved: boolean
}

const all = new WeakMap<object, HostApprovals>()

/** Approvals by gate or policy: callers with the same one share its questions. */
export function approvalsOf(permission: Permission): HostApprovals {
  const known = all.get(permission) ?? new HostApprovals(permission)
  all.set(permission, known)
  return known
}

/** Call to decide on. */
export interface CallToJudge {
  tool: string
  args: unknown
  toolCallId: string
  sessionId?: string | undefined
  /** The folder that it runs in. */
  cwd?: string | undefined
}

/** Judges a call by the `permission` of the controls. A call that cannot be judged is denied and reported. Never rejects. */
export async function judge(
  controls: Pick<AdapterControls, 'permission' | 'mode' | 'onEvent'>,
  { sessionId, cwd, ...call }: CallToJudge,
): Promise<Judgement> {
  const { permission, mode } = controls
  if (permission === undefined) return { decision: 'allow', reason: '' }
  try {
    return await approvalsOf(permission).judge({ ...call, ...definedOf({ sessionId, cwd, mode }) })
  } catch (thrown) {
    tellError(controls, 'permission', thrown, sessionId)
    return { decision: 'deny', reason: 'The call could not be judged.' }
  }
}

class HostApprovals {
  readonly #permission: Permission
  /** Pending questions of the host, by the key of the call. */
  readonly #questions = new LruCache<string, Question>(10_000)

  constructor(permission: Permission) {
    this.#permission = permission
  }

  /** True if the call may run, must not, or is for the host to ask about. */
  async judge(call: ApprovalCall): Promise<Judgement> {
    const permission = this.#permission
    const withdraw = new AbortController()
    const verdict =
      'request' in permission ? await judgeByGate(permission, call, withdraw.signal) : evaluate(permission, call)
    const { decision, reasons } = verdict
    if (decision === 'ask') this.#add(call, withdraw)
    return { decision, reason: reasons.join('; ') }
  }

  #add(call: ApprovalCall, withdraw: AbortController, isApproved = false): void {
    const identity = identityOf(call)
    if (identity === undefined) return
    // The gate waits until the last caller stops waiting, and the first one still waits.
    if (this.#questions.get(identity)) withdraw.abort()
    else this.#questions.set(identity, { call, withdraw, isApproved })
  }

  /**
   * The host calls the tool, so the user has agreed. Returns true if the user was asked about this very call, or, if the host
   * lets users change a call, about another one under its id that is not answered yet.
   */
  approve(call: ApprovalCall, isChanged = false): boolean {
    const asked = this.#questions.get(identityOf(call) ?? '')
    if (asked !== undefined) asked.isApproved = true
    if (asked !== undefined || !isChanged) return asked !== undefined
    const changed = this.#of(call).filter(([, { isApproved }]) => !isApproved)
    for (const [identity, { withdraw }] of changed) this.#take(identity, withdraw)
    if (changed.length > 0) this.#add(call, new AbortController(), true)
    return changed.length > 0
  }

  /** The host will not call the tool. */
  withdraw(call: Question['call']): void {
    for (const [identity, { withdraw }] of this.#of(call)) this.#take(identity, withdraw)
  }

  #take(identity: string, withdraw: AbortController): void {
    withdraw.abort()
    this.#questions.delete(identity)
  }

  #of({ toolCallId, sessionId }: Question['call']): [identity: string, question: Question][] {
    return [...this.#questions].filter(([, { call }]) => call.toolCallId === toolCallId && call.sessionId === sessionId)
  }

  /** Questions whose call has its result: the host has settled them, and no caller waits for an answer. */
  settle(messages: readonly unknown[], sessionId: string | undefined): void {
    if (this.#questions.size === 0) return
    const answered = new Set(viewsOf(messages).flatMap(({ results }) => results.map(({ callId }) => callId)))
    for (const [identity, { call, withdraw }] of [...this.#questions]) {
      if (call.sessionId === sessionId && answered.has(call.toolCallId)) this.#take(identity, withdraw)
    }
  }

  /** The permission for `guardTool`: what the host's user has approved is not asked again. */
  permission(isApproved: boolean): Gate {
    return { request: (call) => this.#request(call, isApproved) }
  }

  async #request(call: GateCall, isApproved: boolean): Promise<GateDecision> {
    const permission = this.#permission
    if (!('request' in permission)) {
      const verdict = permission.evaluate(factsOf(call))
      const allowed = verdict.decision === 'allow' || (verdict.decision === 'ask' && isApproved)
      const by = verdict.decision === 'ask' && isApproved ? 'once' : 'rule'
      return { decision: allowed ? 'allow' : 'deny', by, mode: call.mode ?? 'agent', verdict }
    }
    const answer = permission.request(call)
    if (isApproved) await pendingOf(permission, call)?.allow()
    return answer
  }
}

async function judgeByGate(
  gate: Gate,
  call: ApprovalCall,
  signal: AbortSignal,
): Promise<Pick<PermissionVerdict, 'decision' | 'reasons'>> {
  const answer = gate.request({ ...call, signal })
  const waiting = pendingOf(gate, call)
  if (waiting !== undefined) return { decision: 'ask', reasons: waiting.reasons }
  // A gate that does not say what is pending asks by itself.
  const { decision, message, verdict } = await answer
  return { decision, reasons: message === undefined ? verdict.reasons : [message] }
}

function evaluate(policy: Policy, call: ApprovalCall): PermissionVerdict {
  return policy.evaluate(factsOf(call))
}

function factsOf(call: GateCall | ApprovalCall): PermissionCall {
  const { toolCallId: _, signal: __, ...facts } = call as GateCall
  return facts
}

/** Members of a `PermissionGate` besides `request`. */
interface Answerable extends Gate {
  pending(): (IdentifiedCall & { id: string; reasons: string[] })[]
  respond(id: string, response: 'once'): Promise<void>
}

/** The question about a call, if the gate waits for an answer to it. */
function pendingOf(
  gate: Gate,
  call: GateCall | ApprovalCall,
): { reasons: string[]; allow(): Promise<void> } | undefined {
  const { pending, respond } = gate as Partial<Answerable>
  if (typeof pending !== 'function' || typeof respond !== 'function') return undefined
  const identity = identityOf(call)
  const question = (gate as Answerable).pending().find((one) => identityOf(one) === identity)
  return question && { reasons: question.reasons, allow: () => (gate as Answerable).respond(question.id, 'once') }
}
