/** What a caller wants in the place of something that is left out. */

import { catchLater } from '../../report'
import type { HistoryItem } from './item'
import { badAnswer, type PrunedInfo, type PrunerSettings, pruningError } from './options'

export function infoOf({ kind, toolName, toolCallId, tokens, outputPath }: HistoryItem): PrunedInfo {
  return {
    kind,
    ...(toolName !== undefined && { toolName }),
    ...(toolCallId !== undefined && { toolCallId }),
    tokens,
    ...(outputPath !== undefined && { outputPath }),
  }
}

/** `undefined` if the caller wants nothing of its own, or nothing that can be used. */
export function wantedPlaceholder({ placeholder, tell }: PrunerSettings, item: HistoryItem): string | undefined {
  if (typeof placeholder !== 'function') return placeholder
  try {
    const text: unknown = placeholder(infoOf(item))
    if (typeof text === 'string') return text.toWellFormed()
    tell(badAnswer('placeholder', text, 'a string'))
    catchLater('placeholder', text)
  } catch (thrown) {
    tell(pruningError('placeholder', thrown))
  }
  return undefined
}
