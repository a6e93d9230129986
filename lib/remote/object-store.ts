/** Where a remote storage keeps bytes: the few operations that every object store has. */

/** A part of a multipart upload, as the store named it. */
export interface UploadedPart {
  /** From 1. */
  number: number
  /** The name that the store gave it. */
  tag: string
  bytes: number
  /** When it was uploaded, by the clock of the store, in milliseconds since the epoch; in the answer of `parts`, if it says so. */
  modified?: number
}

/** An object of a listing. */
export interface ListedObject {
  key: string
  bytes: number
  /** When it was saved, by the clock of the store, in milliseconds since the epoch. */
  modified: number
}

/** An upload that was begun and neither completed nor aborted. */
export interface OpenUpload {
  key: string
  upload: string
  /** When it was begun, by the clock of the store, in milliseconds since the epoch. */
  started: number
}

/** A part of an object, and its total size. */
export interface ObjectRange {
  bytes: Uint8Array
  /** Bytes of the whole object. */
  total: number
}

/**
 * A bucket, or a prefix in one. Each call is one request, a listing one for every 1,000 objects. Every call may fail, and may then
 * be repeated with the same arguments, without knowing if the first reached the store.
 */
export interface ObjectStore {
  /** The URL of its keys, without a slash at the end: `s3://bucket/prefix`. Paths of outputs begin with it. */
  readonly url: string
  /** Saves an object atomically. */
  put(key: string, body: Uint8Array): Promise<void>
  /** Begins a multipart upload, which is invisible until it is completed, and returns its id. */
  begin(key: string): Promise<string>
  /** Uploads one part, and returns the name that the store gives it. */
  part(key: string, upload: string, number: number, body: Uint8Array): Promise<string>
  /** Completes the object from the parts. Also resolves if an earlier call has completed it. */
  complete(key: string, upload: string, parts: readonly UploadedPart[]): Promise<void>
  /** Drops an upload and its parts. */
  abort(key: string, upload: string): Promise<void>
  /**
   * Reads the bytes from `from` up to but not including `to`; fewer, or none, at the end of the object. Resolves to `undefined` if
   * the object does not exist.
   */
  get(key: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange | undefined>
  /** Lists the objects whose keys begin with a prefix, in the order of their keys. */
  list(prefix: string): AsyncIterable<ListedObject>
  /** Removes objects, up to 1,000 in one call. Missing objects are not an error. */
  remove(keys: readonly string[]): Promise<void>
  /** Lists unfinished uploads. Without it, uploads of killed processes cannot be salvaged. */
  uploads?(prefix: string): AsyncIterable<OpenUpload>
  /** Lists the parts of an upload in the order of their numbers. */
  parts?(key: string, upload: string): Promise<UploadedPart[]>
}

/** Most keys of one call of `remove`. */
export const MAX_REMOVED_KEYS = 1000

/** The functions that every object store has. */
export const REQUIRED_FUNCTIONS = ['put', 'begin', 'part', 'complete', 'abort', 'get', 'list', 'remove'] as const
