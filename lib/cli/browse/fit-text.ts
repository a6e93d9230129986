/** Text in lines of a terminal. Nothing in it moves the cursor. */

import { afterReturns } from '../../ui/carriage-returns'
import { printable } from '../terminal'

/** East Asian characters, and those that are emoji by themselves: terminals show them two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const NARROWEST = /\p{Mn}|\p{Me}/u
/** Makes the character before it an emoji. Terminals differ: some widen that one. */
const AS_EMOJI = '\ufe0f'

function columnsOf(character: string): number {
  if (character === AS_EMOJI) return 1
  return NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}

const shownText = (text: string) => printable(text.replaceAll('\t', '    '))

/** Returns the part of a text that begins at a column and has room in a number of columns. */
export const fitText = (text: string, columns: number, from = 0): string => fitParts([text], columns, from)

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOURS = /(\x1b\[[\d;:]*m)/

/**
 * Returns such a part of a line that a tool printed, as a terminal leaves it. Its colours are kept where there are any, end with it,
 * and conceal nothing.
 */
export function fitLine(line: string, columns: number, from: number, isColoured: boolean): string {
  const parts = afterReturns(line).split(COLOURS)
  if (isColoured && parts.length > 1) return `${fitParts(parts, columns, from)}\x1b[0m`
  return fitText(parts.filter((_, index) => index % 2 === 0).join(''), columns, from)
}

/** Every second part is a sequence, which takes no room. */
function fitParts(parts: readonly string[], columns: number, from: number): string {
  let [at, shown] = [0, '']
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) shown += `${part}\x1b[28m`
    else
      for (const character of shownText(part)) {
        const width = columnsOf(character)
        if (at + width > from + columns) return shown
        if (at >= from) shown += character
        at += width
      }
  }
  return shown
}

/** Returns the whole text, in as many lines as it needs. */
export function wrapText(text: string, columns: number): string[] {
  const lines = ['']
  let at = 0
  for (const character of shownText(text)) {
    const width = columnsOf(character)
    if (character === '\n' || at + width > columns) {
      lines.push('')
      at = 0
    }
    if (character === '\n') continue
    lines[lines.length - 1] += character
    at += width
  }
  return lines
}
