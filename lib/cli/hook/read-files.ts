/** Files that an agent has read in a session: after a compaction it is reminded of them. One line of JSON for each read. */

import { linesFrom } from '../../util/format'
import type { HookCall } from './payload'
import { addRecord, recordsIn, removeOld, sizeIn } from './session-files'

/** A read of a file. */
interface FileRead {
  path: string
  /** The first line, from 1, and the number of lines; missing if the whole file was read. */
  offset?: number
  limit?: number
}

const MAX_BYTES = 64 * 1024
const MAX_LISTED = 30

const READERS = /^(read|read_file|readfile|view|view_file)$/i

/** The read of a call; `undefined` for any other. */
export function readOf({ tool, args }: HookCall): FileRead | undefined {
  if (!READERS.test(tool)) return undefined
  const path = [args.file_path, args.filePath, args.absolute_path, args.path].find((each) => typeof each === 'string')
  if (typeof path !== 'string' || path === '') return undefined
  const number = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined)
  const [offset, limit] = [number(args.offset), number(args.limit)]
  return { path, ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) }
}

/** Notes a read. */
export function recordRead(dir: string, sessionId: string, read: FileRead): void {
  const file = { kind: 'reads', sessionId } as const
  if (sizeIn(dir, file) <= MAX_BYTES) addRecord(dir, file, read)
}

/** The files that were read, the newest first, with the lines of the last read. Forgets sessions that ended a week ago. */
export function recordedReads(dir: string, sessionId: string): string[] {
  removeOld(dir)
  const latest = new Map<string, FileRead>()
  const isRead = ({ path }: Partial<FileRead>) => typeof path === 'string'
  for (const read of recordsIn<FileRead>(dir, { kind: 'reads', sessionId }, isRead)) {
    latest.delete(read.path)
    latest.set(read.path, read)
  }
  return [...latest.values()].reverse().slice(0, MAX_LISTED).map(described)
}

function described({ path, offset, limit }: FileRead): string {
  if (offset === undefined && limit === undefined) return path
  const from = offset ?? 1
  return `${path} (${limit === undefined ? `lines ${from} to the end` : linesFrom(from, from + limit - 1)})`
}
