/** The storage of full outputs, with the redaction before a save. */

import type { TruncationContext } from './config'

/** Why the full output could not be saved. The preview is still returned. */
export interface SaveError {
  /** Stable code, such as `STORAGE_WRITE` or `STORAGE_TIMEOUT`. */
  code: string
  message: string
  /** Every directory that was tried, in order, with the operating system's reason (`ENOSPC: no space left on device`, …). */
  attempts: { dir: string; error: string }[]
}

/** Part of an output longer than `maxFileBytes` that the file holds: its first and last bytes, with one line between them. */
export interface SavedPart {
  /** Bytes of the start of the output; the first of the file. */
  headBytes: number
  /** Bytes of the end of the output; the last of the file. */
  tailBytes: number
  /** Bytes between them, which were not saved. */
  omittedBytes: number
}

/**
 * Secrets that are redacted before an output is saved. Each byte becomes `*`, except line breaks, so sizes, line numbers and
 * offsets stay correct for the saved file, and the length of a secret remains visible. Overlapping matches count as one.
 *
 * A match of up to 65,536 bytes is always found, wherever an output is split. In a longer one at least the first 65,536 bytes
 * are redacted, or nothing if no shorter part of it matches.
 */
export interface RedactionOptions {
  /**
   * Regular expressions of Rust's `regex` crate, at most 100 of 1 to 4,096 bytes: no look-around and no back-references, and
   * none that matches the empty string. A `RegExp` keeps its source and the flags `i`, `m` and `s`; `u` is always on.
   * In an expression with a group named `secret`, only the match of that group is redacted.
   */
  patterns?: readonly (string | RegExp)[]
  /** Known secrets, found anywhere: at most 10,000 of 4 to 65,536 UTF-8 bytes, 1 MiB in total. */
  values?: readonly string[]
  /**
   * Redacts well-known forms of secrets: private keys, JSON web tokens, `Authorization` and other headers with a
   * key, cookies, passwords in URLs and in arguments (`curl -u`, `mysql -p`), and the tokens of about 200 vendors, among them AWS,
   * Azure, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, Stripe and npm; and values that are named as a secret
   * (`DB_PASSWORD=…`, `"password": "…"`, `--token …`, `<password>…</password>`, `name: API_KEY, value: …`), unless they are a
   * type, a placeholder or a reference such as `${DB_PASSWORD}`. A word in lower case counts only where nothing but a password can occur.
   * @default false
   */
  known?: boolean
}

/**
 * The guarantee of a save. `process`: the file survives the end of the process. `file`: a power cut leaves no torn file. `full`: a
 * power cut loses no acknowledged file.
 */
export type Durability = 'process' | 'file' | 'full'

/** Storage of full outputs. Implement it to save them elsewhere. */
export interface ITruncationStorage {
  /** Saves a text and returns its location: a path, an id, a URL. */
  save(content: string, context: TruncationContext): Promise<string>
  read(path: string): Promise<string>
  /** Removes outputs older than `retentionDays` and returns their number. */
  cleanup(retentionDays: number): Promise<number>
  getStorageDir(): string
  /**
   * Returns true for a location of an output that this storage saved, in this process or an earlier one. Only such locations are
   * shown to a model. Without it, those that this process saved count, and no other.
   */
  owns?(path: string): boolean
  /** Saves bytes unchanged. Without it, bytes are decoded as UTF-8 and passed to `save`. */
  saveBytes?(content: Uint8Array, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length: the output of a `TruncationService.capture`. Called when the output has ended; each piece is valid
   * until the next is requested. Without it, captures of up to 64 MiB are passed to `saveBytes` or `save`, and longer ones are not
   * saved in this storage.
   */
  saveStream?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length while they arrive: called when 1 MiB of a capture has arrived, and settles after the source has
   * ended. The source yields at most 256 KiB at a time, on request. It throws if the output is dropped or need not be saved; then
   * remove everything that was written. If the method rejects, the full output is passed to `saveStream`.
   */
  saveLive?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
  /** Milliseconds after which `saveLive` is called for a capture of less than 1 MiB that is still running. Without it, it is not. */
  readonly liveAfterMs?: number | undefined
}

/** Options of `TruncationStorage`. */
export interface TruncationStorageOptions {
  /**
   * Folders in order of preference; any failure moves on to the next. Default: the user's data folder, then a private temporary
   * one.
   */
  storageDirs?: readonly string[]
  /** @default 'process' */
  durability?: Durability
  /**
   * Maximum bytes that remain after a sweep, over all folders: the oldest outputs are removed first, those of sessions in use
   * last. `Infinity` for no limit.
   * @default 4294967296
   */
  maxStoreBytes?: number
  /**
   * Maximum number of outputs that remain after a sweep, over all folders; `Infinity` for no limit.
   * @default 10000
   */
  maxStoreFiles?: number
  /**
   * Maximum bytes of a saved file, at least 4,096. The file of a longer output has its first and last part, and between them one
   * line with the number of missing bytes; its name ends with `.partial.txt`, and `savedPart` has the ranges.
   * @default none
   */
  maxFileBytes?: number
  /**
   * Redacts secrets in saved outputs, not in previews. A saved output is then not lossless.
   * @default none
   */
  redact?: RedactionOptions
  /**
   * Days that a sweep keeps an output. More than 0; `Infinity`: forever.
   * @default 7
   */
  retentionDays?: number
  /**
   * Sweeps at the first save and at every hundredth one, in parallel to the save and without delaying it. Such a sweep uses the
   * clock of the file system, keeps outputs that this storage saved itself, and does nothing if no output is between an hour
   * and a year old, because the clock may have jumped.
   * @default true; false in a service with the profile `takumi`
   */
  sweepOnSave?: boolean
}
