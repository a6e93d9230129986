/** The output of a command while it runs. */

import type { RunningCommand } from 'spillway'

/** How often it is looked for, in milliseconds. */
const EVERY_MS = 100
/** Bytes of one look: what is printed faster is shown as it can be. */
const PIECE_BYTES = 256 * 1024

/** Follows a running command and writes its saved output somewhere: bytes that are not UTF-8 are U+FFFD. */
export class Live {
  private running: RunningCommand | undefined
  private timer: NodeJS.Timeout | undefined
  private work: Promise<void> = Promise.resolve()
  private isMidLine = false

  /** @param shown bytes at the beginning that are left out */
  constructor(
    private readonly write: (text: string) => void,
    private shown = 0,
  ) {}

  follow(running: RunningCommand): void {
    this.running = running
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.catchUp())
    }, EVERY_MS)
  }

  /** Writes no more. */
  stop(): void {
    clearInterval(this.timer)
    this.running = undefined
  }

  /** Writes the rest, and ends the line. */
  async end(): Promise<void> {
    clearInterval(this.timer)
    await this.work
    await this.catchUp()
    if (this.isMidLine) this.write('\n')
  }

  private async catchUp(): Promise<void> {
    for (;;) {
      const range = { fromByte: this.shown, byteCount: PIECE_BYTES }
      const piece = await this.running?.readRange(range).catch(() => undefined)
      if (piece === undefined || piece.byteCount === 0) return
      this.shown = piece.fromByte + piece.byteCount
      this.isMidLine = !piece.text.endsWith('\n')
      this.write(piece.text)
    }
  }
}
