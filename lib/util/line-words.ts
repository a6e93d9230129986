/** Lines in a sentence. */

/** `line 3`, or `lines 3-5`. */
export function linesFrom(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first}-${last}`
}

/** `1 line`, or `5 lines`. */
export function countedLines(count: number): string {
  return `${count} line${count === 1 ? '' : 's'}`
}
