/** The bytes of an output that a search has in memory, and which of them it may search now. */

import { lineFeedsIn } from './line-index'
import type { RemoteOutput } from './range'

const LINE_FEED = 10

/** Bytes of lines before the searched ones that are kept to be shown, and of lines after them that are waited for. */
const MAX_CONTEXT_BYTES = 2 ** 21

/** Context lines around a match. */
export interface ContextLines {
  before: number
  after: number
}

/** A window that slides over an output: lines that were searched, lines to be searched, and lines that can only be shown. */
export class SearchWindow {
  /** Bytes of the whole output; known after the first {@link extend}. */
  total = Number.POSITIVE_INFINITY
  bytes: Buffer = Buffer.alloc(0)
  /** Index in the bytes of the first line that was not searched. */
  start = 0
  /** Byte of the output at which {@link bytes} begins. */
  base: number
  /** The last line that was searched has no line feed. */
  endsOpen = false
  private prefetched: Promise<Uint8Array> | undefined
  private fetchedTo: number

  /**
   * @param byte the first byte to search
   * @param line the number of the line that begins there
   */
  constructor(
    private readonly output: RemoteOutput,
    private readonly windowBytes: number,
    private readonly context: ContextLines,
    private readonly byte: number,
    public line: number,
    private readonly signal?: AbortSignal,
  ) {
    this.base = Math.max(0, byte - (context.before > 0 ? MAX_CONTEXT_BYTES : 0))
    this.fetchedTo = this.base
  }

  /** True if the window reaches the end of the output. */
  get isAtEnd(): boolean {
    return this.base + this.bytes.length >= this.total
  }

  /** Fetches the next bytes, and begins to fetch those after them. */
  async extend(): Promise<void> {
    const isFirst = this.fetchedTo === this.base && this.bytes.length === 0
    const next = await (this.prefetched ?? this.fetch())
    this.bytes = this.bytes.length === 0 ? asBuffer(next) : Buffer.concat([this.bytes, next])
    if (isFirst) this.toFirstLine()
    this.prefetched = this.fetchedTo < this.total ? this.fetch() : undefined
    // It may fail after the search has ended.
    this.prefetched?.catch(() => {})
  }

  private async fetch(): Promise<Uint8Array> {
    const from = this.fetchedTo
    const to = Math.max(from, this.byte) + this.windowBytes
    this.fetchedTo = to
    const { bytes, total } = await this.output.fetch(from, to, this.signal)
    this.total = total
    return bytes
  }

  /** Moves to the line that the search begins with, and drops the part of a line at the beginning of the window. */
  private toFirstLine(): void {
    this.start = Math.min(this.byte - this.base, this.bytes.length)
    if (this.base > 0) this.drop(this.firstShown(0, this.start))
  }

  /** Index of the first whole line between two indexes; of the first byte if one line fills all that is kept. */
  private firstShown(from: number, to: number): number {
    const whole = this.bytes.indexOf(LINE_FEED, from) + 1
    if (whole > 0 && whole < to) return whole
    // The core shows the end of a line of this length, and nothing before it.
    return to - from >= MAX_CONTEXT_BYTES ? from : to
  }

  /** The end of the lines that can be searched now; the start if there is none. */
  get end(): number {
    if (this.isAtEnd) return this.bytes.length
    let end = this.bytes.lastIndexOf(LINE_FEED)
    for (let left = this.context.after; left > 0 && end >= this.start; left -= 1) {
      // From -1 it would be looked for from the end.
      end = end === 0 ? -1 : this.bytes.lastIndexOf(LINE_FEED, end - 1)
    }
    const enough = this.bytes.indexOf(LINE_FEED, Math.max(this.start, this.bytes.length - MAX_CONTEXT_BYTES))
    if (this.bytes.length - this.start > MAX_CONTEXT_BYTES) end = Math.max(end, enough)
    return end < this.start ? this.start : end + 1
  }

  /** True if the window holds so much of one line that it has to be searched before its end is known. */
  get isInLongLine(): boolean {
    return !this.isAtEnd && this.bytes.length - this.start > MAX_CONTEXT_BYTES && this.end === this.start
  }

  /** Notes that the lines up to an index are searched, and keeps only those of them that may be shown. */
  pass(end: number): void {
    this.line += lineFeedsIn(this.bytes, this.start, end)
    if (end > this.start) this.endsOpen = this.bytes[end - 1] !== LINE_FEED
    this.start = end
    let keep = end
    for (let left = this.context.before; left > 0 && keep > 0; left -= 1) keep = this.lineStart(keep - 1)
    this.drop(end - keep > MAX_CONTEXT_BYTES ? this.firstShown(end - MAX_CONTEXT_BYTES, end) : keep)
  }

  /** Index at which the line begins that the byte at an index is in. */
  lineStart(at: number): number {
    return at === 0 ? 0 : this.bytes.lastIndexOf(LINE_FEED, at - 1) + 1
  }

  /** Forgets the first bytes. */
  drop(count: number): void {
    this.bytes = this.bytes.subarray(count)
    this.base += count
    this.start -= count
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
