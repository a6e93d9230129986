/** The usual placeholder of a pruned result or argument. */

import { native } from '../native/native'

/** Facts that a placeholder states. */
export interface PlaceholderFacts {
  /** The part that is left out. @default 'result' */
  kind?: 'result' | 'arguments'
  /** Invites to make the call again, because it certainly changes nothing. @default false */
  repeatable?: boolean
  language: 'en' | 'zh-CN'
  /** Path of the saved whole. */
  path?: string | undefined
  /** Words that it has. */
  words?: string | undefined
}

export function usualPlaceholder({ kind, repeatable = false, language, path, words }: PlaceholderFacts): string {
  return native.prunedPlaceholder(kind === 'arguments', repeatable, language === 'zh-CN', path, words)
}
