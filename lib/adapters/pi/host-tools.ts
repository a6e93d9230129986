/** Ready-made tools as tools of pi. */

import type { HostableTool } from '../../tools/definition'
import { definedOf } from '../../util/defined'
import { checkHostTools } from '../shared/host-tools'

/** Options of {@link hostTools}. */
export interface HostToolsOptions {
  /** The session that their outputs are saved for. The same as that of `withSpillway`, so that its tools can read them. */
  sessionId?: string
}

/**
 * Tools of `spillway/tools` as tools of pi's agent: for `withSpillway` and `initialState`.
 *
 * @example
 * const tools = hostTools([createShellTool({ service }), createReadTool()], { sessionId })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option
 */
// biome-ignore lint/suspicious/noExplicitAny: pi's own type of a tool stands here
export function hostTools(tools: readonly HostableTool[], options: HostToolsOptions = {}): any[] {
  checkHostTools(tools, options)
  const { sessionId } = options
  return tools.map(({ name, description, inputSchema, execute }) => ({
    ...{ name, label: name, description, parameters: inputSchema },
    async execute(toolCallId: string, args: unknown, signal?: AbortSignal) {
      const { success, output } = await execute(args, definedOf({ sessionId, toolCallId, signal }))
      // pi marks a call as failed by what it throws.
      if (!success) throw new Error(output)
      return { content: [{ type: 'text', text: output }], details: {} }
    },
  }))
}
