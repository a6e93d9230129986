/**
 * Hands an output to the binary slice by slice: while a thread works on one slice, the next is copied in, and between
 * two slices the event loop is free.
 */

import type { Finished } from '../../binding'
import { SpillwayError } from '../errors'
import { background, call, native } from '../native/native'
import type { TextLimits } from '../settings/settings'
import type { NoticeInfo, SavedPart, SaveError, TestRun } from '../types'
import { now } from '../util/clock'
import { Semaphore } from '../util/semaphore'
import { Drain } from './worker-tasks'

/** UTF-16 units of a slice: copying one takes a fraction of a millisecond, and two buffers of it stay in the cache. */
const SLICE_UNITS = 2 ** 18
const SLICE_BYTES = 2 ** 19

/** Units that are copied synchronously: for few slices, separate tasks cost more than they save. */
const AT_ONCE_UNITS = 4 * SLICE_UNITS

/** Long outputs that are copied in at the same time; what waits in line takes no memory but its own. */
const longOutputs = new Semaphore(4)

/** Input of an output. An array is one text whose pieces are joined by line feeds. */
export type Source = string | Uint8Array | readonly string[]

/** Where and under which names an output is saved. */
export interface SaveTarget {
  /** The open store. */
  store: object
  tool: string
  sessionId?: string
  toolCallId?: string
  /** The settings of the storage, if they change what is saved. */
  settings?: object
}

/** Asks for what a storage that takes an output as a whole is to be given. */
export interface Collect {
  /** The settings of the storage, if they change what is kept. */
  settings?: object
}

/** How the text for the model is put together; see the binary's `RenderRequest`. */
export interface RenderRequest {
  failed?: boolean
  ceiling?: number
  path?: string
  part?: SavedPart
  lost?: string
  notice?: string
  /** Notices of earlier previews, which were cut off. */
  earlier?: string
  /** Notices that there must be room for beside the same text. */
  room?: readonly string[]
  preview?: string
  removedLines?: number
  removedBytes?: number
}

type CountedFact = `${'removed' | 'kept' | 'total'}${'Lines' | 'Bytes'}`

/** Facts about a truncated text. */
export interface TruncationFacts
  extends Pick<NoticeInfo, CountedFact | 'limitedBy' | 'direction' | 'ranges' | 'partialLines'> {
  preview: { from: number; to: number }
  hint: string
  pieceUnits: number[]
  /** True if the preview was chosen by what the text says, and is not made of its ends. */
  isSelected: boolean
  testRun?: TestRun
}

/** The text for the model, and the facts. */
export interface TruncatedText {
  content: string
  facts: TruncationFacts
}

/** Outcome of saving the full output. */
export interface Outcome {
  saved?: {
    path: string
    bytes: number
    redactions?: number
    part?: SavedPart
    attempts: { dir: string; error: string }[]
  }
  saveError?: SaveError
  collected?: Collected
}

/** Input of a storage that takes an output as a whole. */
export interface Collected {
  bytes: number
  redactions?: number
  part?: SavedPart
}

/** Options of an ingest. */
interface Opening {
  limits: TextLimits
  /** Which end is shown if it turns out that the call failed. */
  ifFailed?: TextLimits['direction']
  /** Nothing is saved as long as the output can be within these. */
  hold?: TextLimits | undefined
  bytes: boolean
  save?: SaveTarget | undefined
  collect?: Collect | undefined
  /** The question that lines of the preview may answer. */
  query?: string | undefined
  /** The command that prints the output. */
  command?: string | undefined
}

/** Opens an intake in the binary. */
export function openIntake(settings: object, opening: Opening): object {
  const { limits, ifFailed, hold, bytes, save, collect, query, command } = opening
  const request = {
    limits,
    ifFailed,
    hold,
    bytes,
    query: query?.toWellFormed(),
    command: command?.toWellFormed(),
    collect: collect !== undefined,
    save: save && {
      tool: save.tool.toWellFormed(),
      session: save.sessionId === undefined ? undefined : codesOf(save.sessionId),
      call: save.toolCallId === undefined ? undefined : codesOf(save.toolCallId),
      nowMs: now(),
    },
  }
  const handle = call(() => native.intakeOpen(settings, JSON.stringify(request), save?.store))
  const keeper = save?.settings ?? collect?.settings
  if (keeper) call(() => native.intakeKeepBy(handle, keeper))
  return handle
}

/** Facts about a finished output. */
export interface Ended {
  outcome: Outcome
  fits: boolean
  bytes: number
  /** All of what a terminal would show of it, if that is asked for and keeps the limits. */
  whole?: string
  /** Nothing of it was saved, because it keeps them as it came. */
  held: boolean
  shortened?: TruncatedText
}

/** Options of an intake whose source is there as a whole. */
interface WholeOpening extends Omit<Opening, 'ifFailed' | 'bytes'> {
  /** How long the source was when the call began. */
  units: number
}

/** An output in the binary's hands. */
export class Intake {
  private handle: object | undefined

  constructor(
    private readonly settings: object,
    private readonly source: Source,
    private readonly opening: WholeOpening,
  ) {}

  /**
   * Hands everything over and ends the output. If it fails or is aborted, no file is left. Without a request to render,
   * what is needed for that is held until {@link release}.
   */
  async finish(render: RenderRequest | undefined, signal: AbortSignal | undefined): Promise<Ended> {
    try {
      signal?.throwIfAborted()
      const isLong = this.opening.units > AT_ONCE_UNITS
      const end = await (isLong ? longOutputs.take(() => this.handOver(render, signal)) : this.handOverAtOnce(render))
      if (render) this.release()
      return {
        outcome: JSON.parse(end.outcome),
        fits: end.fits,
        bytes: end.bytes,
        whole: end.whole ?? undefined,
        held: end.held,
        shortened: end.shortened && read(end.shortened),
      }
    } catch (error) {
      const { handle } = this
      if (handle) await background(() => native.intakeAbort(handle))
      throw error
    }
  }

  /** Gives back the memory that is held for rendering; V8 does not know of it, and would collect it late. */
  release(): void {
    const { handle } = this
    if (handle) call(() => native.intakeRelease(handle))
  }

  // Opened when its turn has come, because an open one holds memory.
  private open(): object {
    const { settings, source, opening } = this
    const bytes = typeof source !== 'string' && !isTexts(source)
    this.handle = openIntake(settings, { ...opening, bytes })
    return this.handle
  }

  private async handOver(render: RenderRequest | undefined, signal: AbortSignal | undefined): Promise<Finished> {
    const handle = this.open()
    const drain = new Drain(handle)
    try {
      const slices = slicesOf(this.source, this.opening.units)
      for (let slice = slices.next(); !slice.done; ) {
        const { value } = slice
        call(() => push(handle, value))
        // Waited for before the next slice is made, so that bytes which are taken away meanwhile are missed.
        await drain.room()
        signal?.throwIfAborted()
        slice = slices.next()
        if (!slice.done) drain.begin()
      }
      await drain.end()
      signal?.throwIfAborted()
      return await background(() => native.intakeFinish(handle, said(render)))
    } finally {
      await drain.settle()
    }
  }

  /** The same for an output of a few slices. */
  private handOverAtOnce(render: RenderRequest | undefined): Promise<Finished> {
    return background(() => {
      const handle = this.open()
      for (const slice of slicesOf(this.source, this.opening.units)) push(handle, slice)
      return native.intakeFinish(handle, said(render))
    })
  }

  /** The text that was collected, once. */
  async collectedText(): Promise<string> {
    return readAll(call(() => native.intakeCollectedText(this.opened)))
  }

  /** The bytes that were collected. */
  collectedBytes(collected: Collected): Uint8Array {
    return collectedBytes(this.opened, collected)
  }

  private get opened(): object {
    return this.handle ?? this.open()
  }

  /** Puts the text together once it is known where a storage of the caller's put the output. */
  render(request: RenderRequest): TruncatedText {
    return read(call(() => native.intakeRender(this.opened, JSON.stringify(request))))
  }
}

/** The bytes that an intake collected. */
export function collectedBytes(handle: object, { bytes }: Collected): Uint8Array {
  const all = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; ) {
    const piece = call(() => native.intakeCollectedBytes(handle, at))
    if (piece === '') throw new SpillwayError('INTERNAL', 'the collected bytes were taken away already')
    at += all.write(piece, at, 'latin1')
  }
  return new Uint8Array(all.buffer, all.byteOffset, bytes)
}

const said = (render: RenderRequest | undefined) => render && JSON.stringify(render)

/** V8 holds no longer string. */
const MAX_STRING_UNITS = 2 ** 29 - 24

/** All that a reader of the binary gives. @throws SpillwayError `STORAGE_TOO_LARGE` when no string can hold it */
export async function readAll(reader: object, path?: string): Promise<string> {
  let text = ''
  for (;;) {
    const piece = await background(() => native.readerNext(reader))
    if (piece === null || piece === undefined) return text
    if (text.length + piece.length > MAX_STRING_UNITS) {
      const what = path === undefined ? 'the output' : JSON.stringify(path)
      throw new SpillwayError('STORAGE_TOO_LARGE', `${what} is longer than a string can be`, { field: 'path' })
    }
    text += piece
  }
}

export function read(shortened: { content: string; facts: string }): TruncatedText {
  return { content: shortened.content, facts: JSON.parse(shortened.facts) }
}

// Answers at once for a string that V8 keeps in one byte per unit, and mostly at once for any other: at the first wide
// character. On the length of one slice even the worst case is short.
const BEYOND_LATIN1 = /[\u0100-\uffff]/

/** Copies a slice in. */
export function push(handle: object, slice: string | Uint8Array): void {
  if (typeof slice !== 'string') native.intakePushBytes(handle, slice)
  else if (BEYOND_LATIN1.test(slice)) native.intakePushText(handle, slice)
  else native.intakePushLatin1(handle, slice, slice.length)
}

function* slicesOf(source: Source, units: number): Generator<string | Uint8Array> {
  if (isTexts(source)) {
    yield* joinedSlices(source)
  } else {
    yield* chunkSlices(source, units)
  }
}

/** A text or bytes in pieces that are short enough to be copied between two turns of the event loop. */
export function chunkSlices(chunk: string | Uint8Array, length: number): Generator<string | Uint8Array> {
  return typeof chunk === 'string' ? textSlices(chunk) : byteSlices(chunk, length)
}

function* textSlices(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += SLICE_UNITS) yield text.slice(at, at + SLICE_UNITS)
}

/** Texts joined by line feeds. Short ones go together: a slice costs as much however little is in it. */
function* joinedSlices(texts: readonly string[]): Generator<string> {
  let waiting: string[] = []
  let units = 0
  for (const text of texts) {
    waiting.push(text)
    units += text.length + 1
    if (units < SLICE_UNITS) continue
    yield* textSlices(waiting.join('\n'))
    // The next piece begins with the line feed between the two.
    waiting = ['']
    units = 0
  }
  yield* textSlices(waiting.join('\n'))
}

function* byteSlices(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  const shared = isSharedBuffer(bytes.buffer)
  for (let at = 0; at < length; at += SLICE_BYTES) {
    // A buffer that was transferred or shrunk in the meantime would be saved with a hole.
    if (bytes.byteLength !== length) {
      throw new SpillwayError(
        'INVALID_ARGUMENT',
        'content: the bytes were transferred or resized while they were read',
        {
          field: 'content',
        },
      )
    }
    const slice = bytes.subarray(at, at + SLICE_BYTES)
    // Other threads may write to shared memory at any time; the binary gets a copy that only we have.
    yield shared ? new Uint8Array(slice) : slice
  }
}

function isSharedBuffer(buffer: unknown): boolean {
  return Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]'
}

function isTexts(source: Source): source is readonly string[] {
  return Array.isArray(source)
}

function codesOf(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
}
