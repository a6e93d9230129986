/** Checks objects of options, one option at a time. */

import { isArray } from '../util/guards'
import { isRecord, isRevoked, listed, readable, unknownOption, wrong } from './validate'

/** Allowed values, as words for the error and as a test. */
export type Check = readonly [allowed: string, test: (value: unknown) => boolean]

export const flag: Check = ['true or false', (value) => typeof value === 'boolean']

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
      if (!readable(field, () => check[1](value))) throw wrong(field, value, check[0])
    }
  }
}

/** A state that `toJSON` gave, or the text of it. */
export function parsedState(state: unknown): Record<string, unknown> {
  if (isRevoked(state)) throw wrong('state', state, 'what `toJSON` returned')
  if (typeof state !== 'string') return Object(state)
  try {
    return Object(JSON.parse(state))
  } catch {
    throw wrong('state', state, 'what `toJSON` returned')
  }
}

export function atLeastZero(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY
}

/** One of these words. */
export function oneOf(...words: readonly string[]): Check {
  return [listed(words), (value) => words.includes(value as string)]
}
