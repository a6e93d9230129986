/** Detects where a history has changed since the last request. */

import { holdsUntil } from '../history/formats/safe-read'

/**
 * The messages of a history and the values that they were read from, in two lists: looking again at a long one costs what
 * reaching its objects costs, and nothing more.
 */
export class Watch {
  private readonly messages: unknown[] = []
  /** Three entries each: the holder, the key, and the value. Those of the next message are added to the end. */
  readonly values: unknown[] = []
  /** For each message the number of entries up to its last. */
  private readonly ends: number[] = []

  /** The next message, whose values are the last. */
  add(message: unknown): void {
    this.messages.push(message)
    this.ends.push(this.values.length)
  }

  /** The values that this message was read from. */
  valuesOf(index: number): unknown[] {
    return this.values.slice(this.ends[index - 1] ?? 0, this.ends[index])
  }

  /** Forgets the messages from this index on. */
  dropFrom(index: number): void {
    if (index < this.messages.length) {
      this.messages.length = index
      this.ends.length = index
    }
    this.values.length = this.ends[this.ends.length - 1] ?? 0
  }

  /** How many messages at the start are the same objects, with the same values. */
  unchanged(history: readonly unknown[]): number {
    const limit = Math.min(history.length, this.messages.length)
    let same = 0
    while (same < limit && history[same] === this.messages[same]) same++
    const until = this.ends[same - 1] ?? 0
    const held = holdsUntil(this.values, until)
    return held === until ? same : this.messageOf(held)
  }

  /** The message that an entry belongs to. */
  private messageOf(entry: number): number {
    let [from, to] = [0, this.ends.length - 1]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.ends[middle] as number) > entry) to = middle
      else from = middle + 1
    }
    return from
  }
}
