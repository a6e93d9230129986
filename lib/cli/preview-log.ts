/**
 * Digests of the previews that were printed: a hook recognises one in a result by its digest. By its form alone, anything
 * that a tool prints could claim to be one.
 */

import { sha256 } from '../util/crypto'
import { StoreLog } from './store-log'

/** A preview that was printed. */
interface PrintedPreview {
  /** The saved output, as the preview names it. */
  path: string
  /** UTF-16 units of the preview, without white space at its end, which agents drop. */
  units: number
  /** Where the path stands in it. */
  pathAt: number
  sha256: string
}

const LOG = new StoreLog<PrintedPreview>(
  'previews.jsonl',
  ({ units, pathAt, sha256 }) => typeof units === 'number' && typeof pathAt === 'number' && typeof sha256 === 'string',
)

const digestOf = (text: string): string => sha256(text.toWellFormed())

/** Notes that a preview of an output is printed. One that does not name the output cannot be found again. */
export function recordPreview(dir: string, path: string, printed: string): void {
  const text = printed.trimEnd()
  const pathAt = text.lastIndexOf(path)
  if (pathAt !== -1) LOG.add(dir, { path, units: text.length, pathAt, sha256: digestOf(text) })
}

/** Drops the previews of removed outputs, from each directory of a store. */
export function forgetPreviews(dirs: readonly string[]): void {
  LOG.forgetRemoved(dirs)
}

/** UTF-16 units that an agent may put around what a command printed: its exit code, the time that it took. */
const AROUND = 1000

/** True if a text is a preview that was printed, with no more around it than an agent adds. */
export function isPrintedPreview(dirs: readonly string[], text: string): boolean {
  for (const { path, units, pathAt, sha256 } of LOG.read(dirs).values()) {
    if (text.length < units || text.length > units + AROUND) continue
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      const start = at - pathAt
      if (start >= 0 && digestOf(text.slice(start, start + units)) === sha256) return true
    }
  }
  return false
}
