/** Quoting of words for a POSIX shell. */

/** Puts a word into single quotes, so that a shell reads exactly it. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
