/** What an earlier cut of a text left in it: a text may be cut again, and then all that went has to be told. */

/** What the profiles end a cut text with. */
const SUFFIX =
  /\n+(?:\[\.\.\. |⚠️ \[Content truncated — original was too large for the model's context window\. )(\d{1,15}) more characters[^\n]*\]$/

/** What stands between the two ends of a text. */
const MIDDLE = '\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n'

/** The longest suffix names a path. */
const LONGEST_SUFFIX = 4_300

/** So many characters more than it has a text had before it was cut; 0 for one that was not. */
export function removedBefore(text: string): number {
  const [suffix = '', removed] = SUFFIX.exec(text.slice(-LONGEST_SUFFIX)) ?? []
  if (removed === undefined) return 0
  const words = [...suffix].length + (text.includes(MIDDLE) ? [...MIDDLE].length : 0)
  return Math.max(Number(removed) - words, 0)
}
