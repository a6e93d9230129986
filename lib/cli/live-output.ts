/** The output of a command on standard error while it runs. */

import type { RunningCommand } from 'spillway'

/** How often it is looked for, in milliseconds. */
const EVERY_MS = 100
/** Bytes of one look: what is printed faster is shown as it can be. */
const PIECE_BYTES = 256 * 1024

/** Follows a running command and shows its saved output: bytes that are not UTF-8 are U+FFFD. */
export class Live {
  private running: RunningCommand | undefined
  private timer: NodeJS.Timeout | undefined
  private shown = 0
  private work: Promise<void> = Promise.resolve()
  private isMidLine = false

  follow(running: RunningCommand): void {
    this.running = running
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.catchUp())
    }, EVERY_MS)
  }

  /** Shows the rest, and ends the line. */
  async end(): Promise<void> {
    clearInterval(this.timer)
    await this.work
    await this.catchUp()
    if (this.isMidLine) process.stderr.write('\n')
  }

  private async catchUp(): Promise<void> {
    for (;;) {
      const range = { fromByte: this.shown, byteCount: PIECE_BYTES }
      const piece = await this.running?.readRange(range).catch(() => undefined)
      if (piece === undefined || piece.byteCount === 0) return
      this.shown = piece.fromByte + piece.byteCount
      this.isMidLine = !piece.text.endsWith('\n')
      process.stderr.write(piece.text)
    }
  }
}
