/** Exit codes as shells report them. */

import { constants } from 'node:os'

/** Returns the exit code of a process that ended: 128 and the number of the signal if a signal ended it. */
export function exitCodeOf(code: number | null | undefined, signal: string | null): number {
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
}

/** Names under which hosts say an exit code and nothing else. */
const CODES = ['exitCode', 'exit_code'] as const
/** Names that say an exit code only beside the streams of a command: elsewhere they are a status of HTTP or a code of an error. */
const CODES_OF_STREAMS = ['code', 'status'] as const

/**
 * Returns the exit code that a result says in the shape of its host: of itself, beside what was printed, or in the `metadata` beside
 * an `output`. `null` if a signal ended the command, `undefined` if nothing says how it ended or if it cannot be read.
 */
export function exitCodeIn(result: unknown): number | null | undefined {
  try {
    const fields = fieldsOf(result)
    const code = codeOf(
      fields,
      isPrinted(fields.stdout) || isPrinted(fields.stderr) ? [...CODES, ...CODES_OF_STREAMS] : CODES,
    )
    if (code !== undefined || fields.output === undefined) return code
    return codeOf(fieldsOf(fields.metadata), [...CODES, 'exit'])
  } catch {
    return undefined
  }
}

/** True if a result says that its command ended with another exit code than 0, or by a signal. */
export function endedBadly(result: unknown): boolean {
  const code = exitCodeIn(result)
  return code !== undefined && code !== 0
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function codeOf(fields: Record<string, unknown>, names: readonly string[]): number | null | undefined {
  const values = names.map((name) => fields[name])
  const code = values.find((value) => Number.isSafeInteger(value))
  if (code !== undefined) return code as number
  const isSignalled = typeof fields.signal === 'string' && fields.signal !== ''
  return isSignalled && values.includes(null) ? null : undefined
}

/** Streams are texts, or bytes as `spawnSync` returns them. */
function isPrinted(stream: unknown): boolean {
  return typeof stream === 'string' || stream instanceof Uint8Array
}
