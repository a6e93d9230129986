/** Asks the user, once for each call. */

import { type PermissionPolicy, placesOf, readCall } from '../permission/policy'
import type { PermissionCall, PermissionMode, PermissionVerdict, SuggestedRule } from '../permission/types'
import { randomUUID } from '../util/crypto'
import { messageOf } from '../util/message-of'
import { tellCaller, warn } from '../util/warn'
import { isRecord, notAnInstance, wrong } from '../validation/validate'
import { identityOf, plainArguments, readablePart } from './call-key'
import {
  type AskingGateOptions,
  chosenRule,
  type GateCall,
  type GateEvent,
  type GateResponse,
  type PermissionGateOptions,
  readGateOptions,
} from './gate-options'
import { type GateDecision, type GateState, type PendingRequest, readGateState } from './gate-state'

interface Question {
  request: PendingRequest
  call: PermissionCall
  /** `undefined` for arguments that cannot be read whole: such a call never equals another. */
  identity: string | undefined
  verdict: PermissionVerdict
  decided: Promise<GateDecision>
  settle: (decision: GateDecision) => void
  /** How many requests wait for it; none if it is one of an earlier process whose call has not come back yet. */
  waiting: number
}

interface State {
  policy: PermissionPolicy
  options: PermissionGateOptions
  /** Pending requests by id, the oldest first. */
  questions: Map<string, Question>
  /** The same, by the identity of the call. */
  byCall: Map<string, Question>
  /** The last decision about a call, by its identity. */
  decisions: Map<string, GateDecision>
}

const states = new WeakMap<object, State>()

/** Maximum number of remembered decisions; a call is repeated within a turn, not after ten thousand others. */
const MAX_DECISIONS = 10_000

/**
 * Asks the user if the policy says so, and waits without a time limit. A call is asked about once, however often it is requested.
 * A call is identified by its session, `toolCallId`, tool, arguments and folders: the same id with other arguments is another
 * call. The rules are checked each time: an approved call does not run if the policy denies it by then.
 *
 * @example
 * const asking = new PermissionGate({ ask: () => 'once' }) // with the default policy
 * const gate = new PermissionGate(policy, { ask: async ({ tool, args }) => ((await askTheUser(tool, args)) ? 'once' : { reject: true }) })
 * const { decision } = await gate.request({ toolCallId: 'c1', tool: 'bash', args: { command: 'make' } })
 * // Without `ask`, from elsewhere: gate.respond(gate.pending()[0].id, 'once')
 */
export class PermissionGate {
  /** @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed */
  constructor(options: AskingGateOptions)
  constructor(policy: PermissionPolicy, options?: PermissionGateOptions)
  constructor(first: PermissionPolicy | AskingGateOptions, given?: PermissionGateOptions) {
    const { policy, ...options } = readGateOptions(first, given)
    states.set(this, {
      policy,
      options,
      questions: new Map(),
      byCall: new Map(),
      decisions: new Map(),
    })
  }

  /**
   * Decides about a call, or asks and waits.
   * @throws SpillwayError `INVALID_ARGUMENT` if the call is wrong
   */
  async request(call: GateCall): Promise<GateDecision> {
    const state = stateOf(this)
    const { toolCallId, signal } = call ?? {}
    if (typeof toolCallId !== 'string' || toolCallId === '')
      throw wrong('call.toolCallId', toolCallId, 'the id of a call')
    const plain = plainArguments(call.args)
    const facts: PermissionCall = { ...readCall(call), args: plain === undefined ? UNREADABLE : plain.args }
    const identity = plain?.isWhole ? identityOf({ ...facts, toolCallId }) : undefined
    const mode = modeOf(state, facts)
    const whole = state.policy.evaluate({ ...facts, mode })
    // A second read of them may only deny.
    const part = plain === undefined ? state.policy.evaluate({ ...facts, args: readablePart(call.args), mode }) : whole
    const verdict = part.decision === 'deny' ? part : whole
    const known = state.decisions.get(identity ?? '')
    // An earlier answer applies again, but an approval does not override a deny.
    if (known && isAnswer(known) && (known.decision === 'deny' || verdict.decision !== 'deny')) return known
    const question = state.byCall.get(identity ?? '')
    if (verdict.decision !== 'ask') {
      const by = mode === 'full_access' && verdict.decision === 'allow' ? 'full_access' : 'rule'
      const decision: GateDecision = { decision: verdict.decision, by, mode, verdict }
      if (question) settle(state, question, decision)
      else if (!isSame(known, decision)) note(state, { toolCallId, ...facts }, identity, decision)
      return decision
    }
    if (signal?.aborted) {
      const decision: GateDecision = { decision: 'deny', by: 'abort', mode, verdict }
      if (question === undefined) note(state, { toolCallId, ...facts }, identity, decision)
      else if (question.waiting === 0) settle(state, question, decision)
      return decision
    }
    const asked = question ?? newQuestion(state, { toolCallId, ...facts }, identity, verdict)
    const decided = wait(state, asked, signal)
    if (asked.waiting === 1) {
      tell(state, { type: 'asked', request: structuredClone(asked.request) })
      void putTo(this, state, asked)
    }
    return decided
  }

  /** Lists the open questions, oldest first; those of an earlier process too. */
  pending(): PendingRequest[] {
    return [...stateOf(this).questions.values()].map(({ request }) => structuredClone(request))
  }

  /**
   * Answers a question. `always` stores the first suggested rule, or the given rule if it was shown, and also answers other
   * questions that the rule covers. `{ reject }` denies the call and every other question of its session. The first
   * answer counts and decides at once; the rule is saved afterwards. If the policy denies the call in the meantime, it is denied
   * whatever the answer is.
   * @throws SpillwayError `INVALID_ARGUMENT` if there is no such question, or no rule to store
   */
  async respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void> {
    const state = stateOf(this)
    const question = state.questions.get(id)
    if (question === undefined) throw wrong('id', id, 'the id of a question that waits')
    if (response === 'once' || response === 'always') {
      const chosen = response === 'always' ? chosenRule(question.request.suggestedRules, rule) : undefined
      const mode = modeOf(state, question.call)
      const verdict = state.policy.evaluate({ ...question.call, mode })
      if (verdict.decision === 'deny') return settle(state, question, { decision: 'deny', by: 'rule', mode, verdict })
      if (chosen === undefined) return answer(state, question, { decision: 'allow', by: 'once' })
      const { scope = 'user' } = state.options
      const { sessionId } = question.request
      state.policy.approve(chosen, scope === 'session' ? sessionId : undefined)
      answer(state, question, { decision: 'allow', by: 'always' })
      letThrough(state, sessionId)
      return save(state, chosen, scope, sessionId)
    }
    if (!isRecord(response) || !(response.reject === true || typeof response.reject === 'string')) {
      throw wrong('response', response, "'once', 'always' or { reject: a reason or true }")
    }
    const message = typeof response.reject === 'string' ? response.reject : undefined
    answer(state, question, { decision: 'deny', by: 'reject', ...(message === undefined ? {} : { message }) })
    for (const other of ofSession(state, question.request.sessionId)) {
      answer(state, other, { decision: 'deny', by: 'reject' })
    }
  }

  /** Returns the state that must survive a restart: open questions whose call can be recognised again, answers and approvals. */
  toJSON(): GateState {
    const { questions, decisions, policy } = stateOf(this)
    const pending = [...questions.values()].filter(({ identity }) => identity !== undefined)
    const answers = [...decisions].filter(([, decision]) => isAnswer(decision))
    const approvals = policy.approvals().map(({ rule, sessionId }) => {
      const { domain, pattern } = rule as SuggestedRule
      return { rule: { domain, pattern, decision: 'allow' as const }, sessionId }
    })
    return structuredClone({
      version: 1 as const,
      pending: pending.map(({ request }) => request),
      answers: answers.map(([call, decision]) => ({ call, decision })),
      approvals,
    })
  }

  /**
   * Restores a gate. A question stays open if this policy also asks about its call; when the call is requested again, it uses that
   * question.
   * @throws SpillwayError `INVALID_ARGUMENT` that names the field that was not returned by {@link toJSON}
   */
  static fromJSON(
    saved: GateState | string,
    policy: PermissionPolicy,
    options: PermissionGateOptions = {},
  ): PermissionGate {
    const gate = new PermissionGate(policy, options)
    const state = stateOf(gate)
    const { pending, answers, approvals } = readGateState(saved)
    for (const { call, decision } of answers) state.decisions.set(call, decision)
    for (const { rule, sessionId } of approvals) policy.approve(rule, sessionId ?? undefined)
    for (const one of pending) restore(state, one)
    return gate
  }
}

/**
 * True if a gate reports its questions to a listener. Also true for a gate of another kind, for which it is not known.
 * @internal
 */
export function hasListener(gate: object): boolean {
  const state = states.get(gate)
  return state === undefined || state.options.onEvent !== undefined || state.options.ask !== undefined
}

/** Puts a question to the caller's `ask`, and answers it. */
async function putTo(gate: PermissionGate, state: State, question: Question): Promise<void> {
  const { ask } = state.options
  if (ask === undefined) return
  const { request, identity: call } = question
  const isOpen = () => state.questions.get(request.id) === question
  const settled = new AbortController()
  void question.decided.then(() => settled.abort())
  try {
    const response = await ask(structuredClone(request), {
      ...(call !== undefined && { call }),
      signal: settled.signal,
    })
    const isBare = response === 'always' && request.suggestedRules.length === 0
    if (!isOpen()) return
    if (isRecord(response) && 'always' in response) await gate.respond(request.id, 'always', response.always)
    else await gate.respond(request.id, isBare ? 'once' : response)
  } catch (thrown) {
    if (!isOpen()) return
    // The host's fault, and no answer of the user's.
    warn('ask', thrown)
    const message = `the user could not be asked: ${messageOf(thrown)}`
    answer(state, question, { decision: 'deny', by: 'error', message })
  }
}

/** Stands for arguments that cannot be read: nor can this. */
const UNREADABLE = Symbol('unreadable')

function modeOf({ options }: State, { mode, sessionId }: PermissionCall): PermissionMode {
  return mode ?? (sessionId === undefined ? 'agent' : (options.modes?.getMode(sessionId) ?? 'agent'))
}

/** True if a person decided, or the question was withdrawn; rules are evaluated again. */
function isAnswer({ by }: GateDecision): boolean {
  return by !== 'rule' && by !== 'full_access' && by !== 'error'
}

function isSame(known: GateDecision | undefined, { decision, by, mode }: GateDecision): boolean {
  return known?.decision === decision && known.by === by && known.mode === mode
}

function ofSession({ questions }: State, sessionId: string | undefined): Question[] {
  return [...questions.values()].filter(({ request }) => request.sessionId === sessionId)
}

function newQuestion(
  state: State,
  call: PermissionCall & { toolCallId: string },
  identity: string | undefined,
  verdict: PermissionVerdict,
  before?: PendingRequest,
): Question {
  const { toolCallId, ...facts } = call
  const { tool, args, sessionId, cwd, vault } = facts
  const { targets, reasons, suggestedRules } = verdict
  const { folder, domains } = placesOf(state.policy, facts, targets)
  const request: PendingRequest = {
    id: before?.id ?? randomUUID(),
    toolCallId,
    tool,
    args: args === UNREADABLE ? null : (args ?? null),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(vault === undefined ? {} : { vault }),
    folder,
    targets,
    domains,
    reasons,
    suggestedRules,
    askedAt: before?.askedAt ?? (state.options.now ?? Date.now)(),
  }
  let settled: (decision: GateDecision) => void = () => {}
  const decided = new Promise<GateDecision>((resolve) => {
    settled = resolve
  })
  const question: Question = { request, call: facts, identity, verdict, decided, settle: settled, waiting: 0 }
  state.questions.set(request.id, question)
  if (identity !== undefined) state.byCall.set(identity, question)
  return question
}

/** A question of an earlier process, if it is one of this policy, too: what it allows or denies needs no answer. */
function restore(state: State, before: PendingRequest): void {
  const { toolCallId, tool, args, sessionId, cwd, vault } = before
  const call = { toolCallId, tool, args, sessionId, cwd, vault }
  const verdict = state.policy.evaluate({ ...call, mode: modeOf(state, call) })
  if (verdict.decision === 'ask') newQuestion(state, call, identityOf(call), verdict, before)
}

/** Waits for a decision, or until the signal says not to. */
function wait(state: State, question: Question, signal: AbortSignal | undefined): Promise<GateDecision> {
  question.waiting += 1
  if (signal === undefined) return question.decided
  return new Promise((resolve) => {
    const leave = () => {
      question.waiting -= 1
      if (question.waiting === 0) answer(state, question, ABORTED)
      else resolve({ ...ABORTED, mode: 'agent', verdict: question.verdict })
    }
    signal.addEventListener('abort', leave, { once: true })
    void question.decided.then((decision) => {
      signal.removeEventListener('abort', leave)
      resolve(decision)
    })
  })
}

const ABORTED = { decision: 'deny', by: 'abort' } as const

/** In full access no question is asked. */
function answer(state: State, question: Question, said: Omit<GateDecision, 'verdict' | 'mode'>): void {
  settle(state, question, { ...said, mode: 'agent', verdict: question.verdict })
}

/** Decides what waits; a second decision about it comes too late. */
function settle(state: State, question: Question, decision: GateDecision): void {
  const { request, identity } = question
  if (!state.questions.delete(request.id)) return
  if (identity !== undefined) state.byCall.delete(identity)
  note(state, request, identity, decision)
  question.settle(decision)
}

/** Records a decision and reports it. */
function note(
  state: State,
  { toolCallId, sessionId }: { toolCallId: string; sessionId?: string },
  identity: string | undefined,
  decision: GateDecision,
): void {
  const { decisions } = state
  if (identity !== undefined) decisions.set(identity, decision)
  if (decisions.size > MAX_DECISIONS) decisions.delete(decisions.keys().next().value as string)
  tell(state, {
    type: 'decided',
    toolCallId,
    ...(sessionId !== undefined && { sessionId }),
    ...(identity !== undefined && { call: identity }),
    decision,
  })
}

async function save(
  state: State,
  rule: SuggestedRule,
  scope: 'session' | 'user',
  sessionId: string | undefined,
): Promise<void> {
  const { saveRule } = state.options
  if (scope === 'user' && saveRule) {
    try {
      await saveRule({ ...rule })
    } catch (thrown) {
      // The rule holds here all the same, because the user chose it; the event says that it will not survive the process.
      if (state.options.onEvent === undefined) warn('saveRule', thrown)
      tell(state, { type: 'rule_not_stored', rule, message: messageOf(thrown) })
      return
    }
  }
  tell(state, { type: 'rule_stored', rule, scope, ...(sessionId === undefined ? {} : { sessionId }) })
}

/** Other questions of the session that the new rule answers. */
function letThrough(state: State, sessionId: string | undefined): void {
  for (const other of ofSession(state, sessionId)) {
    const { decision } = state.policy.evaluate(other.call)
    if (decision === 'allow') answer(state, other, { decision: 'allow', by: 'always' })
  }
}

function tell(state: State, event: GateEvent): void {
  tellCaller('onEvent', state.options.onEvent, event)
}

function stateOf(gate: object): State {
  const state = states.get(gate)
  if (state === undefined) throw notAnInstance('PermissionGate')
  return state
}
