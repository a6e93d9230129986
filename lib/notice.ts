/** Recognising a preview that was taken for the whole. */

import { wrong } from './context'
import { call, native } from './native'

/**
 * Whether a text holds a line that only a notice of Spillway writes, in any language and profile. A tool that writes
 * files can refuse such a text: the model has copied a preview, and the rest would be lost.
 */
export function containsTruncationMarker(text: string): boolean {
  if (typeof text !== 'string') throw wrong('text', text, 'a string')
  return call(() => native.containsTruncationMarker(text))
}
