/** The tree of a session in memory. */

import { randomBytes } from '../util/crypto'
import { isRecord, readable, wrong } from '../validation/validate'
import type { NewSessionEntry, SessionEntry } from './types'

/** Entries in the order in which they were added, and the leaf. */
export class Tree {
  readonly entries: SessionEntry[] = []
  leaf: string | null = null
  private readonly ids = new Set<string>()

  /** An entry with an id of its own after the leaf; it is not added. */
  next(entry: NewSessionEntry): SessionEntry {
    return readable('entry', () => {
      checkEntry(entry)
      return { ...entry, id: this.newId(), parentId: this.leaf }
    })
  }

  add(entry: SessionEntry): void {
    this.entries.push(entry)
    this.ids.add(entry.id)
    this.leaf = entry.id
  }

  /** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
  branch(id: string | null): void {
    if (id !== null && !this.ids.has(id)) throw wrong('id', id, 'the id of an entry, or null')
    this.leaf = id
  }

  has(id: string): boolean {
    return this.ids.has(id)
  }

  newId(): string {
    for (;;) {
      const id = randomBytes(8).toString('hex')
      if (!this.ids.has(id)) return id
    }
  }
}

function checkEntry(entry: unknown): void {
  const type = isRecord(entry) ? entry.type : undefined
  if (typeof type !== 'string' || type === '') throw wrong('entry', entry, 'an object with a type')
}
