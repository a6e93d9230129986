/** Decides if a call of a tool may run, must be asked about, or is denied. */

import { realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, parse, resolve, sep } from 'node:path'
import type { SpillwayError } from '../errors'
import { call, native } from '../native/native'
import { tagged } from '../settings/settings'
import { canSay, isSavedOutput, type OutputOwner } from '../storage/saved-outputs'
import { isArray } from '../util/guards'
import { givenArguments } from '../util/json'
import { safeStringify } from '../util/safe-stringify'
import { type Check, checkGiven, checkOption, flag, isNonEmptyString, string } from '../validation/options'
import {
  checkKeys,
  checkOneOf,
  checkSignal,
  invalid,
  isRecord,
  openKnowing,
  wrong,
  wrongName,
} from '../validation/validate'
import {
  type AppliedRule,
  type ExplainedTarget,
  PERMISSION_MODES,
  type PermissionCall,
  type PermissionDomain,
  type PermissionPolicyOptions,
  type PermissionRule,
  type PermissionVerdict,
} from './types'

/** A rule as the binary returns it: its index in the policy, or the whole of one that was approved. */
type SaidRule = number | AppliedRule

/** Answer of the core: details only on request, addresses if it lacked some. */
type Answer = [
  decision: PermissionVerdict['decision'],
  domain: PermissionVerdict['domain'],
  targets: string[],
  rule: SaidRule | null,
  shadowed: SaidRule[],
  reasons: string[],
  suggestedRules: PermissionVerdict['suggestedRules'],
  details: ExplainedTarget[],
  addresses: string[],
]

/** Input of the core besides the arguments. `undefined` fields are left out and count as false. */
interface Facts {
  tool: string
  sessionId: string | undefined
  fullAccess: true | undefined
  touchesNothing: true | undefined
  headless: true | undefined
  cwd: string | undefined
  vault: string
  withDetails: true | undefined
}

interface State {
  handle: object
  vault: string
  allowWideVault: boolean
  headless: boolean
  storage: PermissionPolicyOptions['storage']
  /** Rules by their places, as far as they were in an answer. */
  rules: Map<number, AppliedRule>
}

const states = new WeakMap<object, State>()

/** Options that the core does not know. */
const OWN_OPTIONS = ['vault', 'allowWideVault', 'headless', 'storage']

const CALL_KEYS = [
  'tool',
  'args',
  'sessionId',
  'mode',
  'cwd',
  'vault',
  'headless',
  'touchesNothing',
  'toolCallId',
  'signal',
]

/** Longer arguments are asked about: no path or command is so long. */
const MAX_ARGUMENT_UNITS = 4 * 1024 * 1024
const MAX_ADDRESS_UNITS = 65_536

/**
 * Rules about the calls that tools may make. For a target, the last matching rule decides; for a call, the strictest decision of
 * its targets; without a match the user is asked. The user is also asked about a call that cannot be understood. It is not a
 * sandbox: see `docs/permission.md`.
 *
 * @example
 * const policy = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'npm test', decision: 'allow' }] })
 * policy.evaluate({ tool: 'bash', args: { command: 'npm test && rm -rf ~' } }).decision // 'deny'
 * @throws SpillwayError `INVALID_CONFIG` or `INVALID_ARGUMENT` with the field, such as `rules[3].pattern`
 */
export class PermissionPolicy {
  constructor(options: PermissionPolicyOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
    const { vault, allowWideVault, headless, storage, scratchFolders, ...rules } = copyOf(
      options as PermissionPolicyOptions,
    )
    checkFolder('vault', vault, 'INVALID_CONFIG')
    checkOption('headless', headless, flag, 'INVALID_CONFIG')
    checkOption('allowWideVault', allowWideVault, flag, 'INVALID_CONFIG')
    checkOption('storage', storage, ['an object with an owns function', canSay], 'INVALID_CONFIG')
    const own = resolve((vault ?? process.cwd()).toWellFormed())
    if (allowWideVault !== true) checkNarrow('vault', own, 'INVALID_CONFIG')
    const temporary = tempFolders(own)
    const text = asJson({
      ...rules,
      scratchFolders: foldersOf(scratchFolders, temporary),
      tempFolders: temporary,
      home: homedir(),
      windows: process.platform === 'win32',
    })
    if (text === undefined) throw invalid('options', 'expected an object that can be read', { code: 'INVALID_CONFIG' })
    checkWellFormed('', text)
    const handle = openKnowing(OWN_OPTIONS, () => call(() => native.permissionOpen(text)))
    states.set(this, {
      handle,
      vault: own,
      allowWideVault: allowWideVault ?? false,
      headless: headless ?? false,
      storage,
      rules: new Map(),
    })
  }

  /**
   * Decides about a call. The verdict of a call stays the same as long as the rules, the approvals and the links of the file
   * system do. For arguments that cannot be read, the decision is `ask`, or `deny` if the part that can be read is denied; they
   * never cause an error.
   * @throws SpillwayError `INVALID_ARGUMENT` if the call itself, not its arguments, is invalid
   */
  evaluate(request: PermissionCall): PermissionVerdict {
    const state = stateOf(this)
    return verdictOf(state, decide(state, request, state.storage !== undefined))
  }

  /** Like `evaluate`, with every target separately: the rule that decided, the rules that it overrides, and the reason. */
  explain(request: PermissionCall): PermissionVerdict & { details: ExplainedTarget[] } {
    const state = stateOf(this)
    const answer = decide(state, request, true)
    const [, , , , , , , details] = answer
    return { ...verdictOf(state, answer), details }
  }

  /**
   * Adds an approved rule, for one session or for all. It turns questions into permissions and never overrides a denial.
   * @throws SpillwayError `INVALID_CONFIG` if it is not a valid rule with the decision `allow`
   */
  approve(rule: PermissionRule, sessionId?: string): void {
    const text = asJson(rule)
    if (text === undefined) throw wrong('rule', rule, 'a rule', 'INVALID_CONFIG')
    checkWellFormed('rule', text)
    if (sessionId !== undefined && typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
    call(() => native.permissionApprove(stateOf(this).handle, text, sessionId))
  }

  /** Removes an approval. Returns `false` if there was none. */
  revoke(rule: Pick<PermissionRule, 'domain' | 'pattern'>, sessionId?: string): boolean {
    if (!isRecord(rule) || typeof rule.domain !== 'string' || typeof rule.pattern !== 'string')
      throw wrong('rule', rule, 'a rule')
    return call(() => native.permissionRevoke(stateOf(this).handle, rule.domain, rule.pattern, sessionId))
  }

  /** Approved rules; those without a session apply to all. */
  approvals(): { rule: AppliedRule; sessionId: string | null }[] {
    return JSON.parse(call(() => native.permissionFacts(stateOf(this).handle))).approvals
  }

  /** Returns the user's rules that can never decide, because a later one covers at least the same targets. */
  shadowedRules(): { rule: AppliedRule; hiddenBy: AppliedRule }[] {
    return JSON.parse(call(() => native.permissionFacts(stateOf(this).handle))).dead
  }
}

/** Returns the folder that a call is measured by, and what it does with each of its targets. */
export function placesOf(
  policy: PermissionPolicy,
  call: PermissionCall,
  targets: readonly string[],
): { folder: string; domains: PermissionDomain[] } {
  const { vault } = stateOf(policy)
  const folder = call.vault === undefined ? vault : resolve(call.vault.toWellFormed())
  const domains = new Map(policy.explain(call).details.map(({ target, domain }) => [target, domain]))
  return { folder, domains: targets.map((target) => domains.get(target) ?? 'tool') }
}

function stateOf(policy: object): State {
  const state = states.get(policy)
  if (state === undefined) throw wrong('policy', policy, 'a PermissionPolicy')
  return state
}

/**
 * Folders of temporary files, also by their real paths. A folder that contains the vault does not count, because the vault's
 * neighbours are not temporary files.
 */
function tempFolders(vault: string): string[] {
  const all = [tmpdir(), ...(process.platform === 'win32' ? [] : ['/tmp', '/private/tmp'])]
  const own = [vault, realOf(vault)]
  return [...new Set(all.flatMap((folder) => [folder, realOf(folder)]))].filter(
    (folder) => folder.length > 1 && !own.some((path) => path === folder || path.startsWith(`${folder}${sep}`)),
  )
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** @throws SpillwayError `INVALID_CONFIG` */
function foldersOf(given: PermissionPolicyOptions['scratchFolders'], temporary: string[]): string[] | undefined {
  if (given === undefined) return undefined
  if (given === true) return temporary
  const allowed = 'true or an array of absolute paths of folders'
  if (!isArray(given)) throw wrong('scratchFolders', given, allowed, 'INVALID_CONFIG')
  for (const [at, folder] of given.entries()) {
    if (typeof folder !== 'string' || !isAbsolute(folder) || resolve(folder) === resolve(folder, '/')) {
      const allowed = 'the absolute path of a folder that is not the root'
      throw wrongFolder(`scratchFolders[${at}]`, folder, allowed, 'INVALID_CONFIG')
    }
  }
  return [...new Set((given as string[]).flatMap((folder) => [resolve(folder), realOf(resolve(folder))]))]
}

/** Fields of a call of a gate, which mean nothing here. */
interface Beside {
  toolCallId?: unknown
  signal?: unknown
}

const TOOL_NAME: Check = ['the name of a tool', isNonEmptyString]
const PATH: Check = ['a path', (value) => typeof value === 'string']

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function readCall(request: PermissionCall): PermissionCall {
  if (!isRecord(request)) throw wrong('call', request, 'an object with tool and args')
  checkKeys('call', request, CALL_KEYS)
  const { tool, sessionId, mode, cwd, vault, headless, touchesNothing, toolCallId, signal } = fieldsOf(request)
  checkGiven('call.tool', tool, TOOL_NAME)
  checkOption('call.sessionId', sessionId, string)
  checkOneOf('call.mode', mode, PERMISSION_MODES)
  checkOption('call.cwd', cwd, PATH)
  checkFolder('call.vault', vault, 'INVALID_ARGUMENT')
  checkOption('call.headless', headless, flag)
  checkOption('call.touchesNothing', touchesNothing, flag)
  checkOption('call.toolCallId', toolCallId, string)
  checkSignal('call.signal', signal)
  return { tool, sessionId, mode, cwd, vault, headless, touchesNothing }
}

function decide(state: State, request: PermissionCall, withDetails: boolean): Answer {
  const { tool, sessionId, mode, cwd, vault, headless, touchesNothing } = readCall(request)
  const folder = vault === undefined ? state.vault : resolve(vault.toWellFormed())
  if (folder !== state.vault && !state.allowWideVault) checkNarrow('call.vault', folder, 'INVALID_ARGUMENT')
  const facts: Facts = {
    tool: tool.toWellFormed(),
    sessionId: sessionId?.toWellFormed(),
    fullAccess: mode === 'full_access' || undefined,
    touchesNothing: touchesNothing || undefined,
    headless: (headless ?? state.headless) || undefined,
    cwd: cwd?.toWellFormed(),
    vault: folder,
    withDetails: withDetails || undefined,
  }
  const isHeadless = facts.headless === true
  const judge = (args: string, more?: object): Answer => {
    const head = JSON.stringify(more === undefined ? facts : { ...facts, ...more }).slice(0, -1)
    return JSON.parse(native.permissionEvaluate(state.handle, `${head},"args":${args}}`))
  }
  /** Nothing is allowed then; what is denied by the part that can be read stays denied. */
  const unread = (): Answer => {
    let part: string | undefined
    try {
      part = readablePart(request)
      const answer = judge(part)
      if (answer[0] === 'deny') return answer
    } catch {
      // A fault in judging what can be read: hard denials must hold.
      if (part !== undefined) return unjudged('deny', 'the call cannot be judged: internal error')
    }
    const reason = 'the arguments cannot be read'
    return isHeadless ? unjudged('deny', reason, 'no person can be asked') : unjudged('ask', reason)
  }
  const args = argumentsOf(request)
  if (args === undefined) return unread()
  const ask = (more?: object): Answer => {
    try {
      return judge(args, more)
    } catch {
      // Arguments that are nested too deep, or a fault.
      return unread()
    }
  }
  const answer = ask()
  const [decision, , , , , , , details, addresses] = answer
  // Few calls have one, and only the binary knows which argument it is.
  if (addresses.length > 0) return ask({ addresses: read(addresses) })
  // Without a user to ask, the question about an own file is a denial already.
  if (decision === 'allow' || !state.storage || (decision === 'deny' && !isHeadless)) return answer
  const own = ownFiles(state.storage, details, sessionId)
  return own.length > 0 ? ask({ ownFiles: own }) : answer
}

function verdictOf(state: State, answer: Answer): PermissionVerdict {
  const [decision, domain, targets, rule, shadowed, reasons, suggestedRules] = answer
  return {
    decision,
    domain,
    targets,
    rule: rule === null ? null : ruleOf(state, rule),
    shadowed: shadowed.map((one) => ruleOf(state, one)),
    reasons,
    suggestedRules,
  }
}

function ruleOf({ handle, rules }: State, said: SaidRule): AppliedRule {
  if (typeof said !== 'number') return said
  let rule = rules.get(said)
  if (rule === undefined) {
    rule = JSON.parse(native.permissionRule(handle, said) ?? '') as AppliedRule
    rules.set(said, rule)
  }
  // Who is given one may change it.
  return { ...rule }
}

function unjudged(decision: 'deny' | 'ask', ...reasons: string[]): Answer {
  return [decision, null, [], null, [], reasons, [], [], []]
}

/** The arguments as JSON without what is too deep or cannot be read, and with half characters replaced. */
function readablePart(request: PermissionCall): string {
  return safeStringify(givenArguments(request.args), { units: MAX_ARGUMENT_UNITS })
}

/** The arguments as JSON; `undefined` if they cannot be read. */
function argumentsOf(request: PermissionCall): string | undefined {
  try {
    // The JSON form counts, not a second read of a getter.
    const text = JSON.stringify(givenArguments(request.args))
    if (text === undefined || text.length > MAX_ARGUMENT_UNITS) return undefined
    // A lone surrogate is another name to a file system than any that can be compared. JSON writes it as an escape.
    return text.includes('\\ud') && !isWellFormed(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** True if all strings of a JSON text are well-formed. */
function isWellFormed(json: string): boolean {
  let wellFormed = true
  JSON.parse(json, (key, value) => {
    wellFormed &&= key.isWellFormed() && (typeof value !== 'string' || value.isWellFormed())
    return value
  })
  return wellFormed
}

function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, inner: unknown) => tagged(inner))
  } catch {
    return undefined
  }
}

/** Those of the texts that are addresses, read. */
function read(texts: string[]): Record<string, object> {
  const addresses: Record<string, object> = Object.create(null)
  for (const text of texts) {
    const address = addressOf(text)
    if (address) addresses[text] = address
  }
  return addresses
}

/** @throws SpillwayError `INVALID_CONFIG`: half of a surrogate pair is in no path or command that can be compared */
function checkWellFormed(of: string, text: string): void {
  // JSON writes it as an escape, and nothing else as this one.
  if (!/\\ud[89a-f]/.test(text)) return
  const look = (field: string, value: unknown): void => {
    const known = field === '' ? 'options' : field
    if (typeof value === 'string' && !value.isWellFormed()) {
      throw wrong(known, value, 'text without half of a surrogate pair', 'INVALID_CONFIG')
    }
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (!key.isWellFormed()) throw wrong(known, value, 'names without half of a surrogate pair', 'INVALID_CONFIG')
      look(isArray(value) ? `${field}[${key}]` : field === '' ? key : `${field}.${key}`, inner)
    }
  }
  look(of, JSON.parse(text))
}

/** The URL as the URL standard parses it; `undefined` for an invalid one. */
function addressOf(text: string): object | undefined {
  if (text.length > MAX_ADDRESS_UNITS) return undefined
  // Without a scheme, a host is taken as one of https, as tools do.
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(text.trim()) && !/^[^/]*:\d/.test(text.trim()) ? text : `https://${text}`
  if (!URL.canParse(whole)) return undefined
  const { protocol, host, hostname, pathname, search, username, password } = new URL(whole)
  return { protocol, host, hostname, path: pathname + search, hasUser: username !== '' || password !== '' }
}

function ownFiles(storage: OutputOwner, details: ExplainedTarget[], sessionId?: string): string[] {
  return details
    .filter(({ domain, decision, target }) => domain === 'read' && decision === 'ask' && target.startsWith('fs:'))
    .map(({ target }) => target.slice('fs:'.length))
    .filter((path) => isSavedOutput(path, storage) && belongsTo(path, sessionId))
}

/** Files of a session lie in a folder of its own. */
function belongsTo(path: string, sessionId: string | undefined): boolean {
  return sessionId === undefined || path.split('/').at(-2) === native.sessionFolder(sessionId)
}

/** All but the arguments. A getter is asked once, and may throw. */
function fieldsOf(request: PermissionCall & Beside): PermissionCall & Beside {
  try {
    const { tool, sessionId, mode, cwd, vault, headless, touchesNothing } = request
    const { toolCallId, signal } = request
    return { tool, sessionId, mode, cwd, vault, headless, touchesNothing, toolCallId, signal }
  } catch (cause) {
    throw invalid('call', 'expected an object that can be read', { cause })
  }
}

function copyOf(options: PermissionPolicyOptions): PermissionPolicyOptions {
  try {
    return { ...options }
  } catch (cause) {
    throw invalid('options', 'expected an object that can be read', { code: 'INVALID_CONFIG', cause })
  }
}

/**
 * Nearly everything of a user lies in such a folder, and would be read and edited without a question.
 * @throws SpillwayError if the vault is a home folder, lies above one, or is the root of a drive
 */
function checkNarrow(field: string, folder: string, code: 'INVALID_CONFIG' | 'INVALID_ARGUMENT'): void {
  const isAbove = (path: string, home: string) =>
    home === path || home.startsWith(path.endsWith(sep) ? path : path + sep)
  const isWide = (path: string) =>
    path === parse(path).root || [homedir(), realOf(homedir())].some((home) => isAbove(path, home))
  if (isWide(folder) || isWide(realOf(folder))) {
    const allowed = 'the folder of a project; a home folder, one above it or a root only with allowWideVault: true'
    throw wrongFolder(field, folder, allowed, code)
  }
}

function checkFolder(field: string, value: unknown, code: 'INVALID_CONFIG' | 'INVALID_ARGUMENT'): void {
  if (value === undefined || (typeof value === 'string' && isAbsolute(value))) return
  throw wrongFolder(field, value, 'the absolute path of a folder', code)
}

/** Makes the error for a folder that is refused, with its path: the caller may not have written it, as with the default of `vault`. */
function wrongFolder(
  field: string,
  value: unknown,
  allowed: string,
  code: 'INVALID_CONFIG' | 'INVALID_ARGUMENT',
): SpillwayError {
  if (typeof value !== 'string') return wrong(field, value, allowed, code)
  return invalid(field, wrongName(value, allowed, []), { code })
}
