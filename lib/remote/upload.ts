/** Uploads an output: in one request if it is short, or else in parts while it arrives, followed by its line index. */

import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'
import { debug } from '../util/warn'
import { encodeIndex, LineCounter } from './line-index'
import type { ObjectStore, UploadedPart } from './object-store'
import { INDEX_SUFFIX } from './output-keys'

/** Parts that are on their way at once: with the one that fills, three are in memory. */
const IN_FLIGHT = 2

/** An upload that takes bytes as they come. */
export class Upload {
  private readonly counter = new LineCounter()
  private readonly parts: UploadedPart[] = []
  private readonly inFlight = new Set<Promise<void>>()
  private part: Buffer | undefined
  private filled = 0
  private number = 0
  private upload: string | undefined
  private problem: unknown

  constructor(
    private readonly objects: ObjectStore,
    readonly key: string,
    private readonly partBytes: number,
  ) {}

  /** Takes the next bytes, and resolves when there is room for more. They may change afterwards. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.filled === this.partBytes) await this.send()
      // Grown as it fills, because most outputs are much shorter than a part.
      this.part = withRoom(
        this.part,
        this.filled,
        Math.min(bytes.length - at, this.partBytes - this.filled),
        this.partBytes,
      )
      const taken = bytes.subarray(at, at + this.part.length - this.filled)
      this.part.set(taken, this.filled)
      this.filled += taken.length
      at += taken.length
    }
    this.counter.add(bytes)
  }

  /** The bytes that no part has yet, and where they begin; nothing if there are none, or while parts are on their way. */
  unsent(): { from: number; bytes: Uint8Array } | undefined {
    const { part, filled, number, partBytes } = this
    if (part === undefined || filled === 0 || this.inFlight.size > 0) return undefined
    return { from: number * partBytes, bytes: part.subarray(0, filled) }
  }

  /** Uploads what is left. The object is there when it resolves, and as long as it was before, not at all if it rejects. */
  async finish(): Promise<void> {
    if (this.upload === undefined && this.number === 0) {
      const body = (this.part ?? Buffer.alloc(0)).subarray(0, this.filled)
      return withRetries(() => this.objects.put(this.key, body))
    }
    await this.send()
    await Promise.all(this.inFlight)
    this.throwIfFailed()
    const { upload, parts, objects, key } = this
    parts.sort((a, b) => a.number - b.number)
    await withRetries(() => objects.complete(key, upload!, parts))
    // A reader that finds none counts the lines.
    const index = encodeIndex(key, this.counter.index())
    await withRetries(() => objects.put(`${key}${INDEX_SUFFIX}`, index)).catch(() => {})
  }

  /** Drops what was uploaded. It never rejects: what stays is removed by the bucket's rule for unfinished uploads. */
  async abort(): Promise<void> {
    const { upload } = this
    await Promise.allSettled(this.inFlight)
    if (upload !== undefined) await this.objects.abort(this.key, upload).catch(() => {})
  }

  /** Removes the object again. It never rejects: what stays is removed by the bucket's rule for old outputs. */
  async remove(): Promise<void> {
    const keys = [this.key, `${this.key}${INDEX_SUFFIX}`]
    await withRetries(() => this.objects.remove(keys)).catch((error) => debug('remove: %s', messageOf(error)))
  }

  private async send(): Promise<void> {
    const body = this.part?.subarray(0, this.filled)
    if (body === undefined || this.filled === 0) return
    this.upload ??= await withRetries(() => this.objects.begin(this.key))
    while (this.inFlight.size >= IN_FLIGHT) await Promise.race(this.inFlight)
    this.throwIfFailed()
    this.number += 1
    this.part = undefined
    this.filled = 0
    const sending = this.sendPart(this.upload, this.number, body).finally(() => this.inFlight.delete(sending))
    this.inFlight.add(sending)
  }

  private async sendPart(upload: string, number: number, body: Buffer): Promise<void> {
    try {
      const tag = await withRetries(() => this.objects.part(this.key, upload, number, body))
      this.parts.push({ number, tag, bytes: body.length })
    } catch (error) {
      this.problem ??= error
    }
  }

  private throwIfFailed(): void {
    if (this.problem !== undefined) throw new Error(messageOf(this.problem), { cause: this.problem })
  }
}

const FIRST_BYTES = 2 ** 16

/** Returns a buffer that has room for `more` bytes after the first `filled`, which it keeps. */
function withRoom(part: Buffer | undefined, filled: number, more: number, maxBytes: number): Buffer {
  if (part !== undefined && part.length >= filled + more) return part
  const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * filled, filled + more)))
  if (part !== undefined) part.copy(grown, 0, 0, filled)
  return grown
}
