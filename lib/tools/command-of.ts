/** The command line of a call, for the service that bounds its output. */

import { call, native } from '../native/native'
import { ANSWER_DEFAULTS, COMMAND_DEFAULTS } from '../settings/call-defaults'
import type { TruncationContext } from '../types'
import { safeStringify } from '../util/safe-stringify'

/** Returns true if a tool runs commands. */
function isShellTool(tool: string): boolean {
  return call(() => native.isShellTool(tool.toWellFormed()))
}

/** A preview of a command or of a failed call has what decides; one of another answer has its start, or its structure. */
export function withCallDefaults<C extends TruncationContext>(context: C): C {
  const { failed, command, toolName } = context
  // Only a shell tool has a command.
  return withDefaults(context, failed === true || command !== undefined || isShellTool(toolName))
}

function withDefaults<C extends TruncationContext>(context: C, isOfCommand: boolean): C {
  return { defaults: isOfCommand ? COMMAND_DEFAULTS : ANSWER_DEFAULTS, ...context }
}

/** The context of a call with the command that its arguments have, and with the defaults of {@link withCallDefaults}. */
export function withCommand<C extends TruncationContext>(context: C, args: unknown): C {
  const isShell = isShellTool(context.toolName)
  const command = isShell ? readCommand(args) : undefined
  return withDefaults({ ...context, ...(command && { command }) }, isShell || context.failed === true)
}

/** Returns the command that a call of a shell tool runs; nothing for another tool, or for a command that is too long to be read. */
export function commandOf(tool: string, args: unknown): string | undefined {
  return isShellTool(tool) ? readCommand(args) : undefined
}

function readCommand(args: unknown): string | undefined {
  return call(() => native.commandOf(safeStringify(args ?? null).toWellFormed())) ?? undefined
}
