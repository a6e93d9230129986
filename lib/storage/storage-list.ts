/** Several storages as one: an output that one of them does not save is passed to the next, and each reads its own paths. */

import { SpillwayError } from '../errors'
import type { ITruncationStorage, TruncationContext } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { wrong } from '../validation/validate'
import { isStorage, type TruncationStorage } from './file-storage'
import type { OutputAccess, RangeResult, ReadRange, SearchOptions, SearchResult } from './read'
import type { StorageUsage, SweepOptions, SweepReport } from './retention'
import { isSavedOutput } from './saved-outputs'

/** Optional methods of a storage besides {@link ITruncationStorage}. */
type Full = ITruncationStorage &
  Partial<
    Pick<
      TruncationStorage,
      'readRange' | 'search' | 'owns' | 'sweep' | 'usage' | 'deleteSession' | 'close' | 'saveBytes'
    >
  >

/** Codes with which a storage says that it does not own a path, or no longer has the file. */
const ELSEWHERE = ['STORAGE_NOT_OWNED', 'STORAGE_NOT_FOUND']

/**
 * Storages in order of preference. {@link save} tries them one after another until one saves the output; a path is read from the
 * storage that owns it.
 */
export class StorageList implements ITruncationStorage {
  /** In order of preference. */
  readonly storages: readonly ITruncationStorage[]

  /** @throws SpillwayError `INVALID_CONFIG` for an empty list */
  constructor(storages: readonly ITruncationStorage[]) {
    const given: unknown = storages
    if (!isArray(given) || given.length === 0 || !given.every(isStorage)) {
      throw wrong('storage', given, 'an array of at least one storage', 'INVALID_CONFIG')
    }
    this.storages = Object.freeze([...given])
  }

  /** Saves a text in the first storage that accepts it. @throws SpillwayError `STORAGE_WRITE` with the reason of each, if none did */
  async save(content: string, context: TruncationContext): Promise<string> {
    return this.first((storage) => storage.save(content, context))
  }

  /** Saves bytes in the same way. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    const text = () => Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
    return this.first((storage) =>
      storage.saveBytes ? storage.saveBytes(content, context) : storage.save(text(), context),
    )
  }

  /** Reads the whole text of a saved output. */
  async read(path: string): Promise<string> {
    return this.owner(path, (storage) => storage.read(path))
  }

  /** Reads a part of a saved output. @throws SpillwayError `STORAGE_NOT_OWNED` if no storage knows the path */
  async readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult> {
    return this.owner(path, (storage) => has(storage, 'readRange').readRange(path, range, access))
  }

  /** Finds the lines of a saved output that match. */
  async search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult> {
    return this.owner(path, (storage) => has(storage, 'search').search(path, pattern, options))
  }

  /** Returns true if one of the storages saved this output. One without `owns` is taken to own what this process saved. */
  owns(path: string): boolean {
    return this.storages.some((storage) => isSavedOutput(path, storage))
  }

  /** Removes outputs older than `retentionDays` from each storage, and returns their number. */
  async cleanup(retentionDays: number): Promise<number> {
    return this.sum((storage) => storage.cleanup(retentionDays))
  }

  /** Sweeps each storage that supports it, with its own limits, and adds up the reports. */
  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    const total: SweepReport = {
      removed: [],
      removedFiles: 0,
      removedBytes: 0,
      kept: { files: 0, bytes: 0 },
      failed: [],
      failedFiles: 0,
      skippedDirs: [],
    }
    for (const storage of this.storages as readonly Full[]) {
      const report = await storage.sweep?.(options)
      if (report === undefined) continue
      total.removed.push(...report.removed)
      total.removedFiles += report.removedFiles
      total.removedBytes += report.removedBytes
      total.kept.files += report.kept.files
      total.kept.bytes += report.kept.bytes
      total.failed.push(...report.failed)
      total.failedFiles += report.failedFiles
      total.skippedDirs.push(...report.skippedDirs)
    }
    return total
  }

  /** Returns their total size; a storage without `usage` counts as empty. */
  async usage(): Promise<StorageUsage> {
    const total: StorageUsage = { files: 0, bytes: 0, sessions: 0, dirs: [] }
    for (const storage of this.storages as readonly Full[]) {
      const usage = await storage.usage?.()
      if (usage === undefined) continue
      total.files += usage.files
      total.bytes += usage.bytes
      total.sessions += usage.sessions
      total.dirs.push(...usage.dirs)
    }
    return total
  }

  /** Removes all outputs of a session from each storage, and returns their number. */
  async deleteSession(sessionId: string): Promise<number> {
    return this.sum(async (storage: Full) => (await storage.deleteSession?.(sessionId)) ?? 0)
  }

  /** Returns the place that is tried first. */
  getStorageDir(): string {
    return this.storages[0]!.getStorageDir()
  }

  /** Closes each of them. */
  async close(): Promise<void> {
    for (const storage of this.storages as readonly Full[]) await storage.close?.()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }

  private async first(save: (storage: ITruncationStorage) => Promise<string>): Promise<string> {
    const problems: string[] = []
    for (const storage of this.storages) {
      try {
        return await save(storage)
      } catch (error) {
        // An argument that one refuses is refused by all.
        if (error instanceof SpillwayError && error.code === 'INVALID_ARGUMENT') throw error
        problems.push(`${storage.getStorageDir()}: ${messageOf(error)}`)
      }
    }
    throw new SpillwayError('STORAGE_WRITE', problems.join('; '))
  }

  /** Reads from the storage that owns the path, or else from the first storage without `owns` that finds it. */
  private async owner<T>(path: string, read: (storage: ITruncationStorage) => Promise<T>): Promise<T> {
    const storages = this.storages as readonly Full[]
    const owner = storages.find((storage) => storage.owns?.(path) === true)
    if (owner !== undefined) return read(owner)
    let refused: unknown
    for (const storage of storages.filter(({ owns }) => owns === undefined)) {
      try {
        return await read(storage)
      } catch (error) {
        if (!(error instanceof SpillwayError && ELSEWHERE.includes(error.code))) throw error
        refused = error
      }
    }
    throw refused ?? new SpillwayError('STORAGE_NOT_OWNED', `${JSON.stringify(path)} is no output of these storages`)
  }

  private async sum(count: (storage: ITruncationStorage) => Promise<number>): Promise<number> {
    let total = 0
    for (const storage of this.storages) total += await count(storage)
    return total
  }
}

function has<K extends 'readRange' | 'search'>(storage: Full, method: K): Full & Pick<TruncationStorage, K> {
  if (typeof storage[method] === 'function') return storage as Full & Pick<TruncationStorage, K>
  throw new SpillwayError('STORAGE_READ', `the storage at ${storage.getStorageDir()} has no ${method}`)
}
