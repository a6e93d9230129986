/** A semaphore. */

/** Lets only so much work run at once; the rest begins in the order it came. */
export class Semaphore {
  private running = 0
  private readonly waiting: (() => void)[] = []

  constructor(private readonly most: number) {}

  /** Runs work when it is its turn; at once, in the same turn of the event loop, if the queue is empty. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.most) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running += 1
    try {
      return await work()
    } finally {
      // The place is handed to the next in line, so that no other work can take it.
      const next = this.waiting.shift()
      if (next) next()
      else this.running -= 1
    }
  }
}
