/**
 * Digests of the previews that were printed: a hook recognises one in a result by its digest. By its form alone, anything
 * that a tool prints could claim to be one.
 */

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

/** UTF-16 units of the longest preview that a command prints by default, with its notice and what is put around it. */
export const MAX_PREVIEW = 64 * 1024

/** UTF-16 units that an agent may put around what a command printed: its exit code, the time that it took. */
const AROUND = 1000

/** True if a text is a preview that was printed, with no more around it than an agent adds. */
export function isPrintedPreview(dirs: readonly string[], text: string): boolean {
  for (const { path, units, pathAt, digest } of LOG.read(dirs).values()) {
    if (text.length < units || text.length > units + AROUND) continue
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      const start = at - pathAt
      if (start >= 0 && digestOf(text.slice(start, start + units)) === digest) return true
    }
  }
  return false
}
