/** The middleware around the tools and the model, and the function that decides which calls the user must approve. */

import type { ToolControls, ToolTruncationConfig } from 'spillway'
import { commandIn, textOfCommand } from '../../tools/command-result'
import { definedOf } from '../../util/defined'
import { isArray } from '../../util/guards'
import { safeStringify } from '../../util/safe-stringify'
import { loadPeer } from '../../validation/load-peer'
import { isRecord } from '../../validation/validate'
import { approvalsOf, judge } from '../shared/approvals'
import { checkControls, folderOf, toolControls } from '../shared/controls'
import { guardCall, type HostOutcome } from '../shared/guard'
import { withHarmlessTools } from '../shared/harmless'
import { overflowOf, Requests } from '../shared/prepare-request'
import { recipientOf } from '../shared/recipient'
import { keepScope } from './call-scopes'
import { type LangChainControls, type LangChainRuntime, OWN_CONTROLS, sessionOf } from './controls'

/** A middleware of LangChain: what `createMiddleware` of `langchain` makes. */
export interface LangChainMiddleware {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: LangChain's own types stand here, and are other ones for each schema
  wrapToolCall: (request: any, handler: any) => Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  wrapModelCall: (request: any, handler: any) => Promise<any>
}

/** A call of a tool, as far as it is read here. */
interface ToolRequest {
  toolCall: { id?: string; name: string; args: unknown }
  tool?: unknown
  runtime?: LangChainRuntime
}

/** `when` of a `humanInTheLoopMiddleware`. */
export type NeedsApproval = (request: {
  toolCall: { id?: string; name: string; args: unknown }
  tool?: unknown
  // biome-ignore lint/suspicious/noExplicitAny: LangChain's own type stands here
  runtime?: any
}) => Promise<boolean>

/** A request of a model, as far as it is read here. */
interface ModelRequest {
  messages: unknown[]
  model?: unknown
  runtime?: LangChainRuntime
}

/** A message of a tool, as far as it is read here. */
interface ToolMessageLike {
  content: unknown
  tool_call_id: string
  name?: string
  id?: string
  status?: 'success' | 'error'
  artifact?: unknown
  additional_kwargs?: Record<string, unknown>
  response_metadata?: unknown
  metadata?: unknown
}

/**
 * Returns a middleware for `createAgent` with all controls: each tool gets those of `guardTool`, in its order; `history`
 * prunes each request; and `recovery` retries a request that was too long, shortened. State and checkpoints keep every message as it was.
 *
 * A result that was truncated has `outputPath` in its `artifact`, which no model sees. A tool that throws, and a call that is
 * refused, become a message with status `error`. Results that are a `Command` and interrupts pass unchanged.
 *
 * @example
 * const agent = createAgent({ model, tools, middleware: [contextControl({ truncation: service, history: () => new HistoryPruner() })] })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function contextControl(controls: LangChainControls): LangChainMiddleware {
  checkControls(controls, OWN_CONTROLS)
  const judging = withHarmlessTools(controls, 'langchain')
  const { permission } = judging
  const around: ToolControls = toolControls(controls)
  if (permission !== undefined) around.permission = approvalsOf(permission).permission(false)
  // The questions that requests settle are kept by the permission that judges.
  const requests = new Requests(judging)
  const { recovery } = controls
  const window = recovery ? recovery.contextWindowTokens : undefined

  const wrapToolCall = async (request: ToolRequest, handler: (request: ToolRequest) => unknown): Promise<unknown> => {
    const { tool, runtime, ...given } = Object(request) as ToolRequest
    const toolCall = Object(given.toolCall) as ToolRequest['toolCall']
    const { id: toolCallId, name, args } = toolCall
    const sessionId = sessionOf(controls, runtime)
    const approvals = permission && approvalsOf(permission)
    // The approval middleware runs before the tools: calls that arrive here were approved, perhaps after a change.
    const cwd = folderOf(controls, tool)
    const isApproved =
      toolCallId !== undefined &&
      approvals?.approve({ tool: name, args, toolCallId, ...definedOf({ sessionId, cwd }) }, true)
    const declared = Object(tool).truncation as ToolTruncationConfig | undefined
    const call = {
      tool: name,
      args,
      toolCallId,
      sessionId,
      cwd,
      signal: runtime?.signal,
      ...(isApproved && { permission: approvals?.permission(true) }),
      ...(isRecord(declared) && { truncation: declared }),
      suspends,
    }
    const outcome = await guardCall(call, around, async (judged) => {
      const same = safeStringify(judged) === safeStringify(args)
      const asked = same ? request : { ...request, toolCall: { ...toolCall, args: judged } }
      return forGuard(await keepScope(() => handler(asked)))
    })
    return forHost(outcome, toolCall, runtime)
  }

  const wrapModelCall = async (
    request: ModelRequest,
    handler: (request: ModelRequest) => unknown,
  ): Promise<unknown> => {
    const { messages, model, runtime } = Object(request) as ModelRequest
    if (!isArray(messages)) return handler(request)
    const outgoing = await requests.prepare(messages, sessionOf(controls, runtime), recipientOf(model))
    const send = async (sent: readonly unknown[]) =>
      handler(sent === messages ? request : { ...request, messages: [...sent] })
    const options = { signal: runtime?.signal, overflowed: (answer: unknown) => emptyOf(answer, window) }
    const answer = await requests.send(outgoing, send, options)
    const { usage_metadata, response_metadata, additional_kwargs } = Object(answer) as Record<string, unknown>
    requests.observe(outgoing.sessionId, usage_metadata)
    // Anthropic's fields are in the one for a stream and in the other for a whole answer.
    requests.accept(outgoing.sessionId, [response_metadata, additional_kwargs])
    return answer
  }

  const middleware = { name: 'spillway', wrapToolCall, wrapModelCall }
  // Results of `createMiddleware` carry this mark.
  return Object.assign(middleware, { [Symbol.for('AgentMiddleware')]: true as const })
}

/**
 * Returns a `when` for `humanInTheLoopMiddleware`: the user is asked if `permission` asks. A denied call is not asked about:
 * {@link contextControl} refuses it. The same call has one decision, however often LangChain asks.
 *
 * @example
 * humanInTheLoopMiddleware({ interruptOn: { bash: { allowedDecisions: ['approve', 'reject'], when: needsApproval(controls) } } })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function needsApproval(controls: LangChainControls): NeedsApproval {
  return needsApprovalOf(controls, [])
}

/** The same for tools that are known: LangChain names a call to `when` without its tool. */
export function needsApprovalOf(controls: LangChainControls, tools: readonly unknown[]): NeedsApproval {
  checkControls(controls, OWN_CONTROLS)
  const judging = withHarmlessTools(controls, 'langchain')
  return async (request) => {
    const { toolCall, runtime, tool: given } = Object(request) as typeof request
    const { id: toolCallId, name: tool, args } = Object(toolCall) as typeof toolCall
    if (toolCallId === undefined) return false
    const sessionId = sessionOf(controls, runtime)
    const cwd = folderOf(controls, given ?? tools.find((one) => Object(one).name === tool))
    return (await judge(judging, { tool, args, toolCallId, sessionId, cwd })).decision === 'ask'
  }
}

/**
 * The reason beside an empty answer, if there was no room for one: each package has another
 * place for it.
 */
function emptyOf(answer: unknown, window: number | undefined): unknown {
  const { content, tool_calls, response_metadata, additional_kwargs } = Object(answer) as Record<string, unknown>
  const isEmpty = [content, tool_calls].every((part) => !part || (isArray(part) && part.length === 0))
  if (!isEmpty) return undefined
  return [response_metadata, additional_kwargs].find((said) => isRecord(said) && overflowOf(said, window) !== undefined)
}

/** An interrupt ends the run of the graph, not the call: the tool runs again when the run continues. */
function suspends(thrown: unknown): boolean {
  return Object(thrown).is_bubble_up === true
}

const WHOLE = Symbol('whole')

/** A result in a shape that `guardTool` bounds by its text; a command has none. */
function forGuard(result: unknown): unknown {
  const { content, status, tool_call_id } = Object(result) as Partial<ToolMessageLike>
  if (typeof tool_call_id !== 'string') return { output: undefined, [WHOLE]: result }
  // LangChain writes the result of a command as JSON.
  const command = commandIn(content)
  return { ...(command ?? { output: content }), ...(status === 'error' && { isError: true }), [WHOLE]: result }
}

function forHost(
  outcome: HostOutcome,
  toolCall: ToolRequest['toolCall'],
  runtime: LangChainRuntime | undefined,
): unknown {
  if (outcome.kind === 'refused') return errorMessage(toolCall, outcome.refusal.output)
  if (outcome.kind === 'threw') {
    if (suspends(outcome.error) || runtime?.signal?.aborted) throw outcome.error
    return errorMessage(toolCall, outcome.shown, referenceOf(outcome.metadata))
  }
  const shown = outcome.shown as { output: unknown; metadata?: Record<string, unknown>; [WHOLE]: unknown }
  const whole = shown[WHOLE]
  const { content } = Object(whole) as Partial<ToolMessageLike>
  const output = textOfCommand(shown) ?? shown.output
  return output === undefined || output === content ? whole : truncated(whole as ToolMessageLike, { ...shown, output })
}

/** The message with what the model reads, of the same class. */
function truncated(message: ToolMessageLike, shown: { output: unknown; metadata?: Record<string, unknown> }): unknown {
  const { tool_call_id, name, id, status, artifact, additional_kwargs, response_metadata, metadata } = message
  const kept = referenceOf(shown.metadata)
  const isFree = artifact === undefined || artifact === null || isRecord(artifact)
  const ToolMessage = message.constructor as new (fields: object) => unknown
  return new ToolMessage({
    content: shown.output,
    tool_call_id,
    name,
    id,
    status,
    response_metadata,
    metadata,
    artifact: kept && isFree ? { ...kept, ...(artifact as object) } : artifact,
    // Another artifact is the tool's own.
    additional_kwargs: kept && !isFree ? { ...kept, ...additional_kwargs } : additional_kwargs,
  })
}

/** Where the whole of a result is, for its `artifact`; nothing of a result that is whole. */
function referenceOf(metadata: Record<string, unknown> = {}): object | undefined {
  const { truncationPath, truncationRemovedLines, truncationRemovedBytes } = metadata
  if (truncationPath === undefined) return undefined
  return {
    outputPath: truncationPath,
    removedLines: truncationRemovedLines,
    removedBytes: truncationRemovedBytes,
  }
}

function errorMessage({ id, name }: ToolRequest['toolCall'], content: string, artifact?: object): unknown {
  const { ToolMessage } = loadPeer(
    () => require('@langchain/core/messages') as typeof import('@langchain/core/messages'),
    'contextControl of spillway/langchain',
    '@langchain/core/messages',
  )
  const more = artifact && { artifact }
  return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error', ...more })
}
