/** Full outputs as files: complete or absent, private, and readable only through the store that owns them. */

import { types } from 'node:util'
import { now } from './clock'
import { DEFAULT_TRUNCATION_CONFIG } from './constants'
import { checkContext, isRecord, wrong } from './context'
import { asyncDispose } from './dispose'
import { SpillwayError } from './errors'
import { Intake, type Outcome, type SaveTarget } from './intake'
import { background, call, native } from './native'
import { encode, type Limits, Settings } from './settings'
import type { Durability, ITruncationStorage, TruncationContext } from './types'

/** Options of {@link TruncationStorage}. */
export interface TruncationStorageOptions {
  /** Folders in order of preference; any failure moves on to the next. Default: the user's data folder, then a private temporary one. */
  storageDirs?: readonly string[]
  /** @default 'process' */
  durability?: Durability
}

/** V8 holds no longer string. */
const MAX_STRING_UNITS = 2 ** 29 - 24

/**
 * Keeps full outputs in files. `SPILLWAY_STORAGE_DIR` in the environment overrides the default folders, but not
 * folders that are given here.
 */
export class TruncationStorage implements ITruncationStorage {
  /** @internal */
  readonly place: { readonly dirs: readonly string[]; readonly durability: Durability }

  /**
   * @param options one folder, or more of them in order
   * @throws SpillwayError `INVALID_CONFIG` for a folder that cannot be one
   */
  constructor(options: string | TruncationStorageOptions = {}) {
    const { storageDirs, durability } = checkOptions(options)
    const override = process.env.SPILLWAY_STORAGE_DIR
    const wanted = (storageDirs === undefined || storageDirs.length === 0) && override ? [override] : storageDirs
    // Read as the options of a service, so that there is one place that knows what is allowed.
    const { facts } = new Settings({ storageDirs: wanted, durability })
    const dirs = call(() => native.storeDirs([...facts.storageDirs])).map(String)
    this.place = { dirs: Object.freeze(dirs), durability: facts.durability }
  }

  /**
   * Saves a text so that {@link read} gives back exactly the same string, and answers the path.
   * @throws SpillwayError `STORAGE_WRITE` when no folder took it
   */
  async save(content: string, context: TruncationContext): Promise<string> {
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    return saveNow(this.place, content, context)
  }

  /** Saves bytes as they are, and answers the path. They must not change until the promise settles. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    if (!types.isUint8Array(content)) throw wrong('content', content, 'a Uint8Array')
    return saveNow(this.place, content, context)
  }

  /**
   * The whole text of a saved output.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path, `STORAGE_NOT_FOUND` when it was swept,
   *   `STORAGE_TOO_LARGE` when no string can hold it
   */
  async read(path: string): Promise<string> {
    checkPath(path)
    const reader = call(() => native.readerOpen([...this.place.dirs], path))
    let text = ''
    for (;;) {
      const piece = await background(() => native.readerNext(reader))
      if (piece === null || piece === undefined) return text
      if (text.length + piece.length > MAX_STRING_UNITS) {
        throw new SpillwayError('STORAGE_TOO_LARGE', `${JSON.stringify(path)} is longer than a string can be`, {
          field: 'path',
        })
      }
      text += piece
    }
  }

  /** Whether a path is that of an output that this store saved, links resolved. */
  owns(path: string): boolean {
    checkPath(path)
    return call(() => native.storeOwns([...this.place.dirs], path))
  }

  /**
   * Removes outputs that are older than so many days, in all folders and nothing else, and answers how many.
   * What cannot be examined and what is younger than an hour is kept.
   * @throws SpillwayError `INVALID_CONFIG` unless the number is above 0
   */
  async cleanup(retentionDays: number = DEFAULT_TRUNCATION_CONFIG.retentionDays): Promise<number> {
    const days = checkRetention(retentionDays)
    return background(() => native.storeCleanup([...this.place.dirs], days, now()))
  }

  /** The folder that outputs go to first. */
  getStorageDir(): string {
    return this.place.dirs[0]!
  }

  /** Nothing is held open between calls; here for symmetry with services. */
  async close(): Promise<void> {}

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

function checkOptions(options: string | TruncationStorageOptions): TruncationStorageOptions {
  if (typeof options === 'string') return { storageDirs: [options] }
  if (!isRecord(options)) throw wrong('options', options, 'a folder, or an object', 'INVALID_CONFIG')
  const known = ['storageDirs', 'durability']
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    const message = `${unknown}: is not an option of a storage; known are ${known.join(', ')}`
    throw new SpillwayError('INVALID_CONFIG', message, { field: unknown })
  }
  return options
}

/** Where a storage saves, if it is exactly ours: then the binary saves while it shortens, and the text crosses once. */
export function placeOf(storage: ITruncationStorage): TruncationStorage['place'] | undefined {
  const prototype = TruncationStorage.prototype
  const ours =
    storage instanceof TruncationStorage && storage.save === prototype.save && storage.saveBytes === prototype.saveBytes
  return ours ? storage.place : undefined
}

/** What the binary needs to know to save an output of this context. */
export function saveTarget(place: TruncationStorage['place'], context: TruncationContext): SaveTarget {
  return { ...place, tool: context.toolName, sessionId: context.sessionId }
}

/** Whether something can be used as a storage. */
export function isStorage(value: unknown): value is ITruncationStorage {
  const storage = value as Partial<ITruncationStorage> | null
  return (
    typeof storage === 'object' &&
    storage !== null &&
    (['save', 'read', 'cleanup', 'getStorageDir'] as const).every((name) => typeof storage[name] === 'function')
  )
}

// Saving alone cuts nothing, so it keeps nothing of the text in memory.
const NO_PREVIEW: Limits = { maxLines: 1, maxBytes: 1, direction: 'head', lineRule: 'terminated' }

let plainSettings: Settings | undefined

async function saveNow(
  place: TruncationStorage['place'],
  content: string | Uint8Array,
  context: TruncationContext,
): Promise<string> {
  plainSettings ??= new Settings({})
  checkContext(context)
  context.signal?.throwIfAborted()
  const intake = new Intake(plainSettings.handle, NO_PREVIEW, content, content.length, saveTarget(place, context))
  const { outcome }: { outcome: Outcome } = await intake.finish(undefined, context.signal)
  if (outcome.saved) return outcome.saved.path
  throw new SpillwayError('STORAGE_WRITE', outcome.saveError?.message ?? 'nothing was saved')
}

function checkPath(path: unknown): void {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
}

/** The rule for days is the binary's; a storage asks it on every cleanup. */
function checkRetention(days: number): number {
  call(() => native.settingsOpen(encode({ global: { retentionDays: days } })))
  return days
}
