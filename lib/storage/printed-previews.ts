/**
 * Digests of the previews that were printed for other processes, in the store of their outputs: a process that bounds such a text
 * recognises it by its digest. By its form alone, anything that a tool prints could claim to be a preview.
 */

import { existsSync } from 'node:fs'
import type { ITruncationStorage } from '../types'
import { canSay, isSavedOutput } from './saved-outputs'
import { StoreLog } from './store-log'

/** A preview that was printed. */
interface PrintedPreview {
  /** The saved output, as the preview names it. */
  path: string
  /** UTF-16 units of the preview, without white space at its end, which agents drop. */
  units: number
  /** Where the path stands in it. */
  pathAt: number
  digest: string
}

const LOG = new StoreLog<PrintedPreview>(
  'previews.jsonl',
  ({ units, pathAt, digest }) => typeof units === 'number' && typeof pathAt === 'number' && typeof digest === 'string',
)

/**
 * Returns a digest of 64 bits. Another text with the same digest has the same length, and gets no more than that through, so that nothing stronger is needed; and
 * `node:crypto` takes longer to load than everything else that is done to a preview.
 */
function digestOf(text: string): string {
  // By words of four bytes: a loop of this length is done before anything compiles it.
  const bytes = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 4) * 4)
  bytes.write(text)
  let [one, other] = [0x811c9dc5, 0x9dc5811c]
  for (const word of new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)) {
    one = Math.imul(one ^ word, 0x01000193)
    one ^= one >>> 15
    other = Math.imul(other ^ word ^ one, 0x85ebca6b)
    other ^= other >>> 13
  }
  return `${(one >>> 0).toString(16)}.${(other >>> 0).toString(16)}`
}

/** Notes that a preview of an output is printed. One that does not name the output cannot be found again. */
export function recordPreview(dir: string, path: string, printed: string): void {
  const text = printed.trimEnd()
  const pathAt = text.lastIndexOf(path)
  if (pathAt !== -1) LOG.add(dir, { path, units: text.length, pathAt, digest: digestOf(text) })
}

/** Drops the previews of removed outputs, from each directory of a store. */
export function forgetPreviews(dirs: readonly string[]): void {
  LOG.forgetRemoved(dirs)
}

/** Lines and bytes that a preview may be longer than limits: those of its notice, and what is printed around it. */
export const EXTRA_LINES = 12
export const EXTRA_BYTES = 2048
/** The same in tokens. */
export const EXTRA_TOKENS = EXTRA_BYTES / 4

/** UTF-16 units of the longest preview that a command prints by default, with its notice and what is put around it. */
export const MAX_PREVIEW = 64 * 1024

/** UTF-16 units that an agent may put around what a command printed: its exit code, the time that it took. */
const AROUND = 1000

/** A preview that was printed, in a text. */
export interface FoundPreview {
  path: string
  preview: string
}

/** Finds the preview that a text is, with no more around it than an agent adds. */
export function printedPreviewIn(dirs: readonly string[], text: string): FoundPreview | undefined {
  for (const { path, units, pathAt, digest } of LOG.lines(dirs)) {
    if (text.length < units || text.length > units + AROUND) continue
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      const start = at - pathAt
      const preview = start < 0 ? '' : text.slice(start, start + units)
      if (preview.length === units && digestOf(preview) === digest) return { path, preview }
    }
  }
  return undefined
}

/** True if a text is a preview that was printed, with no more around it than an agent adds. */
export function isPrintedPreview(dirs: readonly string[], text: string): boolean {
  return printedPreviewIn(dirs, text) !== undefined
}

/** True if a storage has a log of previews, and an output of this length may be one of them. */
export function mayBePrinted(storage: ITruncationStorage, units: number): boolean {
  if (units > MAX_PREVIEW + AROUND || !canSay(storage)) return false
  try {
    return LOG.isIn(storage.getStorageDir())
  } catch {
    // A storage of the caller's that fails knows no preview.
    return false
  }
}

/** Finds the preview that a text is, if it was printed for an output that a storage has. */
export function printedPreviewOf(storage: ITruncationStorage, text: string): FoundPreview | undefined {
  if (!mayBePrinted(storage, text.length)) return undefined
  const dir = storage.getStorageDir()
  // Most texts name no output of the store, and the log is not read for them.
  const found = text.includes(dir) ? printedPreviewIn([dir], text) : undefined
  const isThere = found !== undefined && isSavedOutput(found.path, storage) && existsSync(found.path)
  return isThere ? found : undefined
}
