/** Hands the values that a tool yields inside of the guard to the reader outside of it. */

/** Queue of steps: the tool continues when a step was taken. */
export class Steps implements AsyncIterable<unknown> {
  readonly #held: { step: unknown; taken: (wanted: boolean) => void }[] = []
  #wake: (() => void) | undefined
  #ended = false
  #stopped = false

  /** Passes on what comes, and answers the last of it. */
  async from(source: AsyncIterable<unknown>): Promise<unknown> {
    let last: unknown
    for await (const step of source) {
      last = step
      if (!(await this.#put(step))) break
    }
    return last
  }

  #put(step: unknown): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false)
    return new Promise((taken) => {
      this.#held.push({ step, taken })
      this.#wake?.()
    })
  }

  /** Nothing more will come. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  /** The reader has stopped: asks the tool to end. */
  stop(): void {
    this.#stopped = true
    for (const { taken } of this.#held.splice(0)) taken(false)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    for (;;) {
      const next = this.#held.shift()
      if (next !== undefined) {
        let taken = false
        try {
          yield next.step
          taken = true
        } finally {
          next.taken(taken)
        }
      } else if (this.#ended) {
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
    }
  }
}
