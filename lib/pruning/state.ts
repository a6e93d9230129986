/** The state of a pruner, as it is stored. */

import { isArray } from '../util/guards'
import { atLeastZero, type Check, parsedState, strings, wrongState } from '../validation/options'
import { isObserved, type ObservedState } from './observed-usage'
import type { Trim } from './trim'

/** The state of an earlier pruner, as it was read. */
export interface RestoredPruner {
  placeholders: Map<string, string>
  trims: Map<string, Trim>
  carried: readonly (number | null)[]
  sizes: readonly number[]
  adopted: Set<string>
  withoutThinking: Set<number>
  unseenFrom: number | undefined
  clearedByProvider: number
  restored: Set<string>
}

/** State of a pruner, as JSON. */
export interface HistoryPrunerState {
  version: 1
  /**
   * Placeholders, by the key of the item.
   * @internal
   */
  placeholders: [key: string, text: string][]
  /**
   * Limits of trimmed items, in UTF-16 units of their start and end, and the texts between and after them.
   * @internal
   */
  trims: [key: string, head: number, tail: number, middle: string, suffix: string][]
  /**
   * The account, in the binary's terms.
   * @internal
   */
  account: object
  /**
   * For each item, the number of requests that carried it since it could have been pruned.
   * @internal
   */
  carried: (number | null)[]
  /**
   * A number per message of the last request by which it is known again.
   * @internal
   */
  sizes: number[]
  /**
   * The keys of items that are left out although the model may not have seen them: a `ContextManager` had no room.
   * @internal
   */
  adopted?: string[]
  /**
   * Indexes of the messages whose signed reasoning is removed.
   * @internal
   */
  withoutThinking?: number[]
  /**
   * Where every call is an element of its own: the model has not seen the elements from this one on.
   * @internal
   */
  unseenFrom?: number
  /**
   * Number of results that the provider leaves out by itself.
   * @internal
   */
  clearedByProvider?: number
  /**
   * The keys of results that have their text back because the provider cleared what they pointed to.
   * @internal
   */
  restored?: string[]
  /**
   * Facts learned from the usage of responses.
   * @internal
   */
  observed?: ObservedState
}

const TRIM_TYPES = 'string,number,number,string,string'

const isPair = (value: unknown) => isArray(value) && value.length === 2 && strings[1](value)
const isTrim = (value: unknown) =>
  isArray(value) && value.length === 5 && value.map((part) => typeof part).join() === TRIM_TYPES
const isNumberOrNull = (value: unknown) => value === null || atLeastZero(value)
const arrayOf = (test: (value: unknown) => boolean) => (value: unknown) => isArray(value) && value.every(test)

type StateCheck = readonly [field: string, ...Check]

const NEEDED: readonly StateCheck[] = [
  ['version', '1', (value) => value === 1],
  ['placeholders', 'pairs of strings', arrayOf(isPair)],
  ['account', 'an object', (value) => typeof value === 'object' && value !== null],
  ['carried', 'an array of numbers and null', arrayOf(isNumberOrNull)],
  ['sizes', 'an array of numbers', arrayOf(atLeastZero)],
]

const OPTIONAL: readonly StateCheck[] = [
  ['trims', 'arrays of a string, two numbers and two strings', arrayOf(isTrim)],
  ['adopted', ...strings],
  ['withoutThinking', 'an array of numbers', arrayOf(atLeastZero)],
  ['unseenFrom', 'a number', atLeastZero],
  ['clearedByProvider', 'a number', atLeastZero],
  ['restored', ...strings],
  ['observed', 'an object', isObserved],
]

/** @throws SpillwayError `INVALID_ARGUMENT` that names the field */
export function readPrunerState(state: unknown): HistoryPrunerState {
  const given = parsedState(state)
  for (const [field, allowed, test] of NEEDED) {
    if (!test(given[field])) throw wrongState(field, given[field], allowed)
  }
  for (const [field, allowed, test] of OPTIONAL) {
    if (given[field] !== undefined && !test(given[field])) throw wrongState(field, given[field], allowed)
  }
  const { trims = [], ...rest } = given as unknown as HistoryPrunerState
  return { ...rest, trims }
}
