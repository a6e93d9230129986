/** Saves an output in an object store: through the spool, or from memory if there is no disk for it. */

import { fileChunks } from '../capture/live-save'
import { messageOf } from '../util/message-of'
import { debug } from '../util/warn'
import { checkBytes } from '../validation/bytes'
import type { ObjectRange } from './object-store'
import type { Draft, Spool } from './spool'
import type { Upload } from './upload'

/** Bytes of an output as they come. A piece may change once the next is asked for. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** Uploads an output from memory. It is there when this resolves, and nothing of it if it rejects. */
export async function saveFromMemory(upload: Upload, source: Pieces, signal?: AbortSignal): Promise<void> {
  try {
    for await (const piece of source) {
      signal?.throwIfAborted()
      checkBytes(piece)
      await upload.write(piece)
    }
    signal?.throwIfAborted()
    await upload.finish()
    if (signal?.aborted) await upload.remove()
    signal?.throwIfAborted()
  } catch (error) {
    await upload.abort()
    throw error
  }
}

/** Ways of an output besides the spool. */
export interface SpoolOptions {
  /** Begins an upload from memory, for a disk that fails. */
  direct: () => Upload
  /** Is called when the draft has grown. */
  advance?: ((draft: Draft) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Puts an output into the spool. Returns false if the disk did not take it and it was uploaded from memory instead. */
export async function saveInSpool(
  spool: Spool,
  key: string,
  source: Pieces,
  { direct, advance, signal }: SpoolOptions,
): Promise<boolean> {
  const draft = await spool.draft(key).catch(failedDisk)
  if (draft === undefined) {
    await saveFromMemory(direct(), source, signal)
    return false
  }
  const pieces = piecesOf(source)
  try {
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      signal?.throwIfAborted()
      checkBytes(piece.value)
      const problem = await draft.write(piece.value).then(() => undefined, failedWrite)
      advance?.(draft)
      if (problem === undefined) continue
      await saveFromMemory(direct(), rest(draft, piece.value, pieces), signal)
      await draft.discard()
      return false
    }
    signal?.throwIfAborted()
    await draft.complete()
    return true
  } catch (error) {
    await draft.discard().catch(() => {})
    throw error
  }
}

/** Puts an output that is a file into the spool. Returns false if the disk did not take it and it was uploaded from memory instead. */
export async function takeIntoSpool(
  spool: Spool,
  key: string,
  file: string,
  { direct, signal }: SpoolOptions,
): Promise<boolean> {
  const problem = await spool.take(key, file).then(() => undefined, failedWrite)
  if (problem !== undefined) await saveFromMemory(direct(), fileChunks(file), signal)
  return problem === undefined
}

async function* piecesOf(source: Pieces): AsyncGenerator<Uint8Array> {
  yield* source
}

/** Gives the bytes of the draft, the piece that it did not take, and the pieces after that. */
async function* rest(draft: Draft, piece: Uint8Array, after: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* written(draft)
  yield piece
  yield* after
}

const PIECE_BYTES = 2 ** 20

async function* written(draft: Draft): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < draft.written; from += PIECE_BYTES) yield await draft.read(from, from + PIECE_BYTES)
}

/** Uploads an output that waits in the spool, and removes it there. Another process may have done so. */
export async function sendFromSpool(spool: Spool, upload: Upload): Promise<void> {
  const { key } = upload
  const first = await spool.get(key, 0, PIECE_BYTES)
  if (first === undefined) return
  await saveFromMemory(upload, spooled(spool, key, first))
  await spool.remove(key)
}

async function* spooled(spool: Spool, key: string, first: ObjectRange): AsyncGenerator<Uint8Array> {
  yield first.bytes
  for (let from = PIECE_BYTES; from < first.total; from += PIECE_BYTES) {
    const range = await spool.get(key, from, from + PIECE_BYTES)
    if (range === undefined) throw new Error(`${key} was uploaded by another process`)
    yield range.bytes
  }
}

function failedDisk(error: unknown): undefined {
  debug('spool: %s', messageOf(error))
  return undefined
}

function failedWrite(error: unknown): unknown {
  debug('spool: %s', messageOf(error))
  return error
}
