/** The question of a command that waits for an answer, in a terminal that shows progress instead of output. */

import type { RunningCommand } from 'spillway'
import type { Progress } from './terminal'

/** A line that does not go on for so long, in milliseconds, is a question. */
const SILENCE_MS = 1000
/** Bytes of the end of the output that are looked at. */
const LINE_BYTES = 1000

/** Shows an unfinished last line after a second of silence. */
export class Prompt {
  private running: RunningCommand | undefined
  private bytes = 0
  private since = 0
  private isShown = false

  constructor(private readonly progress: Progress) {}

  watch(running: RunningCommand): void {
    this.running = running
  }

  /** Returns true while a question is shown: what is typed must not be written over. */
  isOpen(bytes: number, elapsedMs: number): boolean {
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.since = elapsedMs
      this.isShown = false
    } else if (!this.isShown && bytes > 0 && elapsedMs - this.since >= SILENCE_MS) {
      // Once: a completed last line is not a question.
      this.isShown = true
      void this.show(bytes)
    }
    return this.isQuestion && this.isShown
  }

  private isQuestion = false

  private async show(bytes: number): Promise<void> {
    this.isQuestion = false
    const range = { fromByte: Math.max(0, bytes - LINE_BYTES), byteCount: LINE_BYTES }
    const end = await this.running?.readRange(range).catch(() => undefined)
    const line = end?.text.split(/[\r\n]/).at(-1) ?? ''
    if (line.trim() === '' || bytes !== this.bytes) return
    this.isQuestion = true
    this.progress.ask(line)
  }
}
