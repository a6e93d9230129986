/** Uploads the outputs in the spool, and retries until the object store has them. */

import { waitMs } from '../util/retry'
import { keepAlive, startTimer, type Timer } from '../util/timer'

/** Uploads at once. */
const AT_ONCE = 2

/** Failures in a row after which one upload at a time tries whether the store is back. */
const FAILURES_BEFORE_PROBING = 3

/** Longest wait between two attempts. */
const MAX_WAIT_MS = 30_000

interface Entry {
  key: string
  sent: Promise<void>
  resolve: () => void
}

/** The outputs of one storage that are on their way. */
export class Outbox {
  private readonly entries = new Map<string, Entry>()
  private readonly waiting: Entry[] = []
  private readonly pauses = new Set<Timer>()
  private running = 0
  private failures = 0

  /**
   * @param send uploads an output
   * @param report receives every failure
   */
  constructor(
    private readonly send: (key: string) => Promise<void>,
    private readonly report: (error: unknown, key: string) => void,
  ) {}

  /** Adds an output. The answer resolves once it is uploaded, and never rejects. */
  add(key: string): Promise<void> {
    const known = this.entries.get(key)
    if (known !== undefined) return known.sent
    let resolve = () => {}
    const sent = new Promise<void>((done) => {
      resolve = done
    })
    const entry = { key, sent, resolve }
    this.entries.set(key, entry)
    this.waiting.push(entry)
    this.run()
    return sent
  }

  /** Tries at once what waits for its next attempt, and resolves when all is uploaded, or when the time is up. */
  async flush(timeoutMs: number): Promise<void> {
    const late = startTimer(timeoutMs)
    const release = keepAlive()
    for (const pause of this.pauses) pause.cancel()
    const sent = [...this.entries.values()].map((entry) => entry.sent)
    await Promise.race([Promise.all(sent), late.done])
    late.cancel()
    release()
  }

  /** Resolves when the attempts that are under way for some outputs have ended, or when the time is up. */
  async settle(keys: readonly string[], timeoutMs: number): Promise<void> {
    const late = startTimer(timeoutMs)
    const sent = keys.flatMap((key) => this.entries.get(key)?.sent ?? [])
    if (sent.length > 0) await Promise.race([Promise.all(sent), late.done])
    late.cancel()
  }

  private run(): void {
    const limit = this.failures >= FAILURES_BEFORE_PROBING ? 1 : AT_ONCE
    while (this.running < limit && this.waiting.length > 0) {
      this.running += 1
      void this.attempt(this.waiting.shift()!)
    }
  }

  private async attempt(entry: Entry): Promise<void> {
    try {
      await this.send(entry.key)
      this.failures = 0
      this.entries.delete(entry.key)
      entry.resolve()
    } catch (error) {
      this.failures += 1
      this.report(error, entry.key)
      await this.pause()
      this.waiting.push(entry)
    }
    this.running -= 1
    this.run()
  }

  /** Waits with the place of the upload taken, and without keeping the process alive. */
  private async pause(): Promise<void> {
    const pause = startTimer(waitMs(this.failures, MAX_WAIT_MS))
    this.pauses.add(pause)
    await pause.done
    this.pauses.delete(pause)
  }
}
