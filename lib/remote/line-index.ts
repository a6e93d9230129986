/**
 * Where lines begin in a large output: the number of line feeds before every MiB. It is made while an output is uploaded and kept
 * beside it, so that any line is found with one more request. A digest over it and the key of the output tells an index that was damaged,
 * edited or copied from another output. It is no signature: a program that may write to the bucket could compute it, and could as well
 * write another output. Therefore the bytes that are read for a line must agree with the index, too.
 */

import { sha256 } from '../util/crypto'

/** Bytes between two entries. */
export const STRIDE = 2 ** 20

const LINE_FEED = 10

/** The index of one output. */
export interface LineIndex {
  /** Bytes of the output. */
  size: number
  /** Line feeds before each stride. */
  before: number[]
  /** Line feeds of the whole output. */
  lineFeeds: number
  /** The last line has no line feed. */
  isOpen: boolean
  /** Bytes of the output have agreed with it. */
  isChecked?: boolean
}

/** Counts the lines of an output piece by piece. */
export class LineCounter {
  private readonly before = [0]
  private size = 0
  private lineFeeds = 0
  private last = LINE_FEED

  /** Counts the next bytes. */
  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + STRIDE - (this.size % STRIDE))
      this.lineFeeds += lineFeedsIn(bytes, from, to)
      this.size += to - from
      if (this.size % STRIDE === 0) this.before.push(this.lineFeeds)
      from = to
    }
    this.last = bytes.at(-1) ?? this.last
  }

  /** Returns the index of all that was counted. */
  index(): LineIndex {
    const { size, before, lineFeeds } = this
    return { size, before: [...before], lineFeeds, isOpen: this.last !== LINE_FEED, isChecked: true }
  }
}

/** Counts the line feeds between two indexes. */
export function lineFeedsIn(bytes: Uint8Array, from: number, to: number): number {
  let found = 0
  for (let at = from; at < to; at += 1) if (bytes[at] === LINE_FEED) found += 1
  return found
}

/** Where a line begins. */
export type LinePlace =
  /** In the stride that begins at this byte, after as many line feeds. */
  | { stride: number; lineFeeds: number }
  /** The output has fewer lines. */
  | 'beyond'

/** Finds a line, counted from 1. */
export function placeOfLine(index: LineIndex, line: number): LinePlace {
  const wanted = line - 1
  if (wanted > index.lineFeeds) return 'beyond'
  // The last stride with fewer line feeds before it than the line needs.
  let [low, high] = [0, index.before.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (index.before[middle]! < wanted) low = middle
    else high = middle
  }
  return { stride: low * STRIDE, lineFeeds: wanted - index.before[low]! }
}

/**
 * Returns true if bytes from the beginning of a stride on have the line feeds that the index says, as far as strides are complete.
 * @param total bytes of the output
 */
export function agrees(index: LineIndex, stride: number, bytes: Uint8Array, total: number): boolean {
  if (total !== index.size) return false
  const { before, lineFeeds, isOpen } = index
  for (let from = 0, at = stride / STRIDE; from < bytes.length; from += STRIDE, at += 1) {
    const isLast = stride + from + STRIDE > total
    if (from + STRIDE > bytes.length && !(isLast && stride + bytes.length === total)) return true
    const expected = (isLast ? lineFeeds : before[at + 1]!) - before[at]!
    if (lineFeedsIn(bytes, from, Math.min(bytes.length, from + STRIDE)) !== expected) return false
    if (isLast && (bytes.at(-1) !== LINE_FEED) !== isOpen) return false
  }
  return true
}

/** Returns the index of an output as it is saved. */
export function encodeIndex(key: string, { size, before, lineFeeds, isOpen }: LineIndex): Uint8Array {
  const counts = before.slice(1).map((count, at) => (count - before[at]!).toString(36))
  const known = { size, lineFeeds, isOpen, counts: counts.join(' ') }
  return Buffer.from(JSON.stringify({ version: 2, ...known, digest: digestOf(key, known) }))
}

interface SavedIndex {
  size: number
  lineFeeds: number
  isOpen: boolean
  counts: string
}

function digestOf(key: string, { size, lineFeeds, isOpen, counts }: SavedIndex): string {
  return sha256(JSON.stringify([key, size, lineFeeds, isOpen, counts])).slice(0, 32)
}

/** Returns the saved index of an output, or nothing if the bytes cannot be it. */
export function decodeIndex(key: string, bytes: Uint8Array): LineIndex | undefined {
  try {
    const saved = JSON.parse(Buffer.from(bytes).toString('utf8'))
    const { version, size, lineFeeds, isOpen, counts, digest } = saved
    const before = [0]
    for (const count of counts === '' ? [] : counts.split(' ')) before.push(before.at(-1)! + Number.parseInt(count, 36))
    const isPossible =
      version === 2 &&
      Number.isSafeInteger(size) &&
      Number.isSafeInteger(lineFeeds) &&
      typeof isOpen === 'boolean' &&
      digest === digestOf(key, saved) &&
      before.length === Math.floor(size / STRIDE) + 1 &&
      before.every((count, at) => count >= 0 && count <= at * STRIDE && count >= (before[at - 1] ?? 0)) &&
      lineFeeds >= before.at(-1)! &&
      lineFeeds <= size
    return isPossible ? { size, before, lineFeeds, isOpen } : undefined
  } catch {
    return undefined
  }
}
