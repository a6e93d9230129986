/** Retention: the options and reports of sweeps, and the size of a store. */

import { call, native } from '../native/native'
import { encode } from '../settings/settings'
import { now } from '../util/clock'
import { definedOf } from '../util/defined'
import { checkKeys, isRecord, readable, wrong } from '../validation/validate'

/** Limits of a sweep. Missing fields default to the storage's options. */
export interface SweepOptions {
  /** Days after which an output is removed; more than 0, `Infinity` for never. @default 7 */
  retentionDays?: number
  /** Bytes of all outputs, over all folders. @default 4294967296 */
  maxStoreBytes?: number
  /** Outputs, over all folders. @default 10000 */
  maxStoreFiles?: number
  /** Milliseconds since the epoch. Default: now. */
  now?: number
  /** Only reports what would be removed. @default false */
  dryRun?: boolean
}

/** An output that a sweep removed, because of its age or a limit of the store. */
export interface SweptFile {
  path: string
  bytes: number
  reason: 'age' | 'bytes' | 'count'
}

/** Report of a sweep. */
export interface SweepReport {
  /** The first 1,000 of the outputs that were removed. */
  removed: SweptFile[]
  /** Number of removed outputs. */
  removedFiles: number
  /** Their bytes. */
  removedBytes: number
  /** Remaining files and bytes, without those that could not be examined. */
  kept: { files: number; bytes: number }
  /**
   * The first 100 of the outputs that could not be removed, and of the folders that could not be read.
   */
  failed: { path: string; error: string }[]
  /** Number of both. */
  failedFiles: number
  /** Folders that another process was sweeping, and that were skipped. */
  skippedDirs: string[]
}

/** A saved output, as lists show it. */
export interface SavedOutput {
  path: string
  /** Read from the name of the file; absent if the name does not have it. */
  toolName: string
  /** Milliseconds since the epoch. */
  savedAt: number
  /** Bytes of the file. */
  bytes: number
  /** The file holds only a part of the output. */
  partial?: true
}

/** Size of a store. */
export interface StorageUsage {
  /** Outputs. */
  files: number
  /** Their bytes. */
  bytes: number
  /** Sessions that have outputs, or had some. */
  sessions: number
  /**
   * Folder by folder, in order. `freeBytes` is the free space of the file system; absent if the folder does not exist or the
   * system does not report it.
   */
  dirs: { dir: string; files: number; bytes: number; freeBytes?: number }[]
  /** Report of the last automatic sweep; absent before the first. */
  lastSweep?: SweepReport
}

/** The options of a sweep, over those of the storage. */
export function checkSweep(options: SweepOptions | undefined, told: Required<RetentionLimits>): Required<SweepOptions> {
  const given: unknown = options === undefined ? {} : options
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  const { time, dryRun, bounds } = readable('options', () => {
    checkKeys('options', given, ['retentionDays', 'maxStoreBytes', 'maxStoreFiles', 'now', 'dryRun'])
    const { now: time, dryRun, ...bounds } = given as SweepOptions
    return { time, dryRun, bounds }
  })
  checkRetentionLimits(bounds, 'options.')
  if (dryRun !== undefined && typeof dryRun !== 'boolean') throw wrong('options.dryRun', dryRun, 'true or false')
  if (time !== undefined && !Number.isFinite(time)) throw wrong('options.now', time, 'milliseconds since the epoch')
  return {
    retentionDays: bounds.retentionDays ?? told.retentionDays,
    maxStoreBytes: bounds.maxStoreBytes ?? told.maxStoreBytes,
    maxStoreFiles: bounds.maxStoreFiles ?? told.maxStoreFiles,
    now: time ?? now(),
    dryRun: dryRun ?? false,
  }
}

/** Bounds of a store. */
export type RetentionLimits = Pick<SweepOptions, 'retentionDays' | 'maxStoreBytes' | 'maxStoreFiles'>

/** @throws SpillwayError `INVALID_CONFIG` with the field below `path`; what is undefined is not given */
export function checkRetentionLimits(bounds: RetentionLimits, path = ''): void {
  call(() => native.checkBounds(encode(definedOf(bounds)), path))
}
