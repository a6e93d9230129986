/** A temporary file that holds a long message outside of memory. */

import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PIECE_BYTES = 2 ** 18

/**
 * Bytes in an unlinked file, so that nothing remains of it however the process ends. If no folder can be written, they are held
 * in memory: a full disk must not cost the host a message.
 */
export class TempFile {
  private file: number | undefined
  private fileBytes = 0
  private readonly held: Buffer[] = []
  private heldBytes = 0
  private path: string | undefined

  constructor(folders: readonly string[]) {
    for (const folder of [...folders, tmpdir()]) {
      const path = join(folder, `.mcp-${randomBytes(8).toString('hex')}.tmp`)
      try {
        this.file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
        this.path = path
        this.forget()
        return
      } catch {
        // The next one.
      }
    }
  }

  get length(): number {
    return this.fileBytes + this.heldBytes
  }

  append(bytes: Buffer): void {
    let from = 0
    if (this.file !== undefined && this.heldBytes === 0) {
      try {
        while (from < bytes.length) {
          const count = writeSync(this.file, bytes, from, bytes.length - from, this.fileBytes)
          from += count
          this.fileBytes += count
        }
        return
      } catch {
        // The rest is held.
      }
    }
    const rest = Buffer.from(bytes.subarray(from))
    this.held.push(rest)
    this.heldBytes += rest.length
  }

  /** The bytes from one place to another, in pieces that are valid until the next is asked for. */
  *read(from = 0, to = this.length): Generator<Buffer> {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(to - from, 0)))
    let at = from
    while (at < to && at < this.fileBytes) {
      const count = readSync(this.file!, piece, 0, Math.min(piece.length, to - at, this.fileBytes - at), at)
      if (count === 0) throw new Error('a part of a long message is gone from its temporary file')
      at += count
      yield piece.subarray(0, count)
    }
    let start = this.fileBytes
    for (const bytes of this.held) {
      const part = bytes.subarray(Math.max(at - start, 0), Math.max(to - start, 0))
      if (part.length > 0) yield part
      at += part.length
      start += bytes.length
    }
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file)
    this.file = undefined
    this.held.length = 0
    // On Windows an open file cannot be removed.
    if (this.path !== undefined) this.forget()
  }

  private forget(): void {
    try {
      unlinkSync(this.path!)
      this.path = undefined
    } catch {
      // Tried again when it is closed.
    }
  }
}
