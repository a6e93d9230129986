/** Sizes as people write them. */

import { call, native } from '../native/native'
import { wrong } from '../validation/validate'

/**
 * Returns the number of bytes that a text such as `51200`, `50k` or `1.5MiB` means: each of k, m, g and t is 1,024 of the one
 * before, in either case, with or without `b` or `iB`. Returns `undefined` for every other text, for less than one byte and
 * for more than 2^53 − 1.
 *
 * @throws SpillwayError INVALID_ARGUMENT if it is not text
 */
export function parseSize(size: string): number | undefined {
  if (typeof size !== 'string') throw wrong('size', size, 'a string')
  return call(() => native.sizeInBytes(size)) ?? undefined
}
