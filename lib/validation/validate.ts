/** Validation of arguments, and the wording of its errors. */

import { SpillwayError, type SpillwayErrorCode } from '../errors'
import type { TruncationContext } from '../types'
import { isArray, isRecord, isRevoked } from '../util/guards'
import { nearest } from '../util/suggest'
import { warn } from '../util/warn'

export { isRecord, isRevoked }

/** A longer text in a message ends in an ellipsis. */
const MAX_NAME_LENGTH = 60

/**
 * Makes the error for a wrong value: `Invalid option "maxLines": expected a whole number of at least 1, received 0`. A text is named
 * by its type only, since it may be an output, unless `expected` lists names in quotes: then it is quoted, with the nearest name.
 */
export function wrong(
  field: string,
  value: unknown,
  expected: string,
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): SpillwayError {
  return invalid(field, mismatch(value, expected), { code })
}

/** Makes the error for an option with another problem than its type: `Invalid option "cwd": …`. */
export function invalid(
  field: string,
  problem: string,
  { code = 'INVALID_ARGUMENT', cause }: { code?: SpillwayErrorCode; cause?: unknown } = {},
): SpillwayError {
  return new SpillwayError(code, invalidOption(field, problem), { field, cause })
}

/**
 * Makes the error for a name that is not among `known`, with the nearest one: `Unknown option "maxLine": did you mean maxLines?`
 */
export function unknownOption(
  field: string,
  name: string,
  known: readonly string[],
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): SpillwayError {
  const full = (field === '' ? name : `${field}.${name}`).toWellFormed()
  return new SpillwayError(code, unknownName(full, name, known), { field: full })
}

/** Makes the error for a method that is called on something else than an object of its class. */
export function notAnInstance(name: string): SpillwayError {
  return new SpillwayError('INVALID_ARGUMENT', `this: expected ${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`)
}

/** Makes the error for a callback of the caller's that answered something else. */
export function badAnswer(callback: string, answer: unknown, expected: string): SpillwayError {
  return new SpillwayError('CALLBACK', `${callback}: invalid answer: ${mismatch(answer, expected)}`)
}

/** Returns the sentence about an option with a problem. */
export function invalidOption(field: string, problem: string): string {
  return `Invalid option "${optionName(field)}": ${problem}`
}

/** Returns the sentence about an option that is not among `known`. */
export function unknownName(field: string, name: string, known: readonly string[]): string {
  return `Unknown option "${optionName(field)}": ${suggestion(name, known)}`
}

/** Returns the rest of a sentence about a name that is not among `known`: the nearest of them, or all. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`
}

/** Returns `expected …, received …`. If `expected` lists names in quotes, a text is quoted, and the nearest name suggested. */
export function mismatch(value: unknown, expected: string): string {
  const names = [...expected.matchAll(/'([^']+)'/g)].map(([, name]) => name as string)
  if (typeof value === 'string' && names.length > 0) return wrongName(value, expected, names)
  return `expected ${expected}, received ${isRevoked(value) ? 'a value that cannot be read' : describe(value)}`
}

/** Returns `expected …, received "…"` for a text that is not among `names`, with the nearest one. */
export function wrongName(given: string, expected: string, names: readonly string[]): string {
  const meant = nearest(given, names)
  const characters = Array.from(given.slice(0, 2 * MAX_NAME_LENGTH + 2).toWellFormed())
  const short =
    characters.length > MAX_NAME_LENGTH ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : given.toWellFormed()
  return `expected ${expected}, received ${JSON.stringify(short)}${meant === undefined ? '' : `; did you mean '${meant}'?`}`
}

/** Names as messages list them: `one of 'head', 'tail', 'both'`. */
export function listed(names: readonly (string | number | null)[]): string {
  const quoted = names.map((name) => (typeof name === 'string' ? `'${name}'` : String(name))).join(', ')
  return names.length > 1 ? `one of ${quoted}` : quoted
}

/** The name of an option as its caller writes it: without the `options.` of an argument. */
function optionName(field: string): string {
  return field.replace(/^options\./, '')
}

/** Names a value in a message: a number, a boolean or an empty text by itself, anything else by its type. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (value === '') return '""'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (isArray(value)) return 'an array'
  if (Array.isArray(value)) return `an array of ${(value as unknown[]).length} elements`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** @throws SpillwayError for a key that is not among `known`: a misspelt option must not be ignored */
export function checkKeys(
  field: string,
  value: object,
  known: readonly string[],
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): void {
  const unknown = readable(field || 'options', () => Object.keys(value), code).find((key) => !known.includes(key))
  if (unknown !== undefined) throw unknownOption(field, unknown, known, code)
}

/**
 * Opens a handle of the core, which does not know the options `own`: TypeScript reads them.
 * @throws SpillwayError for an unknown option, with the nearest one or all that are known
 */
export function openKnowing<T>(own: readonly string[], open: () => T): T {
  try {
    return open()
  } catch (error) {
    const { message = '', code } = error instanceof SpillwayError ? error : {}
    const [, name, others] = /^Unknown option "([^".[]+)": expected one of (.*)$/.exec(message) ?? []
    if (name === undefined || others === undefined) throw error
    throw unknownOption('', name, [...own, ...others.split(', ')], code)
  }
}

/** @throws SpillwayError for a value that is neither one of `names` nor `undefined` */
export function checkOneOf(
  field: string,
  value: unknown,
  names: readonly string[],
  code: SpillwayErrorCode = 'INVALID_ARGUMENT',
): void {
  if (value !== undefined && !names.includes(value as string)) throw wrong(field, value, listed(names), code)
}

/** @throws SpillwayError `INVALID_ARGUMENT` for what is neither a signal nor nothing */
export function checkSignal(field: string, signal: unknown): void {
  if (signal !== undefined && !hasFunctions(field, signal, ['throwIfAborted'])) {
    throw wrong(field, signal, 'an AbortSignal')
  }
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'string'
const isSwitchOrNothing = (value: unknown): boolean => value === undefined || typeof value === 'boolean'

/**
 * Returns the result of reading an argument: a getter may throw, and a proxy may refuse.
 * @throws SpillwayError that names the argument; one that the reader throws itself is rethrown
 */
export function readable<T>(field: string, read: () => T, code: SpillwayErrorCode = 'INVALID_ARGUMENT'): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof SpillwayError) throw cause
    throw invalid(field, 'expected an object whose fields can be read', { code, cause })
  }
}

/**
 * True if a value has functions of these names.
 * @throws SpillwayError that names the argument, for a value that cannot be read
 */
export function hasFunctions(
  field: string,
  value: unknown,
  names: readonly string[],
  code?: SpillwayErrorCode,
): value is Record<string, unknown> {
  return readable(field, () => names.every((name) => typeof Object(value)[name] === 'function'), code)
}

const FIELDS = [
  'toolName',
  'sessionId',
  'messageId',
  'toolCallId',
  'failed',
  'exitCode',
  'command',
  'query',
  'defaults',
  'options',
  'declared',
  'handled',
  'signal',
] as const

/**
 * Validates a context, reading each field once: a getter may change its answer, or throw.
 * @throws SpillwayError `INVALID_ARGUMENT` with the field
 */
export function checkContext(context: TruncationContext): TruncationContext {
  if (!isRecord(context)) throw wrong('context', context, 'an object with toolName')
  const read = readable('context', () => {
    const inherited = FIELDS.filter((key) => !Object.hasOwn(context, key) && key in context)
    return { ...context, ...Object.fromEntries(inherited.map((key) => [key, context[key]])) }
  })
  const { toolName, sessionId, messageId, toolCallId, failed, exitCode, command, query, handled, signal } = read
  if (typeof toolName !== 'string') throw wrong('context.toolName', toolName, 'a string')
  for (const [key, value] of Object.entries({ sessionId, messageId, toolCallId, command, query })) {
    if (!isTextOrNothing(value)) throw wrong(`context.${key}`, value, 'a string')
  }
  for (const [key, value] of Object.entries({ failed, handled })) {
    if (!isSwitchOrNothing(value)) throw wrong(`context.${key}`, value, 'true or false')
  }
  if (exitCode !== undefined && exitCode !== null && !Number.isInteger(exitCode))
    throw wrong('context.exitCode', exitCode, 'an integer, or null if a signal ended the command')
  checkSignal('context.signal', signal)
  warnOfMisspelt(read)
  return exitCode === undefined ? read : { ...read, failed: failed ?? exitCode !== 0 }
}

/** Names that were warned of. A context may have more for a custom storage, so that nothing is refused. */
const misspelt = new Set<string>()
const MAX_MISSPELT = 100

function warnOfMisspelt(context: object): void {
  for (const key of Object.keys(context)) {
    if ((FIELDS as readonly string[]).includes(key) || misspelt.has(key) || misspelt.size >= MAX_MISSPELT) continue
    const meant = nearest(key, FIELDS)
    if (meant === undefined) continue
    misspelt.add(key)
    warn('output', new Error(unknownName(`context.${key}`, key, FIELDS)))
  }
}

/** True if a context is right and has nothing that changes what is done but the tool's name, and defaults that never change. */
export function isPlain(context: TruncationContext | undefined | null): context is TruncationContext {
  try {
    return (
      context !== undefined &&
      context !== null &&
      typeof context.toolName === 'string' &&
      context.options === undefined &&
      context.declared === undefined &&
      (context.defaults === undefined || Object.isFrozen(context.defaults)) &&
      (context.exitCode === undefined || context.exitCode === 0) &&
      (context.failed === undefined || context.failed === false) &&
      (context.handled === undefined || context.handled === false) &&
      context.signal === undefined &&
      isTextOrNothing(context.sessionId) &&
      isTextOrNothing(context.messageId) &&
      isTextOrNothing(context.toolCallId) &&
      isTextOrNothing(context.command) &&
      isTextOrNothing(context.query)
    )
  } catch {
    // Who checks it says what is wrong.
    return false
  }
}
