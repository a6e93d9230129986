/** Options of a remote storage. */

import { SpillwayError } from '../errors'
import { type Check, checkOptions, finite, fn, folder, milliseconds, oneOf, wholeBetween } from '../validation/options'
import { wrong } from '../validation/validate'
import { type ObjectStore, REQUIRED_FUNCTIONS } from './object-store'

const MEBIBYTE = 2 ** 20

/** Options of `RemoteStorage`. */
export interface RemoteStorageOptions {
  /** The bucket, or the prefix in one, that outputs are saved in: `s3Objects(…)` of `spillway/s3`, or your own. */
  objects: ObjectStore
  /**
   * Bytes of a part of an upload, 5 MiB to 64 MiB; at most 10,000 parts make an output. Three of them are in memory at once.
   * @default 8388608
   */
  partBytes?: number
  /**
   * Bytes of one request of a search, 64 KiB to 64 MiB. Up to four times as much is in memory.
   * @default 8388608
   */
  windowBytes?: number
  /**
   * A folder for outputs that the object store does not have yet, such as a volume of the pod; made if it is missing. An output in
   * it survives a failing store, and is uploaded by the next process with the same folder if this one ends. Without a spool,
   * outputs are uploaded from memory.
   * @default none
   */
  spoolDir?: string
  /**
   * When a save with a spool resolves: `remote` when the store has the output or after `ackTimeoutMs`; `spool` when the spool has it;
   * `live` as `remote`, and every `snapshotMs` the store gets what a running command has printed since the last part.
   * @default 'remote'
   */
  ack?: 'remote' | 'spool' | 'live'
  /**
   * With `ack: 'live'`, the milliseconds after which a running output is in the store, at least 100. Each costs two requests, and at most
   * `partBytes`.
   * @default 10000
   */
  snapshotMs?: number
  /** Milliseconds that a save waits for the store, with a spool. @default 10000 */
  ackTimeoutMs?: number
  /** Milliseconds that `close` waits for outputs in the spool to be uploaded. @default 25000 */
  closeTimeoutMs?: number
  /** Receives the path of an output and the error of its upload from the spool, which is retried, or of its `salvage`. */
  onError?: (error: SpillwayError, path: string) => void
  /** Days that `sweep` keeps an output. More than 0; `Infinity`: forever. @default 7 */
  retentionDays?: number
  /** Bytes that `sweep` leaves. @default 4294967296 */
  maxStoreBytes?: number
  /** Outputs that `sweep` leaves. @default 10000 */
  maxStoreFiles?: number
}

export const objectStore: Check = [
  'an object store, such as s3Objects of spillway/s3',
  (value) =>
    typeof (value as Partial<ObjectStore> | null)?.url === 'string' &&
    REQUIRED_FUNCTIONS.every((name) => typeof (value as Partial<ObjectStore>)[name] === 'function'),
]

const CHECKS: Readonly<Record<keyof RemoteStorageOptions, Check>> = {
  objects: objectStore,
  partBytes: wholeBetween(5 * MEBIBYTE, 64 * MEBIBYTE),
  windowBytes: wholeBetween(2 ** 16, 64 * MEBIBYTE),
  spoolDir: folder,
  ack: oneOf('remote', 'spool', 'live'),
  snapshotMs: finite(100, 'milliseconds'),
  ackTimeoutMs: milliseconds,
  closeTimeoutMs: milliseconds,
  onError: fn,
  // The storage's own reader of bounds says what is allowed.
  retentionDays: ['a number of days', (value) => typeof value === 'number'],
  maxStoreBytes: ['a number of bytes', (value) => typeof value === 'number'],
  maxStoreFiles: ['a number of outputs', (value) => typeof value === 'number'],
}

/** The names of all options. */
export const REMOTE_OPTION_NAMES: readonly string[] = Object.keys(CHECKS)

/** Options with their defaults, without the bounds of a sweep. */
export type CheckedRemoteOptions = ReturnType<typeof checkRemoteOptions>

/** @throws SpillwayError `INVALID_CONFIG` that names the option */
export function checkRemoteOptions(options: RemoteStorageOptions) {
  try {
    checkOptions('options', options, CHECKS)
    if (options.objects === undefined) throw wrong('options.objects', undefined, CHECKS.objects[0])
  } catch (error) {
    const { message, field, cause } = error as SpillwayError
    throw new SpillwayError('INVALID_CONFIG', message, { field: field?.replace(/^options\./, ''), cause })
  }
  const { partBytes = 8 * MEBIBYTE, windowBytes = 8 * MEBIBYTE, spoolDir, onError, ...others } = options
  const { ack = 'remote', snapshotMs = 10_000, ackTimeoutMs = 10_000, closeTimeoutMs = 25_000, ...bounds } = others
  const { objects, retentionDays, maxStoreBytes, maxStoreFiles } = bounds
  const limits = { retentionDays, maxStoreBytes, maxStoreFiles }
  return { objects, partBytes, windowBytes, spoolDir, onError, ack, snapshotMs, ackTimeoutMs, closeTimeoutMs, limits }
}
