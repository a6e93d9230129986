/** A session in memory. */

import { Tree } from './entry-tree'
import type { NewSessionEntry, Session, SessionEntry } from './types'

const trees = new WeakMap<MemorySession, Tree>()

/** A session that lasts as long as the process. */
export class MemorySession implements Session {
  constructor() {
    trees.set(this, new Tree())
  }

  /** All entries of all branches, in the order in which they were added. */
  entries(): readonly SessionEntry[] {
    return treeOf(this).entries.slice()
  }

  leaf(): string | null {
    return treeOf(this).leaf
  }

  /** @throws SpillwayError `INVALID_ARGUMENT` if the entry has no `type` */
  append(entry: NewSessionEntry): string {
    const tree = treeOf(this)
    const added = tree.next(entry)
    tree.add(added)
    return added.id
  }

  /** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
  branch(id: string | null): void {
    treeOf(this).branch(id)
  }
}

function treeOf(session: MemorySession): Tree {
  return trees.get(session) as Tree
}
