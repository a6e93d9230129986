/** Saves outputs: in the spool and from there in the object store, or from memory where there is no spool. */

import { growingFileOf } from '../capture/live-save'
import { SpillwayError } from '../errors'
import type { TruncationContext } from '../types'
import { messageOf } from '../util/message-of'
import { tellCaller, warn } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { LiveUpload } from './live-upload'
import type { ObjectStore } from './object-store'
import type { CheckedRemoteOptions } from './options'
import { Outbox } from './outbox'
import { newKey } from './output-keys'
import { salvage } from './salvage'
import { type Pieces, saveFromMemory, saveInSpool, sendFromSpool, takeIntoSpool } from './save-output'
import { Snapshots } from './snapshots'
import { type Draft, Spool, type SpooledOutput } from './spool'
import { Upload } from './upload'

/** Saves the outputs of one storage. */
export class OutputWriter {
  readonly spool: Spool | undefined
  /** Milliseconds between two snapshots of an output that comes in; nothing if none are to be made. */
  private readonly snapshotMs: number | undefined
  private readonly objects: ObjectStore
  private readonly outbox: Outbox
  /** Outputs of which some parts are uploaded already, by key. */
  private readonly live = new Map<string, LiveUpload>()
  private earlier: Promise<void> | undefined

  constructor(private readonly options: CheckedRemoteOptions) {
    const { objects, spoolDir, ack, snapshotMs } = options
    this.objects = objects
    this.snapshotMs = ack === 'live' ? snapshotMs : undefined
    this.spool = spoolDir === undefined ? undefined : new Spool(spoolDir, objects.url)
    this.outbox = new Outbox(
      (key) => this.send(key),
      (error, key) => this.report(this.notSaved(error), key),
    )
  }

  /** Tells the caller about an output that could not be uploaded. */
  private report(error: SpillwayError, key: string): void {
    const { objects, onError } = this.options
    tellCaller('onError', onError, error, `${objects.url}/${key}`)
  }

  private notSaved(cause: unknown): SpillwayError {
    if (cause instanceof SpillwayError) return cause
    return new SpillwayError('STORAGE_WRITE', `${this.objects.url}: ${messageOf(cause)}`, { cause })
  }

  /** Saves an output, and returns its key. @throws SpillwayError `STORAGE_WRITE`, and the reason of the context's signal */
  async save(source: Pieces, context: TruncationContext, isLive = false): Promise<string> {
    const key = newKey(context)
    const { signal } = context
    try {
      if (this.spool === undefined) await this.saveFromMemory(key, source, isLive, signal)
      else await this.saveBySpool(this.spool, key, source, isLive, signal)
    } catch (cause) {
      signal?.throwIfAborted()
      throw this.notSaved(cause)
    }
    return key
  }

  private async saveFromMemory(key: string, source: Pieces, isLive: boolean, signal?: AbortSignal): Promise<void> {
    const { objects, snapshotMs } = this
    const upload = this.upload(key)
    const snapshots = isLive && snapshotMs !== undefined ? new Snapshots(objects, upload, snapshotMs) : undefined
    await saveFromMemory(upload, source, signal).finally(() => snapshots?.end())
  }

  private async saveBySpool(
    spool: Spool,
    key: string,
    source: Pieces,
    isLive: boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    void this.resume()
    const growing = isLive ? growingFileOf(source) : undefined
    const live = isLive ? new LiveUpload(this.upload(key), this.objects, this.snapshotMs) : undefined
    if (live !== undefined) this.live.set(key, live)
    const direct = () => this.upload(key)
    let isSpooled = false
    try {
      if (growing === undefined || live === undefined) {
        const advance = live && ((draft: Draft) => live.advance(draft))
        isSpooled = await saveInSpool(spool, key, source, { direct, advance, signal })
      } else {
        live.follow(growing.growing())
        isSpooled = await takeIntoSpool(spool, key, await growing.whole, { direct, signal })
      }
      if (isSpooled && signal?.aborted) {
        isSpooled = false
        await spool.remove(key)
        signal.throwIfAborted()
      }
    } finally {
      if (!isSpooled) await this.dropParts(key)
    }
    if (!isSpooled) return
    const sent = this.outbox.add(key)
    const { ack, ackTimeoutMs } = this.options
    // The spool has it, so that it is saved when the time is up, or the caller's.
    const asked = signal instanceof AbortSignal ? { signal } : {}
    if (ack !== 'spool') await withTimeout(ackTimeoutMs, () => sent, asked).catch(() => {})
  }

  private upload(key: string): Upload {
    return new Upload(this.objects, key, this.options.partBytes)
  }

  private async send(key: string): Promise<void> {
    const { spool, live } = this
    const begun = live.get(key)
    live.delete(key)
    if (begun === undefined) return sendFromSpool(spool!, this.upload(key))
    await begun.finish(spool!)
    await spool!.remove(key)
  }

  private async dropParts(key: string): Promise<void> {
    const begun = this.live.get(key)
    this.live.delete(key)
    await begun?.discard()
  }

  /** Uploads what an earlier process left in the spool, the first time that it is called. */
  resume(): Promise<void> {
    this.earlier ??= this.pending().then(
      (left) => left.forEach(({ key }) => void this.outbox.add(key)),
      (error) => warn('spool', error),
    )
    return this.earlier
  }

  /** Completes outputs of killed processes, and returns their keys. @throws SpillwayError `STORAGE_READ` if uploads cannot be listed */
  async salvage(idleMs: number): Promise<string[]> {
    const { url } = this.objects
    const report = (cause: unknown, key: string) => {
      const problem = `${JSON.stringify(`${url}/${key}`)} was not salvaged: ${messageOf(cause)}`
      const error = new SpillwayError('STORAGE_WRITE', problem, { cause })
      if (this.options.onError === undefined) warn('salvage', error)
      else this.report(error, key)
    }
    try {
      return await salvage(this.objects, idleMs, report, this.snapshotMs !== undefined)
    } catch (cause) {
      throw new SpillwayError('STORAGE_READ', `${url}: ${messageOf(cause)}`, { cause })
    }
  }

  /** Lists the outputs that the object store does not have yet. */
  async pending(): Promise<SpooledOutput[]> {
    return (await this.spool?.list()) ?? []
  }

  /** Uploads what waits, for at most `timeoutMs`, and returns the number of outputs that still wait. */
  async flush(timeoutMs: number): Promise<number> {
    if (this.spool === undefined) return 0
    await this.resume()
    await this.outbox.flush(timeoutMs)
    return (await this.pending()).length
  }

  /** Drops waiting outputs whose keys begin with a prefix, and returns their keys. */
  async discard(prefix: string): Promise<string[]> {
    const found = (await this.pending()).filter(({ key }) => key.startsWith(prefix))
    const removed: string[] = []
    for (const { key } of found) if (await this.spool!.remove(key)) removed.push(key)
    // An upload that is on its way may still make the object.
    await this.outbox.settle(removed, this.options.closeTimeoutMs)
    return removed
  }
}
