/** Passes an output to a storage during its capture, so that little is lost if the process ends. */

import { promises } from 'node:fs'
import { SpillwayError } from '../errors'
import { readRange } from '../storage/read'
import { messageOf } from '../util/message-of'
import { debug } from '../util/warn'

/** Bytes of one piece. */
const PIECE_BYTES = 2 ** 18

/** Bytes that have come in before an output is given to a storage: most are complete by then. */
export const LIVE_BYTES = 2 ** 20

const GROWING = Symbol.for('spillway.growingFile')

/** An output that is a file when it has ended: a storage with files of its own may take that, instead of every piece. */
export interface GrowingFile {
  /** The pieces so far, and those that come until the output has ended; the file has the rest. */
  growing(): AsyncIterable<Uint8Array>
  /** The file with the whole output, until the storage has answered. Rejects if the output is dropped. */
  whole: Promise<string>
}

/** The file that the pieces of a source are in; nothing for a source of the caller's. */
export function growingFileOf(source: unknown): GrowingFile | undefined {
  return (source as { [GROWING]?: GrowingFile })[GROWING]
}

/** One output on its way into a storage. Its bytes so far are read from the intake, which has redacted them. */
export class LiveSave {
  private readonly path: Promise<string | undefined>
  private position = 0
  private end: { file: string } | 'dropped' | undefined
  private wake = () => {}
  private readonly ended: Promise<void>
  private tellEnd = () => {}
  private readonly tooLate = new AbortController()

  /** @param save the storage's function, which is called at once */
  constructor(
    private readonly intake: object,
    save: (source: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<string>,
  ) {
    this.ended = new Promise((resolve) => {
      this.tellEnd = resolve
    })
    const file: GrowingFile = { growing: () => this.growing(), whole: this.ended.then(() => this.file()) }
    // A storage that takes the pieces asks for no file.
    file.whole.catch(() => {})
    const source = Object.assign(this.pieces(), { [GROWING]: file })
    this.path = save(source, this.tooLate.signal).catch((error) => {
      debug('saveLive: %s', messageOf(error))
      return undefined
    })
  }

  /** Says that more has come in. */
  advance(): void {
    this.wake()
  }

  /**
   * Ends the output, whose rest is read from a file. Resolves to its path in the storage, or to nothing if it was not saved:
   * then it must be given to the storage as a whole.
   * @param late aborts the save
   */
  finish(file: string, late: AbortSignal): Promise<string | undefined> {
    late.addEventListener('abort', () => this.tooLate.abort(late.reason), { once: true })
    this.end = { file }
    this.wake()
    this.tellEnd()
    return this.path
  }

  /** Drops the output. */
  drop(): void {
    this.end ??= 'dropped'
    this.wake()
    this.tellEnd()
  }

  private async *pieces(): AsyncGenerator<Uint8Array> {
    yield* this.growing()
    yield* fileChunks(this.file(), this.position)
  }

  private file(): string {
    if (this.end === undefined || this.end === 'dropped')
      throw new SpillwayError('ABORTED', 'the output is not to be saved')
    return this.end.file
  }

  private async *growing(): AsyncGenerator<Uint8Array> {
    while (this.end === undefined) {
      const piece = await this.next()
      if (piece !== undefined) yield piece
      else if (this.end === undefined) {
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
      }
    }
  }

  private async next(): Promise<Uint8Array | undefined> {
    const fromByte = this.position
    const range = await readRange({ intake: this.intake }, { fromByte, byteCount: PIECE_BYTES }).catch((error) => {
      // The intake may have ended meanwhile: the rest is read from its file.
      debug('saveLive: %s', messageOf(error))
      return undefined
    })
    if (range === undefined || range.byteCount === 0) return undefined
    const bytes = Buffer.from(range.text, 'utf8')
    // The text has U+FFFD for invalid bytes, so the original bytes are not known.
    if (range.fromByte !== fromByte || bytes.length !== range.byteCount || range.text.includes('\ufffd')) {
      throw new SpillwayError('STORAGE_WRITE', 'the output is not UTF-8, so it is saved after its end')
    }
    this.position += bytes.length
    return bytes
  }
}

/** Reads a file piece by piece. It is open only while a piece is read: a storage that hangs never asks for the next one. */
export async function* fileChunks(path: string, from = 0): AsyncGenerator<Uint8Array> {
  for (let at = from; ; ) {
    const piece = await pieceAt(path, at)
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}

async function pieceAt(path: string, at: number): Promise<Uint8Array> {
  const file = await promises.open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, at)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
