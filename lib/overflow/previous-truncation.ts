/** Markers of earlier truncations: a text that is truncated again must report everything that is missing. */

import { cutWords } from './limits'

const { openings, counted, middle } = cutWords

/** Endings of truncated texts, by profile. */
const SUFFIX = new RegExp(`\\n+(?:${openings.map(literally).join('|')})(\\d{1,15})${counted}[^\\n]*\\]$`)

/** The longest suffix names a path. */
const MAX_SUFFIX_LENGTH = 4_300

/** Returns the number of characters that earlier truncations removed; 0 if there were none. */
export function removedBefore(text: string): number {
  const [suffix = '', removed] = SUFFIX.exec(text.slice(-MAX_SUFFIX_LENGTH)) ?? []
  if (removed === undefined) return 0
  const words = [...suffix].length + (text.includes(middle) ? [...middle].length : 0)
  return Math.max(Number(removed) - words, 0)
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
