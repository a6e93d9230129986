/** The states in which a model has read files. */

/**
 * Records the state in which the model has read or written each file. Pass the same object to `createReadTool` and
 * `createEditTool` of a session: edits of a file that was not read, or that has changed since, are then refused.
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

  /** Forgets all files, for example after a compaction: then they must be read again before they are edited. */
  clear(): void {
    this.#stamps.clear()
  }
}
