/** Lenient parsing of JSON from writers that do not follow the grammar. */

import { parseLossless } from '../../util/lossless-json'

/** A string, whether it ends or not, or a number that JSON does not know. */
const UNKNOWN_NUMBERS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g

/** The value of a JSON text; `undefined` for invalid JSON. */
export function readJson(json: string): { value: unknown; isMended: boolean } {
  try {
    return parseLeniently(json)
  } catch {
    return { value: undefined, isMended: false }
  }
}

/**
 * Reads JSON as others write it: Python's writer emits `NaN` and `Infinity` by default, and Python's readers accept
 * them. They become `null`.
 *
 * @throws SyntaxError if the text is not JSON even then
 */
export function parseLeniently(json: string): { value: unknown; isMended: boolean } {
  try {
    return { value: parseLossless(json), isMended: false }
  } catch (error) {
    if (!/NaN|Infinity/.test(json)) throw error
  }
  const mended = json.replace(UNKNOWN_NUMBERS, (token) => (token.startsWith('"') ? token : 'null'))
  return { value: parseLossless(mended), isMended: true }
}
