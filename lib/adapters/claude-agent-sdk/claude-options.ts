/** Hooks around the tools of the SDK, and `canUseTool`. */

import type { ToolControls } from 'spillway'
import { hasListener } from '../../approval/gate'
import { rememberOutput } from '../../storage/saved-outputs'
import { asText } from '../../util/guards'
import { safeStringify } from '../../util/safe-stringify'
import { type Check, flag } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'
import { approvalsOf, type CallToJudge, judge, NO_TOOL_NAME } from '../shared/approvals'
import { checkControls, storageDirOf, storageOf, toolControls } from '../shared/controls'
import { givenPermission, withHarmlessTools } from '../shared/harmless'
import { LruCache } from '../shared/lru-cache'
import { type HostResult, SplitCalls } from '../shared/split-guard'
import { leafwise } from '../shared/truncate-leaves'
import type { AdapterControls } from '../shared/types'
import { WrappedCommands } from './wrapped-commands'

/** Options of {@link claudeOptions}. Sessions are those of the SDK. */
export interface ClaudeControls extends Omit<AdapterControls, 'recovery' | 'history' | 'sessionId' | 'now'> {
  /**
   * Runs each command of `Bash` under `spillway run`, so that the output of a failed command is saved whole as well, and its
   * preview has a notice: the SDK lets no hook replace the message of a failed tool. Previews of commands are then at most
   * 9,000 bytes, with the limits of `spillway run`. The SDK's own rules, such as `Bash(npm test:*)`, see the command as it
   * runs; `permission` and `ask` see the command as the model wrote it. Commands in the background run as they are. Needs
   * `truncation` with a storage of files.
   * @default false
   */
  wrapCommands?: boolean
}

/** Input of a hook from the SDK. */
// biome-ignore lint/suspicious/noExplicitAny: one of the SDK's many inputs
export type ClaudeHook = (input: any, toolUseID: string | undefined, options: { signal: AbortSignal }) => Promise<any>

/** Answers for the user, as the SDK has it. */
export type ClaudeCanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own options
  options: any,
) => Promise<
  | { behavior: 'allow'; updatedInput?: Record<string, unknown> }
  | { behavior: 'deny'; message: string; interrupt?: boolean }
>

/** For `options` of `query`. */
export interface ClaudeOptions {
  hooks: {
    PreToolUse: { hooks: ClaudeHook[] }[]
    PostToolUse: { hooks: ClaudeHook[] }[]
    PostToolUseFailure: { hooks: ClaudeHook[] }[]
  }
  /** Only with `permission` or `ask`: without, the SDK decides as it would. */
  canUseTool?: ClaudeCanUseTool
  /** The folder of saved outputs, so that `Read` opens them without a question. Add your own folders to it. */
  additionalDirectories?: string[]
}

const NOT_HERE: Check = ['nothing: the SDK does that by itself', () => false]
const OWN = { recovery: NOT_HERE, history: NOT_HERE, sessionId: NOT_HERE, now: NOT_HERE, wrapCommands: flag }

/** The host has put the output into a file by itself. */
const PERSISTED = 'persistedOutputPath'

/** Tools whose answer is what `canUseTool` returns: the user's choices, and whether a plan is approved. */
const ANSWERED_BY_USER: ReadonlySet<unknown> = new Set(['AskUserQuestion', 'ExitPlanMode'])

/** Text for the model where no user could be asked. */
const UNHEARD =
  'The call needs approval, and no one can be asked: the PermissionGate has neither ask nor onEvent, and claudeOptions has no ask.'

/**
 * Options for `query`: hooks with everything around the tools that `guardTool` knows, `canUseTool`, and the folder of saved
 * outputs. Results keep the shape of their tool; every long text in them is truncated by itself. An output that the SDK has
 * saved by itself is left alone. Messages of failed tools cannot be changed; `wrapCommands` bounds those of commands.
 *
 * A call that `permission` denies does not run. Where it asks, the SDK asks `canUseTool`: `ask`, if that is given, answers for the
 * user; else a `PermissionGate` asks by its `onEvent`, and without one the call is denied, as it is by a `PermissionPolicy`. A
 * call that is allowed here may still be denied by the SDK's own rules. `AskUserQuestion` and `ExitPlanMode` reach `ask` unless
 * `permission` denies them: its `updatedInput` has the user's answers.
 *
 * @example
 * for await (const message of query({ prompt, options: { ...claudeOptions({ truncation: service }), model } })) show(message)
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function claudeOptions(controls: ClaudeControls, ask?: ClaudeCanUseTool): ClaudeOptions {
  checkControls(controls, OWN)
  const folder = storageDirOf(controls)
  if (controls.wrapCommands === true && folder === undefined) {
    throw wrong('controls.wrapCommands', true, 'false without a truncation whose storage is a folder')
  }
  const commands = new WrappedCommands(controls.wrapCommands === true ? folder : undefined, storageOf(controls))
  const judging = withHarmlessTools(controls, 'claude')
  const around: ToolControls = toolControls(controls)
  const truncation = leafwise(controls.truncation)
  if (truncation !== undefined) {
    around.truncation = async (tool, result, context) =>
      commands.isWrapped(context?.toolCallId) ? result : truncation(tool, result, context)
  }
  const { permission } = judging
  if (permission !== undefined) around.permission = approvalsOf(permission).permission(false)
  const calls = new SplitCalls(around)
  /** `canUseTool` does not receive the session, and is called after the hook. */
  const sessions = new LruCache<string, string>(10_000)
  const before: ClaudeHook = async (input: unknown, _id, options) => {
    const call = callOf(input, options)
    // A hook that throws does not stop a call.
    if (typeof call.tool !== 'string') return denied(NO_TOOL_NAME)
    if (call.sessionId !== undefined) sessions.set(call.toolCallId, call.sessionId)
    if ((await judge(judging, factsOf(call))).decision === 'ask') {
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }
    }
    const outcome = await calls.before(call)
    if (outcome.kind === 'refused') return denied(outcome.refusal.output)
    const updatedInput = commands.wrap(call, outcome.args)
    if (safeStringify(updatedInput) === safeStringify(call.args)) return {}
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } }
  }

  const after: ClaudeHook = async (input: unknown, _id, options) => {
    const asCalled = callOf(input, options)
    const wrapped = commands.end(asCalled)
    const call = wrapped === undefined ? asCalled : { ...asCalled, args: wrapped.args }
    const { tool_response: response } = Object(input) as HookInput
    if (wrapped !== undefined) {
      await calls.after(call, bounded(response, commands.outputOf(safeStringify(response))))
      commands.forget(call)
      return {}
    }
    // A server of MCP answers in a shape of its own, and may claim any path.
    const isHosts = typeof call.tool === 'string' && !call.tool.startsWith('mcp__')
    const persisted = isHosts && isRecord(response) && typeof response[PERSISTED] === 'string'
    if (persisted) rememberOutput(response[PERSISTED])
    const outcome = await calls.after(call, {
      value: persisted ? { output: undefined, metadata: { truncationPath: response[PERSISTED] } } : boxed(response),
    })
    if (outcome.kind !== 'value') return {}
    const { output } = persisted ? { output: response } : (outcome.shown as { output: unknown })
    const said = {
      // Hooks run side by side, and the last rewrite wins: what is the same is not said.
      ...(safeStringify(output) !== safeStringify(response) && { updatedToolOutput: shapedAs(response, output) }),
      // A result that is a text has it at its end.
      ...(outcome.warning !== undefined && typeof response !== 'string' && { additionalContext: outcome.warning }),
    }
    return Object.keys(said).length === 0 ? {} : { hookSpecificOutput: { hookEventName: 'PostToolUse', ...said } }
  }

  const failed: ClaudeHook = async (input: unknown, _id, options) => {
    const call = callOf(input, options)
    const wrapped = commands.end(call)
    const message = asText((Object(input) as HookInput).error)
    if (wrapped === undefined) await calls.after(call, { error: new Error(message) })
    else await calls.after({ ...call, args: wrapped.args }, bounded(message, commands.outputOf(message), true))
    commands.forget(call)
    return {}
  }

  const canUseTool: ClaudeCanUseTool = async (tool, shown, options) => {
    const { toolUseID, signal } = Object(options) as typeof options
    const args = commands.asWritten(toolUseID, shown)
    const sessionId = sessions.get(toolUseID)
    const call: ToolCallOf = {
      tool,
      args,
      toolCallId: toolUseID,
      ...(sessionId !== undefined && { sessionId }),
      signal,
    }
    if (permission === undefined) {
      const answer = await (ask as ClaudeCanUseTool)(tool, args, options)
      if (answer.behavior !== 'allow') return answer
      const agreed = answer.updatedInput ?? args
      const updatedInput = commands.wrap(call, agreed)
      return updatedInput === agreed ? answer : { ...answer, updatedInput }
    }
    const judged = await judge(judging, factsOf(call))
    const { reason } = judged
    // A rule that allows the call does not answer for the user.
    const isAnswered = judged.decision === 'allow' && ask !== undefined && ANSWERED_BY_USER.has(tool)
    const decision = isAnswered ? 'ask' : judged.decision
    if (decision === 'deny') return { behavior: 'deny', message: reason || 'The call was denied.' }
    if (decision === 'ask' && ask === undefined && !hasListener(givenPermission(permission))) {
      // It would wait indefinitely.
      approvalsOf(permission).withdraw(call)
      return { behavior: 'deny', message: UNHEARD }
    }
    let input = args
    let isApproved = false
    if (decision === 'ask' && ask !== undefined) {
      const answer = await ask(tool, args, options)
      if (answer.behavior !== 'allow') {
        approvalsOf(permission).withdraw(call)
        return answer
      }
      input = answer.updatedInput ?? args
      isApproved = approvalsOf(permission).approve(factsOf({ ...call, args: input }), true)
    }
    const outcome = await calls.before({
      ...{ ...call, args: input },
      ...(isApproved && { permission: approvalsOf(permission).permission(true) }),
    })
    if (outcome.kind === 'refused') return { behavior: 'deny', message: outcome.refusal.output }
    return { behavior: 'allow', updatedInput: commands.wrap(call, outcome.args as Record<string, unknown>) }
  }

  return {
    hooks: {
      PreToolUse: [{ hooks: [before] }],
      PostToolUse: [{ hooks: [after] }],
      PostToolUseFailure: [{ hooks: [failed] }],
    },
    ...((permission !== undefined || ask !== undefined) && { canUseTool }),
    ...(folder !== undefined && { additionalDirectories: [folder] }),
  }
}

interface HookInput {
  session_id?: string
  tool_name: string
  tool_input: unknown
  tool_use_id: string
  tool_response?: unknown
  error?: unknown
}

interface ToolCallOf {
  tool: string
  args: unknown
  toolCallId: string
  sessionId?: string
  signal?: AbortSignal
}

/** The host hands over what the model wrote, which can be of another kind. */
function callOf(input: unknown, options: unknown): ToolCallOf {
  const { tool_name, tool_input, tool_use_id, session_id } = Object(input) as HookInput
  const { signal } = Object(options) as { signal?: AbortSignal }
  return {
    ...{ tool: tool_name, args: tool_input, toolCallId: tool_use_id },
    ...(typeof session_id === 'string' && { sessionId: session_id }),
    ...(signal && { signal }),
  }
}

function factsOf({ signal: _, ...facts }: ToolCallOf): CallToJudge {
  return facts
}

/** A result whose shape is the tool's own; how a command ended is said beside it, too. */
function boxed(response: unknown): object {
  const { exitCode, stderr } = Object(response) as { exitCode?: unknown; stderr?: unknown }
  return { output: response, ...(exitCode !== undefined && { exitCode }), ...(stderr !== undefined && { stderr }) }
}

/** The result of a command that `spillway run` has bounded. */
function bounded(output: unknown, outputPath: string | undefined, isError = false): HostResult {
  const [, code] = (isError && /^Exit code (\d+)/.exec(asText(output))) || []
  const ended = { isError, ...(code !== undefined && { exitCode: Number(code) }) }
  return { value: { output, ...ended, metadata: { truncationPath: outputPath } } }
}

/** A text in place of what a command printed is what it printed. */
function shapedAs(response: unknown, output: unknown): unknown {
  if (typeof output !== 'string' || !isRecord(response) || typeof response.stdout !== 'string') return output
  return { ...response, stdout: output, ...('stderr' in response && { stderr: '' }) }
}

function denied(reason: string): object {
  const hookSpecificOutput = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  }
  return { hookSpecificOutput }
}
