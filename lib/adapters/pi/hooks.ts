/** The hooks of pi's agent, and the extension of its coding agent. */

import { tmpdir } from 'node:os'
import { basename, dirname } from 'node:path'
import type { ToolControls } from 'spillway'
import type { Recipient } from '../../overflow/provider-limits'
import { rememberOutput } from '../../storage/saved-outputs'
import { folderFor } from '../../tools/working-folder'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import { checkControls, folderOf, sessionFrom, tellUnheard, toolControls } from '../shared/controls'
import type { HostOutcome } from '../shared/guard'
import { withHarmlessTools } from '../shared/harmless'
import { Requests } from '../shared/prepare-request'
import { recipientOf } from '../shared/recipient'
import { replaceArgs, SplitCalls } from '../shared/split-guard'
import type { AdapterControls } from '../shared/types'

/** Options of {@link agentHooks} and {@link extension}. */
export interface PiControls extends Omit<AdapterControls, 'recovery'> {}

/** Text and images, as pi has them. */
// biome-ignore lint/suspicious/noExplicitAny: pi's own parts, in and out
export type PiContent = any[]

/** The state of a run, as far as it is read here. */
export interface PiAgentContext {
  // biome-ignore lint/suspicious/noExplicitAny: pi's own type of a tool stands here
  tools?: any[]
}

/** The hooks of pi's agent. */
export interface PiAgentHooks {
  beforeToolCall(
    call: { toolCall: { id: string; name: string }; args: unknown; context?: PiAgentContext },
    signal?: AbortSignal,
  ): Promise<{ block: true; reason: string } | undefined>
  afterToolCall(
    call: {
      toolCall: { id: string; name: string }
      args: unknown
      result: { content: PiContent; details?: unknown }
      isError: boolean
      context?: PiAgentContext
    },
    signal?: AbortSignal,
  ): Promise<{ content?: PiContent; details?: unknown; isError?: boolean } | undefined>
  transformContext<M>(messages: M[], signal?: AbortSignal): Promise<M[]>
}

/**
 * Returns options for pi's `Agent` that put all controls of `guardTool` around its tools and prune each request (`history`). The
 * agent's own messages keep the full history. A `PermissionGate` asks on its own; with a `PermissionPolicy`, `ask` becomes `deny`. An
 * output that one of pi's own tools has truncated stays unchanged: pi names the file with the full output.
 *
 * @example
 * const agent = new Agent({ initialState, ...agentHooks({ truncation: service, history: new HistoryPruner() }) })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function agentHooks(controls: PiControls): PiAgentHooks {
  return hooksFor(controls)
}

/** The same for a model that is known. `known` are the tools of a run that does not name its own. */
export function hooksFor(controls: PiControls, model?: unknown, known: readonly unknown[] = []): PiAgentHooks {
  const { calls, requests } = kitOf(controls)
  const recipient = recipientOf(model)
  const callOf = (given: unknown, signal: AbortSignal | undefined) => {
    const { toolCall, args, context } = Object(given) as Parameters<PiAgentHooks['beforeToolCall']>[0]
    const { id: toolCallId, name: tool } = Object(toolCall) as typeof toolCall
    const { tools } = Object(context) as PiAgentContext
    const own = (isArray(tools) ? tools : known).find((one) => Object(one).name === tool)
    return { tool, args, toolCallId, sessionId: controls.sessionId, cwd: folderOf(controls, own), signal }
  }
  return {
    async beforeToolCall(given, signal) {
      const call = callOf(given, signal)
      const outcome = await calls.before(call)
      if (outcome.kind === 'refused') return { block: true, reason: outcome.refusal.output }
      return runsWith(call.args, outcome.args)
    },
    async afterToolCall(given, signal) {
      const { result, isError } = Object(given) as typeof given
      const value = forGuard(result, isError)
      return changed(Object(result) as PiResult, await calls.after(callOf(given, signal), { value }))
    },
    async transformContext<M>(messages: M[]): Promise<M[]> {
      if (!isArray(messages)) return messages
      return [...(await prepared(requests, messages, controls.sessionId, recipient)).messages]
    },
  }
}

/** Part of pi's extension API that is used here. */
export interface PiExtensionApi {
  // biome-ignore lint/suspicious/noExplicitAny: the handlers of pi, one type for each event
  on(event: any, handler: (event: any, context?: any) => any): unknown
}

/**
 * An extension for pi's coding agent that does the same by its events `tool_call`, `tool_result` and `context`; what the
 * provider left out by itself it reads from `provider_stream_event`. Sessions are
 * pi's: give `history` as a function, and each has a pruner of its own, also after `/new`.
 *
 * @example
 * export default extension({ truncation: new TruncationService(), history: () => new HistoryPruner() })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function extension(controls: PiControls): (pi: PiExtensionApi) => void {
  const { calls, requests } = kitOf(controls)
  const sessionOf = (context: unknown) =>
    sessionFrom(controls, () => (context as PiContext | undefined)?.sessionManager?.getSessionId?.())
  const callOf = (event: ToolEvent, context: unknown) => {
    const { toolName: tool, toolCallId, input: args } = event
    const cwd = folderFor({ workingDirectory: (context as PiContext | undefined)?.cwd }, controls)
    return { tool, args, toolCallId, sessionId: sessionOf(context), cwd }
  }
  return (pi) => {
    pi.on('tool_call', async (given: ToolEvent, context: unknown) => {
      const event = Object(given) as ToolEvent
      const outcome = await calls.before(callOf(event, context))
      if (outcome.kind === 'refused') return { block: true, reason: outcome.refusal.output }
      return runsWith(event.input, outcome.args)
    })
    pi.on('tool_result', async (given: ToolResultEvent, context: unknown) => {
      const event = Object(given) as ToolResultEvent
      const outcome = await calls.after(callOf(event, context), { value: forGuard(event, event.isError === true) })
      const edit = changed(event, outcome)
      // Members that are not named are removed.
      const { structuredContent } = event as { structuredContent?: unknown }
      return edit && { details: event.details, isError: event.isError, structuredContent, ...edit }
    })
    pi.on('context', async (event: { messages: unknown[] }, context?: PiContext) => {
      if (!isArray(event?.messages)) return undefined
      const { messages } = await prepared(requests, event.messages, sessionOf(context), recipientOf(context?.model))
      return messages === event.messages ? undefined : { messages: [...messages] }
    })
    if (controls.history === undefined) return
    // Since pi 0.99; earlier ones keep nothing of what a provider says beside its answer.
    pi.on('provider_stream_event', (event: { data?: unknown } | undefined, context?: PiContext) => {
      requests.accept(sessionOf(context), editsIn(event?.data))
    })
  }
}

/** The parts of an event of a provider's stream that may say what the provider left out by itself. */
function editsIn(data: unknown): unknown[] {
  const { response, content_block } = Object(data) as { response?: unknown; content_block?: unknown }
  return [data, response, content_block === undefined ? undefined : { content: [content_block] }]
}

/** A prepared request. The last answer has the usage of the request before. */
function prepared<M>(requests: Requests, messages: readonly M[], sessionId?: string, recipient: Recipient = {}) {
  const answer = messages.findLast((message) => Object(message).role === 'assistant')
  const { usage, timestamp, model, provider } = Object(answer) as Record<string, unknown>
  requests.observe(sessionId, usage, timestamp ?? usage)
  const isKnown = recipient.model !== undefined || recipient.provider !== undefined
  // A host that does not say its model most likely continues with the one that answered last.
  return requests.prepare(messages, sessionId, isKnown ? recipient : recipientOf({ model, provider }))
}

interface ToolEvent {
  toolName: string
  toolCallId: string
  input: unknown
}

type ToolResultEvent = ToolEvent & PiResult & { isError?: boolean }

/** The session as an extension gets it, as far as it is read here. */
interface PiContext {
  sessionManager?: { getSessionId?: () => unknown }
  /** The folder of the session, in which pi's tools work. */
  cwd?: unknown
  model?: { id?: unknown; provider?: unknown }
}

interface PiResult {
  content: PiContent
  details?: unknown
}

function kitOf(controls: PiControls): { calls: SplitCalls; requests: Requests } {
  checkControls(controls, { recovery: ['nothing: pi recovers by itself', () => false] })
  tellUnheard(controls)
  const around: ToolControls = toolControls(withHarmlessTools(controls, 'pi'))
  return { calls: new SplitCalls(around), requests: new Requests(controls) }
}

/** A tool must not run with other arguments than those that were judged. */
function runsWith(args: unknown, judged: unknown): { block: true; reason: string } | undefined {
  return replaceArgs(args, judged)
    ? undefined
    : { block: true, reason: 'The arguments could not be changed as they should.' }
}

/** A result in a shape that `guardTool` knows; of one that pi has truncated, its text and where pi has saved the whole. */
function forGuard(result: PiResult, isError: boolean): unknown {
  const { content, details } = Object(result) as PiResult
  const failed = isError && { isError }
  const text = textOf(content)
  const saved = truncatedByPi(text, details, isError)
  if (saved === undefined) return { content, ...failed }
  return { output: text, metadata: { truncated: true, ...saved }, ...failed }
}

/** pi's words in a result that it has truncated: above `details`, and in the message of a command that failed. */
const PI_NOTICE = /\n\n\[Showing [^\n]*\. Full output: ([^\n]+)\](?:\n\n[^\n]*)?$/

function truncatedByPi(text: string, details: unknown, isError: boolean): { truncationPath?: string } | undefined {
  const { truncation, fullOutputPath } = Object(details) as { truncation?: unknown; fullOutputPath?: unknown }
  const { truncated } = Object(truncation) as { truncated?: unknown }
  // An error of pi's has no details.
  const named = fullOutputPath ?? (isError ? PI_NOTICE.exec(text)?.[1] : undefined)
  const truncationPath = isOfPi(named) ? named : undefined
  if (truncationPath !== undefined) rememberOutput(truncationPath)
  if (truncationPath === undefined && truncated !== true) return undefined
  return truncationPath === undefined ? {} : { truncationPath }
}

/** True if pi names its files like this. A tool of another kind, and a command that prints such a notice, may name any file. */
function isOfPi(path: unknown): path is string {
  if (typeof path !== 'string') return false
  return dirname(path) === tmpdir() && /^pi-\w+-[0-9a-f]+\.log$/.test(basename(path))
}

function textOf(content: unknown): string {
  const parts = isArray(content) ? content : []
  return parts.flatMap((part) => (typeof Object(part).text === 'string' ? [Object(part).text] : [])).join('\n')
}

/** Returns the members that changed; `undefined` if none did. */
function changed(result: PiResult, outcome: HostOutcome): PiResult | undefined {
  const shown = Object(outcome.kind === 'value' ? outcome.shown : undefined) as Record<string, unknown>
  const { content, _meta, output } = shown
  if (typeof output === 'string') {
    if (output === textOf(result.content)) return undefined
    const others = result.content.filter((part) => typeof Object(part).text !== 'string')
    return { content: [{ type: 'text', text: output }, ...others] }
  }
  if (!isArray(content) || content === result.content) return undefined
  const outputPath = isRecord(_meta) ? _meta.truncationPath : undefined
  const { details } = result
  const known = outputPath !== undefined && (details === undefined || isRecord(details))
  return { content: [...content], ...(known && { details: { outputPath, ...(details as object) } }) }
}
