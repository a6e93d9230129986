/** The output of a command for a model that reads it while the command runs: as much of it as can be followed. */

import { type ChildProcess, spawn } from 'node:child_process'
import type { RangeResult, RunningCommand } from 'spillway'
import { countText } from '../util/format'

/** Milliseconds without any output: most commands end sooner, and get a preview alone. */
const AFTER_MS = 500
/** How often it is looked for, in milliseconds. */
const EVERY_MS = 100
/** Bytes that are shown at once, and that are added to that in a second. */
const BURST_BYTES = 4000
const BYTES_PER_SECOND = 200

/**
 * An agent kills the process group of what it started, and the command is in another one: ends the command when this process is
 * gone without a word.
 */
function guardOf({ pid }: RunningCommand): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const line = `read done && exit; kill -s TERM -- -${pid}; sleep 1; kill -s KILL -- -${pid}`
  const guard = spawn('/bin/sh', ['-c', line], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return guard
}

/** Follows a running command and writes its output, without what comes faster than a reader can follow. */
export class Watched {
  /** Output from the first byte on, until something was left out. */
  private head = ''
  private shown = 0
  private isWhole = true
  private isMidLine = false
  private budget = BURST_BYTES
  private at = 0
  private running: RunningCommand | undefined
  private timer: NodeJS.Timeout | undefined
  private guard: ChildProcess | undefined
  private work: Promise<void> = Promise.resolve()

  /** @param write called with each part */
  constructor(private readonly write: (text: string) => void) {}

  follow(running: RunningCommand): void {
    this.running = running
    this.guard = guardOf(running)
    this.at = Date.now() + AFTER_MS
    this.timer = setTimeout(() => {
      this.timer = setInterval(() => {
        this.work = this.work.then(() => this.catchUp())
      }, EVERY_MS)
    }, AFTER_MS)
  }

  /** Writes no more. */
  async end(): Promise<void> {
    // The same for both kinds of timer.
    clearInterval(this.timer)
    this.guard?.stdin?.end('done\n')
    await this.work
  }

  /**
   * Returns the rest to print: of an output that was shown from its beginning what follows, of others the whole preview.
   *
   * @param preview or the whole output, if that is not truncated
   */
  rest(preview: string, isTruncated: boolean): string {
    if (this.shown === 0) return preview
    if (!isTruncated && preview.startsWith(this.head)) return preview.slice(this.head.length)
    return this.isMidLine ? `\n${preview}` : preview
  }

  private async catchUp(): Promise<void> {
    const now = Date.now()
    this.budget = Math.min(BURST_BYTES, this.budget + ((now - this.at) / 1000) * BYTES_PER_SECOND)
    this.at = now
    const next = await this.read(this.shown)
    if (next === undefined || next.byteCount === 0) return
    if (next.totalBytes - this.shown <= this.budget) return this.show(next.text, next)
    // Rather the newest lines in a few seconds than a word of them now.
    if (this.budget < BURST_BYTES / 2) return
    const end = await this.read(next.totalBytes - Math.floor(this.budget))
    if (end === undefined) return
    const text = end.text.slice(end.text.indexOf('\n') + 1)
    const left = end.fromByte + end.byteCount - this.shown - Buffer.byteLength(text)
    this.isWhole = false
    this.show(`${this.isMidLine ? '\n' : ''}[${countText(left, 'byte')} left out]\n${text}`, end)
  }

  private read(fromByte: number): Promise<RangeResult | undefined> | undefined {
    return this.running?.readRange({ fromByte, byteCount: BURST_BYTES }).catch(() => undefined)
  }

  private show(text: string, { fromByte, byteCount }: RangeResult): void {
    this.budget -= byteCount
    this.shown = fromByte + byteCount
    if (this.isWhole) this.head += text
    this.isMidLine = !text.endsWith('\n')
    this.write(text)
  }
}
