/**
 * Reads a message of any length as it comes in and keeps its skeleton: the same JSON with short stand-ins for what is long, so
 * that `JSON.parse` shows what the message is about, and memory does not depend on its size.
 */

import { stringifyLossless } from '../../util/lossless-json'
import { isRecord } from '../../validation/validate'
import { readJson } from './lenient-json'

/** Longest string that stays in the skeleton, in bytes. */
const LONG_STRING = 2 ** 14
/** Maximum bytes of the skeleton. */
const MAX_BYTES = 2 ** 21
/** Values that are nested deeper are left out as a whole. */
const DEEPEST = 200

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Bytes of the message: of a string what is between the quotes, of a value all of it. */
export interface Range {
  kind: 'string' | 'value'
  from: number
  to: number
}

/** A container that is open. */
interface Open {
  /** Where it begins in the skeleton, and in the message. */
  at: number
  from: number
  /** How many ranges there were before it. */
  ranges: number
}

export class Skimmer {
  readonly ranges: Range[] = []
  private skeleton = Buffer.allocUnsafe(2 ** 16)
  private length = 0
  /** Bytes of the message so far. */
  private offset = 0
  private readonly open: Open[] = []
  /** Containers that are open in the one that is left out, itself included. */
  private skipped = 0
  private inString = false
  /** Where the string begins in the message and in the skeleton, and how much of it there is. */
  private stringFrom = 0
  private stringAt = 0
  private stringBytes = 0
  /** The last byte of the string so far was a backslash that is not escaped itself. */
  private isEscaped = false
  /** Not even the outline has room. */
  private isLost = false

  /**
   * @param mark what no message contains: stand-ins begin with it
   * @param dropsMembers whether of a message with too many members those that mean nothing may go
   */
  constructor(
    private readonly mark: string,
    private readonly dropsMembers = false,
  ) {}

  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) at = this.inString ? this.string(bytes, at) : this.structure(bytes, at)
    this.offset += bytes.length
  }

  /** The value of the skeleton; nothing if it could not be kept, or is not JSON. */
  parse(): { value: unknown; isMended: boolean } {
    if (this.isLost) return { value: undefined, isMended: false }
    return readJson(this.skeleton.toString('utf8', 0, this.length))
  }

  /** The strings that stand-ins replace. */
  rangeOf(value: unknown): Range | undefined {
    if (typeof value !== 'string' || !value.startsWith(this.mark)) return undefined
    return this.ranges[Number(value.slice(this.mark.length))]
  }

  /** Where stand-ins are in the JSON of a skeleton. */
  *standIns(json: string): Generator<{ index: number; length: number; range: Range }> {
    const start = `"${this.mark}`
    for (let index = json.indexOf(start); index !== -1; index = json.indexOf(start, index + 1)) {
      const end = json.indexOf('"', index + start.length) + 1
      const range = this.rangeOf(json.slice(index + 1, end - 1))
      if (range) yield { index, length: end - index, range }
    }
  }

  /** Goes over what is outside of strings, up to the start of one. */
  private structure(bytes: Buffer, start: number): number {
    let from = start
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at]!
      if (byte === QUOTE) {
        this.copy(bytes, from, at)
        this.beginString(this.offset + at + 1)
        return at + 1
      }
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        this.copy(bytes, from, at)
        this.enter(this.offset + at)
        from = at
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        this.copy(bytes, from, at + 1)
        this.leave(this.offset + at + 1)
        from = at + 1
      }
    }
    this.copy(bytes, from, bytes.length)
    return bytes.length
  }

  private enter(from: number): void {
    if (this.skipped > 0) {
      this.skipped += 1
      return
    }
    this.open.push({ at: this.length, from, ranges: this.ranges.length })
    if (this.open.length > DEEPEST) this.skip(this.open.length - 1)
  }

  private leave(to: number): void {
    if (this.skipped === 0) {
      this.open.pop()
      return
    }
    this.skipped -= 1
    const container = this.skipped === 0 ? this.open.pop() : undefined
    if (container) this.standIn('value', container.from, to)
  }

  /** Leaves out a container that is open, with everything that is open in it. */
  private skip(index: number): void {
    const container = this.open[index]!
    this.skipped = this.open.length - index
    this.open.length = index + 1
    this.length = container.at
    this.ranges.length = container.ranges
  }

  /** Skips a string and its closing quote. */
  private string(bytes: Buffer, start: number): number {
    let end = start
    for (;;) {
      end = bytes.indexOf(QUOTE, end)
      const upTo = end === -1 ? bytes.length : end
      this.isEscaped = endsEscaped(bytes, start, upTo, this.isEscaped)
      if (end === -1 || !this.isEscaped) break
      // The quote belongs to the text.
      this.isEscaped = false
      this.keepText(bytes, start, end + 1)
      start = end + 1
      end = start
    }
    const upTo = end === -1 ? bytes.length : end
    this.keepText(bytes, start, upTo)
    if (end === -1) return upTo
    this.endString(this.offset + end)
    return end + 1
  }

  private beginString(from: number): void {
    this.inString = true
    this.isEscaped = false
    this.stringFrom = from
    this.stringBytes = 0
    this.stringAt = this.length
    this.copy(QUOTES, 0, 1)
  }

  private keepText(bytes: Buffer, from: number, to: number): void {
    if (this.skipped > 0 || this.stringBytes > LONG_STRING) return
    this.stringBytes += to - from
    if (this.stringBytes > LONG_STRING) this.length = this.stringAt
    else this.copy(bytes, from, to)
  }

  private endString(to: number): void {
    this.inString = false
    if (this.skipped > 0) return
    if (this.stringBytes > LONG_STRING) this.standIn('string', this.stringFrom, to)
    else this.copy(QUOTES, 0, 1)
  }

  private standIn(kind: Range['kind'], from: number, to: number): void {
    const text = Buffer.from(JSON.stringify(`${this.mark}${this.ranges.length}`))
    this.ranges.push({ kind, from, to })
    this.copy(text, 0, text.length)
  }

  private copy(bytes: Buffer, from: number, to: number): void {
    if (this.skipped > 0 || this.isLost || to <= from) return
    const length = this.length + to - from
    if (length > MAX_BYTES) {
      if (this.makeRoom()) this.copy(bytes, from, to)
      return
    }
    if (length > this.skeleton.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.skeleton.length, length))
      this.skeleton.copy(larger, 0, 0, this.length)
      this.skeleton = larger
    }
    bytes.copy(this.skeleton, this.length, from, to)
    this.length = length
  }

  /**
   * Leaves out the innermost container that has most of it; of the message itself the members that mean nothing. Answers whether
   * what was to be copied still has to be.
   */
  private makeRoom(): boolean {
    const hasMost = ({ at }: Open) => this.length - at > MAX_BYTES / 2
    const index = this.open.findLastIndex((container, depth) => depth > 1 && hasMost(container))
    if (index > 1) this.skip(index)
    else if (this.open.length > 1) this.skip(1)
    else if (this.dropsMembers && this.dropMembers()) return true
    else this.isLost = true
    return false
  }

  /** Keeps only those members of the message that are known, so that many others cannot hide what it is. */
  private dropMembers(): boolean {
    // The part of the next member that has arrived is kept as it is.
    const end = this.inString ? this.stringAt : this.length
    const comma = lastComma(this.skeleton, end)
    if (comma <= 0) return false
    const { value } = readJson(`${this.skeleton.toString('utf8', 0, comma)}}`)
    if (!isRecord(value)) return false
    const known = Object.entries(value).filter(([name]) => KNOWN.has(name))
    const kept = Buffer.from((stringifyLossless(Object.fromEntries(known)) ?? '{}').slice(0, -1))
    const begun = this.skeleton.toString('utf8', comma + 1, this.length).trimStart()
    const tail = Buffer.from(known.length === 0 ? begun : `,${begun}`)
    if (kept.length + tail.length > MAX_BYTES / 2) return false
    const moved = kept.length + tail.length - this.length
    kept.copy(this.skeleton)
    tail.copy(this.skeleton, kept.length)
    this.length += moved
    this.stringAt += moved
    return true
  }
}

/** The members of a message. */
const KNOWN = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])

const QUOTES = Buffer.from('"')

/**
 * Where the last comma between members of the message is. It is looked for from the end: what follows it is the member that is
 * not finished, in which no container is open.
 */
function lastComma(skeleton: Buffer, end: number): number {
  let inString = false
  for (let at = end - 1; at > 0; at -= 1) {
    const byte = skeleton[at]!
    if (byte === QUOTE && !endsEscaped(skeleton, 0, at, false)) inString = !inString
    else if (byte === COMMA && !inString) return at
  }
  return -1
}

/** True if the byte behind a stretch of a string is escaped. */
function endsEscaped(bytes: Buffer, from: number, to: number, before: boolean): boolean {
  let at = to
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1
  const isOdd = (to - at) % 2 === 1
  // The text before matters only through backslashes.
  return at === from && before ? !isOdd : isOdd
}
