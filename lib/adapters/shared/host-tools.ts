/** Converts ready-made tools for a framework. */

import type { HostableTool } from '../../tools/definition'
import { isArray } from '../../util/guards'
import { checkOptions, string } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option */
export function checkHostTools(tools: unknown, options: unknown = {}): asserts tools is readonly HostableTool[] {
  if (!isArray(tools)) throw wrong('tools', tools, 'an array of tools')
  for (const [index, tool] of tools.entries()) {
    const isTool = isRecord(tool) && typeof tool.name === 'string' && typeof tool.execute === 'function'
    if (!isTool || !isRecord(tool.inputSchema))
      throw wrong(`tools[${index}]`, tool, 'an object with name, inputSchema and execute')
  }
  checkOptions('options', options, { sessionId: string })
}

/**
 * The framework's tool with the folder of ours as its `workingDirectory`, where the adapter finds it. It is read with each call, because
 * the process may change its folder.
 */
export function inFolderOf<T extends object>(tool: HostableTool, made: T): T {
  if (!('workingDirectory' in tool)) return made
  const get = () => tool.workingDirectory
  return Object.defineProperty(made, 'workingDirectory', { get, enumerable: true, configurable: true })
}
