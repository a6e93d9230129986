/** Checks a tool that a host passes in. */

import { isRecord, isRevoked, wrong } from '../validation/validate'

/** @throws SpillwayError `INVALID_ARGUMENT` that names what a tool lacks */
export function checkTool(field: string, tool: unknown): void {
  if (isRevoked(tool) || !isRecord(tool)) throw wrong(field, tool, 'an object with name and execute')
  if (typeof tool.name !== 'string') throw wrong(`${field}.name`, tool.name, 'a string')
  if (typeof tool.execute !== 'function') throw wrong(`${field}.execute`, tool.execute, 'a function')
}
