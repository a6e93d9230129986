/** Function tools, and tools of MCP servers, with controls around them. */

import type { ToolControls, ToolTruncationConfig } from 'spillway'
import { type IdentifiedCall, identityOf } from '../../approval/call-key'
import { guardTool } from '../../guard/guard-tool'
import { textOfCommand } from '../../tools/command-result'
import { randomUUID } from '../../util/crypto'
import { isArray } from '../../util/guards'
import { argumentsText, jsonOrSame } from '../../util/json'
import { safeStringify } from '../../util/safe-stringify'
import { isRecord, wrong } from '../../validation/validate'
import { Blocks } from '../mcp/content-blocks'
import { approvalsOf, type CallToJudge, judge } from '../shared/approvals'
import { checkControls, folderOf, toolControls } from '../shared/controls'
import { errorFor, guardCall, type HostOutcome } from '../shared/guard'
import { mcpToolName } from '../shared/mcp-names'
import { copyWith, overlay } from '../shared/override-methods'
import { type AgentsControls, OWN_CONTROLS, sessionOf } from './controls'

/** A function tool, as far as it is read here. */
interface AnyTool {
  type?: unknown
  name: string
  invoke: (runContext: unknown, input: string, details?: CallDetails) => Promise<unknown>
  needsApproval?: unknown
  truncation?: unknown
}

interface CallDetails {
  toolCall?: { callId?: string }
  signal?: AbortSignal
}

/** The context of a run, as far as it is read here. */
interface RunContextLike {
  context?: unknown
  isToolApproved?(approval: { toolName: string; callId: string }): boolean | undefined
}

/** The SDK's text for a tool that threw, where the tool has none of its own. Nothing else marks an error. */
const DEFAULT_ERROR = 'An error occurred while running the tool. Please try again.'

/**
 * The same function tool with everything around it that `guardTool` of Spillway knows. Its guardrails and its own
 * `needsApproval` stay; where `permission` wants to ask, the SDK interrupts the run, and what is answered there, also after
 * a restart, is the answer. The model and the application read the same: a preview of what is long.
 *
 * A tool that the provider runs is given back as it is. `shellTool`, `computerTool` and `applyPatchTool` cannot be guarded.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for a tool that cannot be guarded, and for an invalid control
 */
export function guardFunctionTool<T extends object>(tool: T, controls: AgentsControls): T {
  checkControls(controls, OWN_CONTROLS)
  const given: unknown = tool
  if (isRecord(given) && given.type === 'hosted_tool') return tool
  if (!isRecord(given) || given.type !== 'function' || typeof given.invoke !== 'function') {
    throw wrong('tool', tool, 'a function tool')
  }
  const around = checkedControls(controls)
  const own = given as unknown as AnyTool
  const { name } = own
  const truncation = isRecord(own.truncation) ? (own.truncation as ToolTruncationConfig) : undefined
  const invoke = async (runContext: RunContextLike, input: string, details?: CallDetails): Promise<unknown> => {
    const args = parsed(input)
    const { toolCall, signal } = details ?? {}
    const call = {
      tool: name,
      args,
      toolCallId: toolCall?.callId,
      sessionId: sessionOf(controls, { context: runContext?.context }),
      cwd: folderOf(controls, tool),
    }
    const permission = await approved(controls, runContext, call)
    const outcome = await guardCall({ ...call, signal, permission, truncation }, around, async (judged) => {
      // The text that the model wrote, unless its meaning was changed.
      const text = safeStringify(judged) === safeStringify(args) ? input : JSON.stringify(judged)
      return forGuard(await own.invoke.call(tool, runContext, text, details))
    })
    return forHost(outcome)
  }
  const needsApproval = controls.permission === undefined ? {} : { needsApproval: approvalOf(controls, own) }
  return copyWith(tool, { invoke, ...needsApproval })
}

/**
 * Returns the MCP server with results truncated and calls checked. Calls of MCP servers have no id here, so the SDK cannot ask the
 * user: a `PermissionGate` asks on its own; with a `PermissionPolicy`, `ask` becomes `deny`. Rules and records name the tools by the
 * server's `name`.
 * @throws SpillwayError `INVALID_ARGUMENT` for anything but an MCP server, if a `permission` is given and the server has no `name`, or
 *   for an unknown control
 */
export function guardMcpServer<T extends object>(server: T, controls: AgentsControls): T {
  checkControls(controls, OWN_CONTROLS)
  const { name, callTool, callToolResult } = Object(server) as Record<string, unknown>
  if (typeof callTool !== 'function') throw wrong('server', server, 'an MCP server')
  const isNamed = typeof name === 'string' && name !== ''
  // Rules about `mcp:` name the server; its tools do not belong to the host, whatever their names are.
  if (controls?.permission !== undefined && !isNamed) throw wrong('server.name', name, 'a name, with permission')
  checkedControls(controls)
  const around = toolControls(controls)
  // If the model reads the structure, it is changed with the texts; else it belongs to the application.
  const structured = (server as { useStructuredContent?: unknown }).useStructuredContent === true ? 'drop' : 'keep'
  const guarded = (method: (...given: unknown[]) => unknown) => {
    return async (tool: string, args: unknown, ...more: unknown[]): Promise<unknown> => {
      const blocks = new Blocks(controls.truncation, structured)
      const call = {
        tool: isNamed && typeof tool === 'string' ? mcpToolName(name, tool) : tool,
        args: args ?? {},
        sessionId: sessionOf(controls, {}),
      }
      const outcome = await guardCall(
        call,
        { ...around, ...(blocks.truncation && { truncation: blocks.truncation }) },
        async (judged) => blocks.heard(await method.call(server, tool, judged, ...more)),
      )
      if (outcome.kind !== 'value') throw errorFor(outcome)
      const { shown } = outcome
      return typeof shown === 'string' ? [{ type: 'text', text: shown }] : blocks.shown(shown)
    }
  }
  return overlay(server, {
    callTool: guarded(callTool as never),
    ...(typeof callToolResult === 'function' && { callToolResult: guarded(callToolResult as never) }),
  })
}

/** The controls around a tool; what is wrong with them is said now, and not when a model calls it. */
function checkedControls(controls: AgentsControls): ToolControls {
  const around = toolControls(controls)
  guardTool({ name: 'tool', execute: () => undefined }, around)
  const { permission } = controls
  return permission === undefined ? around : { ...around, permission: approvalsOf(permission).permission(false) }
}

/** The SDK calls a tool only after the user has agreed; "always" also answers calls that were not asked about. */
async function approved(
  controls: AgentsControls,
  runContext: RunContextLike,
  { toolCallId, ...given }: Omit<CallToJudge, 'toolCallId'> & { toolCallId: string | undefined },
): Promise<ToolControls['permission']> {
  if (controls.permission === undefined || toolCallId === undefined) return undefined
  const call = { ...given, toolCallId }
  const approvals = approvalsOf(controls.permission)
  const consents = (callId: string) => runContext?.isToolApproved?.({ toolName: call.tool, callId }) === true
  if (consents(toolCallId)) {
    // Only "always" is consent to an id that no call has.
    if (!consents(randomUUID()) && !isFirst(runContext, call)) return approvals.permission(false)
    await judge(controls, call)
  }
  return approvals.permission(approvals.approve(call))
}

/** The SDK keeps consent by the id of a call, as long as the context of a run: which call each was given to. */
const consented = new WeakMap<object, Map<string, string | undefined>>()

function isFirst(runContext: object, call: IdentifiedCall): boolean {
  const calls = consented.get(runContext) ?? new Map<string, string | undefined>()
  consented.set(runContext, calls)
  const identity = identityOf(call)
  if (!calls.has(call.toolCallId)) calls.set(call.toolCallId, identity)
  return calls.get(call.toolCallId) === identity
}

/** `needsApproval`: the tool's own, or true if `permission` asks. A denied call is refused when it is made. */
function approvalOf(controls: AgentsControls, declared: AnyTool) {
  const { name: tool, needsApproval: own } = declared
  return async (runContext: RunContextLike, args: unknown, toolCallId?: string): Promise<boolean> => {
    const wanted = typeof own === 'function' ? await own(runContext, args, toolCallId) : own
    if (toolCallId === undefined) return wanted === true
    const sessionId = sessionOf(controls, { context: runContext?.context })
    const cwd = folderOf(controls, declared)
    const { decision } = await judge(controls, { tool, args, toolCallId, sessionId, cwd })
    return wanted === true || decision === 'ask'
  }
}

/** Arguments that are no JSON are judged as what they are; the tool itself complains of them. */
function parsed(input: string): unknown {
  return jsonOrSame(argumentsText(input))
}

const PART = Symbol('part')

/** A result in a shape that `guardTool` bounds by its text. */
function forGuard(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith(DEFAULT_ERROR))
    return { output: value, isError: true, [PART]: undefined }
  if (isRecord(value) && value.type === 'text' && typeof value.text === 'string')
    return { output: value.text, [PART]: value }
  // In a list, parts that are not text stay unchanged.
  if (isRecord(value) && (value.type === 'image' || value.type === 'file'))
    return Object.assign([value], { [PART]: value })
  return value
}

/** The result as the SDK has it. */
function forHost(outcome: HostOutcome): unknown {
  if (outcome.kind === 'refused') return outcome.refusal.output
  if (outcome.kind === 'threw') throw errorFor(outcome)
  const { shown } = outcome
  if (isArray(shown) && PART in shown) return shown[0]
  // The SDK would write the result of a command as JSON.
  const command = textOfCommand(shown)
  if (command !== undefined) return command
  if (!isRecord(shown) || !(PART in shown)) return isArray(shown) || shown !== undefined ? shown : outcome.value
  const part = shown[PART as never] as object | undefined
  return part === undefined ? shown.output : { ...part, text: shown.output }
}
