/** The states in which a model has read files. */

/**
 * Remembers in which state a model has read or written each file. Give the same one to `createReadTool` and `createEditTool` of a
 * session: an edit of a file that was not read, or that has changed since, is refused.
 */
export class FileReads {
  readonly #stamps = new Map<string, string>()

  /** @internal */
  remember(path: string, stamp: string): void {
    this.#stamps.set(path, stamp)
  }

  /** @internal */
  stampOf(path: string): string | undefined {
    return this.#stamps.get(path)
  }

  /** Forgets all files, as after a compaction: they are to be read again before they are edited. */
  clear(): void {
    this.#stamps.clear()
  }
}
