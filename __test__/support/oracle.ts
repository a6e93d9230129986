/** Simple rules to compare with, written without a look at the binary, and the texts they are tried on. */

import fc from 'fast-check'
import type { TruncationDirection } from 'spillway'
import { bytesOf } from './outputs'

/** Parts of texts: words, scripts, characters of many parts, breaks, halves of a pair. */
const words = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 14 }) },
  { weight: 2, arbitrary: fc.constantFrom('你好', '世界。', 'é', 'مرحبا', '\u2028', '\u0085', '\ufeff', '\u0000') },
  { weight: 2, arbitrary: fc.constantFrom('😀', '👨‍👩‍👧‍👦', '🇩🇪', '🇩🇪🇫🇷', '👍🏽', 'e\u0301\u0302', 'a\u200d') },
  { weight: 6, arbitrary: fc.constantFrom('\n', '\n', '\r\n', '\r', '\n\n', '\r\n\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\ud800', '\udc00', '\ud83d', '\udc00\ud800') },
)
/** Texts that are hard to cut. */
export const texts = fc.array(words, { maxLength: 40 }).map((all) => all.join(''))

/** The text in the generalised UTF-8 that files hold: a lone surrogate is three bytes. */
export function rawBytes(text: string): Buffer {
  const pieces = [...text].map((character) => {
    const code = character.codePointAt(0)!
    if (code < 0xd800 || code > 0xdfff) return Buffer.from(character)
    return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)])
  })
  return Buffer.concat(pieces)
}

/** Returns the text shown for such bytes: U+FFFD for every lone surrogate. */
export function shownText(bytes: Uint8Array): string {
  const marked = Buffer.from(bytes)
    .toString('latin1')
    .replace(/\xed[\xa0-\xbf][\x80-\xbf]/g, '\xef\xbf\xbd')
  return Buffer.from(marked, 'latin1').toString('utf8')
}

/** The lines of a text without their breaks, and where they begin and end. */
function linesOf(text: string): { from: number; to: number }[] {
  const lines: { from: number; to: number }[] = []
  let from = 0
  while (from < text.length) {
    const at = text.indexOf('\n', from)
    const to = at === -1 ? text.length : at
    lines.push({ from, to: at !== -1 && to > from && text[to - 1] === '\r' ? to - 1 : to })
    from = at === -1 ? text.length : at + 1
  }
  return lines
}

/** The plain rule: as many whole lines as both limits allow, from one end. */
export function wholeLines(
  text: string,
  limits: { maxLines: number; maxBytes: number },
  end: TruncationDirection,
): string {
  const lines = linesOf(text)
  let kept = ''
  for (let count = 1; count <= Math.min(lines.length, limits.maxLines); count += 1) {
    const taken = end === 'head' ? lines.slice(0, count) : lines.slice(-count)
    const piece = text.slice(taken[0]!.from, taken.at(-1)!.to)
    if (bytesOf(piece) > limits.maxBytes) break
    kept = piece
  }
  return kept
}

/** Returns true if a text has line breaks only. */
export const isBlank = (text: string) => /^[\r\n]*$/.test(text)

/** Returns the visible character at an end of a text. */
export function graphemeAt(text: string, end: TruncationDirection): string {
  const all = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)
  return all.at(end === 'tail' ? -1 : 0)!
}

/** Where graphemes end, in units. */
function graphemeEnds(text: string): number[] {
  const segments = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)
  return [...segments].map(({ index, segment }) => index + segment.length)
}

/**
 * The whole rule for one end: whole lines, and if none with text fits, as many characters of the first such line as fit.
 * `undefined` if only breaks could be shown, of which any number will do.
 */
export function cutByHand(
  text: string,
  limits: { maxLines: number; maxBytes: number },
  end: TruncationDirection,
): string | undefined {
  const whole = wholeLines(text, limits, end)
  if (!isBlank(whole)) return whole
  const lines = linesOf(text)
  const hasText = ({ from, to }: { from: number; to: number }) => !isBlank(text.slice(from, to))
  const at = end === 'head' ? lines.findIndex(hasText) : lines.findLastIndex(hasText)
  const line = lines[at]
  if (!line || (end === 'head' ? at + 1 : lines.length - at) > limits.maxLines) return undefined
  const ends = [0, ...graphemeEnds(text)]
  if (end === 'head') {
    const last = ends.findLast((to) => to <= line.to && bytesOf(text.slice(0, to)) <= limits.maxBytes) ?? 0
    return last > line.from ? text.slice(0, last) : undefined
  }
  const stop = lines.at(-1)!.to
  const first = ends.find((from) => from >= line.from && bytesOf(text.slice(from, stop)) <= limits.maxBytes) ?? stop
  return first < line.to ? text.slice(first, stop) : undefined
}
