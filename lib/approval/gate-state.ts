/** Reader of a saved gate. The text may be forged: it must not grant more than a user approved. */

import { isAbsolute } from 'node:path'
import {
  PERMISSION_DOMAINS,
  PERMISSION_MODES,
  type PermissionDomain,
  type PermissionMode,
  type PermissionVerdict,
  type SuggestedRule,
} from '../permission/types'
import { array, type Check, moment, nonEmptyString, oneOf, parsedState, string, strings } from '../validation/options'
import { isRecord, readable, wrong } from '../validation/validate'

/** A question that waits for an answer. */
export interface PendingRequest {
  id: string
  toolCallId: string
  tool: string
  args: unknown
  sessionId?: string
  cwd?: string
  vault?: string
  /** The folder that targets are inside or outside of: `vault` of the call, or else of the policy. */
  folder?: string
  targets: string[]
  /** Domains of the targets, in their order: whether the call reads, edits or runs each. */
  domains?: PermissionDomain[]
  reasons: string[]
  suggestedRules: SuggestedRule[]
  /** Milliseconds since the epoch. */
  askedAt: number
}

/** Decision about a call. */
export interface GateDecision {
  decision: 'allow' | 'deny'
  /**
   * Source of the decision: rules, full access, an answer, or withdrawal of the question; `error` if `ask` failed or gave no answer.
   * An error is not remembered: the same call is asked about again.
   */
  by: 'rule' | 'full_access' | 'once' | 'always' | 'reject' | 'abort' | 'error'
  /** The mode of the session at that time. */
  mode: PermissionMode
  /** Message of the user who rejected it, or what is wrong with `ask`. */
  message?: string
  verdict: PermissionVerdict
}

/** The state that `PermissionGate.toJSON` returns. */
export interface GateState {
  version: 1
  pending: PendingRequest[]
  /** Answers of users, by a hash of the call's session, id, tool, arguments and folders. */
  answers: { call: string; decision: GateDecision }[]
  approvals: { rule: SuggestedRule; sessionId: string | null }[]
}

type Checks = Readonly<Record<string, Check>>

const RULE: Checks = { domain: oneOf(...PERMISSION_DOMAINS), pattern: nonEmptyString, decision: oneOf('allow') }
const APPROVED: Checks = { ...RULE, domain: oneOf(...PERMISSION_DOMAINS, '*') }
const APPLIED: Checks = {
  domain: oneOf(...PERMISSION_DOMAINS, '*'),
  pattern: nonEmptyString,
  decision: oneOf('allow', 'ask', 'deny'),
  source: oneOf('default', 'user', 'approval', 'hard'),
}
const FOUND: Checks = { targets: strings, reasons: strings, suggestedRules: array }
const QUESTION: Checks = {
  id: nonEmptyString,
  toolCallId: nonEmptyString,
  tool: nonEmptyString,
  ...FOUND,
  askedAt: moment,
}
const PLACE: Checks = {
  sessionId: string,
  cwd: string,
  vault: ['an absolute path', (value) => typeof value === 'string' && isAbsolute(value)],
}
const ANSWER: Checks = { call: ['a hash', (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)] }
const ALLOW: Checks = { decision: oneOf('allow'), by: oneOf('once', 'always'), mode: oneOf(...PERMISSION_MODES) }
const DENY: Checks = { ...ALLOW, decision: oneOf('deny'), by: oneOf('reject', 'abort') }
const VERDICT: Checks = {
  ...FOUND,
  decision: APPLIED.decision as Check,
  domain: oneOf(...PERMISSION_DOMAINS, null),
  shadowed: array,
}
const APPROVAL: Checks = { sessionId: ['a string or null', (value) => value === null || typeof value === 'string'] }

/** @throws SpillwayError `INVALID_ARGUMENT` that names the field which is not as `toJSON` gave it */
export function readGateState(saved: unknown): GateState {
  return readable('state', () => checkedState(saved))
}

function checkedState(saved: unknown): GateState {
  const state = parsedState(saved)
  checkFields('state', state, { version: oneOf(1), pending: array, answers: array, approvals: array })
  const { pending, answers, approvals } = state as unknown as GateState
  const ids = new Set<string>()
  each('state.pending', pending, (field, one) => {
    checkQuestion(field, one)
    if (ids.has(one.id)) throw wrong(`${field}.id`, one.id, 'an id that no other question has')
    ids.add(one.id)
  })
  each('state.answers', answers, (field, one) => {
    checkFields(field, one, ANSWER)
    const { decision } = one
    checkFields(`${field}.decision`, decision, decision?.decision === 'allow' ? ALLOW : DENY, { message: string })
    checkFields(`${field}.decision.verdict`, decision.verdict, VERDICT)
    const { rule, shadowed, suggestedRules } = decision.verdict
    checkRules(`${field}.decision.verdict`, suggestedRules)
    if (rule !== null) checkFields(`${field}.decision.verdict.rule`, rule, APPLIED)
    each(`${field}.decision.verdict.shadowed`, shadowed, (at, hidden) => checkFields(at, hidden, APPLIED))
  })
  each('state.approvals', approvals, (field, one) => {
    checkFields(field, one, APPROVAL)
    checkFields(`${field}.rule`, one.rule, APPROVED)
  })
  return structuredClone({ version: 1, pending, answers, approvals })
}

function checkQuestion(field: string, value: unknown): asserts value is PendingRequest {
  checkFields(field, value, QUESTION, PLACE)
  checkRules(field, (value as PendingRequest).suggestedRules)
}

/** True for a question that another process stored; another program may have stored anything there. */
export function isQuestion(value: unknown): value is PendingRequest {
  try {
    checkQuestion('question', value)
    return true
  } catch {
    return false
  }
}

function each<T>(field: string, values: readonly T[], check: (field: string, value: T) => void): void {
  for (const [at, value] of values.entries()) check(`${field}[${at}]`, value)
}

function checkRules(field: string, rules: readonly unknown[]): void {
  each(`${field}.suggestedRules`, rules, (at, rule) => checkFields(at, rule, RULE))
}

function checkFields(field: string, value: unknown, needed: Checks, optional: Checks = {}): void {
  if (!isRecord(value)) throw wrong(field, value, 'an object')
  for (const [key, [allowed, test]] of Object.entries({ ...optional, ...needed })) {
    const given = value[key]
    if (!test(given) && !(given === undefined && key in optional)) throw wrong(`${field}.${key}`, given, allowed)
  }
}
