/** Messages of JSON-RPC over a stream: one a line, of any length. */

import { isRecord } from '../../util/guards'
import { stringifyLossless } from '../../util/lossless-json'
import { Skimmer } from './json-skeleton'
import { readJson } from './lenient-json'
import { TempFile } from './temp-file'
import type { Message } from './types'

/** Longer messages go through a file. */
const MEMORY_BYTES = 2 ** 22
const LINE_FEED = 10

/** A message as it came, with its line feed. */
export type Line = {
  /** The parsed message, with stand-ins for long strings; `undefined` if it is not JSON. */
  value: unknown
  /** It is not strict JSON: it has numbers that JSON does not know. */
  isMended: boolean
  /** Its line feed came. */
  isWhole: boolean
} & ({ bytes: Buffer; spool?: undefined; skim?: undefined } | { spool: TempFile; skim: Skimmer; bytes?: undefined })

/** Yields the messages of a stream in order; a slow reader slows the writer down. */
export async function* linesOf(
  source: AsyncIterable<Buffer | string>,
  { folders, mark, dropsMembers }: { folders: readonly string[]; mark: string; dropsMembers: boolean },
): AsyncGenerator<Line> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let long: { spool: TempFile; skim: Skimmer } | undefined
  const take = (bytes: Buffer) => {
    if (long) {
      long.spool.append(bytes)
      long.skim.push(bytes)
      return
    }
    waiting.push(bytes)
    waitingBytes += bytes.length
    if (waitingBytes <= MEMORY_BYTES) return
    long = { spool: new TempFile(folders), skim: new Skimmer(mark, dropsMembers) }
    const all = waiting
    waiting = []
    waitingBytes = 0
    for (const each of all) take(each)
  }
  const end = (isWhole: boolean): Line | undefined => {
    const line = long
    if (line) {
      long = undefined
      return { ...line, ...line.skim.parse(), isWhole }
    }
    if (waitingBytes === 0) return undefined
    const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    return { bytes, ...readJson(bytes.toString('utf8')), isWhole }
  }
  try {
    for await (const piece of source) {
      const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
      let from = 0
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        take(chunk.subarray(from, at + 1))
        from = at + 1
        const line = end(true)
        if (line) yield line
      }
      if (from < chunk.length) take(chunk.subarray(from))
    }
    const last = end(false)
    if (last) yield last
  } finally {
    long?.spool.close()
  }
}

/** The message, if it is one. */
export function asMessage(value: unknown): Message | undefined {
  return isRecord(value) ? (value as Message) : undefined
}

/** A string, with the colon after it if it is a name, or a bracket. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[[\]{}]/g

/**
 * True if an object in this JSON has two members with one name: readers differ in which of them counts. Where there are
 * none, a message can go on as it came.
 */
export function hasRepeatedNames(json: string): boolean {
  const open: Set<unknown>[] = []
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      const names = open.at(-1)
      const name: unknown = JSON.parse(token.slice(0, -colon.length))
      if (names === undefined || names.has(name)) return true
      names.add(name)
    }
  }
  return false
}

/** The messages of a batch, each a line again. */
export function* partsOf(messages: readonly unknown[], line: Line): Generator<Buffer | string> {
  for (const message of messages) {
    if (line.spool === undefined) yield stringifyLossless(message) ?? 'null'
    // A piece is read over by the next.
    else for (const piece of spliced(message, line)) yield Buffer.from(piece)
    yield '\n'
  }
}

/** The JSON of a message that was skimmed, with what its stand-ins stand for. */
export function* spliced(value: unknown, { spool, skim }: { spool: TempFile; skim: Skimmer }): Generator<Buffer> {
  const json = stringifyLossless(value) ?? 'null'
  let from = 0
  for (const { index, length, range } of skim.standIns(json)) {
    yield Buffer.from(json.slice(from, index))
    from = index + length
    if (range.kind === 'string') yield QUOTE
    yield* spool.read(range.from, range.to)
    if (range.kind === 'string') yield QUOTE
  }
  yield Buffer.from(json.slice(from))
}

const QUOTE = Buffer.from('"')
