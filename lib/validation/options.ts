/** Checks objects of options, one option at a time. */

import type { SpillwayError, SpillwayErrorCode } from '../errors'
import { isArray } from '../util/guards'
import { jsonRecord } from '../util/json'
import { LANGUAGES } from '../util/languages'
import { isRecord, listed, readable, unknownOption, wrong } from './validate'

/** Allowed values, as words for the error and as a test. */
export type Check = readonly [allowed: string, test: (value: unknown) => boolean]

export const flag: Check = ['true or false', (value) => typeof value === 'boolean']

export const string: Check = ['a string', (value) => typeof value === 'string']

export const nonEmptyString: Check = ['a string that is not empty', isNonEmptyString]

export const folder: Check = ['the path of a folder', isNonEmptyString]

export const fn: Check = ['a function', (value) => typeof value === 'function']

export const stringOrFn: Check = [
  'a string or a function',
  (value) => typeof value === 'string' || typeof value === 'function',
]

export const object: Check = ['an object', isRecord]

/** The options of a part that can be turned off. */
export const objectOrOff: Check = ['an object, or false', (value) => value === false || isRecord(value)]

export const array: Check = ['an array', isArray]

/** The check of an option that is checked elsewhere, or may be anything. */
export const anything: Check = ['anything', () => true]

export const number: Check = ['a number', (value) => typeof value === 'number']

export const amount: Check = ['a number of at least 0', atLeastZero]

export const aboveZero: Check = ['a number above 0', isAboveZero]

export const windowTokens: Check = [
  'a number of tokens of at least 0, or NaN if it is not known',
  (value) => typeof value === 'number' && !(value < 0),
]

/** A moment, in milliseconds since the epoch. */
export const moment: Check = ['a number of milliseconds since the epoch', Number.isFinite]

export const milliseconds: Check = ['a number of milliseconds of at least 0', atLeastZero]

export const positiveMilliseconds: Check = [
  'a number of milliseconds of at least 1',
  (value) => typeof value === 'number' && value >= 1,
]

export const count: Check = [
  'a whole number of at least 0, or Infinity',
  (value) => atLeastZero(value) && isWhole(value as number),
]

export const strings: Check = [
  'an array of strings',
  (value) => isArray(value) && value.every((name) => typeof name === 'string'),
]

export const signal: Check = [
  'an AbortSignal',
  (value) => typeof (value as AbortSignal | null)?.throwIfAborted === 'function',
]

/** The part that truncates the output of a tool. */
export const outputService: Check = [
  'a TruncationService or a middleware, such as the `service` of createTruncation',
  (value) => typeof value === 'function' || (isRecord(value) && typeof value.output === 'function'),
]

/** A whole number of at least this, of a unit such as `tokens`. */
export function wholeFrom(min: number, unit?: string): Check {
  return [`a whole number ${ofUnit(unit)}of at least ${min}`, (value) => isSafe(value) && value >= min]
}

/** A whole number between these, which it may be itself. */
export function wholeBetween(min: number, max: number): Check {
  return [`a whole number from ${min} to ${max}`, (value) => isSafe(value) && value >= min && value <= max]
}

/** A number of at least this, of a unit such as `tokens`, but not Infinity. */
export function finite(min: number, unit?: string): Check {
  return [
    `a finite number ${ofUnit(unit)}of at least ${min}`,
    (value) => Number.isFinite(value) && (value as number) >= min,
  ]
}

function ofUnit(unit: string | undefined): string {
  return unit === undefined ? '' : `of ${unit} `
}

/**
 * Checks an object of options.
 * @throws SpillwayError `INVALID_ARGUMENT` that names the field, the value and what is allowed
 */
export function checkOptions(of: string, options: unknown, checks: Readonly<Record<string, Check>>): void {
  if (!isRecord(options)) throw wrong(of, options, 'an object')
  for (const [key, value] of readable(of, () => Object.entries(options))) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined
    if (check === undefined) {
      throw unknownOption(of, key, Object.keys(checks))
    } else if (value !== undefined) {
      const field = `${of}.${key}`
      readable(field, () => checkGiven(field, value, check))
    }
  }
}

/** @throws SpillwayError for any other value, also for none; `INVALID_ARGUMENT` unless `code` is another */
export function checkGiven(field: string, value: unknown, [allowed, test]: Check, code?: SpillwayErrorCode): void {
  if (!test(value)) throw wrong(field, value, allowed, code)
}

/** @throws SpillwayError for another value; none is allowed. `INVALID_ARGUMENT` unless `code` is another */
export function checkOption(field: string, value: unknown, check: Check, code?: SpillwayErrorCode): void {
  if (value !== undefined) checkGiven(field, value, check, code)
}

/** The words for a value that a state is restored from. */
const SAVED = 'what `toJSON` returned'

/**
 * Returns a state that `toJSON` returned, or its JSON text, as an object.
 * @throws SpillwayError `INVALID_ARGUMENT` for a value that is no object
 */
export function parsedState(state: unknown): Record<string, unknown> {
  const parsed = typeof state === 'string' ? jsonRecord(state) : state
  if (!isRecord(parsed)) throw wrong('state', state, SAVED)
  return parsed
}

/** The error for a part of a state: what it must be may be said more exactly. */
export function wrongState(part: string, value: unknown, expected?: string): SpillwayError {
  return wrong(`state.${part}`, value, expected === undefined ? SAVED : `${expected}, as \`toJSON\` returned it`)
}

export function atLeastZero(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

export function isAboveZero(value: unknown): value is number {
  return atLeastZero(value) && value !== 0
}

/** A text that is not empty. */
export function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isSafe(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY
}

/** One of these words or other plain values. */
export function oneOf(...values: readonly (string | number | null)[]): Check {
  return [listed(values), (value) => values.includes(value as string)]
}

export const noticeLanguage: Check = oneOf(...LANGUAGES)
