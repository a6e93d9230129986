/** Converts ready-made tools for a framework. */

import type { HostableTool, ToolCallContext } from '../../tools/definition'
import { definedOf } from '../../util/defined.js'
import { isArray } from '../../util/guards'
import { checkOptions } from '../../validation/options'
import { isRecord, wrong } from '../../validation/validate'

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid tool or option */
export function checkHostTools(tools: unknown, options: unknown = {}): asserts tools is readonly HostableTool[] {
  if (!isArray(tools)) throw wrong('tools', tools, 'an array of tools')
  for (const [index, tool] of tools.entries()) {
    const isTool = isRecord(tool) && typeof tool.name === 'string' && typeof tool.execute === 'function'
    if (!isTool || !isRecord(tool.inputSchema))
      throw wrong(`tools[${index}]`, tool, 'an object with name, inputSchema and execute')
  }
  checkOptions('options', options, { sessionId: ['a string', (value) => typeof value === 'string'] })
}

/** The context of a call with what the framework says of it. */
export function contextOf(said: { [K in keyof ToolCallContext]: ToolCallContext[K] | undefined }): ToolCallContext {
  return definedOf(said)
}
