/** Standard output and standard error, in terminals and pipes. */

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { SpillwayError } from '../errors'

/** Exit codes. `run` and `mcp` end with the code of their command. */
export const EXIT = {
  ok: 0,
  /** The answer is no: nothing found, denied, not an overflow, a log that was changed. */
  no: 1,
  usage: 2,
  /** It could not be done. */
  failed: 3,
  /** `permit`: the user has to be asked. */
  ask: 4,
  /** As timeout(1). */
  timedOut: 124,
  /** As shells: a program that may not be run, and one that is not there. */
  notExecutable: 126,
  notFound: 127,
  /** As shells count a death by SIGPIPE. */
  closedPipe: 141,
} as const

let codeOnClosedPipe: number = EXIT.closedPipe

let isWatching = false

/** The reader may stop at any time, as `head` does: that is not an error. */
export function exitQuietlyOnClosedPipe(): void {
  if (isWatching) return
  isWatching = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') process.exit(codeOnClosedPipe)
    if (error.code === 'EIO' && process.stdout.isTTY) return endBy('SIGHUP')
    note(`spillway: ${error.message}`)
    process.exit(EXIT.failed)
  })
  // A failed write to standard error cannot be reported, and must not change the exit code.
  process.stderr.on('error', () => {})
}

/** Ends the process as the signal does. When its terminal was closed, `process.exit` aborts: Node fails to reset it. */
export function endBy(signal: 'SIGHUP' | 'SIGTERM'): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/** Exit code if the reader closes before the last byte. */
export function onClosedPipe(code: number): void {
  codeOnClosedPipe = code
}

/** True if the last output did not end its line. */
let isMidLine = false

/** Writes to standard output and waits while the reader is slower than we are. */
export async function print(text: string | Uint8Array): Promise<void> {
  exitQuietlyOnClosedPipe()
  if (text.length > 0) isMidLine = ![10, '\n'].includes(text.at(-1)!)
  if (text.length > 0 && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Writes to standard output at once. */
export const printAtOnce = (text: string): void => writeAtOnce(1, text)

/** Writes to standard error at once. */
export const errorAtOnce = (text: string): void => writeAtOnce(2, text)

/** The streams of Node are loaded only where the reader takes a text in pieces, or has gone: they are a tenth of a short run. */
function writeAtOnce(to: 1 | 2, text: string): void {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(to, rest))
  } catch {
    exitQuietlyOnClosedPipe()
    ;(to === 1 ? process.stdout : process.stderr).write(rest)
  }
}

/** Writes a value as JSON. */
export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value, null, 2)}\n`)
}

/** Says something beside the output; on a line of its own, because both often go to the same place. */
export function note(text: string): void {
  exitQuietlyOnClosedPipe()
  process.stderr.write(`${isMidLine ? '\n' : ''}${text}\n`)
  isMidLine = false
}

const hasColors = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && stream.hasColors()

function colored(code: number, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return hasColors(stream) ? `\x1b[${code}m${text}\x1b[0m` : text
}

export const bold = (text: string): string => colored(1, text)
export const red = (text: string, stream?: NodeJS.WriteStream): string => colored(31, text, stream)
export const green = (text: string): string => colored(32, text)
export const yellow = (text: string, stream?: NodeJS.WriteStream): string => colored(33, text, stream)

/** Text from elsewhere that a person reads in a terminal: nothing in it moves the cursor, changes colors or is invisible. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]|(?![\ufe0e\ufe0f])\p{DI}/gu, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** A line that is written over and over, on a terminal only. */
export class Progress {
  private readonly isShown = process.stderr.isTTY === true && process.env.TERM !== 'dumb'
  private isDrawn = false

  show(text: string): void {
    if (!this.isShown) return
    const width = Math.max(20, (process.stderr.columns ?? 80) - 1)
    process.stderr.write(`\r${printable(text).slice(0, width)}\x1b[K`)
    this.isDrawn = true
  }

  /** Shows a question in its place, and leaves the cursor after it. */
  ask(text: string): void {
    if (!this.isShown) return
    process.stderr.write(`\r\x1b[K${printable(text)}`)
    // The next progress is drawn in the line where the answer ended.
    this.isDrawn = false
  }

  /** Takes the line away. */
  clear(): void {
    if (this.isDrawn) process.stderr.write('\r\x1b[K')
    this.isDrawn = false
  }
}

/** Says what went wrong, and answers the exit code for it. */
export function reportError(error: unknown, asJson: boolean): number {
  const { name, code, field, message: whole = String(error) } = (error ?? {}) as Record<string, string | undefined>
  const isUsage = name === 'UsageError' || isOption(error)
  const message = shortened(asTyped(whole))
  if (asJson) note(JSON.stringify({ error: { code: isUsage ? 'USAGE' : (code ?? 'FAILED'), field, message } }))
  else note(`${red('spillway:', process.stderr)} ${printable(message)}`)
  return isUsage ? EXIT.usage : (notStarted(error) ?? EXIT.failed)
}

/** True if a value is refused that was typed as an option of the command. */
function isOption(error: unknown): boolean {
  if (!(error instanceof SpillwayError)) return false
  return /^INVALID_/.test(error.code) && asTyped(error.message) !== error.message
}

/** Options of a function were typed as options of the command; those that it advises can be typed as well. */
function asTyped(message: string): string {
  const typed = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return message
    .replace(/^(Invalid|Unknown) option "(\w+)"/, (_, kind: string, name: string) => `${kind} option ${typed(name)}`)
    .replace(/(?<=only with )(\w+): true\b/, (_, name: string) => typed(name))
}

/** Printed length of a message, in UTF-16 units: the name of a command may be of any length. */
const MESSAGE_UNITS = 900

function shortened(message: string): string {
  if (message.length <= MESSAGE_UNITS) return message
  const half = MESSAGE_UNITS / 2
  return `${message.slice(0, half)}…${message.slice(-half)}`.toWellFormed()
}

/** Returns the exit code of a shell if the command cannot be started; not for a missing folder. */
function notStarted(error: unknown): number | undefined {
  if (!(error instanceof SpillwayError) || error.code !== 'COMMAND' || error.field !== undefined) return undefined
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  return code === 'ENOENT' ? EXIT.notFound : EXIT.notExecutable
}
