/** The entries of one branch of a session. */

import { isArray, isRecord } from '../util/guards'
import { readable, wrong } from '../validation/validate'
import type { SessionEntry } from './types'

/**
 * Returns the entries from the first to `leaf`. An entry whose parent is missing is the first.
 *
 * @example
 * const branch = entriesOnBranch(session.entries(), session.leaf())
 * const history = branch.flatMap(({ type, message }) => (type === 'message' ? [message] : []))
 * @throws SpillwayError `INVALID_ARGUMENT` for anything but the entries of a session and the id of one of them, or null
 */
export function entriesOnBranch(entries: readonly SessionEntry[], leaf: string | null): SessionEntry[] {
  if (!isArray(entries)) throw wrong('entries', entries, 'an array of entries')
  if (leaf !== null && typeof leaf !== 'string') throw wrong('leaf', leaf, 'the id of an entry, or null')
  const branch = readable('entries', () => {
    entries.forEach((entry, at) => {
      if (!isRecord(entry) || typeof entry.id !== 'string') throw wrong(`entries[${at}]`, entry, 'an entry with an id')
    })
    return branchEntries(entries, leaf)
  })
  if (leaf !== null && branch.length === 0) throw wrong('leaf', leaf, 'the id of an entry, or null')
  return branch
}

/** The same, unchecked: nothing for a leaf that is no entry. */
export function branchEntries(entries: readonly SessionEntry[], leaf: string | null): SessionEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const branch: SessionEntry[] = []
  const seen = new Set<string>()
  for (let id = leaf; id !== null && !seen.has(id); ) {
    seen.add(id)
    const entry = byId.get(id)
    if (entry === undefined) break
    branch.push(entry)
    id = entry.parentId ?? null
  }
  return branch.reverse()
}

export function isMessage({ type, message }: SessionEntry): boolean {
  return type === 'message' && message !== undefined
}
