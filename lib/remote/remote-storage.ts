/** Full outputs in an object store, readable by every worker that has the right to. */

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
  checkRetentionLimits,
  checkSweep,
  type RetentionLimits,
  type SavedOutput,
  type StorageUsage,
  type SweepOptions,
  type SweepReport,
} from '../storage/retention'
import { rememberOutput } from '../storage/saved-outputs'
import type { ITruncationStorage, TruncationContext } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { checkBytes } from '../validation/bytes'
import { atLeastZero, milliseconds } from '../validation/options'
import { checkContext, wrong } from '../validation/validate'
import { Inventory } from './inventory'
import { type CheckedRemoteOptions, checkRemoteOptions, type RemoteStorageOptions } from './options'
import { INDEX_SUFFIX, keyOfPath, ownedKey, prefixOf } from './output-keys'
import { OutputReader } from './output-reader'
import { OutputWriter } from './output-writer'
import { remoteRange } from './range'
import { remoteSearch } from './search'

/** Size of a remote storage. */
export interface RemoteUsage extends StorageUsage {
  /** Outputs in the spool of this machine that are not uploaded yet. */
  pending: { files: number; bytes: number }
}

/**
 * Saves full outputs in an object store, with the methods of `TruncationStorage`. Paths are URLs, `s3://bucket/prefix/o/…`, which
 * are the same for every worker.
 *
 * @example
 * const storage = new RemoteStorage({ objects: s3Objects({ bucket: 'agent-outputs' }) })
 * const service = new TruncationService({ storage: [storage, new TruncationStorage()] })
 */
export class RemoteStorage implements ITruncationStorage {
  private readonly options: CheckedRemoteOptions
  private readonly bounds: Required<RetentionLimits>
  private readonly writer: OutputWriter
  private readonly reader: OutputReader
  private readonly inventory: Inventory

  /** @throws SpillwayError `INVALID_CONFIG` that names the option */
  constructor(options: RemoteStorageOptions) {
    this.options = checkRemoteOptions(options)
    const { objects, windowBytes, limits } = this.options
    const { retentionDays, ...others } = limits
    this.bounds = storageSettings(others, retentionDays).bounds
    this.writer = new OutputWriter(this.options)
    this.reader = new OutputReader(objects, this.writer.spool, windowBytes)
    this.inventory = new Inventory(objects)
  }

  /**
   * Saves a text so that {@link read} returns exactly the same string, and returns its path.
   * @throws SpillwayError `STORAGE_WRITE` if the object store did not accept it
   */
  async save(content: string, context: TruncationContext): Promise<string> {
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    const known = checkContext(context)
    const bytes = content.isWellFormed() ? Buffer.from(content, 'utf8') : await withLoneSurrogates(content)
    return this.saved(await this.writer.save([bytes], known))
  }

  /** Saves bytes unchanged, and returns the path. They must not change until the promise settles. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    checkBytes(content)
    return this.saved(await this.writer.save([content], checkContext(context)))
  }

  /** Saves bytes of any length while they arrive, in constant memory, and returns the path. */
  async saveStream(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string> {
    return this.saved(await this.writer.save(source, checkContext(context)))
  }

  /** With `ack: 'live'`, the age in milliseconds at which a running output is given to {@link saveLive}, however short it is. */
  get liveAfterMs(): number | undefined {
    const { ack, snapshotMs } = this.options
    return ack === 'live' ? snapshotMs : undefined
  }

  /**
   * Saves bytes while they arrive, and with a spool uploads them as they arrive: parts that a killed process had uploaded are found by
   * {@link salvage}.
   */
  async saveLive(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string> {
    return this.saved(await this.writer.save(source, checkContext(context), true))
  }

  private saved(key: string): string {
    const path = `${this.options.objects.url}/${key}`
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

  /** As `TruncationStorage.search`, in windows of 8 MiB; a line of which more than 2 MiB would be in memory is searched in pieces. */
  async search(path: string, pattern: string, options: SearchOptions = {}): Promise<SearchResult> {
    return remoteSearch(this.open(path, options), this.options.windowBytes, pattern, options)
  }

  private open(path: string, access: OutputAccess = {}) {
    checkPath(path)
    return this.reader.open(ownedKey(this.options.objects.url, path, access?.sessionId), path)
  }

  /** Returns true if a path has the form of an output of this storage, even if the output no longer exists. No request is made. */
  owns(path: string): boolean {
    checkPath(path)
    return keyOfPath(this.options.objects.url, path) !== undefined
  }

  /**
   * Removes outputs that are older than `retentionDays`, and returns their number. A lifecycle rule of the bucket does the same
   * without a request.
   * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
   */
  async cleanup(retentionDays: number = DEFAULT_TRUNCATION_CONFIG.retentionDays): Promise<number> {
    checkRetentionLimits({ retentionDays })
    const unbounded = { maxStoreBytes: Number.POSITIVE_INFINITY, maxStoreFiles: Number.POSITIVE_INFINITY }
    return (await this.sweep({ retentionDays, ...unbounded })).removedFiles
  }

  /** As `TruncationStorage.sweep`; lists all outputs, one request for every 1,000. */
  async sweep(options?: SweepOptions): Promise<SweepReport> {
    return this.inventory.sweep(checkSweep(options, this.bounds))
  }

  /** Returns the size of the storage, and of the spool; lists all outputs, one request for every 1,000. */
  async usage(): Promise<RemoteUsage> {
    const waiting = await this.writer.pending()
    const bytes = waiting.reduce((sum, output) => sum + output.bytes, 0)
    return { ...(await this.inventory.usage()), pending: { files: waiting.length, bytes } }
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
    const { key } = ownedKey(this.options.objects.url, path)
    const waited = await this.writer.discard(key)
    const isThere = waited.length > 0 || (await this.inventory.find(key)) !== undefined
    await this.inventory.remove([key, `${key}${INDEX_SUFFIX}`])
    return isThere
  }

  /**
   * Removes all outputs of a session, and returns their number.
   * @throws SpillwayError `STORAGE_WRITE` if some of them could not be removed; the others are
   */
  async deleteSession(sessionId: string): Promise<number> {
    if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
    const prefix = prefixOf(sessionId)
    const waited = await this.writer.discard(prefix)
    const removed = await this.inventory.removeAll(prefix)
    return new Set([...waited, ...removed]).size
  }

  /** Returns the URL that paths begin with. */
  getStorageDir(): string {
    return this.options.objects.url
  }

  /** Uploads the outputs in the spool, for at most `timeoutMs`, and returns the number of outputs that are left. */
  async flush(timeoutMs: number = this.options.closeTimeoutMs): Promise<number> {
    if (!atLeastZero(timeoutMs)) throw wrong('timeoutMs', timeoutMs, milliseconds[0])
    return this.writer.flush(timeoutMs)
  }

  /**
   * Completes outputs from the parts that killed processes had uploaded: an upload without a new part for `idleMs` is completed
   * with a line that says so. If its process is still running, nothing is lost, because it saves the full output again. Returns the paths.
   * With `ack: 'live'`, all outputs are listed for their snapshots: one request for every 1,000.
   * An upload that cannot be completed is reported to `onError`, and tried again by the next call.
   * @param idleMs by default an hour
   * @throws SpillwayError `STORAGE_READ` if the object store does not list unfinished uploads
   */
  async salvage(idleMs = 3_600_000): Promise<string[]> {
    if (!atLeastZero(idleMs)) throw wrong('idleMs', idleMs, milliseconds[0])
    return (await this.writer.salvage(idleMs)).map((key) => this.saved(key))
  }

  /** Uploads the outputs in the spool, for at most `closeTimeoutMs`; the rest stays there for the next process. */
  async close(): Promise<void> {
    await this.flush()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
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
