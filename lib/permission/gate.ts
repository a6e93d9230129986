/** Asking somebody, once for each call. */

import { parsedState } from '../checks'
import { pathOf, storeApproval } from '../config-file'
import { checkKeys, isArray, isRecord, wrong } from '../context'
import { messageOf, SpillwayError } from '../errors'
import { randomUUID } from '../random'
import type { ModeController } from './mode'
import { PermissionPolicy, readCall } from './policy'
import type { PermissionCall, PermissionMode, PermissionVerdict, SuggestedRule } from './types'

/** A call that is asked about. */
export interface GateCall extends PermissionCall {
  /** The same id has the same answer, however often it is asked. */
  toolCallId: string
  /** Takes the question back. */
  signal?: AbortSignal
}

/** A question that waits for an answer. */
export interface PendingRequest {
  id: string
  toolCallId: string
  tool: string
  args: unknown
  sessionId?: string
  cwd?: string
  targets: string[]
  reasons: string[]
  suggestedRules: SuggestedRule[]
  /** Milliseconds since the epoch. */
  askedAt: number
}

/** How a call was decided. */
export interface GateDecision {
  decision: 'allow' | 'deny'
  /** Who decided: rules, full access, an answer, or that the question was taken back. */
  by: 'rule' | 'full_access' | 'once' | 'always' | 'reject' | 'abort'
  /** The mode of the session then. */
  mode: PermissionMode
  /** What the person said who rejected it. */
  message?: string
  verdict: PermissionVerdict
}

/** What an audit records. */
export type GateEvent =
  | { type: 'asked'; request: PendingRequest }
  | { type: 'decided'; toolCallId: string; sessionId?: string; decision: GateDecision }
  | { type: 'rule_stored'; rule: SuggestedRule; scope: 'session' | 'user'; sessionId?: string }
  | { type: 'rule_not_stored'; rule: SuggestedRule; message: string }

/** An answer: `always` stores the suggested rule that was shown. */
export type GateResponse = 'once' | 'always' | { reject: string | true }

/** Options of {@link PermissionGate}. */
export interface PermissionGateOptions {
  /** Says which sessions have full access. */
  modes?: ModeController
  /** Writes a rule to the user's settings. Without it, "always" holds as long as the gate. */
  saveRule?: (rule: SuggestedRule) => void | Promise<void>
  /** Writes it to this file of `loadConfig` instead, comments kept. */
  configFile?: string
  /**
   * For whom "always" holds.
   * @default 'user'
   */
  scope?: 'session' | 'user'
  /** Hears every question and decision. What it throws is ignored. */
  onEvent?: (event: GateEvent) => void
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
}

/** What {@link PermissionGate.toJSON} keeps. */
export interface GateState {
  version: 1
  pending: PendingRequest[]
  answers: { toolCallId: string; decision: GateDecision }[]
  approvals: { rule: SuggestedRule; sessionId: string | null }[]
}

interface Waiting {
  request: PendingRequest
  call: GateCall
  verdict: PermissionVerdict
  promise: Promise<GateDecision>
  settle: (decision: GateDecision) => void
}

interface State {
  policy: PermissionPolicy
  options: PermissionGateOptions
  waiting: Map<string, Waiting>
  byCall: Map<string, Waiting>
  answers: Map<string, GateDecision>
  /** Questions of an earlier process, by call, until the call is asked about again. */
  restored: Map<string, PendingRequest>
}

const states = new WeakMap<object, State>()

/** So many answers are remembered; a call is asked about again within a turn, not after ten thousand others. */
const MAX_ANSWERS = 10_000

/**
 * Asks where the policy says so, and waits. One decision per `toolCallId`, however often and from wherever it is requested;
 * nobody waits on a clock.
 *
 * @example
 * const gate = new PermissionGate(policy, { onEvent: (event) => show(event) })
 * const { decision } = await gate.request({ toolCallId: 'c1', tool: 'bash', args: { command: 'make' } })
 * // elsewhere: gate.respond(gate.pending()[0].id, 'once')
 */
export class PermissionGate {
  constructor(policy: PermissionPolicy, options: PermissionGateOptions = {}) {
    if (!(policy instanceof PermissionPolicy)) throw wrong('policy', policy, 'a PermissionPolicy')
    if (!isRecord(options)) throw wrong('options', options, 'an object')
    checkKeys('options', options, ['modes', 'saveRule', 'configFile', 'scope', 'onEvent', 'now'])
    const { modes, configFile, scope, onEvent, now } = options as PermissionGateOptions
    const file = configFile === undefined ? undefined : pathOf('options.configFile', configFile)
    const saveRule =
      (options as PermissionGateOptions).saveRule ??
      (file === undefined ? undefined : (rule: SuggestedRule) => storeApproval(file, rule))
    if (modes !== undefined && typeof modes?.getMode !== 'function')
      throw wrong('options.modes', modes, 'a ModeController')
    for (const [key, value] of Object.entries({ saveRule, onEvent, now })) {
      if (value !== undefined && typeof value !== 'function') throw wrong(`options.${key}`, value, 'a function')
    }
    if (scope !== undefined && scope !== 'session' && scope !== 'user') {
      throw wrong('options.scope', scope, "'session' or 'user'")
    }
    states.set(this, {
      policy,
      options: { modes, saveRule, scope, onEvent, now },
      waiting: new Map(),
      byCall: new Map(),
      answers: new Map(),
      restored: new Map(),
    })
  }

  /**
   * Decides, or asks and waits.
   * @throws SpillwayError `INVALID_ARGUMENT` if the call is wrong
   */
  async request(call: GateCall): Promise<GateDecision> {
    const state = stateOf(this)
    const { toolCallId, signal } = call ?? {}
    if (typeof toolCallId !== 'string' || toolCallId === '')
      throw wrong('call.toolCallId', toolCallId, 'the id of a call')
    if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
      throw wrong('call.signal', signal, 'an AbortSignal')
    }
    const facts = readCall(call)
    const known = state.answers.get(toolCallId) ?? state.byCall.get(toolCallId)?.promise
    if (known) return known
    const mode =
      facts.mode ??
      (facts.sessionId === undefined ? 'agent' : (state.options.modes?.getMode(facts.sessionId) ?? 'agent'))
    const verdict = state.policy.evaluate({ ...facts, args: call.args, mode })
    if (verdict.decision !== 'ask') {
      const by = mode === 'full_access' && verdict.decision === 'allow' ? 'full_access' : 'rule'
      return decide(state, call, { decision: verdict.decision, by, mode, verdict })
    }
    if (signal?.aborted) return decide(state, call, { decision: 'deny', by: 'abort', mode, verdict })
    return ask(state, { ...facts, args: call.args, toolCallId, signal }, verdict)
  }

  /** The questions that wait, the oldest first; those of an earlier process too. */
  pending(): PendingRequest[] {
    const { waiting, restored } = stateOf(this)
    return [...restored.values(), ...[...waiting.values()].map(({ request }) => request)].map((one) =>
      structuredClone(one),
    )
  }

  /**
   * Answers a question. `always` stores the first suggested rule, or the one that is given if it was shown, and lets other
   * questions through that it answers. `{ reject }` denies the call and every other question of its session.
   * @throws SpillwayError `INVALID_ARGUMENT` if there is no such question, or no rule to store
   */
  async respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void> {
    const state = stateOf(this)
    const waiting = state.waiting.get(id)
    const request = waiting?.request ?? [...state.restored.values()].find((one) => one.id === id)
    if (request === undefined) throw wrong('id', id, 'the id of a question that waits')
    if (response === 'once') return settle(state, request, { decision: 'allow', by: 'once' })
    if (response === 'always') {
      const shown = request.suggestedRules
      const chosen =
        rule === undefined
          ? shown[0]
          : shown.find((one) => one.pattern === rule?.pattern && one.domain === rule?.domain)
      if (chosen === undefined) throw wrong('response', response, 'once or reject: no such rule was shown')
      await store(state, request, chosen)
      settle(state, request, { decision: 'allow', by: 'always' })
      return letThrough(state, request)
    }
    if (!isRecord(response) || !(response.reject === true || typeof response.reject === 'string')) {
      throw wrong('response', response, "'once', 'always' or { reject: a reason or true }")
    }
    const message = typeof response.reject === 'string' ? response.reject : undefined
    settle(state, request, { decision: 'deny', by: 'reject', ...(message === undefined ? {} : { message }) })
    for (const other of this.pending()) {
      if (other.sessionId === request.sessionId) settle(state, other, { decision: 'deny', by: 'reject' })
    }
  }

  /** Everything that must survive a restart: questions, answers to calls, approvals. */
  toJSON(): GateState {
    const state = stateOf(this)
    const answers = [...state.answers].map(([toolCallId, decision]) => ({ toolCallId, decision }))
    const approvals = state.policy.approvals().map(({ rule, sessionId }) => {
      const { domain, pattern } = rule as SuggestedRule
      return { rule: { domain, pattern, decision: 'allow' as const }, sessionId }
    })
    return structuredClone({ version: 1 as const, pending: this.pending(), answers, approvals })
  }

  /**
   * A gate as it was. A question waits on; the call that asked it is requested again under its id and takes it over.
   * @throws SpillwayError `INVALID_ARGUMENT` if that is not what {@link toJSON} gave
   */
  static fromJSON(
    saved: GateState | string,
    policy: PermissionPolicy,
    options: PermissionGateOptions = {},
  ): PermissionGate {
    const gate = new PermissionGate(policy, options)
    const state = stateOf(gate)
    const { version, pending, answers, approvals } = parsedState(saved)
    if (version !== 1 || !isArray(pending) || !isArray(answers) || !isArray(approvals)) {
      throw wrong('state', saved, 'what toJSON gave')
    }
    for (const [at, one] of (pending as PendingRequest[]).entries()) {
      const sound = typeof one?.id === 'string' && typeof one.toolCallId === 'string' && isArray(one.suggestedRules)
      if (!sound) throw wrong(`state.pending[${at}]`, one, 'a question')
      state.restored.set(one.toolCallId, structuredClone(one))
    }
    for (const [at, one] of (answers as GateState['answers']).entries()) {
      const said = one?.decision?.decision
      if (typeof one?.toolCallId !== 'string' || (said !== 'allow' && said !== 'deny')) {
        throw wrong(`state.answers[${at}]`, one, 'an answer')
      }
      state.answers.set(one.toolCallId, structuredClone(one.decision))
    }
    for (const one of approvals as GateState['approvals']) policy.approve(one?.rule, one?.sessionId ?? undefined)
    return gate
  }
}

function ask(state: State, call: GateCall, verdict: PermissionVerdict): Promise<GateDecision> {
  const { toolCallId, tool, sessionId, cwd, signal } = call
  const before = state.restored.get(toolCallId)
  state.restored.delete(toolCallId)
  const request: PendingRequest = {
    id: before?.id ?? randomUUID(),
    toolCallId,
    tool,
    args: copyOf(call.args),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    targets: verdict.targets,
    reasons: verdict.reasons,
    suggestedRules: verdict.suggestedRules,
    askedAt: before?.askedAt ?? (state.options.now ?? Date.now)(),
  }
  let resolve: (decision: GateDecision) => void = () => {}
  const promise = new Promise<GateDecision>((settled) => {
    resolve = settled
  })
  const abort = () => settle(state, request, { decision: 'deny', by: 'abort' })
  const waiting: Waiting = {
    request,
    call,
    verdict,
    promise,
    settle: (decision) => {
      signal?.removeEventListener('abort', abort)
      resolve(decision)
    },
  }
  signal?.addEventListener('abort', abort, { once: true })
  state.waiting.set(request.id, waiting)
  state.byCall.set(toolCallId, waiting)
  tell(state, { type: 'asked', request: structuredClone(request) })
  return promise
}

function settle(state: State, request: PendingRequest, said: Omit<GateDecision, 'verdict' | 'mode'>): void {
  const waiting = state.waiting.get(request.id)
  state.restored.delete(request.toolCallId)
  state.waiting.delete(request.id)
  state.byCall.delete(request.toolCallId)
  const verdict = waiting?.verdict ?? asked(request)
  // Nobody is asked in full access.
  const decision = decide(state, request, { ...said, mode: 'agent', verdict })
  waiting?.settle(decision)
}

/** The verdict of a question whose call has not come back yet. */
function asked({ targets, reasons, suggestedRules }: PendingRequest): PermissionVerdict {
  return { decision: 'ask', domain: null, targets, rule: null, shadowed: [], reasons, suggestedRules }
}

function decide(state: State, call: { toolCallId: string; sessionId?: string }, decision: GateDecision): GateDecision {
  const { toolCallId, sessionId } = call
  state.answers.set(toolCallId, decision)
  if (state.answers.size > MAX_ANSWERS) {
    const [oldest] = state.answers.keys()
    state.answers.delete(oldest as string)
  }
  tell(state, { type: 'decided', toolCallId, ...(sessionId === undefined ? {} : { sessionId }), decision })
  return decision
}

async function store(state: State, request: PendingRequest, rule: SuggestedRule): Promise<void> {
  const { scope = 'user', saveRule } = state.options
  const { sessionId } = request
  const own = scope === 'session' ? sessionId : undefined
  state.policy.approve(rule, own)
  if (scope === 'user' && saveRule) {
    try {
      await saveRule({ ...rule })
    } catch (thrown) {
      // It holds here all the same: the person said so, and is told that it will not hold tomorrow.
      tell(state, { type: 'rule_not_stored', rule, message: messageOf(thrown) })
      return
    }
  }
  tell(state, { type: 'rule_stored', rule, scope, ...(sessionId === undefined ? {} : { sessionId }) })
}

/** Other questions of the session that the new rule answers. */
function letThrough(state: State, request: PendingRequest): void {
  for (const { request: other, call } of [...state.waiting.values()]) {
    if (other.sessionId !== request.sessionId) continue
    const { toolCallId: _, signal: __, ...facts } = call
    const { decision } = state.policy.evaluate(facts)
    if (decision === 'allow') settle(state, other, { decision: 'allow', by: 'always' })
  }
}

/** What can be shown and kept of the arguments. */
function copyOf(args: unknown): unknown {
  try {
    const text = JSON.stringify(args)
    return text === undefined ? null : JSON.parse(text)
  } catch {
    return null
  }
}

function tell(state: State, event: GateEvent): void {
  try {
    state.options.onEvent?.(event)
  } catch {
    // Whoever listens cannot change what is decided.
  }
}

function stateOf(gate: object): State {
  const state = states.get(gate)
  if (state === undefined) throw new SpillwayError('INVALID_ARGUMENT', 'this is no PermissionGate')
  return state
}
