/** Recognises previews that a model has copied as if they were the full text. */

import { call, native } from '../native/native'
import { wrong } from '../validation/validate'
import { repeatsNotice } from './previews'

/**
 * Returns true if a text contains a notice of Spillway, in any language and profile, or one of `formatNotice` that names the saved
 * output: unchanged, after the prefix of a comment, a quote or a diff, on one line, in a JSON string, or only its last lines. A
 * tool that writes files can refuse such a text, because the model has copied a preview and the rest would be lost. A document
 * that only mentions truncation, or has a line such as `...5 lines truncated...`, does not count.
 */
export function containsTruncationMarker(text: string): boolean {
  if (typeof text !== 'string') throw wrong('text', text, 'a string')
  return call(() => native.containsTruncationMarker(text)) || repeatsNotice(text)
}
