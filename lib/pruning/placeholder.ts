/** Placeholders chosen by the caller. */

import { catchLater } from '../util/warn'
import { badAnswer } from '../validation/validate'
import { type PrunedInfo, type PrunerSettings, pruningError } from './options'
import type { HistoryItem } from './prunable-item'

export function infoOf({ kind, toolName, toolCallId, tokens, outputPath }: HistoryItem): PrunedInfo {
  // A first request may leave out tens of thousands, and what is spread costs more than all else that is done for one.
  const info = {} as { -readonly [K in keyof PrunedInfo]: PrunedInfo[K] }
  info.kind = kind
  if (toolName !== undefined) info.toolName = toolName
  if (toolCallId !== undefined) info.toolCallId = toolCallId
  info.tokens = tokens
  if (outputPath !== undefined) info.outputPath = outputPath
  return info
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
