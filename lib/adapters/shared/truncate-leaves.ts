/** Truncates results whose structure the host reads: every text in them separately, and nothing else. */

import type { ToolControls, ToolResultLike, TruncationMiddleware } from 'spillway'
import { middlewareOf } from '../../service/middleware'
import { isArray } from '../../util/guards'

/** Deeper texts are left alone: no host's own results have them. */
const DEEPEST = 6

/** Values under these names are not text: contents of resources, files of any kind and pictures of notebooks. */
const MEDIA_FIELDS = ['blob', 'base64', 'image_data']

/** The middleware of the caller, once for every text in a result. */
export function leafwise(truncation: ToolControls['truncation']): TruncationMiddleware | undefined {
  if (truncation === undefined) return undefined
  const bound = middlewareOf(truncation)
  return async (toolName, result, context) => {
    let metadata: ToolResultLike['metadata']
    const whole = result?.output
    const visit = async (value: unknown, depth: number): Promise<unknown> => {
      if (typeof value === 'string') {
        const answer = await bound(toolName, { output: value }, context)
        if (answer.metadata?.truncated === true) metadata ??= answer.metadata
        return answer.output
      }
      if (typeof value !== 'object' || value === null || depth >= DEEPEST) return value
      const entries = await Promise.all(
        Object.entries(value).map(async ([key, inner]) => [
          key,
          isMedia(value) || MEDIA_FIELDS.includes(key) ? inner : await visit(inner, depth + 1),
        ]),
      )
      if (entries.every(([key, inner]) => (value as Record<string, unknown>)[key as string] === inner)) return value
      return isArray(value) ? entries.map(([, inner]) => inner) : { ...value, ...Object.fromEntries(entries) }
    }
    const output = await visit(whole, 0)
    if (output === whole) return result
    return { ...result, output, metadata: { ...result.metadata, ...metadata } }
  }
}

/** Returns true for a value that holds an image or the like, which is not text. */
function isMedia(value: object): boolean {
  const { type, isImage } = value as { type?: unknown; isImage?: unknown }
  return isImage === true || (typeof type === 'string' && /^(image|audio|video|blob|base64)/.test(type))
}
