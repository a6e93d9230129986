/** Text in a line of a terminal. */

import { printable } from '../terminal'

/** East Asian and pictographic characters, which terminals show two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const NARROWEST = /\p{Mn}|\p{Me}/u

function columnsOf(character: string): number {
  return NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}

/** Returns the part of a text that begins at a column and has room in a number of columns. Nothing in it moves the cursor. */
export function fitText(text: string, columns: number, from = 0): string {
  let [at, shown] = [0, '']
  for (const character of printable(text.replaceAll('\t', '    ').replaceAll('\r', ''))) {
    const width = columnsOf(character)
    if (at + width > from + columns) break
    if (at >= from) shown += character
    at += width
  }
  return shown
}
