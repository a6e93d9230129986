/** One end of a pipe: whole messages, one after the other. */

import type { Writable } from 'node:stream'

export class MessageWriter {
  private last: Promise<void> = Promise.resolve()
  private waiting = 0
  private isBroken = false

  constructor(private readonly stream: Writable) {}

  /** The reader has stopped: later writes are dropped. */
  break(): void {
    this.isBroken = true
  }

  /** Writes a message that ends with a line feed. The answer settles when the reader has kept up. */
  write(message: Buffer | string): Promise<void> | undefined {
    if (this.isBroken) return undefined
    if (this.waiting === 0) {
      if (this.stream.write(message)) return undefined
      return this.queue(async () => this.drained())
    }
    return this.queue(async () => {
      if (!this.isBroken && !this.stream.write(message)) await this.drained()
    })
  }

  /** Writes a message in pieces, between which no other comes. Each piece may change once the next is asked for. */
  async writePieces(pieces: Iterable<Buffer>): Promise<void> {
    await this.queue(async () => {
      for (const piece of pieces) {
        if (this.isBroken) return
        if (!this.stream.write(Buffer.from(piece))) await this.drained()
      }
    })
  }

  /** Resolves when everything has been handed over. */
  async flush(): Promise<void> {
    while (this.waiting > 0) await this.last
    if (!this.isBroken && this.stream.writableLength > 0) await this.drained()
  }

  private queue(work: () => Promise<void>): Promise<void> {
    this.waiting += 1
    const done = this.last.then(work).finally(() => {
      this.waiting -= 1
    })
    this.last = done.catch(() => {})
    return done
  }

  private async drained(): Promise<void> {
    const { stream } = this
    if (this.isBroken || stream.destroyed || !stream.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done)
        stream.off('close', done)
        resolve()
      }
      stream.on('drain', done)
      stream.on('close', done)
    })
  }
}
