/** JSON as it comes, also from writers that do not keep to the grammar. */

import { parseExactly } from '../../util/lossless-json'

/** A string, whether it ends or not, or a number that JSON does not know. */
const UNKNOWN_NUMBERS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g

/** The value of a JSON; nothing if it is none. */
export function readJson(json: string): { value: unknown; isMended: boolean } {
  try {
    return parseLeniently(json)
  } catch {
    return { value: undefined, isMended: false }
  }
}

/**
 * Reads JSON as others write it: Python's writer has `NaN` and `Infinity` in it unless it is told not to, and Python's readers take
 * them. They become `null`.
 *
 * @throws SyntaxError for what is no JSON even so
 */
export function parseLeniently(json: string): { value: unknown; isMended: boolean } {
  try {
    return { value: parseExactly(json), isMended: false }
  } catch (error) {
    if (!/NaN|Infinity/.test(json)) throw error
  }
  const mended = json.replace(UNKNOWN_NUMBERS, (token) => (token.startsWith('"') ? token : 'null'))
  return { value: parseExactly(mended), isMended: true }
}
