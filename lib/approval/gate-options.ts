/** The options of a gate, checked, and the shapes of its questions. */

import { pathOf, storeApproval } from '../config/config-file'
import { PermissionPolicy } from '../permission/policy'
import type { PermissionCall, PermissionPolicyOptions, SuggestedRule } from '../permission/types'
import { checkKeys, checkOneOf, hasFunctions, invalid, isRecord, isRevoked, wrong } from '../validation/validate'
import type { GateDecision, PendingRequest } from './gate-state'
import type { ModeController } from './mode'

/** A call that is asked about. */
export interface GateCall extends PermissionCall {
  /** Requests of the same call get the same answer; a call with the same id and other contents is another call. */
  toolCallId: string
  /** Stops waiting. The question is withdrawn when no caller waits for it. */
  signal?: AbortSignal | undefined
}

/** Audit event of a gate. */
export type GateEvent =
  | { type: 'asked'; request: PendingRequest }
  /**
   * `call` is the key in `answers` of {@link GateState}, so that each answer can be stored separately; absent if the arguments
   * cannot be read.
   */
  | { type: 'decided'; toolCallId: string; sessionId?: string; call?: string; decision: GateDecision }
  | { type: 'rule_stored'; rule: SuggestedRule; scope: 'session' | 'user'; sessionId?: string }
  | { type: 'rule_not_stored'; rule: SuggestedRule; message: string }

/** An answer of the user: `always` stores the suggested rule that was shown. */
export type GateResponse = 'once' | 'always' | { reject: string | true }

/** An answer of `ask`; `{ always }` is the suggested rule to store. */
export type AskResponse = GateResponse | { always: SuggestedRule }

/** The second argument of `ask`. */
export interface AskContext {
  /**
   * A key that is the same for the same call in every process: the key in `answers` of {@link GateState}. Absent if the arguments
   * cannot be read completely.
   */
  call?: string
  /** Aborted when the question no longer needs an answer, because it was answered or withdrawn. */
  signal: AbortSignal
}

/** Options of `PermissionGate`. */
export interface PermissionGateOptions {
  /**
   * Puts a question to a person and returns the answer; `always` counts as `once` if no rule was suggested. If it throws or
   * returns anything else, the call is denied by `error`, and a warning is issued. Without it, questions wait for `PermissionGate.respond`.
   */
  ask?: (request: PendingRequest, context: AskContext) => AskResponse | Promise<AskResponse>
  /** Controls which sessions have full access. */
  modes?: ModeController
  /** Writes a rule to the user's settings. Without it, "always" is valid as long as the gate exists. */
  saveRule?: (rule: SuggestedRule) => void | Promise<void>
  /** Writes the rule to this file of `loadConfig`; comments are kept. Instead of `saveRule`, not together with it. */
  configFile?: string
  /**
   * Scope of "always".
   * @default 'user'
   */
  scope?: 'session' | 'user'
  /** Receives every question and decision. If it throws, the error is ignored. */
  onEvent?: (event: GateEvent) => void
  /** Milliseconds since the epoch. @default Date.now */
  now?: () => number
}

/** The short form of a `PermissionGate`: the function that asks, and the policy if it is not the default one. */
export interface AskingGateOptions extends Omit<PermissionGateOptions, 'ask'> {
  /** Puts a question to a person and returns the answer: see {@link PermissionGateOptions}. */
  ask: NonNullable<PermissionGateOptions['ask']>
  /**
   * The policy, or its options.
   * @default {}
   */
  policy?: PermissionPolicy | PermissionPolicyOptions
}

const KEYS = ['ask', 'modes', 'saveRule', 'configFile', 'scope', 'onEvent', 'now']

/**
 * The policy and the checked options of a gate, from either form of its arguments.
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed
 */
export function readGateOptions(
  first: PermissionPolicy | AskingGateOptions,
  second: PermissionGateOptions | undefined,
): PermissionGateOptions & { policy: PermissionPolicy } {
  if (second !== undefined && !isRecord(second)) throw wrong('options', second, 'an object')
  const isPolicy = !isRevoked(first) && first instanceof PermissionPolicy
  const isShort = !isPolicy && second === undefined && isRecord(first) && 'ask' in first
  if (!isPolicy && !isShort) throw wrong('policy', first, 'a PermissionPolicy, or an object with ask')
  const given: PermissionGateOptions & { policy?: AskingGateOptions['policy'] } = isPolicy
    ? (second ?? {})
    : (first as AskingGateOptions)
  checkKeys('options', given, isPolicy ? KEYS : [...KEYS, 'policy'])
  const { ask, modes, configFile, scope, onEvent, now } = given
  if (configFile !== undefined && given.saveRule !== undefined) {
    throw invalid(
      'options.configFile',
      'cannot be given together with saveRule, which writes the rule itself; give one of them',
    )
  }
  if (isShort && ask === undefined) throw wrong('options.ask', ask, 'a function')
  const file = configFile === undefined ? undefined : pathOf('options.configFile', configFile)
  const saveRule =
    given.saveRule ?? (file === undefined ? undefined : (rule: SuggestedRule) => storeApproval(file, rule))
  if (modes !== undefined && !hasFunctions('options.modes', modes, ['getMode']))
    throw wrong('options.modes', modes, 'a ModeController')
  for (const [key, value] of Object.entries({ ask, saveRule, onEvent, now })) {
    if (value !== undefined && typeof value !== 'function') throw wrong(`options.${key}`, value, 'a function')
  }
  checkOneOf('options.scope', scope, ['session', 'user'])
  const { policy = {} } = isPolicy ? { policy: first } : given
  const known = policy instanceof PermissionPolicy ? policy : new PermissionPolicy(policy)
  return { policy: known, ask, modes, saveRule, scope, onEvent, now }
}

/**
 * The rule that "always" stores, which must be one that the question showed; without a choice the first.
 * @throws SpillwayError `INVALID_ARGUMENT` that says what can be answered instead
 */
export function chosenRule(shown: readonly SuggestedRule[], rule: SuggestedRule | undefined): SuggestedRule {
  const isSame = ({ domain, pattern }: SuggestedRule) => domain === rule?.domain && pattern === rule.pattern
  const chosen = rule === undefined ? shown[0] : shown.find(isSame)
  if (chosen !== undefined) return chosen
  const problem =
    shown.length === 0
      ? "'always' needs a rule to store, and the question suggests none; answer 'once' or { reject }"
      : "'always' can store one of the question's suggestedRules only; pass one of them, or answer 'once' or { reject }"
  throw invalid('response', problem)
}
