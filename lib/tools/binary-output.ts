/** Recognises saved images and PDFs, whose bytes tell a model nothing as text. */

import type { RangeResult } from '../storage/read'
import { typeOfText } from '../util/file-signatures'
import { numberText } from '../util/format'

/** Bytes in which a start is looked for. */
const START_BYTES = 16

/** True if a text shows bytes that no text has. */
export function isBinary(text: string): boolean {
  return /[\uFFFD\0]/.test(text)
}

/**
 * Says what a saved output is whose bytes are no text, such as `image/png, 1,234 bytes`; `undefined` for any other.
 * @param read reads a range of the output
 */
export async function binaryWords(
  read: (range: { fromByte: number; byteCount: number }) => Promise<RangeResult>,
): Promise<string | undefined> {
  const { text, totalBytes } = await read({ fromByte: 0, byteCount: START_BYTES })
  const type = typeOfText(text)
  return type && `${type}, ${numberText(totalBytes)} bytes`
}
