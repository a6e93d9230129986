/**
 * Outputs on the local disk that the object store does not have yet: files named by their keys, which appear when they are whole.
 * A process that ends leaves them to the next one with the same folder.
 */

import { promises } from 'node:fs'
import { join } from 'node:path'
import { randomBytes, sha256 } from '../util/crypto'
import { makeFolderLater } from '../util/make-folder'
import type { ObjectRange } from './object-store'
import { parseKey } from './output-keys'

/** An output that waits for its upload. */
export interface SpooledOutput {
  key: string
  bytes: number
}

/** A folder of outputs, one for each object store. */
export class Spool {
  private readonly dir: string

  /** @param url of the object store that the outputs are for */
  constructor(dir: string, url: string) {
    this.dir = join(dir, sha256(url).slice(0, 16))
  }

  /** Begins an output. @throws an error of the file system */
  async draft(key: string): Promise<Draft> {
    const path = await this.newDraft()
    return new Draft(path, this.fileOf(key), await promises.open(path, 'wx+', 0o600))
  }

  /** Takes a file of this user that is whole: by another name for it, or by a copy from another disk. @throws an error of the file system */
  async take(key: string, file: string): Promise<void> {
    const path = await this.newDraft()
    try {
      await promises.link(file, path).catch(() => promises.copyFile(file, path))
      await promises.rename(path, this.fileOf(key))
    } catch (error) {
      await promises.rm(path, { force: true }).catch(() => {})
      throw error
    }
  }

  private async newDraft(): Promise<string> {
    await makeFolderLater(this.dir)
    return join(this.dir, `.${randomBytes(8).toString('hex')}.draft`)
  }

  /** Lists the outputs that are whole. */
  async list(): Promise<SpooledOutput[]> {
    const names = await promises.readdir(this.dir).catch(whenMissing([]))
    const found = names.map(async (name) => {
      const key = keyOf(name)
      const stat = key && (await promises.stat(join(this.dir, name)).catch(whenMissing(undefined)))
      return key && stat ? [{ key, bytes: stat.size }] : []
    })
    return (await Promise.all(found)).flat()
  }

  /** Reads bytes of an output, or nothing if it does not wait here. */
  async get(key: string, from: number, to: number): Promise<ObjectRange | undefined> {
    const file = await promises.open(this.fileOf(key)).catch(whenMissing(undefined))
    if (file === undefined) return undefined
    try {
      const { size: total } = await file.stat()
      const bytes = Buffer.alloc(Math.max(0, Math.min(to, total) - from))
      await readFully(file, bytes, from)
      return { bytes, total }
    } finally {
      await file.close()
    }
  }

  /** Removes an output. Returns whether it was there. */
  async remove(key: string): Promise<boolean> {
    const isMissing = await promises.unlink(this.fileOf(key)).catch(whenMissing(true))
    return isMissing !== true
  }

  private fileOf(key: string): string {
    return join(this.dir, encodeURIComponent(key))
  }
}

/** An output that is still coming in. */
export class Draft {
  /** Bytes that are in the file. */
  written = 0

  constructor(
    private readonly path: string,
    private readonly target: string,
    private readonly file: promises.FileHandle,
  ) {}

  /** Adds bytes. @throws an error of the file system; what was written before can still be read */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.file.write(bytes, at, bytes.length - at, this.written + at)
      at += bytesWritten
    }
    this.written += bytes.length
  }

  /** Reads bytes that were written. */
  async read(from: number, to: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(to, this.written) - from))
    await readFully(this.file, bytes, from)
    return bytes
  }

  /** Makes the output appear under its key. */
  async complete(): Promise<void> {
    await promises.rename(this.path, this.target)
    await this.file.close()
  }

  /** Drops the output. */
  async discard(): Promise<void> {
    await this.file.close()
    await promises.rm(this.path, { force: true })
  }
}

async function readFully(file: promises.FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at)
    if (bytesRead === 0) throw new Error('the file in the spool is shorter than it was')
    at += bytesRead
  }
}

/** Returns the key of an output by the name of its file, or nothing for any other file. */
function keyOf(name: string): string | undefined {
  try {
    return parseKey(decodeURIComponent(name))?.key
  } catch {
    return undefined
  }
}

/** An answer for a file that is not there. */
function whenMissing<T>(answer: T): (error: unknown) => T {
  return (error) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return answer
    throw error
  }
}
