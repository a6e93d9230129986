/** Small state that workers share: the interface of a server, and the checks common to all servers. */

import { checkGiven, wholeFrom } from '../validation/options'
import { invalid, wrong } from '../validation/validate'

/** A lease held by its owner. Writes with it are refused once another owner has the lease. */
export interface Lease {
  key: string
  /** The number that {@link Coordination.lease} returned. */
  fence: number
}

/** Options of {@link Coordination.put}. */
export interface PutOptions {
  /** Milliseconds that the value is kept. @default forever */
  ttlMs?: number
  /** Refuses the write with `CONFLICT` unless this lease is held. */
  lease?: Lease
}

/** A value in a folder. */
export interface ListedValue {
  key: string
  value: string
}

/**
 * Small shared state: values, logs, counters and leases. Each change is atomic, and the first worker wins. A key is a folder, a
 * slash and a name: `questions/3f2a`. Values and entries are text.
 *
 * Every call fails with `COORDINATION` if the server cannot be reached, does not answer in time, or refuses. The server may have
 * executed the call nevertheless. Each call may be repeated with the same arguments; only `take` counts twice.
 */
export interface Coordination {
  /** Stores a value if there is none. Returns the stored value, which is the first one. */
  first(key: string, value: string, ttlMs: number): Promise<string>
  /** Returns a value, or nothing. */
  get(key: string): Promise<string | undefined>
  /**
   * Stores a value.
   * @throws SpillwayError `CONFLICT` if the lease in `options` is not held
   */
  put(key: string, value: string, options?: PutOptions): Promise<void>
  /** Removes a value. A missing value is not an error. */
  remove(key: string): Promise<void>
  /** Lists the values of a folder, in the order of their keys. */
  list(folder: string): Promise<ListedValue[]>
  /**
   * Calls the listener when a value in the folder was stored or removed, until the returned function is called. It is called
   * without a key after a lost connection, because values may have changed meanwhile. Notifications may be late, repeated or lost,
   * so read the values again from time to time.
   */
  watch(folder: string, listener: (key?: string) => void): () => void
  /**
   * Adds an entry to a log as number `at`, from 0. Returns true if the entry has that number now, and false if another has it, or
   * the entry before it is missing.
   * @throws SpillwayError `CONFLICT` if the lease is given and not held
   */
  append(log: string, at: number, entry: string, lease?: Lease): Promise<boolean>
  /** Reads the entries of a log from number `from`. */
  read(log: string, from: number): Promise<string[]>
  /**
   * Adds to a counter that begins at 0 and is reset `ttlMs` after the first call. Returns the rest of the limit, or `undefined` if
   * the limit would be exceeded; then nothing is added.
   */
  take(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined>
  /**
   * Takes or extends a lease. Returns a number that grows with every new owner, or `undefined` if another owner has the lease.
   */
  lease(key: string, owner: string, ms: number): Promise<number | undefined>
  /** Releases a lease, if this owner has it. */
  release(key: string, owner: string): Promise<void>
  /** Closes connections that this object opened. */
  close(): Promise<void>
}

/** The functions that every implementation has. */
export const COORDINATION_FUNCTIONS = [
  ...['first', 'get', 'put', 'remove', 'list', 'watch'],
  ...['append', 'read', 'take', 'lease', 'release', 'close'],
] as const

/** Most characters of a value or an entry: larger things belong in an object store. */
const MAX_VALUE_LENGTH = 2 ** 24

/** Splits a key. @throws SpillwayError `INVALID_ARGUMENT` */
export function checkKey(key: string): { folder: string; name: string } {
  const [, folder, name] =
    (typeof key === 'string' && key.length <= 512 && /^([\w.-]+(?:\/[\w.-]+)*)\/([\w.-]+)$/.exec(key)) || []
  if (folder === undefined || name === undefined) {
    throw wrong('key', key, 'a folder, a slash and a name, of letters, digits and _.-')
  }
  return { folder, name }
}

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function checkFolder(folder: string): void {
  if (typeof folder !== 'string' || !/^[\w.-]+(\/[\w.-]+)*$/.test(folder)) {
    throw wrong('folder', folder, 'names with slashes between them, of letters, digits and _.-')
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function checkValue(field: string, value: string): void {
  if (typeof value !== 'string') throw wrong(field, value, 'a text')
  // Servers store bytes, or refuse a text with a NUL in it.
  if (!value.isWellFormed() || value.includes('\0'))
    throw invalid(field, 'expected a text without NUL and lone surrogates')
  if (value.length > MAX_VALUE_LENGTH) {
    throw invalid(field, `expected up to ${MAX_VALUE_LENGTH} characters, received ${value.length}`)
  }
}

/** Milliseconds of a lifetime; nothing for forever. @throws SpillwayError `INVALID_ARGUMENT` */
export function checkLifetime(ttlMs: number | undefined): number | undefined {
  if (ttlMs === undefined || ttlMs === Number.POSITIVE_INFINITY) return undefined
  checkGiven('ttlMs', ttlMs, wholeFrom(1))
  return ttlMs
}
