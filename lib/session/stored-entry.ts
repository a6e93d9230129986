/** An entry of a session as it is stored. */

import { messageOf } from '../util/message-of'
import { invalid, wrong } from '../validation/validate'
import type { SessionEntry } from './types'

/**
 * Returns the JSON of an entry, and what will be read of it. A `toJSON` may return anything, and what is not an entry would be
 * lost when the session is opened again.
 * @throws SpillwayError `INVALID_ARGUMENT`
 */
export function storedEntry(entry: SessionEntry): { json: string; kept: SessionEntry } {
  let json: string
  try {
    json = JSON.stringify(entry)
  } catch (cause) {
    throw invalid('entry', `expected an entry that JSON can hold (${messageOf(cause)})`, { cause })
  }
  const kept = JSON.parse(json)
  if (kept?.id !== entry.id || kept.parentId !== entry.parentId || typeof kept.type !== 'string') {
    throw wrong('entry', kept, 'an object that is an entry in JSON, too')
  }
  return { json, kept }
}
