/** Files with one line of JSON for each record. */

import { readFileSync } from 'node:fs'

/** Reads the records that are complete; none if the file cannot be read. A line that a killed process left is skipped. */
export function readJsonLines<T>(file: string, isWhole: (read: Partial<T>) => boolean): T[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const read = JSON.parse(line) as Partial<T> | null
      return typeof read === 'object' && read !== null && isWhole(read) ? [read as T] : []
    } catch {
      return []
    }
  })
}
