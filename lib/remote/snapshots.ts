/**
 * Saves the end of an output that still comes in, every few seconds, as an object beside it: the bytes that are in no part of the upload
 * yet. If the process ends, `salvage` completes the output with them.
 */

import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'
import { startTimer, type Timer } from '../util/timer'
import { debug } from '../util/warn'
import type { ObjectStore } from './object-store'
import { snapshotKey } from './output-keys'
import type { Upload } from './upload'

/** The snapshots of one output, of which at most two exist at a time. */
export class Snapshots {
  private saved: string | undefined
  private timer: Timer | undefined
  private hasEnded = false
  private readonly running: Promise<void>

  /** @param look passes what has come in to the upload */
  constructor(
    private readonly objects: ObjectStore,
    private readonly upload: Upload,
    private readonly intervalMs: number,
    private readonly look: () => void = () => {},
  ) {
    this.running = this.run()
  }

  private async run(): Promise<void> {
    while (!this.hasEnded) {
      this.timer = startTimer(this.intervalMs)
      if (!(await this.timer.done)) return
      this.look()
      await this.save().catch((error) => debug('snapshot: %s', messageOf(error)))
    }
  }

  private async save(): Promise<void> {
    const unsent = this.upload.unsent()
    if (unsent === undefined) return
    const { from, bytes } = unsent
    const key = snapshotKey(this.upload.key, from, from + bytes.length)
    const earlier = this.saved
    if (key === earlier) return
    await withRetries(() => this.objects.put(key, bytes))
    this.saved = key
    if (earlier !== undefined) await this.objects.remove([earlier])
  }

  /** Removes the snapshot, once the output is there or is not wanted. It never rejects: what stays is removed by `salvage`. */
  async end(): Promise<void> {
    this.hasEnded = true
    this.timer?.cancel()
    await this.running
    const { saved } = this
    if (saved === undefined) return
    this.saved = undefined
    await withRetries(() => this.objects.remove([saved])).catch((error) => debug('snapshot: %s', messageOf(error)))
  }
}
