/** The storage of full outputs, with the redaction before a save. */

import type { TruncationContext } from './config'

/** Why the full output could not be saved. The preview is returned all the same. */
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
  /** Bytes between them, which were not kept. */
  omittedBytes: number
}

/**
 * Secrets that are redacted before an output is saved. Each byte becomes `*`, except line breaks, so sizes, line
 * numbers and offsets stay true of the saved file, and the length of a secret shows. Overlapping matches count as one.
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
  /** Secrets that are known, found wherever they stand: at most 10,000 of 4 to 65,536 UTF-8 bytes, 1 MiB in all. */
  values?: readonly string[]
  /**
   * Redacts what has the shape of a well-known secret: private keys, JSON web tokens, `Authorization` and other headers with a
   * key, cookies, passwords in URLs and in arguments (`curl -u`, `mysql -p`), and the tokens of about 200 vendors, among them AWS,
   * Azure, GitHub, GitLab, Slack, Google, OpenAI, Anthropic, Stripe and npm; and values that are named as a secret
   * (`DB_PASSWORD=…`, `"password": "…"`, `--token …`, `<password>…</password>`, `name: API_KEY, value: …`), unless they are a
   * type, a placeholder or a reference such as `${DB_PASSWORD}`. A word of lower case alone counts only where nothing but a
   * password can stand.
   * @default false
   */
  known?: boolean
}

/** How much a save survives: a killed process, a power cut without tearing, a power cut without losing what was acknowledged. */
export type Durability = 'process' | 'file' | 'full'

/** Storage of full outputs. Implement it to save them elsewhere. */
export interface ITruncationStorage {
  /** Saves a text and returns its location: a path, an id, a URL. */
  save(content: string, context: TruncationContext): Promise<string>
  read(path: string): Promise<string>
  /** Removes outputs older than `retentionDays` and returns their number. */
  cleanup(retentionDays: number): Promise<number>
  getStorageDir(): string
  /** Saves bytes unchanged. Without it, bytes are decoded as UTF-8 and passed to `save`. */
  saveBytes?(content: Uint8Array, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length: what `TruncationService.capture` took in. Called once the output has ended; its
   * pieces are valid until the next is asked for. Without it, captures of up to 64 MiB go to `saveBytes` or `save`, and
   * longer ones are not kept.
   */
  saveStream?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
  /**
   * Saves bytes of any length while they come: called once 1 MiB of a capture has come in, and settles after the source has ended.
   * The source gives at most 256 KiB at a time, and only what is asked for. It throws if the output is dropped or need not be
   * saved; then nothing must stay. If it rejects, the whole output is given to `saveStream`.
   */
  saveLive?(source: AsyncIterable<Uint8Array>, context: TruncationContext): Promise<string>
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
   * The most bytes that remain after a sweep, over all folders: the oldest are removed first, those of sessions in use last. `Infinity`
   * for no bound.
   * @default 4294967296
   */
  maxStoreBytes?: number
  /**
   * The most outputs that remain after a sweep, over all folders; `Infinity` for no bound.
   * @default 10000
   */
  maxStoreFiles?: number
  /**
   * Most bytes of a saved file, at least 4,096. The file of a longer output has its first and last part and between
   * them one line with the number of missing bytes; its name ends with `.partial.txt`, and `savedPart` has the ranges.
   * @default none
   */
  maxFileBytes?: number
  /**
   * Redacts secrets in saved outputs; previews stay as they are. A saved output is then not lossless.
   * @default none
   */
  redact?: RedactionOptions
  /**
   * Days that a sweep keeps an output. More than 0; `Infinity`: forever.
   * @default 7
   */
  retentionDays?: number
  /**
   * Sweeps with the first save and then with every hundredth, beside the save and without delaying it. Such a sweep uses the
   * clock of the file system, keeps outputs that this storage saved itself, and does nothing if no output is between an hour
   * and a year old, because the clock may have jumped.
   * @default true; false in a service with the profile `takumi`
   */
  sweepOnSave?: boolean
}
