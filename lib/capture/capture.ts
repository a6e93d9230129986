/** A capture stream, whose memory is bounded by its limits. */

import { Writable } from 'node:stream'
import { SpillwayError } from '../errors'
import { checkRange, type RangeResult, type ReadRange } from '../storage/read'
import { type Client, checkCall } from '../truncation/request'
import type { TruncationContext, TruncationResult } from '../types'
import { checkGiven, wholeFrom } from '../validation/options'
import { checkKeys, checkOneOf, isRecord, wrong } from '../validation/validate'
import { Inflow } from './capture-stream'
import type { CaptureOptions, CapturePeek } from './types'

const CUSTOM_STRATEGY_BYTES = 8 * 2 ** 20

/** High-water mark of the stream while two threads work. */
const HIGH_WATER_MARK = 2 ** 20

/**
 * Captures an output while it is being produced. Created by {@link TruncationService.capture}.
 *
 * Pieces are text or bytes, split anywhere. End the stream and await `result`; to give up, destroy it or abort the context's
 * signal. After `finish`, aborting has no effect. Failures reject `result`, so an `error` event without a listener does not end
 * the process. A write after the end fails with its callback and an `error` event, and does not change `result`.
 */
export class Capture extends Writable {
  /** Settles when the output has ended, with the same result that {@link TruncationService.output} gives for the full text. */
  readonly result: Promise<TruncationResult>
  /** @internal */
  readonly inflow: Inflow
  /** @internal Says before the end that the call failed. */
  failed: boolean | undefined
  /** @internal */
  readonly keeps: boolean
  /** @internal Ended where it was, and kept. */
  stopped: boolean
  /** @internal */
  ending: Promise<void> | undefined
  /** @internal */
  readonly settle: { resolve: (result: TruncationResult) => void; reject: (reason: unknown) => void }

  /** @internal */
  constructor(service: Client, context: TruncationContext, options: CaptureOptions) {
    checkCall(service, context)
    const { onAbort, customStrategyBytes } = checkOptions(options)
    super({ decodeStrings: false, highWaterMark: HIGH_WATER_MARK })
    this.inflow = new Inflow(service, context, customStrategyBytes)
    this.keeps = onAbort === 'keep'
    this.failed = undefined
    this.stopped = false
    this.ending = undefined
    let settle: Capture['settle'] | undefined
    this.result = new Promise((resolve, reject) => {
      settle = { resolve, reject }
    })
    this.settle = settle!
    // Reported to a caller that waits for the result; none has to.
    this.result.catch(() => {})
    this.on('error', () => {})
    listen(this, context.signal)
  }

  /**
   * Returns the preview as if the output ended here.
   *
   * @throws SpillwayError `ABORTED` after an abort
   */
  async peek(): Promise<CapturePeek> {
    await passedOn(this)
    this.checkNotGivenUp()
    return this.inflow.peek()
  }

  /**
   * Reads a part of the output so far, by lines or by bytes; at most 262,144 bytes in one call. `next` is absent at the end of the
   * text so far: to continue later, read from the byte or the line where it ended. The text is redacted, as it would be saved if
   * the output ended here. Once the output is longer than `maxFileBytes`, only the first half of `maxFileBytes` can be read until
   * it has ended.
   *
   * @throws SpillwayError `INVALID_ARGUMENT` for an invalid range, `STORAGE_NOT_FOUND` if the output could not be saved, `ABORTED`
   * after an abort; rejects with the reason of the range's signal when that is aborted
   */
  async readRange(range: ReadRange): Promise<RangeResult> {
    checkRange(range)
    await passedOn(this)
    this.checkNotGivenUp()
    if (!this.ending) {
      try {
        return await this.inflow.readRange(range)
      } catch (error) {
        // It ended meanwhile: the file has its name by now, or was dropped because the output was short.
        if (!this.ending) throw error
      }
    }
    return this.inflow.readEnded(await this.result, range)
  }

  private checkNotGivenUp(): void {
    if (this.destroyed && !this.ending) throw givenUp()
  }

  override destroy(error?: Error): this {
    // A second wish to give up changes nothing; a failure does.
    if (this.stopped && !this.errored) return this
    if (!this.keeps || this.errored || this.ending || this.destroyed) return super.destroy(error)
    this.stopped = true
    // Writes that still wait in the stream are included.
    this.end(() => super.destroy(error))
    return this
  }

  /** Writes after an abort or `destroy()` are dropped, because the writer may not know of it yet. */
  override write(chunk: unknown, encoding?: unknown, done?: unknown): boolean {
    if (!this.stopped) {
      if (isStray(this)) return refuse(this, typeof encoding === 'function' ? encoding : done)
      return super.write(chunk, encoding as BufferEncoding, done as () => void)
    }
    const callback = typeof encoding === 'function' ? encoding : done
    if (typeof callback === 'function') process.nextTick(callback)
    return false
  }

  override end(...given: unknown[]): this {
    const [chunk] = given
    const isChunk = chunk !== undefined && chunk !== null && typeof chunk !== 'function'
    if (!isChunk || this.stopped || !isStray(this)) return super.end(...(given as []))
    refuse(
      this,
      given.find((each) => typeof each === 'function'),
    )
    return this
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    const isText = typeof chunk === 'string' && /^utf-?8$/i.test(encoding)
    const piece = typeof chunk !== 'string' || isText ? chunk : Buffer.from(chunk, encoding)
    this.inflow.accept(piece).then(() => callback(), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    // On a later turn, so that `onEvent` finds the output ended.
    const finished = Promise.resolve().then(() => this.inflow.finish(this.failed))
    this.ending = finished.then(
      (result) => {
        this.settle.resolve(result)
        callback()
      },
      (error) => {
        this.settle.reject(error)
        callback(error)
      },
    )
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (this.ending) {
      callback(error)
      return
    }
    this.inflow.abandon().then(() => {
      this.settle.reject(error ?? givenUp())
      callback(error)
    }, callback)
  }
}

function givenUp(): SpillwayError {
  return new SpillwayError('ABORTED', 'the capture was destroyed before its end')
}

/** True if the end has been said and is on its way. */
function isStray(capture: Capture): boolean {
  return capture.writableEnded && !capture.destroyed
}

/**
 * Reports a write after the end as Node does, to its callback and by `error`. Node would also discard the input before it,
 * which is complete.
 */
function refuse(capture: Capture, callback: unknown): false {
  const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
  process.nextTick(() => {
    if (typeof callback === 'function') callback(error)
    capture.emit('error', error)
  })
  return false
}

/** Earlier writes arrive only once the stream has passed them on, which a corked stream does not. */
async function passedOn(capture: Capture): Promise<void> {
  if (capture.writableLength === 0 || !capture.writable || capture.writableCorked > 0) return
  await new Promise<void>((resolve) => capture.write('', () => resolve()))
}

function listen(capture: Capture, signal: AbortSignal | undefined): void {
  if (!signal) return
  const abort = () => void capture.destroy(signal.reason)
  if (signal.aborted) {
    abort()
    return
  }
  signal.addEventListener('abort', abort, { once: true })
  const forget = () => signal.removeEventListener('abort', abort)
  capture.result.then(forget, forget)
}

function checkOptions(options: CaptureOptions): Required<CaptureOptions> {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, ['onAbort', 'customStrategyBytes'])
  const { onAbort = 'discard', customStrategyBytes = CUSTOM_STRATEGY_BYTES } = options as CaptureOptions
  checkOneOf('options.onAbort', onAbort, ['discard', 'keep'])
  checkGiven('options.customStrategyBytes', customStrategyBytes, wholeFrom(1))
  return { onAbort, customStrategyBytes }
}
