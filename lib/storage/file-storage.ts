/** Full outputs as files: complete or absent, private, and readable only through the store that owns them. */

import { knownAs, SpillwayError } from '../errors'
import {
  type Collect,
  chunkSlices,
  Intake,
  type Outcome,
  openIntake,
  push,
  readAll,
  type SaveTarget,
} from '../ingest/ingest'
import { Drain } from '../ingest/worker-tasks'
import { background, call, native } from '../native/native'
import { DEFAULT_TRUNCATION_CONFIG } from '../settings/defaults'
import { Settings, type TextLimits } from '../settings/settings'
import type { ITruncationStorage, TruncationContext, TruncationStorageOptions } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { now } from '../util/clock'
import { isArray } from '../util/guards'
import { checkBytes } from '../validation/bytes'
import { checkContext, checkKeys, hasFunctions, isRecord, readable, wrong } from '../validation/validate'
import {
  checkAccess,
  type OutputAccess,
  type RangeResult,
  type ReadRange,
  readRange,
  type SearchOptions,
  type SearchResult,
  search,
} from './read'
import {
  checkRetentionLimits,
  checkSweep,
  type RetentionLimits,
  type SavedOutput,
  type StorageUsage,
  type SweepOptions,
  type SweepReport,
} from './retention'
import { rememberOutput } from './saved-outputs'

/** A store that the binary has open. */
export interface Place {
  readonly store: object
  readonly dirs: readonly string[]
  /** The settings of the storage, if they change what is saved. */
  readonly settings?: object
}

/** Opens a store as settings say. */
export function openPlace(settings: Settings): Place {
  const store = call(() => native.storeOpen(settings.handle))
  return { store, dirs: Object.freeze(native.storeDirs(store).map(String)), settings: keeperOf(settings) }
}

/**
 * Saves full outputs in files. The environment variable `SPILLWAY_STORAGE_DIR` overrides the default folders, but not folders that
 * are passed here.
 */
export class TruncationStorage implements ITruncationStorage {
  /** @internal */
  readonly place: Place
  /** @internal */
  readonly bounds: Required<RetentionLimits>

  /**
   * @param options one folder, or several in order of preference
   * @throws SpillwayError `INVALID_CONFIG` for an invalid folder
   */
  constructor(options: string | TruncationStorageOptions = {}) {
    const read = () => {
      const { storageDirs, retentionDays, ...others } = checkOptions(options)
      return { storageDirs, retentionDays, others }
    }
    const { storageDirs, retentionDays, others } = readable('options', read, 'INVALID_CONFIG')
    const override = process.env.SPILLWAY_STORAGE_DIR
    const isAsked = storageDirs !== undefined && !(isArray(storageDirs) && storageDirs.length === 0)
    const isOverridden = override !== undefined && override !== '' && !isAsked
    const wanted = isOverridden ? [override] : storageDirs
    const names: Record<string, string> = isOverridden ? { 'storageDirs[0]': 'SPILLWAY_STORAGE_DIR' } : {}
    const make = () => storageSettings({ ...others, storageDirs: wanted }, retentionDays)
    const { settings, bounds } = knownAs(names, make)
    this.place = openPlace(settings)
    this.bounds = bounds
  }

  /**
   * Saves a text so that {@link read} returns exactly the same string, unless `redact` or `maxFileBytes` changes it, and returns the path.
   * @throws SpillwayError `STORAGE_WRITE` if it could not be written to any folder
   */
  async save(content: string, context: TruncationContext): Promise<string> {
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    return saveNow(this.place, content, context)
  }

  /** Saves bytes unchanged, and returns the path. They must not change until the promise settles. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    checkBytes(content)
    return saveNow(this.place, content, context)
  }

  /** Saves bytes of any length while they arrive, in constant memory, and returns the path. */
  async saveStream(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string> {
    return saveAsItComes(this.place, source, context)
  }

  /**
   * Reads the whole text of a saved output.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_NOT_FOUND` when it was swept,
   *   `STORAGE_TOO_LARGE` when no string can hold it
   */
  async read(path: string): Promise<string> {
    checkPath(path)
    return readAll(
      call(() => native.readerOpen(this.place.store, path)),
      path,
    )
  }

  /**
   * Reads a part of a saved output, by lines or by bytes, regardless of the size of the file; at most 262,144 bytes in one call.
   * The first read by line counts the lines up to there; later reads find any line of the file at once.
   *
   * @example
   * let range: ReadRange | undefined = { fromLine: 1, lineCount: 500 }
   * while (range) {
   *   const { text, next } = await storage.readRange(path, range)
   *   range = next
   * }
   * @throws SpillwayError `INVALID_ARGUMENT`, `STORAGE_NOT_OWNED`, `STORAGE_NOT_FOUND` as {@link read}; rejects with the
   *   reason of the signal when that is aborted
   */
  async readRange(path: string, range: ReadRange, access: OutputAccess = {}): Promise<RangeResult> {
    checkPath(path)
    checkAccess('access', access)
    return readRange({ store: this.place.store, path }, range, access)
  }

  /**
   * Finds the lines of a saved output that match a regular expression, regardless of the size of the file.
   *
   * The expression is one of Rust's `regex` crate: no look-around and no back-references, and therefore linear
   * time; `\p{…}` knows general categories and scripts. Lines are searched one by one: `^` and `$` match the ends of a line, and
   * no expression matches a line feed. A line over 1 MiB is searched in pieces; in it, a match over
   * 64 KiB may be missed. A file of 16 MiB or more is searched on up to four threads at once.
   *
   * @param pattern 1 to 1,024 bytes
   * @throws SpillwayError `INVALID_ARGUMENT` with field `pattern` for an expression that is invalid or too large, with the
   * option's name for an invalid option; otherwise as {@link readRange}
   */
  async search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult> {
    checkPath(path)
    return search({ store: this.place.store, path }, pattern, options)
  }

  /** Returns true if this store saved the output at a path, links resolved. */
  owns(path: string): boolean {
    checkPath(path)
    return call(() => native.storeOwns(this.place.store, path))
  }

  /**
   * Removes outputs that are older than `retentionDays`, in all folders and nothing else, and returns their number.
   * Files that cannot be examined or are younger than an hour are kept.
   * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
   */
  async cleanup(retentionDays: number = DEFAULT_TRUNCATION_CONFIG.retentionDays): Promise<number> {
    checkRetentionLimits({ retentionDays })
    return background(() => native.storeCleanup(this.place.store, retentionDays, now()))
  }

  /**
   * Removes outputs that are too old, and then, while the store is over its limits, the oldest; outputs of sessions in use are
   * removed last. Files that are not outputs of a store, cannot be examined or are younger than an hour are
   * kept. If several processes sweep one folder at once, only one of them does the work.
   * @throws SpillwayError `INVALID_CONFIG` for an invalid limit, `INVALID_ARGUMENT` for any other invalid option
   */
  async sweep(options?: SweepOptions): Promise<SweepReport> {
    const { retentionDays, maxStoreBytes, maxStoreFiles, now: time, dryRun } = checkSweep(options, this.bounds)
    const { store } = this.place
    return JSON.parse(
      await background(() => native.storeSweep(store, retentionDays, maxStoreBytes, maxStoreFiles, time, dryRun)),
    )
  }

  /** Returns the size of the store, folder by folder, and the report of its last automatic sweep. */
  async usage(): Promise<StorageUsage> {
    return JSON.parse(await background(() => native.storeUsage(this.place.store)))
  }

  /** Lists the outputs of the store, or of one session in it, newest first. */
  async list(access: OutputAccess = {}): Promise<SavedOutput[]> {
    checkAccess('access', access)
    return JSON.parse(await background(() => native.storeList(this.place.store, access.sessionId)))
  }

  /**
   * Removes one output. Returns false if it did not exist.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_WRITE` when it could not be removed
   */
  async remove(path: string): Promise<boolean> {
    checkPath(path)
    return background(() => native.storeRemove(this.place.store, path))
  }

  /**
   * Removes all outputs of a session, regardless of their age, and even while a process uses the session, and returns their number.
   * @throws SpillwayError `STORAGE_WRITE` if some of them could not be removed; the others are
   */
  async deleteSession(sessionId: string): Promise<number> {
    if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
    return background(() => native.storeDeleteSession(this.place.store, sessionId))
  }

  /** Returns the first folder for outputs. */
  getStorageDir(): string {
    return this.place.dirs[0]!
  }

  /** Waits for a running sweep, and releases the leases of its sessions. The storage can still be used. */
  async close(): Promise<void> {
    await background(() => native.storeClose(this.place.store))
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

const OPTIONS = [
  'storageDirs',
  'durability',
  'maxStoreBytes',
  'maxStoreFiles',
  'maxFileBytes',
  'redact',
  'retentionDays',
  'sweepOnSave',
]

function checkOptions(options: string | TruncationStorageOptions): TruncationStorageOptions {
  if (typeof options === 'string') return { storageDirs: [options] }
  if (!isRecord(options)) throw wrong('options', options, 'a folder, or an object', 'INVALID_CONFIG')
  checkKeys('', options, OPTIONS, 'INVALID_CONFIG')
  return options
}

/** Validates the options of a storage as those of a service, so that one place decides. */
export function storageSettings(
  options: object,
  retentionDays: number | undefined,
): { settings: Settings; bounds: Required<RetentionLimits> } {
  checkRetentionLimits({ retentionDays })
  const settings = new Settings({ ...options, global: { retentionDays } })
  const { maxStoreBytes, maxStoreFiles, retentionDays: days } = settings.facts
  return { settings, bounds: { maxStoreBytes, maxStoreFiles, retentionDays: days } }
}

/** Returns the storage that the settings of a service describe. Redaction happens in the service, before its storage gets the text. */
export function fileStorage({ facts }: Settings): TruncationStorage {
  const { storageTimeoutMs: _timeout, redacts: _redacts, maxFileBytes, ...options } = facts
  return new TruncationStorage({ ...options, maxFileBytes: maxFileBytes ?? undefined })
}

/** Where a storage saves, if it is exactly ours: then the binary saves while it shortens, and the text crosses once. */
export function placeOf(storage: ITruncationStorage): Place | undefined {
  const prototype = TruncationStorage.prototype
  const ours =
    storage instanceof TruncationStorage && storage.save === prototype.save && storage.saveBytes === prototype.saveBytes
  return ours ? storage.place : undefined
}

/** The settings of a storage, if they change what it keeps. */
export function keeperOf({ handle, facts }: Settings): object | undefined {
  return facts.redacts || facts.maxFileBytes !== null ? handle : undefined
}

/** Input of the core to save an output of this context. */
export function saveTarget(place: Place, { toolName, sessionId, toolCallId }: TruncationContext): SaveTarget {
  const { store, settings } = place
  return { store, settings, tool: toolName, sessionId, toolCallId }
}

/** True if something can be used as a storage. */
export function isStorage(value: unknown): value is ITruncationStorage {
  if (typeof value !== 'object') return false
  return hasFunctions('storage', value, ['save', 'read', 'cleanup', 'getStorageDir'], 'INVALID_CONFIG')
}

// Saving alone cuts nothing, so it keeps nothing of the text in memory.
const NO_PREVIEW: TextLimits = {
  maxLines: 1,
  maxBytes: 1,
  maxTokens: null,
  direction: 'head',
  lineRule: 'terminated',
  keep: 'ends',
  terminal: false,
}

let plainSettings: Settings | undefined

/** Hands an output over as a storage does, which has no preview and no service. */
export function storageIntake(content: string | Uint8Array, save: SaveTarget | undefined, collect?: Collect): Intake {
  plainSettings ??= new Settings({})
  return new Intake(plainSettings.handle, content, { limits: NO_PREVIEW, units: content.length, save, collect })
}

/** Bytes that are copied in before a thread is called. */
const BATCH_BYTES = 2 ** 18

async function saveAsItComes(
  place: Place,
  source: AsyncIterable<Uint8Array>,
  given: TruncationContext,
): Promise<string> {
  const context = checkContext(given)
  context.signal?.throwIfAborted()
  plainSettings ??= new Settings({})
  const handle = openIntake(plainSettings.handle, {
    limits: NO_PREVIEW,
    bytes: true,
    save: saveTarget(place, context),
  })
  const drain = new Drain(handle)
  let pending = 0
  try {
    for await (const piece of source) {
      checkBytes(piece)
      for (const slice of chunkSlices(piece, piece.byteLength)) {
        call(() => push(handle, slice))
        pending += slice.length
        if (pending < BATCH_BYTES) continue
        await drain.room()
        context.signal?.throwIfAborted()
        drain.begin()
        pending = 0
      }
    }
    await drain.end()
  } catch (error) {
    await drain.settle()
    await background(() => native.intakeAbort(handle))
    throw error
  }
  const end = await background(() => native.intakeFinish(handle, undefined))
  return pathOf(JSON.parse(end.outcome))
}

async function saveNow(place: Place, content: string | Uint8Array, given: TruncationContext): Promise<string> {
  const context = checkContext(given)
  context.signal?.throwIfAborted()
  const intake = storageIntake(content, saveTarget(place, context))
  const { outcome } = await intake.finish(undefined, context.signal)
  intake.release()
  return pathOf(outcome)
}

function pathOf({ saved, saveError }: Outcome): string {
  if (!saved) throw new SpillwayError('STORAGE_WRITE', saveError?.message ?? 'nothing was saved')
  rememberOutput(saved.path)
  return saved.path
}

function checkPath(path: unknown): void {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
}
