/** Ready-made tools as tools of pi. */

import { inScope } from '../../tools/call-scope'
import type { HostableTool } from '../../tools/definition'
import { folderFor } from '../../tools/working-folder'
import { definedOf } from '../../util/defined'
import { checkHostTools, inFolderOf } from '../shared/host-tools'
import { copyWith } from '../shared/override-methods'

/** Options of {@link hostTools}. */
export interface HostToolsOptions {
  /** The session that their outputs are saved for. @default that of the controls around the tools */
  sessionId?: string
}

/** The context with which pi calls a tool of an extension, as far as it is read here. */
interface PiFolder {
  cwd?: unknown
}

/**
 * Tools of `spillway/tools` as tools of pi's agent: for `withSpillway` and `initialState`. Those that an extension registers work in the
 * folder of the session (`ctx.cwd`), in which `extension` judges their calls.
 *
 * @example
 * const tools = hostTools([createShellTool(), createReadTool()])
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option
 */
// biome-ignore lint/suspicious/noExplicitAny: pi's own type of a tool stands here
export function hostTools(tools: readonly HostableTool[], options: HostToolsOptions = {}): any[] {
  checkHostTools(tools, options)
  const { sessionId } = options
  return tools.map((tool) => {
    const { name, description, inputSchema, execute } = tool
    const run = async (toolCallId: string, args: unknown, signal?: AbortSignal, _update?: unknown, host?: PiFolder) => {
      const workingDirectory = folderFor({ workingDirectory: host?.cwd })
      const { success, output } = await execute(args, definedOf({ sessionId, toolCallId, signal, workingDirectory }))
      // pi marks a call as failed by what it throws.
      if (!success) throw new Error(output)
      return { content: [{ type: 'text', text: output }], details: {} }
    }
    const made = inFolderOf(tool, { name, label: name, description, parameters: inputSchema, execute: run })
    HOSTED.add(made)
    return made
  })
}

const HOSTED = new WeakSet<object>()

/** A tool of {@link hostTools} with what the controls know, because no guard is around its call; any other tool as it is. */
export function scoped<T>(tool: T, scope: { service?: unknown; sessionId?: string | undefined }): T {
  if (typeof tool !== 'object' || tool === null || !HOSTED.has(tool)) return tool
  const { execute } = tool as unknown as { execute(...given: unknown[]): unknown }
  return copyWith(tool, { execute: (...given: unknown[]) => inScope(scope, () => execute(...given)) })
}
