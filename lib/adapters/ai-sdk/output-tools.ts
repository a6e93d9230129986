/** Ready-made tools as tools of the SDK. */

import type { OutputStore, OutputStoreHolder, OutputToolsOptions } from 'spillway'
import type { HostableTool } from '../../tools/definition'
import { createOutputTools } from '../../tools/output-tools'
import { definedOf } from '../../util/defined'
import { checkHostTools, inFolderOf } from '../shared/host-tools'

/** The marks by which the versions of the SDK know a schema that is JSON Schema; the tools check their arguments themselves. */
const SCHEMA = {
  [Symbol.for('vercel.ai.schema')]: true,
  [Symbol.for('vercel.ai.validator')]: true,
  validate: undefined,
}

/**
 * `read_output` and `search_output` as tools of the AI SDK, to put beside guarded tools. They show the outputs of
 * `options.sessionId`, or of all sessions without it. `source` is the storage that the `TruncationService` was given, or the service.
 *
 * @example
 * const tools = { ...guardTools(myTools, { truncation }), ...outputTools(truncation) }
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid storage or option
 */
export function outputTools(
  source: OutputStore | OutputStoreHolder,
  options: OutputToolsOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has another type of a tool
): Record<string, any> {
  return hostTools(createOutputTools(source, options))
}

/** Options of {@link hostTools}. */
export interface HostToolsOptions {
  /** The session that their outputs are saved for. @default that of the controls around the tools */
  sessionId?: string | undefined
}

/**
 * Tools of `spillway/tools` as tools of the SDK, by their names: for `withSpillway` and `guardTools`.
 *
 * @example
 * const tools = hostTools([createShellTool(), createReadTool()])
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option
 */
export function hostTools(
  tools: readonly HostableTool[],
  options: HostToolsOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has another type of a tool
): Record<string, any> {
  checkHostTools(tools, options)
  const { sessionId } = options
  const entries = tools.map((tool) => {
    const { name, description, inputSchema, truncation, execute } = tool
    const run = async (args: unknown, given?: CallOptions) => {
      const { toolCallId, abortSignal: signal } = Object(given) as CallOptions
      return (await execute(args, definedOf({ sessionId, toolCallId, signal }))).output
    }
    const schema = { ...SCHEMA, jsonSchema: inputSchema }
    const made = { description, inputSchema: schema, execute: run, ...(truncation && { truncation }) }
    return [name, inFolderOf(tool, made)] as const
  })
  return Object.fromEntries(entries)
}

/** Options of a call, as the SDK gives them. */
interface CallOptions {
  toolCallId?: string
  abortSignal?: AbortSignal
}
