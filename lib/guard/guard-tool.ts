/** All controls around one tool, in one order. */

import type { GateCall } from '../approval/gate-options'
import type { GateDecision } from '../approval/gate-state'
import type { AuditEvent } from '../audit/audit-log'
import { checkHooks, HookRunner } from '../hooks/runner'
import type { Hooks } from '../hooks/types'
import type { DoomLoopCall, DoomLoopResult, DoomLoopVerdict } from '../loop-detection/detector'
import type { PermissionCall, PermissionMode, PermissionVerdict } from '../permission/types'
import { middlewareOf } from '../service/middleware'
import { isSavedOutput } from '../storage/saved-outputs'
import { boundMembers } from '../tools/bind-members'
import { foldResult, type ResultFolder } from '../tools/fold-result'
import type { ExecutionContext, Tool } from '../tools/registry'
import { bodyOf, checkReadable, editText, hasFailed, isMcp } from '../tools/tool-result'
import { opened } from '../truncation/bounded-output'
import { previewOf } from '../truncation/previews'
import { observe } from '../truncation/record-result'
import type { FoldRecord, OutputService, ToolResultLike, ToolResultRecorder, TruncationMiddleware } from '../types'
import { elapsed } from '../util/clock'
import { randomUUID } from '../util/crypto'
import { deepClone } from '../util/deep-clone'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { safeStringify } from '../util/safe-stringify'
import { warn } from '../util/warn'
import { checkKeys, isRecord, wrong } from '../validation/validate'

/** The user must decide if a loop may continue. */
export interface DoomLoopQuestion {
  tool: string
  toolCallId: string
  sessionId?: string
  args: unknown
  verdict: DoomLoopVerdict
  signal?: AbortSignal
}

/** Controls of a tool. Each is optional. */
export interface ToolControls {
  /** Functions around the tool, or a runner that has them. Only the tool hooks of a set are run here. */
  hooks?: Hooks | ToolHookRunner
  /** A `PermissionGate`, or a `PermissionPolicy` without a user to ask: calls that would be asked about are denied then. */
  permission?:
    | { request(call: GateCall): Promise<GateDecision> }
    | { evaluate(call: PermissionCall): PermissionVerdict }
  /** A `DoomLoopDetector`. */
  doomLoop?: {
    check(call: DoomLoopCall): DoomLoopVerdict
    record(result: DoomLoopResult): void
    approve(toolCallId: string, approval: 'once' | 'always'): boolean
  }
  /** Answers for the user whether a loop may go on. Without it a question is a stop. */
  askDoomLoop?: (question: DoomLoopQuestion) => DoomLoopAnswer | Promise<DoomLoopAnswer>
  /** An `AuditLog`. One with `onFailure: 'block'` that cannot be written keeps the tool from running. */
  audit?: { append(event: AuditEvent): Promise<unknown> | unknown }
  /** A `TruncationService`, or the middleware of one. */
  truncation?: OutputService | TruncationMiddleware
  /**
   * Returns the question that the output of a call is to answer, such as the `description` in its arguments or the latest request
   * of the user; `undefined` for none. The strategy `smart` keeps the lines that hold its rarest words.
   */
  query?: (call: { tool: string; args: unknown }) => string | undefined
  /**
   * A `FoldSession` of the session that the tool is called in: lines of an earlier result are not repeated. Give the
   * `ledger` to the `HistoryPruner` or `ContextManager` as well, so that no pointer outlives what it points to.
   */
  fold?: ResultFolder
  /** A `ToolResultLedger`. */
  ledger?: ToolResultRecorder
  /** The session of calls that do not name theirs. */
  sessionId?: string
  /** The mode of calls, where `permission` is no gate with a `ModeController`. */
  mode?: PermissionMode
  /**
   * Form of a refused result: an object like those of tools, plain text, or an MCP result.
   * @default 'result'
   */
  refusal?: 'result' | 'text' | 'mcp'
  /** Milliseconds that a hook may take, where `hooks` is no runner, which has its own. @default 5000 */
  hookTimeoutMs?: number
}

/** Runner of the hooks around a tool, such as a {@link HookRunner}. Its methods never reject. */
export type ToolHookRunner = Pick<HookRunner, 'toolBefore' | 'toolAfter' | 'toolFinal'>

/** Answer of a user about a loop. */
export type DoomLoopAnswer = 'once' | 'always' | 'stop'

/** Why a call gave no result of its tool. */
export type RefusalKind = 'permission_denied' | 'doom_loop' | 'audit_failed' | 'aborted' | 'tool_failed'

/** The result of a call that was not let through, or that threw. */
export interface RefusedResult extends ToolResultLike {
  kind: RefusalKind
  success: false
  isError: true
  /** A sentence for people and models; the same in `error` and `message`. */
  output: string
  error: string
  message: string
  domain?: string
  targets?: string[]
}

/** A tool with everything around it. */
export type GuardedTool<T extends Tool> = Omit<T, 'execute'> & {
  /** Never rejects: a failure is a result that says so. */
  execute(
    args: Parameters<T['execute']>[0],
    context?: Partial<ExecutionContext> & { toolCallId?: string },
  ): Promise<Awaited<ReturnType<T['execute']>> | RefusedResult>
}

/** @internal */
export const CONTROL_KEYS = [
  ...['hooks', 'permission', 'doomLoop', 'askDoomLoop', 'audit', 'truncation', 'ledger', 'sessionId', 'mode'],
  ...['fold', 'query', 'refusal', 'hookTimeoutMs'],
]
const RUNNER_METHODS = ['toolBefore', 'toolAfter', 'toolFinal'] as const

interface Guard {
  tool: Tool
  controls: ToolControls
  hooks: ToolHookRunner | undefined
  bound: TruncationMiddleware | undefined
}

type AuditSink = NonNullable<ToolControls['audit']>

/** One call on its way. */
interface Call {
  toolCallId: string
  sessionId: string | undefined
  args: unknown
  signal: AbortSignal | undefined
  decision: GateDecision | undefined
  /** Warning of the loop detector for the model. */
  warning: string | undefined
  /** The folded parts of the result. */
  folds: FoldRecord | undefined
  /** Where the full result was saved. */
  outputPath: string | undefined
}

/**
 * Puts controls around a tool, always in this order: `tool.before`, permission on the merged arguments, loops, audit of
 * the decision, the tool, `tool.after` on the full result, truncation, `tool.final` on what the model reads, audit of the
 * outcome. Results of MCP and errors take the same way. The arguments are copied first, so that the approved call is the one that runs.
 *
 * @example
 * const safe = guardTool(bash, { permission: gate, doomLoop: new DoomLoopDetector(), truncation: service, audit: log })
 * const result = await safe.execute({ command: 'npm test' }, { toolCallId: 'call_1' })
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no tool or no control
 */
export function guardTool<T extends Tool>(tool: T, controls: ToolControls = {}): GuardedTool<T> {
  const given: unknown = tool
  if (!isRecord(given) || typeof given.name !== 'string' || typeof given.execute !== 'function') {
    throw wrong('tool', tool, 'an object with name and execute')
  }
  checkToolControls(controls)
  const { truncation, hooks, hookTimeoutMs: timeoutMs } = controls
  const bound = middlewareOf(truncation)
  const runner = hooks === undefined || isToolHookRunner(hooks) ? hooks : new HookRunner({ user: hooks, timeoutMs })
  const guard: Guard = { tool, controls: { ...controls }, hooks: runner, bound }
  // A hook may put something into the result that throws when it is read.
  const unread = (error: unknown) =>
    shaped(refusal('tool_failed', `The tool ran, and its result cannot be read: ${messageOf(error)}`), controls.refusal)
  return {
    ...boundMembers(tool),
    execute: (args: never, context = {}) => run(guard, args, context as ExecutionContext).catch(unread),
  } as GuardedTool<T>
}

/**
 * Validates controls before there is a tool.
 * @internal
 */
export function checkToolControls(controls: ToolControls): void {
  if (!isRecord(controls)) throw wrong('controls', controls, 'an object')
  checkKeys('controls', controls, CONTROL_KEYS)
  const { hooks, permission, doomLoop, askDoomLoop, audit, truncation, fold, query, ledger, refusal } =
    controls as ToolControls
  const { hookTimeoutMs } = controls
  if (hooks !== undefined && !isToolHookRunner(hooks)) checkHooks('controls.hooks', hooks)
  const has = (value: unknown, name: string) => typeof (value as Record<string, unknown> | null)?.[name] === 'function'
  if (permission !== undefined && !has(permission, 'request') && !has(permission, 'evaluate')) {
    throw wrong('controls.permission', permission, 'a PermissionGate or a PermissionPolicy')
  }
  for (const name of ['check', 'record', 'approve']) {
    if (doomLoop !== undefined && !has(doomLoop, name)) throw wrong('controls.doomLoop', doomLoop, 'a DoomLoopDetector')
  }
  if (askDoomLoop !== undefined && typeof askDoomLoop !== 'function') {
    throw wrong('controls.askDoomLoop', askDoomLoop, 'a function')
  }
  if (audit !== undefined && !has(audit, 'append')) throw wrong('controls.audit', audit, 'an AuditLog')
  if (truncation !== undefined && typeof truncation !== 'function' && !has(truncation, 'output')) {
    throw wrong('controls.truncation', truncation, 'a TruncationService or a middleware')
  }
  if (fold !== undefined && !has(fold, 'fold')) throw wrong('controls.fold', fold, 'a FoldSession')
  if (query !== undefined && typeof query !== 'function') throw wrong('controls.query', query, 'a function')
  if (ledger !== undefined && !has(ledger, 'record')) throw wrong('controls.ledger', ledger, 'a ToolResultLedger')
  if (refusal !== undefined && !['result', 'text', 'mcp'].includes(refusal)) {
    throw wrong('controls.refusal', refusal, "'result', 'text' or 'mcp'")
  }
  if (hookTimeoutMs !== undefined && !(typeof hookTimeoutMs === 'number' && hookTimeoutMs > 0)) {
    throw wrong('controls.hookTimeoutMs', hookTimeoutMs, 'a number above 0')
  }
  if (hookTimeoutMs !== undefined && isToolHookRunner(hooks)) {
    throw wrong('controls.hookTimeoutMs', hookTimeoutMs, 'nothing: a HookRunner has its own timeoutMs')
  }
}

/** @internal */
export function isToolHookRunner(hooks: unknown): hooks is ToolHookRunner {
  return isRecord(hooks) && RUNNER_METHODS.every((name) => typeof hooks[name] === 'function')
}

async function run(guard: Guard, args: unknown, context: ExecutionContext & { toolCallId?: string }): Promise<unknown> {
  const { tool, controls, hooks } = guard
  const { audit } = controls
  const call: Call = {
    toolCallId: '',
    sessionId: controls.sessionId,
    args: undefined,
    signal: undefined,
    decision: undefined,
    warning: undefined,
    folds: undefined,
    outputPath: undefined,
  }
  let own: Partial<ExecutionContext> = {}
  let refused: RefusedResult | undefined
  try {
    const { toolCallId, sessionId, signal, workingDirectory } = context ?? {}
    own = { ...context }
    call.toolCallId = toolCallId || randomUUID()
    call.sessionId = sessionId ?? call.sessionId
    call.signal = signal
    // `await` reads `then` first, and a proxy may refuse even that.
    call.args = deepClone(await (hooks === undefined ? args : hooks.toolBefore({ ...facts(tool, call), args })))
    refused = await judge(guard, call, workingDirectory)
  } catch (error) {
    call.toolCallId ||= randomUUID()
    refused = refusal('tool_failed', `The call could not be read and did not run: ${messageOf(error)}`)
  }
  const audited = audit === undefined ? undefined : await auditDecision(audit, guard, call, refused)
  const stop = refused ?? audited
  if (stop !== undefined) {
    feed(guard, call, stop, stop, true)
    return shaped(stop, controls.refusal)
  }
  const began = elapsed()
  let result: unknown
  let thrown: { error: unknown } | undefined
  try {
    const { toolCallId, sessionId } = call
    result = await tool.execute(call.args as never, { ...own, toolCallId, ...(sessionId && { sessionId }) })
    checkReadable(result)
  } catch (error) {
    thrown = { error }
    const kind = call.signal?.aborted ? 'aborted' : 'tool_failed'
    result = refusal(kind, messageOf(error))
  }
  const isError = thrown !== undefined || hasFailed(result)
  noteOutcome(guard, call, result, isError)
  // Nothing is waited for that is not there: each wait is a turn of the queue.
  const full = hooks === undefined ? result : await hooks.toolAfter(finished(guard, call, result, isError))
  const bounded = folded(guard, call, await truncate(guard, call, full, isError))
  const told = call.warning === undefined ? bounded : editText(bounded, { append: `\n\n${call.warning}` })
  const final = hooks === undefined ? told : await hooks.toolFinal(finished(guard, call, told, isError))
  if (audit !== undefined) await auditOutcome(audit, guard, call, full, final, isError, elapsed() - began)
  feed(guard, call, full, final, isError)
  return thrown === undefined ? final : shaped(final as RefusedResult, controls.refusal)
}

/** Permission, then loops; the answer is the refusal. */
async function judge(
  { tool, controls }: Guard,
  call: Call,
  workingDirectory: string | undefined,
): Promise<RefusedResult | undefined> {
  if (call.signal?.aborted) return refusal('aborted', 'The call was cancelled before the tool ran.')
  const { permission, doomLoop, askDoomLoop, mode } = controls
  const { toolCallId, sessionId, args, signal } = call
  if (permission !== undefined) {
    const cwd = workingDirectory || undefined
    const request = { tool: tool.name, args, sessionId, mode: mode || undefined, cwd }
    try {
      call.decision =
        'request' in permission
          ? await permission.request({ ...request, toolCallId, ...(signal && { signal }) })
          : byRule(permission.evaluate({ ...request, headless: true }), mode)
    } catch (error) {
      return refusal('permission_denied', `The call was not judged and did not run: ${messageOf(error)}`)
    }
    if (call.decision.decision !== 'allow') {
      const refused = denied(tool, call.decision)
      return call.decision.by === 'abort' ? refused : noteDenial(tool, controls, call, refused)
    }
  }
  if (doomLoop === undefined) return undefined
  const verdict = doomLoop.check({ toolCallId, tool: tool.name, args })
  call.warning = verdict.warning
  if (verdict.action === 'allow') return undefined
  const question = { ...facts(tool, call), args, verdict, ...(signal && { signal }) }
  const answer = verdict.action === 'ask' && askDoomLoop ? await answerOf(askDoomLoop, question, signal) : 'stop'
  if (signal?.aborted) return refusal('aborted', 'The call was cancelled before the tool ran.')
  if ((answer === 'once' || answer === 'always') && doomLoop.approve(toolCallId, answer)) return undefined
  return refusal('doom_loop', loopRefusal(verdict))
}

/** A call that is denied again and again is a loop like any other: the refusal says so to the model. */
function noteDenial({ name }: Tool, { doomLoop }: ToolControls, call: Call, refused: RefusedResult): RefusedResult {
  if (doomLoop === undefined) return refused
  const { toolCallId, args } = call
  try {
    const verdict = doomLoop.check({ toolCallId, tool: name, args })
    doomLoop.record({ toolCallId, result: refused.output, isError: true })
    if (verdict.action !== 'allow') return withMore({ ...refused, kind: 'doom_loop' }, loopRefusal(verdict))
    return verdict.warning === undefined ? refused : withMore(refused, verdict.warning)
  } catch (error) {
    warn('doomLoop', error)
    return refused
  }
}

/** The sentence of a verdict for a model: the call did not run, and something else has to be done. */
function loopRefusal({ action, message }: DoomLoopVerdict): string {
  if (message === undefined) return 'This call repeats earlier ones without progress, and did not run.'
  if (action === 'stop') return message
  // A detector speaks one of two languages.
  const more = /[\u4e00-\u9fff]/.test(message)
    ? '本次调用没有执行。请换一种做法，不要重复，或询问用户如何继续。'
    : 'The call was not run. Do something else than to repeat it, or ask the user how to go on.'
  return joined(message, more)
}

/** Joins two sentences with a space, except after the full stop `。`. */
function joined(sentence: string, more: string): string {
  return sentence.endsWith('。') ? sentence + more : `${sentence} ${more}`
}

function withMore(refused: RefusedResult, more: string): RefusedResult {
  const text = joined(refused.output, more)
  return { ...refused, output: text, error: text, message: text }
}

function byRule(verdict: PermissionVerdict, mode: PermissionMode = 'agent'): GateDecision {
  return { decision: verdict.decision === 'allow' ? 'allow' : 'deny', by: 'rule', mode, verdict }
}

function denied({ name }: Tool, { by, message, verdict }: GateDecision): RefusedResult {
  if (by === 'abort') return refusal('aborted', 'The call was cancelled before the tool ran.')
  const why = by === 'reject' ? ['the user rejected it', ...(message ? [message] : [])] : verdict.reasons
  const text = `The call of ${name} was denied and did not run${why.length > 0 ? `: ${why.join('; ')}` : ''}.`
  return {
    ...refusal('permission_denied', text),
    ...(verdict.domain && { domain: verdict.domain }),
    targets: verdict.targets,
  }
}

async function answerOf(
  askUser: NonNullable<ToolControls['askDoomLoop']>,
  question: DoomLoopQuestion,
  signal: AbortSignal | undefined,
): Promise<DoomLoopAnswer> {
  let stop = () => {}
  const aborted = new Promise<DoomLoopAnswer>((resolve) => {
    stop = () => resolve('stop')
    signal?.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([askUser(question), aborted])
  } catch (error) {
    warn('askDoomLoop', error)
    return 'stop'
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function auditDecision(
  audit: AuditSink,
  { tool, controls }: Guard,
  call: Call,
  refused: RefusedResult | undefined,
): Promise<RefusedResult | undefined> {
  const { decision } = call
  const { verdict } = decision ?? {}
  try {
    await audit.append({
      type: 'decision',
      tool: tool.name,
      toolCallId: call.toolCallId,
      sessionId: call.sessionId,
      mode: decision?.mode ?? controls.mode ?? 'agent',
      decision: refused === undefined ? 'allow' : 'deny',
      ...(verdict?.domain && { permissionDomain: verdict.domain }),
      ...(verdict && { targets: verdict.targets }),
      ...(verdict?.rule && { rulePattern: verdict.rule.pattern }),
      ...(decision && { approver: decision.by }),
      ...(refused && { reason: refused.message }),
    })
  } catch (error) {
    return refusal('audit_failed', `The call did not run, because it could not be recorded: ${messageOf(error)}`)
  }
  return undefined
}

async function auditOutcome(
  audit: AuditSink,
  { tool }: Guard,
  call: Call,
  full: unknown,
  final: unknown,
  isError: boolean,
  durationMs: number,
): Promise<void> {
  const body = bodyOf(full)
  const outputPath = call.outputPath ?? (final as ToolResultLike | null)?.metadata?.truncationPath
  try {
    await audit.append({
      type: 'outcome',
      tool: tool.name,
      toolCallId: call.toolCallId,
      sessionId: call.sessionId,
      outcome: call.signal?.aborted && isError ? 'aborted' : isError ? 'error' : 'ok',
      durationMs,
      ...(typeof body === 'string' && { bytes: Buffer.byteLength(body) }),
      ...(typeof outputPath === 'string' && { outputPath }),
    })
  } catch (error) {
    // The tool has run: keeping its result from the model would not undo it.
    warn('audit', error)
  }
}

function finished({ tool }: Guard, call: Call, result: unknown, isError: boolean) {
  return { ...facts(tool, call), args: call.args, result, isError }
}

/** The question that the output of a call is to answer. */
function questionOf({ tool, controls }: Guard, { args }: Call): string | undefined {
  try {
    const query: unknown = controls.query?.({ tool: tool.name, args })
    if (query !== undefined && typeof query !== 'string')
      throw wrong('controls.query', query, 'a string from the function')
    return query
  } catch (error) {
    warn('query', error)
    return undefined
  }
}

async function truncate(guard: Guard, call: Call, given: unknown, isError: boolean): Promise<unknown> {
  if (given === undefined || given === null) return given
  const { value, made } = opened(given)
  if (made !== undefined && made.outputPath !== '') call.outputPath = made.outputPath
  const { tool, bound } = guard
  if (bound === undefined) return given
  // A bare result of a service stands for its text.
  const result = isRecord(given) && 'output' in given ? given : value
  const { toolCallId, sessionId, signal } = call
  const { name: toolName, truncation: declared } = tool
  const query = questionOf(guard, call)
  const context = { toolName, toolCallId, sessionId, signal, declared, failed: isError, ...(query && { query }) }
  const noteFile = (bounded: ToolResultLike) => {
    const path = bounded?.metadata?.truncationPath
    // A middleware of the caller's may save elsewhere; what the tool itself says is not believed.
    const isTools = isRecord(given) && isRecord(given.metadata) && given.metadata.truncationPath === path
    if (typeof path === 'string' && path !== '' && (!isTools || isSavedOutput(path))) call.outputPath = path
    return bounded
  }
  try {
    if (isRecord(result) && 'output' in result) return noteFile(await bound(tool.name, result, context))
    if (isMcp(result)) {
      // Results of MCP keep their text in parts; what is long beside those is read, too.
      const parts = hasMoreThanParts(result) ? result : result.content
      const { output, metadata } = noteFile(await bound(tool.name, { output: parts }, context))
      if (output === parts) return result
      const path = metadata?.truncationPath
      const shown = parts === result ? holderOf(result, output) : { ...result, content: partsOf(output) }
      return path === undefined ? shown : { ...shown, _meta: { ...(shown._meta as object), truncationPath: path } }
    }
    return noteFile(await bound(tool.name, { output: result }, context)).output
  } catch (error) {
    warn('truncation', error)
    return result
  }
}

/** Bytes of other fields beside the parts of a result that may stay as they are. */
const SMALL_UNITS = 1024

function hasMoreThanParts({ content: _, ...beside }: Record<string, unknown>): boolean {
  return safeStringify(beside).length > SMALL_UNITS
}

/** Returns the visible part of an MCP result, in its own shape. */
function holderOf({ isError }: Record<string, unknown>, shown: unknown): Record<string, unknown> {
  return isMcp(shown) ? shown : { content: partsOf(shown), ...(isError !== undefined && { isError }) }
}

function partsOf(shown: unknown): readonly unknown[] {
  return isArray(shown) ? shown : [{ type: 'text', text: shown }]
}

/** The result without the lines that the model has in view already. */
function folded({ tool, controls }: Guard, call: Call, bounded: unknown): unknown {
  if (controls.fold === undefined) return bounded
  const { toolCallId, args } = call
  const outputPath = call.outputPath ?? (bounded as ToolResultLike | null)?.metadata?.truncationPath
  const { result, folds } = foldResult(controls.fold, bounded, { toolName: tool.name, toolCallId, args, outputPath })
  call.folds = folds
  return result
}

function noteOutcome({ controls }: Guard, { toolCallId }: Call, result: unknown, isError: boolean): void {
  try {
    controls.doomLoop?.record({ toolCallId, result: withoutPath(result), isError })
  } catch (error) {
    warn('doomLoop', error)
  }
}

function feed({ tool, controls }: Guard, call: Call, full: unknown, final: unknown, failed: boolean): void {
  if (controls.ledger === undefined) return
  const { outputPath } = call
  const asResult = (value: unknown): ToolResultLike =>
    isRecord(value) && 'output' in value ? value : { output: bodyOf(value) }
  observe(controls.ledger, {
    toolCallId: call.toolCallId,
    toolName: tool.name,
    result: asResult(full),
    bounded: outputPath === undefined ? asResult(final) : { metadata: { truncationPath: outputPath } },
    failed,
    args: isRecord(call.args) ? call.args : undefined,
    folds: call.folds,
  })
}

/** Returns the text for the model without the path of the saved output, which differs each time and would hide a loop. */
function withoutPath(result: unknown): unknown {
  const { value: body, made } = opened(bodyOf(result))
  const { truncationPath, outputPath } = ((isRecord(result) && result.metadata) || {}) as Record<string, unknown>
  const known = made ?? (typeof body === 'string' ? previewOf(body) : undefined)
  const path = known?.outputPath || truncationPath || outputPath
  return typeof body === 'string' && typeof path === 'string' && path !== '' ? body.replaceAll(path, '') : body
}

function facts({ name }: Tool, { toolCallId, sessionId }: Call) {
  return { tool: name, toolCallId, ...(sessionId === undefined ? {} : { sessionId }) }
}

function refusal(kind: RefusalKind, message: string): RefusedResult {
  return { kind, success: false, isError: true, output: message, error: message, message }
}

function shaped(refused: RefusedResult, shape: ToolControls['refusal'] = 'result'): unknown {
  if (shape === 'text') return refused.output
  if (shape === 'mcp') return { content: [{ type: 'text', text: refused.output }], isError: true }
  return { ...refused, message: refused.output }
}
