/** Recognises saved images and PDFs, whose bytes tell a model nothing as text. */

import type { RangeResult } from '../storage/read'

/** Starts of files as a storage reads them as text: bytes that are not UTF-8 are U+FFFD. */
const STARTS: readonly (readonly [type: string, start: RegExp])[] = [
  ['image/png', /^\uFFFDPNG\r\n/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{1,4}WEBP/],
  ['image/jpeg', /^\uFFFD{4}(?:[\s\S]{1,2}(?:JFIF|Exif)|\0C)/],
  ['application/pdf', /^%PDF-/],
]

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
  const type = STARTS.find(([, start]) => start.test(text))?.[0]
  return type && `${type}, ${totalBytes.toLocaleString('en-US')} bytes`
}
