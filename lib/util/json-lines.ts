/** Files with one line of JSON for each record. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Records of a file, and the position after the last line that has ended. */
export interface JsonLines<T> {
  records: T[]
  bytes: number
}

/**
 * Reads the records that are complete from a position on; none if the file cannot be read. A line that a killed process left is
 * skipped.
 */
export function readJsonLines<T>(file: string, isWhole: (read: Partial<T>) => boolean, from = 0): JsonLines<T> {
  let content: Buffer
  try {
    content = readFrom(file, from)
  } catch {
    return { records: [], bytes: from }
  }
  const bytes = from + content.lastIndexOf('\n') + 1
  const records = content
    .toString()
    .split('\n')
    .flatMap((line) => {
      try {
        const read = JSON.parse(line) as Partial<T> | null
        return typeof read === 'object' && read !== null && isWhole(read) ? [read as T] : []
      } catch {
        return []
      }
    })
  return { records, bytes }
}

function readFrom(file: string, from: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const content = Buffer.alloc(Math.max(fstatSync(handle).size - from, 0))
    return content.subarray(0, readSync(handle, content, 0, content.length, from))
  } finally {
    closeSync(handle)
  }
}
