/** Uploads the parts of an output while it grows, without delaying its writer. */

import { messageOf } from '../util/message-of'
import { debug } from '../util/warn'
import type { ObjectStore } from './object-store'
import { Snapshots } from './snapshots'
import type { Draft, Spool } from './spool'
import type { Upload } from './upload'

/** Bytes read at once. */
const PIECE_BYTES = 2 ** 20

/** The part of a draft that is read. */
type Growing = Pick<Draft, 'read' | 'written'>

/** One output of which some parts are uploaded already. */
export class LiveUpload {
  private sent = 0
  private draft: Growing | undefined
  private readonly snapshots: Snapshots | undefined
  private sending: Promise<void> | undefined
  private hasFailed = false

  /** @param snapshotMs milliseconds between two snapshots of what is in no part yet; none without */
  constructor(
    private readonly upload: Upload,
    objects: ObjectStore,
    private readonly snapshotMs?: number,
  ) {
    const look = () => this.draft && this.advance(this.draft)
    this.snapshots = snapshotMs === undefined ? undefined : new Snapshots(objects, upload, snapshotMs, look)
  }

  /** Uploads the bytes that a draft has by now. */
  advance(draft: Growing): void {
    this.draft = draft
    if (this.sending !== undefined || this.hasFailed) return
    this.begin(this.written(draft))
  }

  /** Uploads pieces as they come. */
  follow(pieces: AsyncIterable<Uint8Array>): void {
    this.begin(pieces)
  }

  private begin(pieces: AsyncIterable<Uint8Array>): void {
    this.sending = this.send(pieces).finally(() => {
      this.sending = undefined
    })
  }

  private async send(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of pieces) {
        await this.upload.write(piece)
        this.sent += piece.length
      }
    } catch (error) {
      debug('live upload: %s', messageOf(error))
      this.hasFailed = true
    }
  }

  private async *written(draft: Growing): AsyncGenerator<Uint8Array> {
    const minBytes = this.snapshotMs === undefined ? PIECE_BYTES : 1
    while (draft.written - this.sent >= minBytes) {
      const piece = await draft.read(this.sent, this.sent + PIECE_BYTES).catch(() => undefined)
      // The draft was completed meanwhile: the rest is read from the spool.
      if (piece === undefined) return
      yield piece
    }
  }

  /** Uploads the rest from the spool. @throws an error after which the output has to be uploaded as a whole */
  async finish(spool: Spool): Promise<void> {
    try {
      await this.sending
      if (this.hasFailed) throw new Error('a part could not be uploaded')
      const { key } = this.upload
      for (let total = Number.POSITIVE_INFINITY; this.sent < total; ) {
        const range = await spool.get(key, this.sent, this.sent + PIECE_BYTES)
        if (range === undefined) throw new Error(`${key} was uploaded by another process`)
        await this.upload.write(range.bytes)
        this.sent += range.bytes.length
        total = range.total
      }
      await this.upload.finish()
    } catch (error) {
      await this.upload.abort()
      throw error
    } finally {
      await this.snapshots?.end()
    }
  }

  /** Drops the parts. */
  async discard(): Promise<void> {
    this.hasFailed = true
    await this.sending
    await this.upload.abort()
    await this.snapshots?.end()
  }
}
