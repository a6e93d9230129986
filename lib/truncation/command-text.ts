/** The text of a command for a model: what it printed, and how it ended. */

import { types } from 'node:util'
import { isRecord } from '../util/guards'
import { messageOf } from '../util/message-of'
import { decodeBytes } from '../validation/bytes'
import { codeOfStreams } from './call-outcome'

/** How a command ended, as `runCommand` says it. */
export interface Ending {
  exitCode: number | null
  signal: string | null
  note?: string
}

/** Returns a line that says how a command ended; an empty text if it ended well, or if its output says it already. */
export function endingOf({ exitCode, signal, note }: Ending): string {
  if (note !== undefined || exitCode === 0) return ''
  return signal ? `[Ended by ${signal}]` : `[Exit code ${exitCode}]`
}

/** Returns the output with a line below it; a command that printed nothing, and ended well, has a line that says so. */
export function withEnding(content: string, ending: string): string {
  if (ending === '') return content === '' ? '[No output]' : content
  return `${withLineFeed(content)}${ending}`
}

function withLineFeed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** Members that the text of streams says, or that say nothing to a model. An object with any other is shown as JSON. */
const SAID = new Set([
  'stdout',
  'stderr',
  'exitCode',
  'exit_code',
  'code',
  'status',
  'signal',
  'pid',
  'output',
  'error',
])
/** Those of them that are shown only as the number of an exit code. */
const CODES = ['exitCode', 'exit_code', 'code', 'status']

/**
 * Returns the text of an object with the streams of a command and how it ended, as `exec` and `spawnSync` return it, because its JSON
 * has all lines of the output on one; `undefined` for any other value.
 */
export function textOfStreams(value: unknown): string | undefined {
  if (!isRecord(value) || !Object.keys(value).every((name) => SAID.has(name))) return undefined
  const { stdout, stderr, signal, output, error } = value
  const isShown = (code: unknown) => code === undefined || code === null || Number.isSafeInteger(code)
  if (!CODES.every((name) => isShown(value[name]))) return undefined
  if (isAbsent(stdout) && isAbsent(stderr)) return undefined
  if (error !== undefined && !types.isNativeError(error)) return undefined
  const [out, err] = [textOfStream(stdout), textOfStream(stderr)]
  // `spawnSync` repeats the streams in `output`.
  const isRepeated = Array.isArray(output) && output.every((one) => one === null || one === stdout || one === stderr)
  if (out === undefined || err === undefined || (output !== undefined && !isRepeated)) return undefined
  const said = error === undefined ? '' : messageOf(error)
  const printed = [out, err, said]
    .filter((text) => text !== '')
    .reduce((all, text) => `${withLineFeed(all)}${text}`, '')
  const exitCode = codeOfStreams(value)
  if (exitCode === undefined) return printed
  return withEnding(printed, endingOf({ exitCode, signal: typeof signal === 'string' ? signal : null }))
}

/** A stream that was not read is `null`. */
function isAbsent(stream: unknown): boolean {
  return stream === undefined || stream === null
}

function textOfStream(stream: unknown): string | undefined {
  if (isAbsent(stream)) return ''
  if (typeof stream === 'string') return stream
  return types.isUint8Array(stream) ? decodeBytes(stream) : undefined
}
