/** Recognising a preview that was taken for the whole. */

import { call, native } from '../native/native'
import { wrong } from '../validation/validate'
import { repeatsNotice } from './previews'

/**
 * True if a text holds a notice of Spillway, in any language and profile and in words of `formatNotice` that name the saved output:
 * as it was, behind the prefix of a comment, a quote or a diff, on one line, in a JSON string, or the last lines of it. A tool that
 * writes files can refuse such a text: the model has copied a preview, and the rest would be lost. A document that only speaks of
 * truncation, or has a line such as `...5 lines truncated...` in it, is none.
 */
export function containsTruncationMarker(text: string): boolean {
  if (typeof text !== 'string') throw wrong('text', text, 'a string')
  return call(() => native.containsTruncationMarker(text)) || repeatsNotice(text)
}
