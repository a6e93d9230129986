/** Sessions: a conversation as an append-only tree of entries. */

/** An entry without its place in the tree. */
export interface NewSessionEntry {
  /** `message`, or another one: `late_result` of `guardSession`, or the host's own, such as a summary or a label. */
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
