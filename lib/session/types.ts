/** Sessions: a conversation as an append-only tree of entries. */

import { isArray } from '../util/guards'
import { readable, wrong } from '../validation/validate'

/** An entry without its place in the tree. */
export interface NewSessionEntry {
  /** `message`, or another type of the host: a summary, a label, a change of the model. */
  type: string
  /** With `type: 'message'`, the message. */
  message?: unknown
  [key: string]: unknown
}

/** An entry in its place. */
export interface SessionEntry extends NewSessionEntry {
  /** Unique in the session. */
  id: string
  /** The entry before it on its branch; `null` for the first. */
  parentId: string | null
}

type MaybePromise<T> = T | Promise<T>

/**
 * Interface of a session. Hosts implement it for their own store; {@link MemorySession} and {@link JsonlSession} are included.
 */
export interface Session {
  /** All entries of all branches, in the order in which they were added. */
  entries(): MaybePromise<readonly SessionEntry[]>
  /** The id of the entry that the next one follows; `null` if it will be the first. */
  leaf(): MaybePromise<string | null>
  /** Adds an entry after the leaf; it becomes the leaf. Returns its id. */
  append(entry: NewSessionEntry): MaybePromise<string>
  /** Makes another entry the leaf, or with `null` none: the next entry begins a new branch. No entry is removed. */
  branch(id: string | null): MaybePromise<void>
}

/**
 * Returns the entries from the first to `leaf`. An entry whose parent is missing is the first.
 *
 * @example
 * const path = pathTo(session.entries(), session.leaf())
 * const history = path.flatMap(({ type, message }) => (type === 'message' ? [message] : []))
 * @throws SpillwayError `INVALID_ARGUMENT` for anything but the entries of a session and the id of one of them, or null
 */
export function pathTo(entries: readonly SessionEntry[], leaf: string | null): SessionEntry[] {
  if (!isArray(entries)) throw wrong('entries', entries, 'an array of entries')
  if (leaf !== null && typeof leaf !== 'string') throw wrong('leaf', leaf, 'the id of an entry, or null')
  return readable('entries', () => wayTo(entries, leaf))
}

function wayTo(entries: readonly SessionEntry[], leaf: string | null): SessionEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const path: SessionEntry[] = []
  const seen = new Set<string>()
  for (let id = leaf; id !== null && !seen.has(id); ) {
    seen.add(id)
    const entry = byId.get(id)
    if (entry === undefined) break
    path.push(entry)
    id = entry.parentId ?? null
  }
  return path.reverse()
}
