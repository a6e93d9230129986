/** The command line of a call, for the service that bounds its output. */

import { call, native } from '../native/native'
import { COMMAND_DEFAULTS } from '../settings/command-defaults'
import type { TruncationContext } from '../types'
import { safeStringify } from '../util/safe-stringify'

/** Returns true if a tool runs commands. */
export function isShellTool(tool: string): boolean {
  return call(() => native.isShellTool(tool.toWellFormed()))
}

/** A preview of a command or of a failed call has what decides; one of another answer has its start. */
export function withCommandDefaults<C extends TruncationContext>(context: C): C {
  const isOfCommand = context.failed === true || isShellTool(context.toolName)
  return isOfCommand ? { defaults: COMMAND_DEFAULTS, ...context } : context
}

/** Returns the command that a call of a shell tool runs; nothing for another tool, or for a command that is too long to be read. */
export function commandOf(tool: string, args: unknown): string | undefined {
  if (!isShellTool(tool)) return undefined
  return call(() => native.commandOf(safeStringify(args ?? null).toWellFormed())) ?? undefined
}
