/** Ready-made tools as tools of LangChain. */

import type { OutputStore, OutputStoreHolder, OutputToolsOptions } from 'spillway'
import { inScope } from '../../tools/call-scope'
import type { HostableTool } from '../../tools/definition'
import { createOutputTools } from '../../tools/output-tools'
import { definedOf } from '../../util/defined'
import { loadPeer } from '../../validation/load-peer'
import { checkHostTools, inFolderOf } from '../shared/host-tools'
import { keptScope } from './call-scopes'
import type { LangChainRuntime } from './controls'

/**
 * `read_output` and `search_output` as tools of LangChain, for agents whose file tools do not see the disk (deepagents). They
 * show outputs of the thread of the call, or of `sessionId`. `source` is the storage that the `TruncationService` was given, or the service.
 *
 * @example
 * const storage = new TruncationStorage()
 * const truncation = new TruncationService({ storage, availableTools: ['read_output', 'search_output'] })
 * createAgent({ model, tools: [...tools, ...outputTools(storage)], middleware: [contextControl({ truncation })] })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid storage or option
 */
// biome-ignore lint/suspicious/noExplicitAny: LangChain's own type of a tool stands here
export function outputTools(source: OutputStore | OutputStoreHolder, options: OutputToolsOptions = {}): any[] {
  return hostTools(createOutputTools(source, options))
}

/**
 * Tools of `spillway/tools` as tools of LangChain: for `withSpillway` and `createAgent`. Their outputs are saved for the thread of the
 * call.
 *
 * @example
 * const tools = hostTools([createShellTool(), createReadTool()])
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option
 */
// biome-ignore lint/suspicious/noExplicitAny: LangChain's own type of a tool stands here
export function hostTools(tools: readonly HostableTool[], options: HostToolsOptions = {}): any[] {
  checkHostTools(tools, options)
  if (tools.length === 0) return []
  const { tool } = loadPeer(
    () => require('@langchain/core/tools') as typeof import('@langchain/core/tools'),
    'hostTools of spillway/langchain',
    '@langchain/core/tools',
  )
  return tools.map((given) => {
    const { name, description, inputSchema, truncation, execute } = given
    const run = async (args: unknown, { configurable, signal, toolCallId }: ToolRuntime = {}) => {
      const { service, sessionId: session = configurable?.thread_id } = keptScope()
      const sessionId = options.sessionId ?? session
      const started = inScope({ service, sessionId }, () => execute(args, definedOf({ sessionId, toolCallId, signal })))
      return (await started).output
    }
    // A part of an output is as long as it may be, and is not saved again.
    const bounds = truncation ?? { enabled: false }
    const made = Object.assign(tool(run, { name, description, schema: inputSchema }), { truncation: bounds })
    return inFolderOf(given, made)
  })
}

/** Options of {@link hostTools}. */
export interface HostToolsOptions {
  /** The session that their outputs are saved for. @default the `thread_id` of the call */
  sessionId?: string | undefined
}

interface ToolRuntime extends LangChainRuntime {
  toolCallId?: string
}
