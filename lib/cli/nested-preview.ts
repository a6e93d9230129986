/** Outputs that are a preview already, as of a script that runs `spillway run` and is itself run by it. */

import {
  type RangeResult,
  type ReadRange,
  type TruncatedResult,
  type TruncationResult,
  TruncationStorage,
} from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { EXTRA_BYTES, EXTRA_LINES, isPrintedPreview, MAX_PREVIEW } from '../storage/printed-previews'
import { isStoreUrl } from '../util/store-url'
import type { Parsed } from './command'
import { dirsOf, storeFolderOf } from './outputs'
import { text } from './parse-values'
import { truncationOptions } from './shared-options'

/** Returns whether an inner preview is short enough: within limits that the user set, but for its notice, and within those of any preview. */
function isWithin({ removedLines = 0, removedBytes = 0, totalBytes = 0 }: TruncatedResult, values: Parsed['values']) {
  const { maxLines, maxBytes, maxTokens, direction } = truncationOptions(values)
  const areSet = [maxLines, maxBytes, maxTokens, direction, values.config].some((value) => value !== undefined)
  const isLittleOver = removedLines <= EXTRA_LINES && removedBytes <= EXTRA_BYTES
  return totalBytes <= MAX_PREVIEW && (isLittleOver || !areSet)
}

/**
 * Returns the result without its truncation if the whole output is a preview that was printed into the same store, with no more
 * around it than a line or two. Removes the copy that was saved of it.
 *
 * @param note what is said at the end about how the command ended
 */
export async function keptPreview(
  result: TruncationResult,
  values: Parsed['values'],
  bucket: RemoteStorage | undefined,
  note?: string,
): Promise<TruncationResult> {
  if (!result.truncated || !isWithin(result, values)) return result
  const { outputPath: path, totalBytes = 0 } = result
  if (path === '') return result
  // The service knew it by its digest, and bounded nothing.
  if (result.preview === undefined) return { content: result.content, truncated: false }
  const sessionId = text(values, 'session')
  const access = sessionId === undefined ? {} : { sessionId }
  try {
    // If the bucket fails, an output is saved on this machine.
    const isRemote = isStoreUrl(path) && bucket !== undefined
    const storage = isRemote ? bucket : new TruncationStorage({ storageDirs: [storeFolderOf(values, path)] })
    let whole = ''
    for (let next: ReadRange | undefined = { fromByte: 0, byteCount: totalBytes }; next !== undefined; ) {
      const part: RangeResult = await storage.readRange(path, next, access)
      whole += part.text
      next = part.next
    }
    if (!isPrintedPreview(await dirsOf(storage), whole)) return result
    await storage.remove(path)
    return { content: note === undefined ? whole : `${whole.trimEnd()}\n\n${note}`, truncated: false }
  } catch {
    // Another process may have removed it: the preview of the preview is still one.
    return result
  }
}
