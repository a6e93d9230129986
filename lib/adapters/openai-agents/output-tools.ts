/** Ready-made tools as tools of the SDK. */

import type { OutputStore, OutputStoreHolder, OutputToolsOptions } from 'spillway'
import type { HostableTool } from '../../tools/definition'
import { createOutputTools } from '../../tools/output-tools'
import { definedOf } from '../../util/defined'
import { argumentsText, parsedJson } from '../../util/json'
import { checkHostTools, inFolderOf } from '../shared/host-tools'

/**
 * `read_output` and `search_output` as function tools, to put beside guarded ones. They show the outputs of `options.sessionId`, or of
 * all sessions without it. `source` is the storage that the `TruncationService` was given, or the service.
 *
 * @example
 * const tools = [...myTools.map((tool) => guardFunctionTool(tool, controls)), ...outputTools(truncation)]
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid storage or option
 */
export function outputTools(
  source: OutputStore | OutputStoreHolder,
  options: OutputToolsOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of a tool stands here
): any[] {
  return hostTools(createOutputTools(source, options))
}

/** Options of {@link hostTools}. */
export interface HostToolsOptions {
  /** The session that their outputs are saved for. @default that of the controls around the tools */
  sessionId?: string | undefined
}

/**
 * Tools of `spillway/tools` as function tools: for `withSpillway` and `guardFunctionTool`.
 *
 * @example
 * const tools = hostTools([createShellTool(), createReadTool()])
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option
 */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type of a tool stands here
export function hostTools(tools: readonly HostableTool[], options: HostToolsOptions = {}): any[] {
  checkHostTools(tools, options)
  return tools.map((tool) => functionTool(tool, options))
}

interface CallDetails {
  toolCall?: { callId?: string }
  signal?: AbortSignal
}

function functionTool(tool: HostableTool, { sessionId }: HostToolsOptions): object {
  const { name, description, inputSchema, truncation, execute } = tool
  const invoke = async (_run: unknown, input: string, details?: CallDetails) => {
    const { toolCall, signal } = Object(details) as CallDetails
    const args = parsedJson(argumentsText(input))
    if (args === undefined) return 'Error: the arguments are not JSON. Call the tool again.'
    return (await execute(args, definedOf({ sessionId, toolCallId: toolCall?.callId, signal }))).output
  }
  return inFolderOf(tool, {
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    strict: false,
    invoke,
    needsApproval: async () => false,
    isEnabled: async () => true,
    ...(truncation && { truncation }),
  })
}
