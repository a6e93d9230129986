/** Outputs that are a preview already, as of a script that runs `spillway run` and is itself run by it. */

import type { RangeResult, ReadRange, TruncatedResult, TruncationResult } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { isStoreUrl } from '../util/store-url'
import type { Parsed } from './command'
import { dirsOf } from './outputs'
import { text } from './parse-values'
import { isPrintedPreview, MAX_PREVIEW } from './preview-log'
import { openStorage, truncationOptions } from './shared-options'

/** Lines and bytes of a notice. */
const NOTICE_LINES = 12
const NOTICE_BYTES = 1024

/** Returns whether a preview is within the limits that the options set. */
function isWithin({ totalLines = 0, totalBytes = 0 }: TruncatedResult, values: Parsed['values']): boolean {
  const { maxLines, maxBytes, maxTokens, direction } = truncationOptions(values)
  return (
    maxTokens === undefined &&
    direction === undefined &&
    (maxLines === undefined || totalLines <= maxLines + NOTICE_LINES) &&
    (maxBytes === undefined || totalBytes <= maxBytes + NOTICE_BYTES)
  )
}

/**
 * Returns the result without its truncation if the whole output is a preview that was printed into the same store, with no more
 * around it than a line or two. Removes the copy that was saved of it.
 */
export async function keptPreview(
  result: TruncationResult,
  values: Parsed['values'],
  bucket: RemoteStorage | undefined,
): Promise<TruncationResult> {
  if (!result.truncated || !isWithin(result, values)) return result
  const { outputPath: path, totalBytes = 0 } = result
  if (path === '' || totalBytes > MAX_PREVIEW) return result
  const storage = isStoreUrl(path) && bucket !== undefined ? bucket : openStorage(values)
  const sessionId = text(values, 'session')
  const access = sessionId === undefined ? {} : { sessionId }
  try {
    let whole = ''
    for (let next: ReadRange | undefined = { fromByte: 0, byteCount: totalBytes }; next !== undefined; ) {
      const part: RangeResult = await storage.readRange(path, next, access)
      whole += part.text
      next = part.next
    }
    if (!isPrintedPreview(await dirsOf(storage), whole)) return result
    await storage.remove(path)
    return { content: whole, truncated: false }
  } catch {
    // Another process may have removed it: the preview of the preview is still one.
    return result
  }
}
