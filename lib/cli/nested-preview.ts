/** Outputs that are a preview already, as of a script that runs `spillway run` and is itself run by it. */

import type { RangeResult, ReadRange, TruncationResult } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { isStoreUrl } from '../util/store-url'
import type { Parsed } from './command'
import { dirsOf } from './outputs'
import { text } from './parse-values'
import { isPrintedPreview, MAX_PREVIEW } from './preview-log'
import { openStorage } from './shared-options'

/**
 * Returns the result without its truncation if the whole output is a preview that was printed into the same store, with no more
 * around it than a line or two. Removes the copy that was saved of it.
 */
export async function keptPreview(
  result: TruncationResult,
  values: Parsed['values'],
  bucket: RemoteStorage | undefined,
): Promise<TruncationResult> {
  const { truncated, outputPath: path, totalBytes = 0 } = result as Extract<TruncationResult, { truncated: true }>
  if (!truncated || path === '' || totalBytes > MAX_PREVIEW) return result
  const storage = isStoreUrl(path) && bucket !== undefined ? bucket : openStorage(values)
  const sessionId = text(values, 'session')
  const access = sessionId === undefined ? {} : { sessionId }
  let whole = ''
  for (let next: ReadRange | undefined = { fromByte: 0, byteCount: totalBytes }; next !== undefined; ) {
    const part: RangeResult = await storage.readRange(path, next, access)
    whole += part.text
    next = part.next
  }
  if (!isPrintedPreview(await dirsOf(storage), whole)) return result
  await storage.remove(path)
  return { content: whole, truncated: false }
}
