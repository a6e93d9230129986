/** Ranges of a remote output: the bytes around the range are fetched, and the core reads the range in them. */

import {
  type ByteRange,
  checkRange,
  type LineRange,
  type RangeResult,
  type ReadRange,
  readRange,
} from '../storage/read'
import { agrees, type LineIndex, placeOfLine, STRIDE } from './line-index'
import type { ObjectRange } from './object-store'
import { PARTIAL_SUFFIX } from './output-keys'

/** An output of any place, read in parts. */
export interface RemoteOutput {
  /** The last part of its path. */
  name: string
  /** Reads the bytes from `from` up to but not including `to`. */
  fetch(from: number, to: number, signal?: AbortSignal): Promise<ObjectRange>
  /** The index of its lines; `fresh` counts them again, because the saved index was wrong. */
  index(signal?: AbortSignal, fresh?: boolean): Promise<LineIndex>
}

/** Most bytes of one range. */
const MAX_BYTES = 2 ** 18

/** Bytes around a range that decide where characters begin. */
const PADDING = 16

/** Reads a part of an output. */
export async function remoteRange(output: RemoteOutput, asked: ReadRange): Promise<RangeResult> {
  const { range, signal } = checkRange(asked)
  signal?.throwIfAborted()
  const isByLine = 'fromLine' in range
  return isByLine ? byLines(output, range as LineRange, signal) : byBytes(output, range as ByteRange, signal)
}

async function byBytes(output: RemoteOutput, range: ByteRange, signal?: AbortSignal): Promise<RangeResult> {
  const from = range.fromByte ?? 0
  const maxBytes = Math.min(range.byteCount ?? MAX_BYTES, MAX_BYTES)
  const window = await windowOf(output, from - PADDING, from + maxBytes, signal)
  const fromByte = Math.min(from, window.total) - window.from
  return inWindow(output, window, { ...range, fromByte }, 0)
}

async function byLines(output: RemoteOutput, range: LineRange, signal?: AbortSignal): Promise<RangeResult> {
  const { fromLine = 1, fromByte, maxBytes = MAX_BYTES } = range
  if (fromByte !== undefined) {
    const window = await windowOf(output, fromByte - PADDING, fromByte + maxBytes, signal)
    const inside = Math.min(fromByte, window.total) - window.from
    return inWindow(output, window, { ...range, fromByte: inside }, 0)
  }
  if (fromLine === 1) return inWindow(output, await windowOf(output, 0, maxBytes, signal), range, 0)
  const index = await output.index(signal)
  const found = await atLine(output, range, index, signal)
  // The index may be wrong, and the bytes are not.
  return found ?? (await atLine(output, range, await output.index(signal, true), signal))!
}

/** Reads from a line that the index finds, or returns nothing if it is not there. */
async function atLine(
  output: RemoteOutput,
  range: LineRange,
  index: LineIndex,
  signal?: AbortSignal,
): Promise<RangeResult | undefined> {
  const { fromLine = 1, maxBytes = MAX_BYTES } = range
  const place = placeOfLine(index, fromLine)
  if (place === 'beyond') return (await isEnd(output, index, signal)) ? beyondEnd(output, index, fromLine) : undefined
  const window = await windowOf(output, place.stride, place.stride + STRIDE + maxBytes, signal)
  if (!agrees(index, place.stride, window.bytes, window.total)) return undefined
  index.isChecked = true
  const relative = place.lineFeeds + 1
  const result = await inWindow(output, window, { ...range, fromLine: relative }, fromLine - relative)
  return result.totalLines === undefined ? result : undefined
}

/** Returns true if an index says rightly where an output ends. Once its bytes have agreed with it, no request is made. */
async function isEnd(output: RemoteOutput, index: LineIndex, signal?: AbortSignal): Promise<boolean> {
  if (index.isChecked) return true
  const last = Math.floor(Math.max(0, index.size - 1) / STRIDE) * STRIDE
  const { bytes, total } = await output.fetch(last, last + STRIDE, signal)
  index.isChecked = agrees(index, last, bytes, total)
  return index.isChecked
}

function beyondEnd({ name }: RemoteOutput, { size, lineFeeds, isOpen }: LineIndex, fromLine: number): RangeResult {
  const lines = { fromLine, lineCount: 0, totalLines: lineFeeds + (isOpen ? 1 : 0) }
  const whole = { text: '', ...lines, fromByte: size, byteCount: 0, totalBytes: size, partial: false }
  return name.endsWith(PARTIAL_SUFFIX) ? { ...whole, incomplete: true } : whole
}

interface Window {
  bytes: Uint8Array
  /** Byte of the output at which the window begins. */
  from: number
  total: number
}

async function windowOf(output: RemoteOutput, from: number, to: number, signal?: AbortSignal): Promise<Window> {
  const start = Math.max(0, from)
  const { bytes, total } = await output.fetch(start, to + PADDING, signal)
  return { bytes, from: Math.min(start, total), total }
}

/** Reads a range of the window, and counts what the core answers from the beginning of the output. */
async function inWindow(
  { name }: RemoteOutput,
  { bytes, from, total }: Window,
  range: ReadRange,
  linesBefore: number,
): Promise<RangeResult> {
  const { next, ...result } = await readRange({ find: () => bytes, path: name }, range)
  if (result.fromLine !== undefined) result.fromLine += linesBefore
  const goesOn = next && {
    ...next,
    ...('fromLine' in next && next.fromLine !== undefined && { fromLine: next.fromLine + linesBefore }),
    ...(next.fromByte !== undefined && { fromByte: next.fromByte + from }),
  }
  return { ...result, fromByte: result.fromByte + from, totalBytes: total, ...(goesOn && { next: goesOn }) }
}
