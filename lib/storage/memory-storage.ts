/** A storage without a disk: for tests, and for hosts that have none. */

import { SpillwayError } from '../errors'
import { readAll } from '../ingest/ingest'
import { call, native } from '../native/native'
import { DEFAULT_TRUNCATION_CONFIG } from '../settings/defaults'
import type { ITruncationStorage, RedactionOptions, SavedPart, TruncationContext } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { now } from '../util/clock'
import { checkBytes } from '../validation/bytes'
import { checkContext, checkKeys, isRecord, readable, wrong } from '../validation/validate'
import { keeperOf, storageIntake, storageSettings } from './file-storage'
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
import { RECEIPT, type Receipt } from './receipt'
import {
  checkRetentionLimits,
  checkSweep,
  type RetentionLimits,
  type SavedOutput,
  type StorageUsage,
  type SweepOptions,
  type SweepReport,
  type SweptFile,
} from './retention'
import { rememberOutput } from './saved-outputs'

/** Options of {@link MemoryStorage}. */
export interface MemoryStorageOptions {
  /** The most bytes that remain after {@link MemoryStorage.sweep}. @default 4294967296 */
  maxStoreBytes?: number
  /** The most outputs that remain after {@link MemoryStorage.sweep}. @default 10000 */
  maxStoreFiles?: number
  /** As for `TruncationStorage`. @default none */
  maxFileBytes?: number
  /** As for `TruncationStorage`. @default none */
  redact?: RedactionOptions
  /** Days that {@link MemoryStorage.sweep} keeps an output. More than 0; `Infinity`: forever. @default 7 */
  retentionDays?: number
}

interface Kept {
  toolName: string
  /** The call that it is the output of. */
  call?: string
  bytes: Uint8Array
  session?: string
  modified: number
  part?: SavedPart
  redactions?: number
}

const ROOT = 'memory:/'

/**
 * Keeps full outputs in the memory of the process, with the methods of `TruncationStorage` but for `saveStream`: an output is held
 * as a whole. They are not shared with other processes and are lost when the process ends.
 */
export class MemoryStorage implements ITruncationStorage {
  /** @internal */
  readonly kept: Map<string, Kept>
  /** @internal */
  readonly gone: Set<string>
  /** @internal */
  readonly bounds: Required<RetentionLimits>
  /** @internal */
  readonly settings: object | undefined

  /** @throws SpillwayError `INVALID_CONFIG` that names the option */
  constructor(options: MemoryStorageOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
    const known = ['maxStoreBytes', 'maxStoreFiles', 'maxFileBytes', 'redact', 'retentionDays']
    const read = () => {
      checkKeys('', options, known, 'INVALID_CONFIG')
      const { retentionDays, ...others }: MemoryStorageOptions = options
      return { retentionDays, others }
    }
    const { retentionDays, others } = readable('options', read, 'INVALID_CONFIG')
    const { settings, bounds } = storageSettings(others, retentionDays)
    this.settings = keeperOf(settings)
    this.bounds = bounds
    this.kept = new Map()
    this.gone = new Set()
  }

  /** Stores a text and returns its path, which only this storage knows. */
  async save(content: string, context: TruncationContext): Promise<string> {
    if (typeof content !== 'string') throw wrong('content', content, 'a string')
    const known = checkContext(context)
    const { settings } = this
    if (!settings && content.isWellFormed()) return keep(this, { bytes: Buffer.from(content, 'utf8') }, known)
    return keep(this, await collect(settings, content, known), known)
  }

  /** Stores a copy of bytes and returns its path. */
  async saveBytes(content: Uint8Array, context: TruncationContext): Promise<string> {
    checkBytes(content)
    const known = checkContext(context)
    const { settings } = this
    if (!settings) return keep(this, { bytes: new Uint8Array(content) }, known)
    return keep(this, await collect(settings, content, known), known)
  }

  /** Returns the full text. @throws SpillwayError `STORAGE_NOT_OWNED`, `STORAGE_NOT_FOUND` if it was swept */
  async read(path: string): Promise<string> {
    const { bytes } = find(this, path)
    return readAll(
      call(() => native.readerOfBytes(bytes)),
      path,
    )
  }

  /** As `TruncationStorage.readRange`. */
  async readRange(path: string, range: ReadRange, access: OutputAccess = {}): Promise<RangeResult> {
    checkPath(path)
    checkAccess('access', access)
    return readRange({ find: () => find(this, path, access).bytes, path }, range)
  }

  /** As `TruncationStorage.search`. */
  async search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult> {
    checkPath(path)
    return search({ find: () => find(this, path, options).bytes, path }, pattern, options)
  }

  /** Returns true if the path is that of an output in this storage. */
  owns(path: string): boolean {
    if (typeof path !== 'string') throw wrong('path', path, 'a string')
    return this.kept.has(path) || this.gone.has(path)
  }

  /** Removes outputs that are older than `retentionDays`, and returns their number. Outputs younger than an hour are kept. */
  async cleanup(retentionDays: number = DEFAULT_TRUNCATION_CONFIG.retentionDays): Promise<number> {
    checkRetentionLimits({ retentionDays })
    const unbounded = { maxStoreBytes: Number.POSITIVE_INFINITY, maxStoreFiles: Number.POSITIVE_INFINITY }
    return (await this.sweep({ retentionDays, ...unbounded })).removedFiles
  }

  /** As `TruncationStorage.sweep`; there are no leases here. */
  async sweep(options?: SweepOptions): Promise<SweepReport> {
    const { retentionDays, maxStoreBytes, maxStoreFiles, now: time, dryRun } = checkSweep(options, this.bounds)
    const all = [...this.kept]
    const dates = all.map(([, { modified }]) => modified)
    const sizes = all.map(([, { bytes }]) => bytes.length)
    const chosen = call(() => native.boundsApply(dates, sizes, retentionDays, maxStoreBytes, maxStoreFiles, time))
    const removed = (JSON.parse(chosen) as [number, SweptFile['reason']][]).map(([index, reason]): SweptFile => {
      const [path, { bytes }] = all[index]!
      if (!dryRun) forget(this, path)
      return { path, bytes: bytes.length, reason }
    })
    const removedBytes = removed.reduce((sum, file) => sum + file.bytes, 0)
    return {
      removed: removed.slice(0, 1000),
      removedFiles: removed.length,
      removedBytes,
      kept: { files: all.length - removed.length, bytes: sizes.reduce((sum, size) => sum + size, 0) - removedBytes },
      failed: [],
      failedFiles: 0,
      skippedDirs: [],
    }
  }

  /** Returns the number and size of the outputs. */
  async usage(): Promise<StorageUsage> {
    const [files, bytes] = [this.kept.size, sizeOf(this)]
    const sessions = new Set([...this.kept.values()].flatMap(({ session }) => session ?? [])).size
    return { files, bytes, sessions, dirs: [{ dir: ROOT, files, bytes }] }
  }

  /** Lists the outputs of the store, or of one session in it, newest first. */
  async list(access: OutputAccess = {}): Promise<SavedOutput[]> {
    checkAccess('access', access)
    const { sessionId } = access
    const session = sessionId === undefined ? undefined : native.sessionFolder(sessionId)
    const found = [...this.kept].filter(([, kept]) => session === undefined || kept.session === session)
    const listed = found.map(([path, { toolName, modified, bytes, part }]): SavedOutput => {
      return { path, toolName, savedAt: modified, bytes: bytes.length, ...(part !== undefined && { partial: true }) }
    })
    return listed.reverse().sort((one, other) => other.savedAt - one.savedAt)
  }

  /**
   * Removes one output. Returns false if it was removed before.
   * @throws SpillwayError `STORAGE_NOT_OWNED` for any other path
   */
  async remove(path: string): Promise<boolean> {
    checkPath(path)
    if (!this.kept.has(path) && this.gone.has(path)) return false
    find(this, path)
    forget(this, path)
    return true
  }

  /** Removes all outputs of a session, and returns their number. */
  async deleteSession(sessionId: string): Promise<number> {
    if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string')
    const session = native.sessionFolder(sessionId)
    const theirs = [...this.kept].filter(([, each]) => each.session === session)
    for (const [path] of theirs) forget(this, path)
    return theirs.length
  }

  /** @internal */
  [RECEIPT](path: string): Receipt | undefined {
    return this.kept.get(path)
  }

  /** Returns the prefix of paths; it is not a folder on disk. */
  getStorageDir(): string {
    return ROOT
  }

  /** Removes all outputs. */
  async close(): Promise<void> {
    this.kept.clear()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Paths that are remembered after their outputs were removed, so that the error can say so. */
const MAX_REMOVED = 10_000

function forget(storage: MemoryStorage, path: string): void {
  storage.kept.delete(path)
  if (storage.gone.size >= MAX_REMOVED) storage.gone.clear()
  storage.gone.add(path)
}

type Content = Pick<Kept, 'bytes' | 'part' | 'redactions'>

async function collect(
  settings: object | undefined,
  content: string | Uint8Array,
  { signal }: TruncationContext,
): Promise<Content> {
  const intake = storageIntake(content, undefined, settings ? { settings } : {})
  const collected = (await intake.finish(undefined, signal)).outcome.collected!
  const bytes = intake.collectedBytes(collected)
  intake.release()
  return { part: collected.part, redactions: collected.redactions, bytes }
}

function keep(storage: MemoryStorage, content: Content, context: TruncationContext): string {
  context.signal?.throwIfAborted()
  const { toolName, sessionId, toolCallId } = context
  const session = sessionId === undefined ? undefined : native.sessionFolder(sessionId)
  const ofCall = toolCallId === undefined ? undefined : `${session ?? ''}/${toolCallId}`
  for (const [path, kept] of ofCall === undefined ? [] : storage.kept) {
    if (kept.call !== ofCall || Buffer.compare(kept.bytes, content.bytes) !== 0) continue
    kept.modified = now()
    return path
  }
  const modified = now()
  const name = call(() => native.outputName(toolName.toWellFormed(), modified, content.part !== undefined))
  const path = `${ROOT}${session === undefined ? '' : `${session}/`}${name}`
  storage.kept.set(path, { ...content, toolName, session, call: ofCall, modified })
  rememberOutput(path)
  return path
}

function checkPath(path: unknown): void {
  if (typeof path !== 'string') throw wrong('path', path, 'a string')
}

function find(storage: MemoryStorage, path: string, access?: OutputAccess): Kept {
  checkPath(path)
  const refuse = (code: 'STORAGE_NOT_FOUND' | 'STORAGE_NOT_OWNED', problem: string) =>
    new SpillwayError(code, `${JSON.stringify(path)}${problem}`, { field: 'path' })
  const folder = typeof access?.sessionId === 'string' ? native.sessionFolder(access.sessionId) : undefined
  if (folder !== undefined && !path.startsWith(`${ROOT}${folder}/`)) {
    throw refuse('STORAGE_NOT_OWNED', ' is not an output of this session')
  }
  const kept = storage.kept.get(path)
  if (kept) return kept
  if (storage.gone.has(path)) throw refuse('STORAGE_NOT_FOUND', ': is no longer there; it was probably swept')
  throw refuse('STORAGE_NOT_OWNED', ' is not an output that this store saved')
}

function sizeOf(storage: MemoryStorage): number {
  let bytes = 0
  for (const kept of storage.kept.values()) bytes += kept.bytes.length
  return bytes
}
