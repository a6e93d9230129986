/** Facts about a saved output: how it differs from the original, and whether its path is printable. */

import type { SavedPart } from '../types'

/** Under this name a storage of ours says how what it just saved differs from the output. */
export const RECEIPT = Symbol('receipt')

/** How what was saved differs from the output. */
export interface Receipt {
  part?: SavedPart
  redactions?: number
}

/** No path or URL is longer; a notice must leave room for the text. */
const MAX_PLACE_UNITS = 4096

/** Characters that end a line, or hide or reorder text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f]/u

/** True if the path that a storage returned fits into one line of a notice. */
export function isPlace(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && path.length <= MAX_PLACE_UNITS && !UNPRINTABLE.test(path)
}
