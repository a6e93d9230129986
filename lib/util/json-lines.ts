/** Files with one line of JSON for each record, that several processes append to. */

import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
const LINE_FEED = 0x0a

/** Records of a file, and the position after the last line that has ended. */
export interface JsonLines<T> {
  records: T[]
  bytes: number
}

/** Appends a record: in one write, which the system does not mix with those of other processes. */
export function appendJsonLine(file: string, record: object): void {
  const handle = openSync(file, APPEND, 0o600)
  try {
    const last = Buffer.alloc(1, LINE_FEED)
    const { size } = fstatSync(handle)
    if (size > 0) readSync(handle, last, 0, 1, size - 1)
    // A process that was killed may have left a part of a line.
    writeSync(handle, `${last[0] === LINE_FEED ? '' : '\n'}${JSON.stringify(record)}\n`)
  } finally {
    closeSync(handle)
  }
}

/** Reads the records from a position on whose lines have ended; none if the file cannot be read. Other lines are skipped. */
export function readJsonLines<T>(file: string, isWhole: (read: Partial<T>) => boolean, from = 0): JsonLines<T> {
  let content: Buffer
  try {
    content = readFrom(file, from)
  } catch {
    return { records: [], bytes: from }
  }
  const ended = content.lastIndexOf(LINE_FEED) + 1
  const records = content
    .toString('utf8', 0, ended)
    .split('\n')
    .flatMap((line) => {
      try {
        const read = JSON.parse(line) as Partial<T> | null
        return typeof read === 'object' && read !== null && isWhole(read) ? [read as T] : []
      } catch {
        return []
      }
    })
  return { records, bytes: from + ended }
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
