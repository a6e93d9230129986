/** Full outputs in an object store, readable by every worker that has the right to. */

import { SpillwayError } from '../errors'
import { readAll } from '../ingest/ingest'
import { call, native } from '../native/native'
import { DEFAULT_TRUNCATION_CONFIG } from '../settings/defaults'
import { storageIntake, storageSettings } from '../storage/file-storage'
import {
  checkAccess,
  type OutputAccess,
  type RangeResult,
  type ReadRange,
  type SearchOptions,
  type SearchResult,
} from '../storage/read'
import {
  type Bounds,
  checkBounds,
  checkSweep,
  type SavedOutput,
  type StorageUsage,
  type SweepOptions,
  type SweepReport,
} from '../storage/retention'
import { rememberOutput } from '../storage/saved-outputs'
import type { ITruncationStorage, TruncationContext } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { messageOf } from '../util/message-of'
import { checkBytes } from '../validation/bytes'
import { checkContext, wrong } from '../validation/validate'
import { Inventory } from './inventory'
import type { ObjectStore } from './object-store'
import { checkRemoteOptions, type RemoteStorageOptions } from './options'
import { INDEX_SUFFIX, keyOfPath, newKey, ownedKey, prefixOf } from './output-keys'
import { OutputReader } from './output-reader'
import { remoteRange } from './range'
import { remoteSearch } from './search'
import { Upload } from './upload'

/**
 * Saves full outputs in an object store, with the surface of `TruncationStorage`. Paths are URLs, `s3://bucket/prefix/o/…`, and
 * the same for every worker.
 *
 * @example
 * const storage = new RemoteStorage({ objects: s3Objects({ bucket: 'agent-outputs' }) })
 * const service = new TruncationService({ storage: [storage, new TruncationStorage()] })
 */
export class RemoteStorage implements ITruncationStorage {
  private readonly objects: ObjectStore
  private readonly options: Required<Pick<RemoteStorageOptions, 'partBytes' | 'windowBytes'>>
  private readonly bounds: Required<Bounds>
  private readonly reader: OutputReader
  private readonly inventory: Inventory

  /** @throws SpillwayError `INVALID_CONFIG` that names the option */
  constructor(options: RemoteStorageOptions) {
    const { objects, partBytes, windowBytes, retentionDays, ...others } = checkRemoteOptions(options)
    this.objects = objects
    this.options = { partBytes, windowBytes }
    this.bounds = storageSettings(others, retentionDays).bounds
    this.reader = new OutputReader(objects, windowBytes)
    this.inventory = new Inventory(objects)
  }

  /**
   * Saves a text so that {@link read} gives back exactly the same string, and answers its path.
   * @throws SpillwayError `STORAGE_WRITE` when the object store did not take it
   */
  async save(content: string, context: TruncationContext): Promise<string> {
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    const known = checkContext(context)
    const bytes = content.isWellFormed() ? Buffer.from(content, 'utf8') : await withLoneSurrogates(content)
    return this.upload([bytes], known)
  }

  /** Saves bytes unchanged, and returns the path. They must not change until the promise settles. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    checkBytes(content)
    return this.upload([content], checkContext(context))
  }

  /** Saves bytes of any length while they arrive, in constant memory, and returns the path. */
  async saveStream(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string> {
    return this.upload(source, checkContext(context))
  }

  private async upload(
    source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    context: TruncationContext,
  ): Promise<string> {
    const { signal } = context
    const upload = new Upload(this.objects, newKey(context), this.options.partBytes)
    try {
      for await (const piece of source) {
        signal?.throwIfAborted()
        checkBytes(piece)
        await upload.write(piece)
      }
      signal?.throwIfAborted()
      await upload.finish()
    } catch (cause) {
      await upload.abort()
      signal?.throwIfAborted()
      if (cause instanceof SpillwayError) throw cause
      throw new SpillwayError('STORAGE_WRITE', `${this.objects.url}: ${messageOf(cause)}`, { cause })
    }
    const path = this.pathOf(upload.key)
    rememberOutput(path)
    return path
  }

  /**
   * Reads the whole text of a saved output.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_NOT_FOUND` when it was removed, `STORAGE_READ` when
   *   the object store did not answer, `STORAGE_TOO_LARGE` when no string can hold it
   */
  async read(path: string): Promise<string> {
    const output = this.open(path)
    const windows: Uint8Array[] = []
    for (let from = 0, total = 1; from < total; from += this.options.windowBytes) {
      const window = await output.fetch(from, from + this.options.windowBytes)
      windows.push(window.bytes)
      total = window.total
    }
    const bytes = Buffer.concat(windows)
    return readAll(
      call(() => native.readerOfBytes(bytes)),
      path,
    )
  }

  /** As `TruncationStorage.readRange`. The first read of a line of an output over 8 MiB fetches the index of its lines. */
  async readRange(path: string, range: ReadRange, access: OutputAccess = {}): Promise<RangeResult> {
    checkAccess('access', access)
    return remoteRange(this.open(path, access), range)
  }

  /** As `TruncationStorage.search`, in windows of 8 MiB; a line of which more than 2 MiB would be held is searched in pieces. */
  async search(path: string, pattern: string, options: SearchOptions = {}): Promise<SearchResult> {
    return remoteSearch(this.open(path, options), this.options.windowBytes, pattern, options)
  }

  private open(path: string, access: OutputAccess = {}) {
    checkPath(path)
    return this.reader.open(ownedKey(this.objects.url, path, access?.sessionId), path)
  }

  /** Returns true if a path is that of an output of this storage, whether it is still there or not. No request is made. */
  owns(path: string): boolean {
    checkPath(path)
    return keyOfPath(this.objects.url, path) !== undefined
  }

  /**
   * Removes outputs that are older than `retentionDays`, and returns their number. A lifecycle rule of the bucket does the same
   * without a request.
   * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
   */
  async cleanup(retentionDays: number = DEFAULT_TRUNCATION_CONFIG.retentionDays): Promise<number> {
    checkBounds({ retentionDays })
    const unbounded = { maxStoreBytes: Number.POSITIVE_INFINITY, maxStoreFiles: Number.POSITIVE_INFINITY }
    return (await this.sweep({ retentionDays, ...unbounded })).removedFiles
  }

  /** As `TruncationStorage.sweep`; lists all outputs, one request for every 1,000. */
  async sweep(options?: SweepOptions): Promise<SweepReport> {
    return this.inventory.sweep(checkSweep(options, this.bounds))
  }

  /** Returns the size of the storage; lists all outputs, one request for every 1,000. */
  async usage(): Promise<StorageUsage> {
    return this.inventory.usage()
  }

  /** Lists the outputs of the storage, or of one session in it, newest first. */
  async list(access: OutputAccess = {}): Promise<SavedOutput[]> {
    checkAccess('access', access)
    return this.inventory.list(prefixOf(access.sessionId))
  }

  /**
   * Removes one output. Returns false if it did not exist.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_WRITE` when it could not be removed
   */
  async remove(path: string): Promise<boolean> {
    checkPath(path)
    const { key } = ownedKey(this.objects.url, path)
    const isThere = (await this.inventory.find(key)) !== undefined
    await this.inventory.remove([key, `${key}${INDEX_SUFFIX}`])
    return isThere
  }

  /**
   * Removes all outputs of a session, and returns their number.
   * @throws SpillwayError `STORAGE_WRITE` if some of them could not be removed; the others are
   */
  async deleteSession(sessionId: string): Promise<number> {
    if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
    return this.inventory.removeAll(prefixOf(sessionId))
  }

  /** Returns the URL that paths begin with. */
  getStorageDir(): string {
    return this.objects.url
  }

  /** Ends the use of the storage. Nothing is open between two calls. */
  async close(): Promise<void> {}

  async [asyncDispose](): Promise<void> {
    await this.close()
  }

  private pathOf(key: string): string {
    return `${this.objects.url}/${key}`
  }
}

/** The bytes that the core saves for a string that is not well-formed. */
async function withLoneSurrogates(content: string): Promise<Uint8Array> {
  const intake = storageIntake(content, undefined, {})
  const { outcome } = await intake.finish(undefined, undefined)
  const bytes = intake.collectedBytes(outcome.collected!)
  intake.release()
  return bytes
}

function checkPath(path: unknown): void {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
}
