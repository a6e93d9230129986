/**
 * Spillway for pi: the hooks of its agent (`@earendil-works/pi-agent-core` 0.87), and an extension for its coding agent.
 * pi itself is never loaded. It has a compaction of its own for requests that do not fit, so there is no recovery here.
 */

import type { ToolControls } from 'spillway'
import { isArray, isRecord } from '../context'
import { checkControls, toolControls } from './shared/controls'
import type { HostOutcome } from './shared/guard'
import { Requests } from './shared/requests'
import { replaceArgs, SplitCalls } from './shared/split'
import type { AdapterControls } from './shared/types'

export type * from './shared/types'

/** Options of {@link agentHooks} and {@link extension}. */
export interface PiControls extends Omit<AdapterControls, 'recovery'> {}

/** Text and images, as pi has them. */
// biome-ignore lint/suspicious/noExplicitAny: pi's own parts, in and out
export type PiContent = any[]

/** The hooks of pi's agent. */
export interface PiAgentHooks {
  beforeToolCall(
    call: { toolCall: { id: string; name: string }; args: unknown },
    signal?: AbortSignal,
  ): Promise<{ block: true; reason: string } | undefined>
  afterToolCall(
    call: {
      toolCall: { id: string; name: string }
      args: unknown
      result: { content: PiContent; details?: unknown }
      isError: boolean
    },
    signal?: AbortSignal,
  ): Promise<{ content?: PiContent; details?: unknown; isError?: boolean } | undefined>
  transformContext<M>(messages: M[], signal?: AbortSignal): Promise<M[]>
}

/**
 * Options for pi's `Agent`: everything around its tools that `guardTool` knows, and requests that leave out what they can
 * do without (`history`). The agent's own messages keep the whole. A `PermissionGate` asks by itself; of a
 * `PermissionPolicy` what it would ask is denied.
 *
 * @example
 * const agent = new Agent({ initialState, ...agentHooks({ truncation: service, history: new HistoryPruner() }) })
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no control
 */
export function agentHooks(controls: PiControls): PiAgentHooks {
  const { calls, requests } = kitOf(controls)
  return {
    async beforeToolCall({ toolCall, args }, signal) {
      const { id: toolCallId, name: tool } = toolCall
      const outcome = await calls.before({ tool, args, toolCallId, sessionId: controls.sessionId, signal })
      if (outcome.kind === 'refused') return { block: true, reason: outcome.refusal.output }
      return runsWith(args, outcome.args)
    },
    async afterToolCall({ toolCall, args, result, isError }, signal) {
      const { id: toolCallId, name: tool } = toolCall
      const call = { tool, args, toolCallId, sessionId: controls.sessionId, signal }
      return changed(result, await calls.after(call, { value: forGuard(result, isError) }))
    },
    async transformContext<M>(messages: M[]): Promise<M[]> {
      if (!isArray(messages)) return messages
      return [...(await requests.prepare(messages, controls.sessionId)).messages]
    },
  }
}

/** What an extension of pi is given, as far as it is used here. */
export interface PiExtensionApi {
  // biome-ignore lint/suspicious/noExplicitAny: the handlers of pi, one type for each event
  on(event: any, handler: (event: any, context?: any) => any): unknown
}

/**
 * An extension for pi's coding agent that does the same by its events `tool_call`, `tool_result` and `context`.
 *
 * @example
 * export default extension({ truncation: new TruncationService(), history: new HistoryPruner() })
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no control
 */
export function extension(controls: PiControls): (pi: PiExtensionApi) => void {
  const { calls, requests } = kitOf(controls)
  const callOf = ({ toolName: tool, toolCallId, input: args }: ToolEvent) => ({
    ...{ tool, args, toolCallId, sessionId: controls.sessionId },
  })
  return (pi) => {
    pi.on('tool_call', async (event: ToolEvent) => {
      const outcome = await calls.before(callOf(event))
      if (outcome.kind === 'refused') return { block: true, reason: outcome.refusal.output }
      return runsWith(event.input, outcome.args)
    })
    pi.on('tool_result', async (event: ToolEvent & { content: PiContent; details?: unknown; isError?: boolean }) => {
      const outcome = await calls.after(callOf(event), { value: forGuard(event, event.isError === true) })
      const edit = changed(event, outcome)
      // What is not named is taken away.
      const { structuredContent } = event as { structuredContent?: unknown }
      return edit && { details: event.details, isError: event.isError, structuredContent, ...edit }
    })
    pi.on('context', async (event: { messages: unknown[] }) => {
      if (!isArray(event?.messages)) return undefined
      const { messages } = await requests.prepare(event.messages, controls.sessionId)
      return messages === event.messages ? undefined : { messages: [...messages] }
    })
  }
}

interface ToolEvent {
  toolName: string
  toolCallId: string
  input: unknown
}

function kitOf(controls: PiControls): { calls: SplitCalls; requests: Requests } {
  checkControls(controls, { recovery: ['nothing: pi recovers by itself', () => false] })
  const around: ToolControls = toolControls(controls)
  return { calls: new SplitCalls(around), requests: new Requests(controls) }
}

/** A tool must not run with other arguments than those that were judged. */
function runsWith(args: unknown, judged: unknown): { block: true; reason: string } | undefined {
  return replaceArgs(args, judged)
    ? undefined
    : { block: true, reason: 'The arguments could not be changed as they should.' }
}

/** A result in a shape that `guardTool` knows. */
function forGuard({ content }: { content: PiContent }, isError: boolean): unknown {
  return { content, ...(isError && { isError }) }
}

/** What is other than before; nothing if nothing is. */
function changed(
  result: { content: PiContent; details?: unknown },
  outcome: HostOutcome,
): { content: PiContent; details?: unknown } | undefined {
  const { content, _meta } = Object(outcome.kind === 'value' ? outcome.shown : undefined) as Record<string, unknown>
  if (!isArray(content) || content === result.content) return undefined
  const outputPath = isRecord(_meta) ? _meta.truncationPath : undefined
  const { details } = result
  const known = outputPath !== undefined && (details === undefined || isRecord(details))
  return { content: [...content], ...(known && { details: { outputPath, ...(details as object) } }) }
}
