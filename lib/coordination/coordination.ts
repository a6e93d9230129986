/** Small state that workers share: what a server must do for it, and what is checked alike for every server. */

import { invalid, wrong } from '../validation/validate'

/** A lease as its owner has it; writes that name it are refused once another owner has it. */
export interface Lease {
  key: string
  /** The number that {@link Coordination.lease} answered. */
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
 * Small shared state: values, logs, counters and leases, each changed in one step by whichever worker comes first. A key is
 * a folder, a slash and a name: `questions/3f2a`. Values and entries are text.
 *
 * Every call fails with `COORDINATION` if the server cannot be reached, does not answer in time, or refuses. The server may
 * have done it all the same. Each call may be repeated with the same arguments: only `take` counts twice.
 */
export interface Coordination {
  /** Stores a value if there is none. Returns the value that is stored then: the first. */
  first(key: string, value: string, ttlMs: number): Promise<string>
  /** Returns a value, or nothing. */
  get(key: string): Promise<string | undefined>
  /**
   * Stores a value.
   * @throws SpillwayError `CONFLICT` if the lease that `options` name is not held
   */
  put(key: string, value: string, options?: PutOptions): Promise<void>
  /** Removes a value; one that is not there is no error. */
  remove(key: string): Promise<void>
  /** Lists the values of a folder, in the order of their keys. */
  list(folder: string): Promise<ListedValue[]>
  /**
   * Calls the listener when a value in the folder was stored or removed, until the returned function is called. Without a key after a
   * connection was lost: something may have changed meanwhile. Notifications may be late, doubled or lost, so
   * read again from time to time.
   */
  watch(folder: string, listener: (key?: string) => void): () => void
  /**
   * Adds an entry to a log as number `at`, from 0. Returns true if it has that place now, and false if another has, or the entry before
   * it is missing.
   * @throws SpillwayError `CONFLICT` if the lease is given and not held
   */
  append(log: string, at: number, entry: string, lease?: Lease): Promise<boolean>
  /** Reads the entries of a log from number `from`. */
  read(log: string, from: number): Promise<string[]>
  /**
   * Takes from a counter that begins at 0 and is forgotten `ttlMs` after the first was taken. Returns what is left of the limit, or
   * nothing if it would be passed; then nothing was taken.
   */
  take(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined>
  /**
   * Takes a lease, or keeps it for longer. Returns a number that grows with every new owner; nothing if another owner has the lease.
   */
  lease(key: string, owner: string, ms: number): Promise<number | undefined>
  /** Gives a lease back, if this owner has it. */
  release(key: string, owner: string): Promise<void>
  /** Ends connections that were made here. */
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

/** @throws SpillwayError `INVALID_ARGUMENT` */
export function checkWhole(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) throw wrong(field, value, `a whole number of at least ${least}`)
}

/** Milliseconds of a lifetime; nothing for forever. @throws SpillwayError `INVALID_ARGUMENT` */
export function checkLifetime(ttlMs: number | undefined): number | undefined {
  if (ttlMs === undefined || ttlMs === Number.POSITIVE_INFINITY) return undefined
  checkWhole('ttlMs', ttlMs, 1)
  return ttlMs
}
