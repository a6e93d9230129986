/**
 * Log of the commands of `spillway run`: one line of JSON for each saved output, in a file beside them. The names of outputs say only the tool and
 * the time.
 */

import { closeSync, constants, openSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { note } from './terminal'

/** A command that was run. */
export interface RecordedCommand {
  /** The saved output. */
  path: string
  /** The program and its arguments, or one text for the shell; at most 4,096 UTF-16 units. */
  command: string
  cwd: string
  /** The exit code as a shell reports it. */
  exitCode: number
  /** Milliseconds since the epoch. */
  startedAt: number
  durationMs: number
  /** Lines of the output. */
  lines?: number
}

const NAME = 'commands.jsonl'
const MAX_COMMAND_UNITS = 4096
/** Above this size, lines of removed outputs are dropped. */
const MAX_BYTES = 4 * 2 ** 20

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** Adds a line. A log that cannot be written loses no output: it is only reported. */
export function recordCommand(dir: string, recorded: RecordedCommand): void {
  const file = join(dir, NAME)
  const command = recorded.command.slice(0, MAX_COMMAND_UNITS).toWellFormed()
  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) removeOld(file)
    const handle = openSync(file, APPEND, 0o600)
    try {
      // One write, so that lines of processes that run at the same time do not mix.
      writeSync(handle, `${JSON.stringify({ ...recorded, command })}\n`)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    note(`spillway: ${file}: ${(error as Error).message}`)
  }
}

/** Drops the lines of removed outputs, from each directory of a store. */
export function forgetCommands(dirs: readonly string[]): void {
  for (const dir of dirs) {
    const file = join(dir, NAME)
    try {
      if (statSync(file, { throwIfNoEntry: false }) !== undefined) removeOld(file)
    } catch (error) {
      note(`spillway: ${file}: ${(error as Error).message}`)
    }
  }
}

function removeOld(file: string): void {
  const isThere = ({ path }: RecordedCommand) => statSync(path, { throwIfNoEntry: false }) !== undefined
  const kept = readLines(file).filter(isThere)
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, kept.map((each) => `${JSON.stringify(each)}\n`).join(''), { mode: 0o600 })
  renameSync(temporary, file)
}

/** Returns the recorded commands of a store by the path of their output. A line that cannot be read is left out. */
export function recordedCommands(dirs: readonly string[]): Map<string, RecordedCommand> {
  const lines = dirs.flatMap((dir) => readLines(join(dir, NAME)))
  return new Map(lines.map((recorded) => [recorded.path, recorded]))
}

function readLines(file: string): RecordedCommand[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const read = JSON.parse(line) as Partial<RecordedCommand> | null
      return typeof read?.path === 'string' && typeof read.command === 'string' ? [read as RecordedCommand] : []
    } catch {
      return []
    }
  })
}
