/** The lines of an output near the visible ones, read in ranges. */

import type { OutputSource } from 'spillway/view'

export interface OutputLine {
  /** The text without its break; of a long line only the beginning. */
  text: string
  /** Bytes in the file, of a line that is read in windows. */
  bytes: number
  /** Where a line begins whose whole text is not held. */
  fromByte?: number
}

/** Bytes of one range: what is beyond it in a line is read in windows. */
const PAGE = 128 * 1024
/** Lines that are held before those are dropped that are far from the visible ones. */
const MAX_LINES = 3000
/** Bytes of a window of a long line, and how far apart windows begin. */
const [WINDOW, STEP] = [24_576, 8192]
const MAX_WINDOWS = 64
/** A line that no file has: its range says how many there are. */
const BEYOND = Number.MAX_SAFE_INTEGER

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export class Lines {
  /** Number of lines; undefined until they are counted. */
  total: number | undefined
  totalBytes = 0
  private countedBytes = 0
  /** Bytes of the longest line so far. */
  longest = 0
  private readonly held = new Map<number, OutputLine>()
  private readonly windows = new Map<string, Uint8Array>()

  constructor(
    private readonly source: OutputSource,
    private readonly path: string,
  ) {}

  get(line: number): OutputLine | undefined {
    return this.held.get(line)
  }

  /** Number of lines; until they are counted, by the average of those that are held. */
  get count(): number {
    if (this.total !== undefined) return this.total
    let [bytes, last] = [1, 1]
    for (const [number, line] of this.held) {
      bytes += line.bytes + 1
      last = Math.max(last, number)
    }
    return Math.max(last, Math.round((this.totalBytes / bytes) * this.held.size))
  }

  /** True if the output has grown since its lines were counted. */
  get isStale(): boolean {
    return this.total !== undefined && this.countedBytes !== this.totalBytes
  }

  /** The byte at which a line begins. */
  async startOf(line: number): Promise<number> {
    return (await this.source.readRange(this.path, { fromLine: line, lineCount: 1, maxBytes: 4 })).fromByte
  }

  /** Counts the lines, which reads the whole output once. */
  async countAll(): Promise<void> {
    const range = await this.source.readRange(this.path, { fromLine: BEYOND, lineCount: 1 })
    this.countedBytes = range.totalBytes
    // While they were counted, more may have been read.
    this.totalBytes = Math.max(this.totalBytes, range.totalBytes)
    this.total = range.totalLines
  }

  /** Forgets what may have changed by growth: the last line may have been incomplete. */
  grown(totalBytes: number): void {
    this.totalBytes = totalBytes
    for (const [number] of this.held) if (number >= (this.total ?? 1)) this.held.delete(number)
    this.total = undefined
  }

  /** Reads the lines that are missing. Returns true if there were some. */
  async read(from: number, count: number): Promise<boolean> {
    let isNew = false
    for (let at = from; at < from + count && at <= (this.total ?? BEYOND); ) {
      if (this.held.has(at)) {
        at += 1
        continue
      }
      const read = await this.readFrom(at, from + count - at)
      if (read === 0) break
      isNew = true
      at += read
    }
    this.dropFarFrom(from)
    return isNew
  }

  private async readFrom(at: number, lineCount: number): Promise<number> {
    const range = await this.source.readRange(this.path, { fromLine: at, lineCount, maxBytes: PAGE })
    this.totalBytes = range.totalBytes
    if (range.byteCount === 0) return 0
    if (range.partial) {
      const line: OutputLine = { text: range.text, bytes: range.totalBytes - range.fromByte, fromByte: range.fromByte }
      this.hold(at, line)
      line.bytes = (await this.endOf(at)) - range.fromByte
      return 1
    }
    const texts = range.text.split('\n')
    if (texts.at(-1) === '') texts.pop()
    for (const [index, text] of texts.entries()) {
      this.hold(at + index, { text, bytes: text.length > 1000 ? encoder.encode(text).length : text.length })
    }
    return texts.length
  }

  private hold(number: number, line: OutputLine): void {
    this.held.set(number, line)
    this.longest = Math.max(this.longest, line.bytes)
  }

  private async endOf(line: number): Promise<number> {
    const following = await this.source.readRange(this.path, { fromLine: line + 1, lineCount: 1, maxBytes: 4 })
    return following.byteCount > 0 ? following.fromByte - 1 : following.totalBytes
  }

  private dropFarFrom(line: number): void {
    if (this.held.size <= MAX_LINES) return
    for (const [number] of this.held) if (Math.abs(number - line) > MAX_LINES / 4) this.held.delete(number)
  }

  /** The text of a line from a byte on; a promise if it must be read. */
  window(number: number, line: OutputLine, from: number, bytes: number): string | Promise<string> {
    const { fromByte, text } = line
    if (fromByte === undefined || from + bytes <= text.length) return textAt(encoder.encode(text), from, bytes)
    const begin = Math.max(0, Math.floor(from / STEP) * STEP - STEP)
    const key = `${number}:${begin}`
    const known = this.windows.get(key)
    if (known !== undefined) return textAt(known, from - begin, bytes)
    return this.readWindow(key, fromByte + begin, Math.min(WINDOW, line.bytes - begin)).then((read) =>
      textAt(read, from - begin, bytes),
    )
  }

  private async readWindow(key: string, fromByte: number, byteCount: number): Promise<Uint8Array> {
    if (byteCount <= 0) return new Uint8Array()
    const { text, fromByte: begin } = await this.source.readRange(this.path, { fromByte, byteCount })
    const read = encoder.encode(' '.repeat(begin - fromByte) + text)
    if (this.windows.size >= MAX_WINDOWS) this.windows.clear()
    this.windows.set(key, read)
    return read
  }
}

const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Bytes as text, from the next character that is whole. */
function textAt(all: Uint8Array, from: number, bytes: number): string {
  let [start, end] = [from, Math.min(all.length, from + bytes)]
  while (isInside(all[start])) start += 1
  while (isInside(all[end])) end -= 1
  return decoder.decode(all.subarray(start, Math.max(start, end)))
}
