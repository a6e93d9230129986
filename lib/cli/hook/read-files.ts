/** Files that an agent has read in a session: after a compaction it is reminded of them. One line of JSON for each read. */

import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonLines } from '../json-lines'
import type { HookCall } from './payload'

/** A read of a file. */
interface FileRead {
  path: string
  /** The first line, from 1, and the number of lines; missing if the whole file was read. */
  offset?: number
  limit?: number
}

const MAX_BYTES = 64 * 1024
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000
const MAX_LISTED = 30

const READERS = /^(read|read_file|readfile|view|view_file)$/i

const nameOf = (sessionId: string): string => `reads-${sessionId}.jsonl`
const NAMED = /^reads-[\w-]{1,100}\.jsonl$/

/** The read of a call; `undefined` for any other. */
export function readOf({ tool, args }: HookCall): FileRead | undefined {
  if (!READERS.test(tool)) return undefined
  const path = [args.file_path, args.filePath, args.absolute_path, args.path].find((each) => typeof each === 'string')
  if (typeof path !== 'string' || path === '') return undefined
  const number = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined)
  const [offset, limit] = [number(args.offset), number(args.limit)]
  return { path, ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) }
}

/** Notes a read. One write of a line, so that hooks that run at the same time do not mix theirs. */
export function recordRead(dir: string, sessionId: string, read: FileRead): void {
  const file = join(dir, nameOf(sessionId))
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) return
  appendFileSync(file, `${JSON.stringify(read)}\n`, { mode: 0o600 })
}

/** The files that were read, the newest first, with the lines of the last read. Forgets sessions that ended a week ago. */
export function recordedReads(dir: string, sessionId: string): string[] {
  removeOld(dir)
  const latest = new Map<string, FileRead>()
  for (const read of linesOf(join(dir, nameOf(sessionId)))) {
    latest.delete(read.path)
    latest.set(read.path, read)
  }
  return [...latest.values()].reverse().slice(0, MAX_LISTED).map(described)
}

function described({ path, offset, limit }: FileRead): string {
  if (offset === undefined && limit === undefined) return path
  const from = offset ?? 1
  return `${path} (lines ${from} to ${limit === undefined ? 'the end' : from + limit - 1})`
}

const linesOf = (file: string) => readJsonLines<FileRead>(file, ({ path }) => typeof path === 'string')

function removeOld(dir: string): void {
  const names = statSync(dir, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(dir)
  for (const name of names.filter((each) => NAMED.test(each))) {
    const file = join(dir, name)
    const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > MAX_AGE_MS) rmSync(file, { force: true })
  }
}
