/**
 * The part of a long result by which two of them are compared. A command can print 100 MB, and reading all of it would hold up the
 * process at every call, for a difference that no model gets to see: it reads the ends of such a text.
 */

/** Texts of a result with up to this number of UTF-16 units in total are compared in full. */
const EXACT_UNITS = 2 ** 22
/** JSON in a text is compared in full up to here: what makes equal results differ can only be left out of what parses. */
const EXACT_JSON_UNITS = 2 ** 24

/** UTF-16 units of each end of a longer text. */
const END_UNITS = 2 ** 16
/** Number of windows between the ends, and their UTF-16 units. */
const MAX_WINDOWS = 32
const WINDOW_UNITS = 2 ** 12

/** Returns a function that shortens the texts of one result as far as they are long. */
export function comparedTexts(): (text: string) => string {
  let left = EXACT_UNITS
  return (text) => {
    const { length } = text
    if (length <= left || length <= 2 * END_UNITS) {
      left = Math.max(0, left - length)
      return text
    }
    if (length <= EXACT_JSON_UNITS && /^\s*["[{]/.test(text.slice(0, 1000))) return text
    return endsAndWindows(text)
  }
}

/**
 * The ends of a text, and whole lines at equal distances between them. Whole lines, so that the parts differ little for a text in
 * which only durations differ: the binary leaves those out.
 */
function endsAndWindows(text: string): string {
  const parts = [text.slice(0, END_UNITS)]
  const distance = 2 ** Math.ceil(Math.log2(text.length / MAX_WINDOWS))
  for (let at = distance; at < text.length - END_UNITS; at += distance) {
    const window = text.slice(at, at + WINDOW_UNITS)
    const [first, last] = [window.indexOf('\n'), window.lastIndexOf('\n')]
    parts.push(first < last ? window.slice(first + 1, last) : window)
  }
  parts.push(wholeLines(text.slice(-END_UNITS)))
  return parts.join('\n').toWellFormed()
}

/** A text from its first whole line on. */
function wholeLines(text: string): string {
  return text.slice(text.indexOf('\n') + 1)
}
