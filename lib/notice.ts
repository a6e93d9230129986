/** Recognising a preview that was taken for the whole. */

import { SpillwayError } from './errors'
import { native } from './native'

/**
 * Whether a text holds a line that only a notice of Spillway writes, in any language and profile. A tool that writes
 * files can refuse such a text: the model has copied a preview, and the rest would be lost.
 */
export function containsTruncationMarker(text: string): boolean {
  if (typeof text !== 'string') {
    throw new SpillwayError('INVALID_ARGUMENT', `text: got ${typeof text}, allowed is a string`, { field: 'text' })
  }
  return native.containsTruncationMarker(text)
}
