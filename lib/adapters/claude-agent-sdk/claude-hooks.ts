/** Hooks around the calls of the SDK's tools, and answers for the user. */

import type { ToolControls } from 'spillway'
import { hasListener } from '../../approval/gate'
import { rememberOutput } from '../../storage/saved-outputs'
import { folderFor } from '../../tools/working-folder'
import { definedOf } from '../../util/defined'
import { asText } from '../../util/guards'
import { LruCache } from '../../util/lru-cache'
import { safeStringify } from '../../util/safe-stringify'
import { isRecord } from '../../validation/validate'
import { approvalsOf, type CallToJudge, judge, NO_TOOL_NAME } from '../shared/approvals'
import { toolControls } from '../shared/controls'
import { givenPermission, withHarmlessTools } from '../shared/harmless'
import { type HostResult, SplitCalls } from '../shared/split-guard'
import { leafwise } from '../shared/truncate-leaves'
import type { AdapterControls } from '../shared/types'
import type { WrappedCommands } from './wrapped-commands'

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

/** The host has put the output into a file by itself. */
const PERSISTED = 'persistedOutputPath'

/** Tools whose answer is what `canUseTool` returns: the user's choices, and whether a plan is approved. */
const ANSWERED_BY_USER: ReadonlySet<unknown> = new Set(['AskUserQuestion', 'ExitPlanMode'])

/** Text for the model where no user could be asked. */
const UNHEARD =
  'The call needs approval, and no one can be asked: the PermissionGate has neither ask nor onEvent, and claudeOptions has no ask.'

/** The hooks around the tools, and the answers for the user, of one {@link claudeOptions}. */
export class ClaudeHooks {
  private readonly judging: AdapterControls
  private readonly calls: SplitCalls
  /** `canUseTool` receives neither the session nor the folder, and is called after the hook. */
  private readonly places = new LruCache<string, Pick<ToolCallOf, 'sessionId' | 'cwd'>>(10_000)

  constructor(
    private readonly controls: AdapterControls,
    private readonly commands: WrappedCommands,
    private readonly ask: ClaudeCanUseTool | undefined,
  ) {
    this.judging = withHarmlessTools(controls, 'claude')
    const around: ToolControls = toolControls(controls)
    const truncation = leafwise(controls.truncation)
    if (truncation !== undefined) {
      around.truncation = async (tool, result, context) =>
        commands.isWrapped(context?.toolCallId) ? result : truncation(tool, result, context)
    }
    const { permission } = this.judging
    if (permission !== undefined) around.permission = approvalsOf(permission).permission(false)
    this.calls = new SplitCalls(around)
  }

  readonly before: ClaudeHook = async (input: unknown, _id, options) => {
    const call = this.callOf(input, options)
    // A hook that throws does not stop a call.
    if (typeof call.tool !== 'string') return denied(NO_TOOL_NAME)
    const { sessionId, cwd } = call
    this.places.set(call.toolCallId, definedOf({ sessionId, cwd }))
    if ((await judge(this.judging, factsOf(call))).decision === 'ask') {
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }
    }
    const outcome = await this.calls.before(call)
    if (outcome.kind === 'refused') return denied(outcome.refusal.output)
    const updatedInput = this.commands.wrap(call, outcome.args)
    if (safeStringify(updatedInput) === safeStringify(call.args)) return {}
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } }
  }

  readonly after: ClaudeHook = async (input: unknown, _id, options) => {
    const asCalled = this.callOf(input, options)
    const wrapped = this.commands.end(asCalled)
    const call = wrapped === undefined ? asCalled : { ...asCalled, args: wrapped.args }
    const { tool_response: response } = Object(input) as HookInput
    if (wrapped !== undefined) {
      await this.calls.after(call, bounded(response, this.commands.outputOf(safeStringify(response))))
      this.commands.forget(call)
      return {}
    }
    // A server of MCP answers in a shape of its own, and may claim any path.
    const isHosts = typeof call.tool === 'string' && !call.tool.startsWith('mcp__')
    const persisted = isHosts && isRecord(response) && typeof response[PERSISTED] === 'string'
    if (persisted) rememberOutput(response[PERSISTED])
    const outcome = await this.calls.after(call, {
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

  readonly failed: ClaudeHook = async (input: unknown, _id, options) => {
    const call = this.callOf(input, options)
    const wrapped = this.commands.end(call)
    const message = asText((Object(input) as HookInput).error)
    if (wrapped === undefined) await this.calls.after(call, { error: new Error(message) })
    else
      await this.calls.after({ ...call, args: wrapped.args }, bounded(message, this.commands.outputOf(message), true))
    this.commands.forget(call)
    return {}
  }

  readonly canUseTool: ClaudeCanUseTool = async (tool, shown, options) => {
    const { toolUseID, signal } = Object(options) as typeof options
    const args = this.commands.asWritten(toolUseID, shown)
    const place = this.places.get(toolUseID) ?? definedOf({ cwd: folderFor(this.controls) })
    const call: ToolCallOf = { tool, args, toolCallId: toolUseID, ...place, signal }
    const { permission } = this.judging
    return permission === undefined ? this.askUser(call, options) : this.decide(permission, call, options)
  }

  /** The host hands over what the model wrote, which can be of another kind. */
  private callOf(input: unknown, options: unknown): ToolCallOf {
    const { tool_name, tool_input, tool_use_id, session_id, cwd } = Object(input) as HookInput
    const { signal } = Object(options) as { signal?: AbortSignal }
    const sessionId = typeof session_id === 'string' ? session_id : undefined
    return {
      tool: tool_name,
      args: tool_input,
      toolCallId: tool_use_id,
      ...definedOf({ sessionId, cwd: folderFor({ workingDirectory: cwd }, this.controls), signal }),
    }
  }

  /** The user decides alone. */
  private async askUser(call: ToolCallOf, options: object): ReturnType<ClaudeCanUseTool> {
    const args = call.args as Record<string, unknown>
    const answer = await (this.ask as ClaudeCanUseTool)(call.tool, args, options)
    if (answer.behavior !== 'allow') return answer
    const agreed = answer.updatedInput ?? args
    const updatedInput = this.commands.wrap(call, agreed)
    return updatedInput === agreed ? answer : { ...answer, updatedInput }
  }

  /** The permission decides; where it asks, the user does. */
  private async decide(
    permission: NonNullable<AdapterControls['permission']>,
    call: ToolCallOf,
    options: object,
  ): ReturnType<ClaudeCanUseTool> {
    const { ask } = this
    const { tool } = call
    const args = call.args as Record<string, unknown>
    const judged = await judge(this.judging, factsOf(call))
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
    const outcome = await this.calls.before({
      ...call,
      args: input,
      ...(isApproved && { permission: approvalsOf(permission).permission(true) }),
    })
    if (outcome.kind === 'refused') return { behavior: 'deny', message: outcome.refusal.output }
    return { behavior: 'allow', updatedInput: this.commands.wrap(call, outcome.args as Record<string, unknown>) }
  }
}

interface HookInput {
  session_id?: string
  /** The folder that the SDK's tools work in at this call: that of the shell, which commands change. */
  cwd?: unknown
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
  cwd?: string
  signal?: AbortSignal
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
