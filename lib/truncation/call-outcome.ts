/** How a call ended, as its result says it in the shape of its host. */

import { types } from 'node:util'
import { isRecord } from '../util/guards'

/** Names under which hosts say an exit code and nothing else. */
const CODES = ['exitCode', 'exit_code'] as const
/** Names that say an exit code only beside the streams of a command: elsewhere they are a status of HTTP or a code of an error. */
const CODES_OF_STREAMS = ['code', 'status'] as const

/** Facts of the caller, which count more than what a result says. */
export interface KnownOutcome {
  failed?: boolean | undefined
  /** `null` if a signal ended the command. */
  exitCode?: number | null | undefined
}

/**
 * Returns whether a call failed: as its caller knows, else as its result says by `success` or `isError`, else by the exit code of its
 * command or by an `Error`; `undefined` if nothing says so. Throws if a field cannot be read.
 */
export function failureOf(result: unknown, { failed, exitCode }: KnownOutcome = {}): boolean | undefined {
  if (failed !== undefined) return failed
  const { success, isError, error } = fieldsOf(result)
  if (isError === true || success === false) return true
  if (exitCode === undefined && success === true) return false
  const code = exitCode === undefined ? exitCodeIn(result) : exitCode
  if (code !== undefined) return code !== 0
  return types.isNativeError(error) ? true : undefined
}

/**
 * Returns the exit code that a result says: of itself, beside what was printed, in the `metadata` beside an `output`, or of an `output` that is an object. `null` if a
 * signal ended the command, `undefined` if nothing says how it ended or if it cannot be read.
 */
export function exitCodeIn(result: unknown): number | null | undefined {
  try {
    const fields = fieldsOf(result)
    const code = ownCode(fields)
    if (code !== undefined || fields.output === undefined) return code
    const said = codeOf(fieldsOf(fields.metadata), [...CODES, 'exit'], false)
    return said === undefined ? ownCode(fieldsOf(fields.output)) : said
  } catch {
    return undefined
  }
}

function ownCode(fields: Record<string, unknown>): number | null | undefined {
  const hasStreams = isStream(fields.stdout) || isStream(fields.stderr)
  return hasStreams ? codeOfStreams(fields) : codeOf(fields, CODES, false)
}

/** Returns the exit code of an object that has the streams of a command. */
export function codeOfStreams(fields: Record<string, unknown>): number | null | undefined {
  return codeOf(fields, [...CODES, ...CODES_OF_STREAMS], true)
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function codeOf(
  fields: Record<string, unknown>,
  names: readonly string[],
  hasStreams: boolean,
): number | null | undefined {
  const values = names.map((name) => fields[name])
  const code = values.find((value) => Number.isSafeInteger(value))
  if (code !== undefined) return code as number
  const isSignalled = typeof fields.signal === 'string' && fields.signal !== ''
  return isSignalled && (hasStreams || values.includes(null)) ? null : undefined
}

/** Streams are texts, or bytes as `spawnSync` returns them. */
function isStream(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array
}
