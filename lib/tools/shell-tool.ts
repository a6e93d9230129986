/** A tool that runs a shell command. */

import { runCommand } from '../command/run-command'
import type { CommandResult, RunCommandOptions } from '../command/types'
import { TruncationService } from '../service/service'
import { COMMAND_DEFAULTS } from '../settings/call-defaults'
import { endingOf, withEnding } from '../truncation/command-text'
import { rememberPreview } from '../truncation/previews'
import type { TruncationResult } from '../types'
import { type Check, fn, isNonEmptyString, nonEmptyString, object } from '../validation/options'
import {
  checkToolOptions,
  type FolderOptions,
  type ReadyTool,
  type ReadyToolResult,
  readyTool,
  type ToolCallContext,
  type WorkContext,
} from './definition'

/** Options of {@link createShellTool}. */
export interface ShellToolOptions extends FolderOptions, Pick<RunCommandOptions, 'env' | 'onStart' | 'onProgress'> {
  /** Bounds and saves the output. @default that of the controls around the tool, else one with default settings */
  service?: TruncationService
  /** @default 'bash' */
  name?: string
  /** The path of a shell. @default `/bin/sh`, on Windows `cmd.exe` */
  shell?: string
  /** Milliseconds after which a command is ended, unless the model requests another time. Above 0. @default 120000 */
  timeoutMs?: number
  /** Maximum number of milliseconds that the model may request. Above 0. @default 600000 */
  maxTimeoutMs?: number
}

const duration: Check = [
  'a finite number of milliseconds above 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
]
export const SERVICE: Check = ['a TruncationService', (value) => value instanceof TruncationService]

const CHECKS: { readonly [K in Exclude<keyof ShellToolOptions, 'cwd'>]-?: Check } = {
  name: nonEmptyString,
  shell: nonEmptyString,
  timeoutMs: duration,
  maxTimeoutMs: duration,
  env: object,
  onStart: fn,
  onProgress: fn,
  service: SERVICE,
}

/**
 * Makes the tool `bash`: runs a shell command with `runCommand`. The model reads a preview and the exit code, and the full output
 * is saved. A timeout or an abort ends the command with everything that it started and keeps the output so far. `onStart` and
 * `onProgress` show the output while the command runs.
 *
 * The tool does not check permission: `guardTool` and the adapters do, with `permission`.
 *
 * @example
 * const bash = guardTool(createShellTool({ service, timeoutMs: 60_000 }), { permission })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed
 */
export function createShellTool(options: ShellToolOptions = {}): ReadyTool {
  checkToolOptions(options, CHECKS)
  const { name = 'bash', cwd, service, shell = true, timeoutMs = 120_000, maxTimeoutMs = 600_000, ...rest } = options
  const description = `Runs a command of the shell and returns its output and its exit code. It is ended after ${timeoutMs} ms, unless timeout_ms says otherwise.`
  const parameters = {
    command: {
      schema: { type: 'string', description: 'The command.' },
      check: [
        'a command that is not empty and has no NUL',
        (value: unknown) => isNonEmptyString(value) && !String(value).includes('\0'),
      ] as Check,
      isRequired: true as const,
      aliases: ['cmd'],
    },
    timeout_ms: {
      schema: { type: 'integer', minimum: 1, description: `Milliseconds, at most ${maxTimeoutMs}.` },
      check: duration,
      aliases: ['timeout', 'timeoutMs'],
    },
  }
  return readyTool(
    { name, description, ...(cwd && { cwd }) },
    parameters,
    async ({ command, timeout_ms = timeoutMs }, context) => {
      const result = await runCommand(command as string, [], {
        ...rest,
        ...commandContext(context, service),
        shell,
        toolName: name,
        defaults: COMMAND_DEFAULTS,
        timeoutMs: Math.min(timeout_ms as number, maxTimeoutMs),
        cwd: context.workingDirectory,
      })
      return resultOf(result)
    },
  )
}

/** The call, for the service that bounds the output, and that service: the tool's `own`, or else that of the controls around it. */
function commandContext(context: WorkContext, own = context.service) {
  return { ...outputContext(context), ...(own && { service: own }) }
}

/** The call, for the service that bounds the output. */
export function outputContext({ sessionId, toolCallId, signal }: ToolCallContext) {
  return { ...(sessionId && { sessionId }), ...(toolCallId && { toolCallId }), ...(signal && { signal }) }
}

function resultOf(result: CommandResult): ReadyToolResult {
  const { exitCode, signal, durationMs, output, note } = result
  const ended = { ...output, content: withEnding(output.content, endingOf(result)) }
  // A preview with a line below it is a preview as well: nothing cuts it again.
  if (ended.truncated && ended.content !== output.content) rememberPreview(ended)
  const isFine = exitCode === 0 && note === undefined
  const { metadata, ...more } = boundedResult(ended, isFine)
  return { ...more, metadata: { ...metadata, exitCode, signal, durationMs } }
}

/** A bounded output as the result of a tool. */
export function boundedResult(bounded: TruncationResult, success: boolean): ReadyToolResult {
  const { content, truncated } = bounded
  const where = truncated && {
    truncationPath: bounded.outputPath,
    truncationRemovedLines: bounded.removedLines,
    truncationRemovedBytes: bounded.removedBytes,
  }
  return { success, output: content, ...(!success && { error: content }), metadata: { truncated, ...where } }
}
