/** A semaphore. */

import { withTimeout } from './with-timeout'

/** Lets only so much work run at once; the rest begins in the order it came. */
export class Semaphore {
  private running = 0
  private readonly waiting: (() => void)[] = []

  constructor(private readonly permits: number) {}

  /**
   * Runs work when it is its turn; at once, in the same turn of the event loop, if the queue is empty.
   * @param signal ends the wait for the turn, and not the work
   * @throws the reason of the signal
   */
  async take<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.running >= this.permits) await this.turn(signal)
    else this.running += 1
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  private async turn(signal: AbortSignal | undefined): Promise<void> {
    let begin = () => {}
    const turn = new Promise<void>((resolve) => {
      begin = resolve
    })
    this.waiting.push(begin)
    try {
      await withTimeout(Number.POSITIVE_INFINITY, () => turn, { signal })
    } catch (error) {
      const place = this.waiting.indexOf(begin)
      if (place >= 0) this.waiting.splice(place, 1)
      // The turn came at the same moment.
      else this.release()
      throw error
    }
  }

  /** The place is handed to the next in line, so that no other work can take it. */
  private release(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.running -= 1
  }
}
