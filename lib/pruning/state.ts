/** The state of a pruner, as it is stored. */

import { isArray } from '../util/guards'
import { parsedState, wrongState } from '../validation/options'
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

/** @throws SpillwayError `INVALID_ARGUMENT` that names the field */
export function readPrunerState(state: unknown): HistoryPrunerState {
  const given = parsedState(state)
  const {
    version,
    placeholders,
    trims = [],
    account,
    carried,
    sizes,
    adopted = [],
    withoutThinking = [],
    unseenFrom = 0,
    clearedByProvider = 0,
    restored = [],
    observed,
  } = given
  const isPair = (pair: unknown) => isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')
  const isTrim = (trim: unknown) =>
    isArray(trim) && trim.length === 5 && trim.map((value) => typeof value).join() === TRIM_TYPES
  const isNumber = (value: unknown) => typeof value === 'number' && value >= 0
  const problem =
    version !== 1
      ? ['version', version, '1']
      : !isArray(placeholders) || !placeholders.every(isPair)
        ? ['placeholders', placeholders, 'pairs of strings']
        : !isArray(trims) || !trims.every(isTrim)
          ? ['trims', trims, 'arrays of a string, two numbers and two strings']
          : !isArray(carried) || !carried.every((value) => value === null || isNumber(value))
            ? ['carried', carried, 'an array of numbers and null']
            : !isArray(sizes) || !sizes.every(isNumber)
              ? ['sizes', sizes, 'an array of numbers']
              : !isArray(adopted) || !adopted.every((key) => typeof key === 'string')
                ? ['adopted', adopted, 'an array of strings']
                : !isArray(withoutThinking) || !withoutThinking.every(isNumber)
                  ? ['withoutThinking', withoutThinking, 'an array of numbers']
                  : !isNumber(unseenFrom)
                    ? ['unseenFrom', unseenFrom, 'a number']
                    : !isNumber(clearedByProvider)
                      ? ['clearedByProvider', clearedByProvider, 'a number']
                      : !isArray(restored) || !restored.every((key) => typeof key === 'string')
                        ? ['restored', restored, 'an array of strings']
                        : typeof account !== 'object' || account === null
                          ? ['account', account, 'an object']
                          : observed !== undefined && !isObserved(observed)
                            ? ['observed', observed, 'an object']
                            : undefined
  if (problem !== undefined) {
    const [field, value, allowed] = problem as [string, unknown, string]
    throw wrongState(field, value, allowed)
  }
  return { ...(given as unknown as HistoryPrunerState), trims: trims as HistoryPrunerState['trims'] }
}
