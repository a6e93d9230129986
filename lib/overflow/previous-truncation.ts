/** What an earlier cut of a text left in it: a text may be cut again, and then all that went has to be told. */

import { cutWords } from './limits'

const { openings, counted, middle } = cutWords

/** What the profiles end a cut text with. */
const SUFFIX = new RegExp(`\\n+(?:${openings.map(literally).join('|')})(\\d{1,15})${counted}[^\\n]*\\]$`)

/** The longest suffix names a path. */
const LONGEST_SUFFIX = 4_300

/** So many characters more than it has a text had before it was cut; 0 for one that was not. */
export function removedBefore(text: string): number {
  const [suffix = '', removed] = SUFFIX.exec(text.slice(-LONGEST_SUFFIX)) ?? []
  if (removed === undefined) return 0
  const words = [...suffix].length + (text.includes(middle) ? [...middle].length : 0)
  return Math.max(Number(removed) - words, 0)
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
