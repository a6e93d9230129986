/** The command line of a call, for the service that bounds its output. */

import { call, native } from '../native/native'
import { safeStringify } from '../util/safe-stringify'

/** Returns true if a tool runs commands. */
export function isShellTool(tool: string): boolean {
  return call(() => native.isShellTool(tool.toWellFormed()))
}

/** Returns the command that a call of a shell tool runs; nothing for another tool, or for a command that is too long to be read. */
export function commandOf(tool: string, args: unknown): string | undefined {
  if (!isShellTool(tool)) return undefined
  return call(() => native.commandOf(safeStringify(args ?? null).toWellFormed())) ?? undefined
}
