/** Checking what a caller says about an output. */

import { SpillwayError, type SpillwayErrorCode } from '../errors'
import type { TruncationContext } from '../types'
import { isArray } from '../util/guards'

/** An error that names the field, the kind of its value, and what is allowed; never the value itself, which may be an output. */
export function wrong(
  field: string,
  value: unknown,
  allowed: string,
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): SpillwayError {
  const problem = isRevoked(value) ? 'cannot be read' : `got ${describe(value)}`
  return new SpillwayError(code, `${field}: ${problem}, allowed is ${allowed}`, { field })
}

/** A value as a person would name it. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Whether a value is an object with named fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isArray(value) && !isRevoked(value)
}

/** Whether a value is a proxy that was revoked: whatever is asked of it throws. */
export function isRevoked(value: unknown): boolean {
  try {
    // The one question that reaches no trap. Its answer is used, for a bundler leaves out a call without an effect.
    return typeof Array.isArray(value) !== 'boolean'
  } catch {
    return true
  }
}

/** @throws SpillwayError that names a key which is not known: a misspelt one would be an option that nothing reads */
export function checkKeys(
  field: string,
  value: object,
  known: readonly string[],
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): void {
  const unknown = readable(field || 'options', () => Object.keys(value), code).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const name = field === '' ? unknown : `${field}.${unknown}`
  throw new SpillwayError(code, `${name}: is not known; known are ${known.join(', ')}`, { field: name })
}

/** @throws SpillwayError `INVALID_ARGUMENT` for what is neither a signal nor nothing */
export function checkSignal(field: string, signal: unknown): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.throwIfAborted !== 'function') {
    throw wrong(field, signal, 'an AbortSignal')
  }
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'string'
const isSwitchOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'boolean'

/**
 * What reading an argument gives: a getter may throw, and a proxy may refuse.
 * @throws SpillwayError that names the argument; one that the reading throws itself goes through
 */
export function readable<T>(field: string, read: () => T, code: SpillwayErrorCode = 'INVALID_ARGUMENT'): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof SpillwayError) throw cause
    throw new SpillwayError(code, `${field}: cannot be read, allowed is an object whose fields can be`, {
      field,
      cause,
    })
  }
}

const FIELDS = [
  'toolName',
  'sessionId',
  'messageId',
  'toolCallId',
  'failed',
  'options',
  'declared',
  'handled',
  'signal',
] as const

/**
 * What a context says, read once: a getter may answer something else the next time, or throw.
 * @throws SpillwayError `INVALID_ARGUMENT` with the field
 */
export function checkContext(context: TruncationContext): TruncationContext {
  if (!isRecord(context)) throw wrong('context', context, 'an object with toolName')
  const read = readable('context', () => {
    const inherited = FIELDS.filter((key) => !Object.hasOwn(context, key) && key in context)
    return { ...context, ...Object.fromEntries(inherited.map((key) => [key, context[key]])) }
  })
  const { toolName, sessionId, messageId, toolCallId, failed, handled, signal } = read
  if (typeof toolName !== 'string') throw wrong('context.toolName', toolName, 'a string')
  for (const [key, value] of Object.entries({ sessionId, messageId, toolCallId })) {
    if (!isTextOrNothing(value)) throw wrong(`context.${key}`, value, 'a string')
  }
  for (const [key, value] of Object.entries({ failed, handled })) {
    if (!isSwitchOrNothing(value)) throw wrong(`context.${key}`, value, 'true or false')
  }
  checkSignal('context.signal', signal)
  return read
}

/** Whether a context is right and has nothing that changes what is done but the tool's name. */
export function isPlain(context: TruncationContext | undefined | null): context is TruncationContext {
  try {
    return (
      context !== undefined &&
      context !== null &&
      typeof context.toolName === 'string' &&
      context.options === undefined &&
      context.declared === undefined &&
      (context.failed === undefined || context.failed === false) &&
      (context.handled === undefined || context.handled === false) &&
      context.signal === undefined &&
      isTextOrNothing(context.sessionId) &&
      isTextOrNothing(context.messageId) &&
      isTextOrNothing(context.toolCallId)
    )
  } catch {
    // Who checks it says what is wrong.
    return false
  }
}
