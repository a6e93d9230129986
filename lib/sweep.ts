/** Keeping a store within its bounds: what a sweep may do, and what it and the store say. */

import { checkKeys, isRecord, wrong } from './context'

/** What a sweep goes by. What is not given is as the storage was told. */
export interface SweepOptions {
  /** Days after which an output goes; more than 0, `Infinity` for never. @default 7 */
  retentionDays?: number
  /** Bytes of all outputs, over all folders. @default 4294967296 */
  maxStoreBytes?: number
  /** Outputs, over all folders. @default 10000 */
  maxStoreFiles?: number
  /** Milliseconds since the epoch. Default: now. */
  now?: number
}

/** An output that a sweep removed, and whether for its age or for a bound of the store. */
export interface SweptFile {
  path: string
  bytes: number
  reason: 'age' | 'bytes' | 'count'
}

/** What a sweep did. */
export interface SweepReport {
  /** The first 1,000 of the outputs that were removed. */
  removed: SweptFile[]
  /** How many were removed. */
  removedFiles: number
  /** Their bytes. */
  removedBytes: number
  /** What is left, without what could not be examined. */
  kept: { files: number; bytes: number }
  /** The first 100 of the outputs that should have gone and could not be removed. */
  failed: { path: string; error: string }[]
  /** How many could not be removed. */
  failedFiles: number
  /** Folders that another process was sweeping; nothing was done there. */
  skippedDirs: string[]
}

/** How much a store holds. */
export interface StorageUsage {
  /** Outputs. */
  files: number
  /** Their bytes. */
  bytes: number
  /** Sessions that have outputs, or had some. */
  sessions: number
  /** Folder by folder, in order. `freeBytes` is what the file system has left, where the folder is there and the system says. */
  dirs: { dir: string; files: number; bytes: number; freeBytes?: number }[]
  /** What the last sweep did that the store made by itself; absent before the first. */
  lastSweep?: SweepReport
}

/** The options of a sweep over what the storage was told. */
export function checkSweep(
  options: SweepOptions | undefined,
  told: { retentionDays: number; maxStoreBytes: number; maxStoreFiles: number },
): Required<SweepOptions> {
  const given: unknown = options ?? {}
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  checkKeys('options', given, ['retentionDays', 'maxStoreBytes', 'maxStoreFiles', 'now'])
  const { retentionDays, maxStoreBytes, maxStoreFiles, now } = given as SweepOptions
  for (const [name, value] of Object.entries({ maxStoreBytes, maxStoreFiles })) {
    if (value !== undefined && value !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(value) && value >= 1)) {
      throw wrong(`options.${name}`, value, 'a whole number of at least 1, or Infinity')
    }
  }
  if (now !== undefined && !Number.isFinite(now)) throw wrong('options.now', now, 'milliseconds since the epoch')
  return {
    retentionDays: retentionDays ?? told.retentionDays,
    maxStoreBytes: maxStoreBytes ?? told.maxStoreBytes,
    maxStoreFiles: maxStoreFiles ?? told.maxStoreFiles,
    now: now ?? Date.now(),
  }
}
