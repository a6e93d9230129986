/** All controls around one tool, in one order. */

import type { BegunCall } from '../fold/fold-session'
import { HookRunner } from '../hooks/runner'
import { middlewareOf } from '../service/middleware'
import { boundMembers } from '../tools/bind-members'
import { inScope } from '../tools/call-scope'
import { checkTool } from '../tools/check-tool'
import { runFolded, tellBegin } from '../tools/fold-result'
import type { ExecutionContext, Tool } from '../tools/registry'
import { CANCELLED, checkReadable, editText, hasFailed, withErrorText } from '../tools/tool-result'
import { folderFor } from '../tools/working-folder'
import { observeStart } from '../truncation/record-result'
import type { TruncationResult } from '../types'
import { elapsed } from '../util/clock'
import { randomUUID } from '../util/crypto'
import { deepClone } from '../util/deep-clone'
import { messageOf } from '../util/message-of'
import { isRecord } from '../validation/validate'
import { folded, truncate } from './bound-result'
import { checkToolControls, isToolHookRunner, type ToolControls } from './controls'
import { type Call, facts, type Guard } from './guarded-call'
import { judgeCall } from './judge-call'
import { auditDecision, auditOutcome, feed, noteOutcome } from './records'
import { type RefusedMcpResult, type RefusedResult, refusal, shaped } from './refusals'

/** The result of a tool, in which the text for the model may have replaced an output of `TruncationService` or `runCommand`. */
type BoundedResult<R> =
  R extends TruncationResult<infer C>
    ? R | C
    : R extends { output: TruncationResult<infer C> }
      ? Omit<R, 'output'> & { output: R['output'] | C }
      : R

/** A tool without parameters is called with an empty object by a host. */
type ArgumentsOf<T extends Tool> = Parameters<T['execute']> extends readonly [] ? unknown : Parameters<T['execute']>[0]

/** The form of a refused result. */
type Shape = NonNullable<ToolControls['refusal']>

/** A refused result in its form; that of an object where the form is not known. */
type Refused<S extends Shape> = 'result' extends S ? RefusedResult : S extends 'text' ? string : RefusedMcpResult

/** A tool with everything around it. `S` is the `refusal` of its controls. */
export type GuardedTool<T extends Tool, S extends Shape = 'result'> = Omit<T, 'execute'> & {
  /**
   * Never rejects: a failure is a result that says so. With `truncation`, an output of `TruncationService` or `runCommand` in the
   * result is replaced by its `content`.
   */
  execute(
    args: ArgumentsOf<T>,
    context?: Partial<ExecutionContext> & { toolCallId?: string | undefined },
  ): Promise<BoundedResult<Awaited<ReturnType<T['execute']>>> | Refused<S>>
}

/**
 * Wraps a tool in controls, always in this order: `tool.before`, permission on the merged arguments, loops, audit of
 * the decision, the tool, `tool.after` on the full result, truncation, `tool.final` on what the model reads, audit of the
 * outcome. MCP results and errors pass through the same steps. The arguments are copied first, so that the approved call is the
 * one that runs.
 *
 * @example
 * const safe = guardTool(bash, { permission: gate, doomLoop: new DoomLoopDetector(), truncation: service, audit: log })
 * const result = await safe.execute({ command: 'npm test' }, { toolCallId: 'call_1' })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or control
 */
export function guardTool<T extends Tool, S extends Shape = Shape>(
  tool: T,
  controls: ToolControls & { refusal?: S } = {},
): GuardedTool<T, S> {
  checkTool('tool', tool)
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
    execute: (args: never, context = {}) => runWithFold(guard, args, context as ExecutionContext).catch(unread),
  } as GuardedTool<T, S>
}

/** Runs a call between the `begin` and the `end` of the fold, if it wants them. */
async function runWithFold(guard: Guard, args: unknown, context: ExecutionContext & { toolCallId?: string }) {
  const { fold } = guard.controls
  if (fold?.begin === undefined) return run(guard, args, context)
  let own: ExecutionContext & { toolCallId: string }
  try {
    own = { ...context, toolCallId: context?.toolCallId || randomUUID() }
  } catch {
    // It says why when it is read again.
    return run(guard, args, context)
  }
  return runFolded(fold, begun(guard.tool, own.toolCallId, args), () => run(guard, args, own))
}

function begun({ name: toolName }: Tool, toolCallId: string, args: unknown): BegunCall {
  return { toolName, toolCallId, ...(isRecord(args) && { args }) }
}

async function run(guard: Guard, args: unknown, context: ExecutionContext & { toolCallId?: string }): Promise<unknown> {
  const { tool, controls, hooks } = guard
  const { audit } = controls
  const call: Call = {
    toolCallId: '',
    sessionId: controls.sessionId,
    args: undefined,
    workingDirectory: undefined,
    signal: undefined,
    turn: undefined,
    decision: undefined,
    warning: undefined,
    folds: undefined,
    outputPath: undefined,
  }
  let own: Partial<ExecutionContext> = {}
  let refused: RefusedResult | undefined
  try {
    const { toolCallId, sessionId, signal, turn } = context ?? {}
    // The folder in which permission judges paths is the one in which the tool reads them.
    const workingDirectory = folderFor(context, tool)
    call.workingDirectory = workingDirectory
    own = { ...context, ...(workingDirectory !== undefined && { workingDirectory }) }
    call.toolCallId = toolCallId || randomUUID()
    call.sessionId = sessionId ?? call.sessionId
    call.signal = signal
    call.turn = turn
    // `await` reads `then` first, and a proxy may refuse even that.
    const isWanted = hooks !== undefined && !signal?.aborted
    call.args = deepClone(await (isWanted ? hooks.toolBefore({ ...facts(tool, call), args }) : args))
    if (isWanted) tellBegin(controls.fold, begun(tool, call.toolCallId, call.args))
    refused = await judgeCall(guard, call)
  } catch (error) {
    call.toolCallId ||= randomUUID()
    refused = refusal('tool_failed', `The call could not be read and did not run: ${messageOf(error)}`)
  }
  observeStart(controls.ledger, call.toolCallId)
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
    // The audit log may have taken long.
    if (call.signal?.aborted) throw new Error(CANCELLED)
    const { toolCallId, sessionId } = call
    const scope = { service: controls.truncation, sessionId }
    result = await inScope(scope, () =>
      tool.execute(call.args, { ...own, toolCallId, ...(sessionId && { sessionId }) }),
    )
    checkReadable(result)
    result = withErrorText(result)
  } catch (error) {
    thrown = { error }
    const kind = call.signal?.aborted ? 'aborted' : 'tool_failed'
    result = refusal(kind, messageOf(error))
  }
  const isError = thrown !== undefined || hasFailed(result)
  noteOutcome(guard, call, result, isError)
  // Skip `await` when there is no hook: each one costs a microtask.
  const full = hooks === undefined ? result : await hooks.toolAfter(finished(guard, call, result, isError))
  const bounded = folded(guard, call, await truncate(guard, call, full, isError))
  const told = call.warning === undefined ? bounded : editText(bounded, { append: `\n\n${call.warning}` })
  const final = hooks === undefined ? told : await hooks.toolFinal(finished(guard, call, told, isError))
  if (audit !== undefined) await auditOutcome(audit, guard, call, full, final, isError, elapsed() - began)
  feed(guard, call, full, final, isError)
  return thrown === undefined ? final : shaped(final as RefusedResult, controls.refusal)
}

function finished({ tool }: Guard, call: Call, result: unknown, isError: boolean) {
  return { ...facts(tool, call), args: call.args, result, isError }
}
