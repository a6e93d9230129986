/** Reads the log of a session of any known agent. */

import { promises } from 'node:fs'
import { SpillwayError } from '../errors'
import { jsonRecord } from '../util/json'
import { messageOf } from '../util/message-of'
import { wrong } from '../validation/validate'
import { claudeCode } from './logs/claude-code'
import { codex } from './logs/codex'
import { gemini } from './logs/gemini'
import { MAX_LINE_LENGTH, readLogLines } from './logs/lines'
import { messageLines } from './logs/messages'
import { openCode } from './logs/opencode'
import { pi } from './logs/pi'
import type { LogFormat, LogReader, LogRecord } from './logs/reader'
import type { LogProblem, SessionFormat, SessionLog } from './types'

/** From the most to the least particular. */
const FORMATS: readonly (readonly [SessionFormat, LogFormat])[] = [
  ['codex', codex],
  ['pi', pi],
  ['gemini', gemini],
  ['opencode', openCode],
  ['claude-code', claudeCode],
  ['messages', messageLines],
]

/** Records that are looked at to find out the format. */
const FIRST_RECORDS = 50
/** Maximum number of problems that are listed. */
const MAX_PROBLEMS = 20

const SQLITE = 'SQLite format 3\0'

/**
 * Reads the log of a session line by line: of Claude Code, Codex, pi or Gemini CLI, the output of `opencode export`, a session
 * file of `JsonlSession`, or one message per line. It may be compressed with gzip. Lines that cannot be read are skipped and counted. No network is used.
 *
 * @throws SpillwayError `STORAGE_READ` if the file cannot be read, `INVALID_ARGUMENT` if it is not a session log
 */
export async function readSession(path: string): Promise<SessionLog> {
  if (typeof path !== 'string' || path === '') throw wrong('path', path, 'the path of a session log')
  const parsing = new Parsing()
  try {
    for await (const { number, text } of readLogLines(path)) {
      if (text === undefined) parsing.skip(number, `longer than ${MAX_LINE_LENGTH} bytes`)
      else if (text.trim() !== '') parsing.read(number, text)
      if (parsing.isHopeless) break
    }
  } catch (error) {
    throw new SpillwayError('STORAGE_READ', `${path}: ${messageOf(error)}`, { field: 'path', cause: error })
  }
  if (parsing.format === undefined) await readWhole(path, parsing)
  if (parsing.format === undefined) throw noLog(path, await startOf(path))
  return { path, ...parsing.end() }
}

/** One object over many lines, as a program prints it for people. */
async function readWhole(path: string, parsing: Parsing): Promise<void> {
  const lines: string[] = []
  let length = 0
  for await (const { text = '' } of readLogLines(path)) {
    lines.push(text)
    length += text.length
    if (length > MAX_LINE_LENGTH) return
  }
  const record = jsonRecord(lines.join('\n'))
  if (record !== undefined) parsing.restart(record)
}

async function startOf(path: string): Promise<string> {
  const file = await promises.open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function noLog(path: string, start: string): SpillwayError {
  const problem =
    start === SQLITE
      ? 'a database; write a session of OpenCode to a file with "opencode export <session>"'
      : `no session log that is known; known are ${FORMATS.map(([name]) => name).join(', ')}`
  return new SpillwayError('INVALID_ARGUMENT', `${path}: ${problem}`, { field: 'path' })
}

/** A log that is being read: until its format is known, the records wait. */
class Parsing {
  format: SessionFormat | undefined
  private reader: LogReader | undefined
  private waiting: LogRecord[] = []
  private problems: LogProblem[] = []
  private unreadLines = 0

  /** True once enough lines were read to recognise any known format. */
  get isHopeless(): boolean {
    return this.reader === undefined && this.waiting.length + this.unreadLines >= FIRST_RECORDS
  }

  read(line: number, text: string): void {
    const record = jsonRecord(text)
    if (record === undefined) this.skip(line, 'not an object of JSON, perhaps cut off')
    else this.add(record)
  }

  skip(line: number, problem: string): void {
    this.unreadLines++
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ line, problem })
  }

  /** Begins again with the only record of the file. */
  restart(record: LogRecord): void {
    ;[this.waiting, this.problems, this.unreadLines] = [[], [], 0]
    this.add(record)
  }

  private add(record: LogRecord): void {
    if (this.reader !== undefined) {
      this.reader.read(record)
      return
    }
    this.waiting.push(record)
    const found = FORMATS.find(([, format]) => format.has(record))
    if (found === undefined) return
    const reader = found[1].open()
    for (const each of this.waiting) reader.read(each)
    ;[this.format, this.reader, this.waiting] = [found[0], reader, []]
  }

  end(): Omit<SessionLog, 'path'> {
    const { unreadLines, problems, format, reader } = this
    const session = (reader as LogReader).end()
    return { format: format as SessionFormat, ...session, unreadLines, problems }
  }
}
