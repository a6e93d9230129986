/** Trimmed form of a long result; the core decides where it is cut. */

import type { ResultText } from '../history/message-cache'
import { joinedText } from '../history/message-cache'
import { call, native } from '../native/native'
import type { NoticeLanguage } from '../types'
import type { TrimRule } from './policies'

/** Where a text is cut, in UTF-16 units, and what is said about it. From this the same bytes come again. */
export interface Trim {
  readonly head: number
  readonly tail: number
  readonly middle: string
  readonly suffix: string
}

/** Where this text would be cut; `undefined` if it stays whole. */
export function trimOf(
  text: ResultText,
  { maxChars, headChars, tailChars }: TrimRule,
  language: NoticeLanguage,
  path: string | undefined,
): Trim | undefined {
  const whole = joinedText(text)
  // The binary would say the same of a short one, but long texts are few and every crossing has a cost.
  if (whole.length <= maxChars) return undefined
  const chinese = language === 'zh-CN'
  return call(() => native.trimText(whole, maxChars, headChars, tailChars, chinese, path)) ?? undefined
}

export function trimmed(text: ResultText, { head, tail, middle, suffix }: Trim): string {
  const whole = joinedText(text)
  return (whole.slice(0, head) + middle + whole.slice(whole.length - tail) + suffix).toWellFormed()
}
