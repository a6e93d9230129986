/** Log of the commands of `spillway run` and of hooks: the names of outputs say only the tool and the time. */

import { StoreLog } from '../storage/store-log'
import { messageOf } from '../util/message-of'
import { note } from './terminal'

/** A command that was run. */
export interface RecordedCommand {
  /** The saved output. */
  path: string
  /** The program and its arguments, or one text for the shell; at most 4,096 UTF-16 units. */
  command: string
  cwd: string
  /** The exit code as a shell reports it. Hooks know neither it nor the times. */
  exitCode?: number
  /** Milliseconds since the epoch. */
  startedAt?: number
  durationMs?: number
  /** Lines of the output. */
  lines?: number
}

const MAX_COMMAND_UNITS = 4096

/** Another program may have written anything into the log. */
const LOG = new StoreLog<RecordedCommand>(
  'commands.jsonl',
  ({ command, cwd, exitCode = 0, startedAt = 0, durationMs = 0, lines = 0 }) =>
    typeof command === 'string' &&
    typeof cwd === 'string' &&
    [exitCode, startedAt, durationMs, lines].every((number) => Number.isFinite(number)),
  (file, error) => note(`spillway: ${file}: ${messageOf(error)}`),
)

/** Adds a command to the log of a folder of a store. */
export function recordCommand(dir: string, recorded: RecordedCommand): void {
  const command = recorded.command.slice(0, MAX_COMMAND_UNITS).toWellFormed()
  LOG.add(dir, { ...recorded, command })
}

/** Drops the commands of removed outputs, from each directory of a store. */
export function forgetCommands(dirs: readonly string[]): void {
  LOG.forgetRemoved(dirs)
}

/** Returns the recorded commands of a store by the path of their output. */
export function recordedCommands(dirs: readonly string[]): Map<string, RecordedCommand> {
  return LOG.read(dirs)
}
