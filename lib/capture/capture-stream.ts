/** Passes an output to the binary while it is being produced: held there until it is too long, then saved as it arrives. */

import { promises } from 'node:fs'
import { SpillwayError } from '../errors'
import {
  type Collected,
  chunkSlices,
  collectedBytes,
  Intake,
  type Outcome,
  openIntake,
  push,
  type RenderRequest,
  read,
  readAll,
  type TruncatedText,
} from '../ingest/ingest'
import { Drain } from '../ingest/worker-tasks'
import { background, call, native } from '../native/native'
import { type Plan, Settings, type TextLimits } from '../settings/settings'
import { placeOf, saveTarget, type TruncationStorage } from '../storage/file-storage'
import { mayBePrinted, printedPreviewOf } from '../storage/printed-previews'
import { type RangeResult, type ReadRange, readRange } from '../storage/read'
import { hasNotices, hasPreviewOf, MAX_PREVIEW_BYTES, noticesIn, previewOf } from '../truncation/previews'
import { type Client, ceilingOf, type Job, reportStrategy } from '../truncation/request'
import { cleaned, renderWith, truncated, untouched } from '../truncation/result'
import { type Kept, keptBy, keptByUs } from '../truncation/save'
import { decide } from '../truncation/truncate'
import type { ITruncationStorage, TruncationContext, TruncationResult } from '../types'
import { startTimer, type Timer } from '../util/timer'
import { fileChunks, LIVE_BYTES, LiveSave } from './live-save'
import { openPassage, passagePlace } from './transit-folder'
import type { CapturePeek } from './types'

/** Units or bytes that are copied in before a thread is called: smaller pieces would cost more in calls than in work. */
const BATCH = 2 ** 18

/** Milliseconds between two looks at what another source has fed. */
const LOOK_MS = 50

/** Most bytes that a storage without `saveStream` gets at once. */
const MAX_HANDED_OVER_BYTES = 64 * 2 ** 20

/** One output that is coming in. */
export class Inflow {
  /** The intake in the binary. */
  readonly handle: object
  private readonly job: Job
  private readonly drain: Drain
  private pending = 0
  private isAbandoned = false
  private hasBytes = false
  /** For a strategy of the caller's, which must see the whole text, as long as that is not too long. */
  private held: (string | Buffer)[] | undefined
  private heldBytes = 0
  private heldBreaks = 0
  private live: LiveSave | undefined
  /** Rings when the storage wants the output, however short it is. */
  private age: Timer | undefined
  private hasEnded = false

  constructor(
    private readonly service: Client,
    context: TruncationContext,
    private readonly customStrategyBytes: number,
  ) {
    const plan = service.settings.plan(context)
    const isBound = plan.mode === 'bound'
    const byStrategy = isBound && plan.customStrategy && service.strategy !== undefined
    const limits = limitsOf(plan)
    // A stream with truncation off cannot be held: above the ceiling it is truncated, whether the tool or the caller set it.
    const ceiling = isBound ? undefined : plan.hardCeilingBytes
    this.job = { service, context, plan, source: '', units: 0, original: '', parts: undefined, limits, ceiling }
    this.held = byStrategy ? [] : undefined
    const place = placeOf(service.storage)
    // Where it only passes through, it belongs to no session, and two of one call never share a file. Without a folder for that, on
    // a read-only disk, it waits in memory.
    const passage = place ? undefined : openPassage()
    const save = place ? saveTarget(place, context) : passage && saveTarget(passage, { toolName: context.toolName })
    const collect = save === undefined ? { settings: memoryBound(service) } : undefined
    const hold = isBound ? limits : ceilingOf(plan)
    // True if the call fails is often known only at its end.
    const ifFailed = limitsOf(service.settings.plan({ ...context, failed: true })).direction
    this.handle = openIntake(service.settings.handle, {
      limits,
      ifFailed,
      hold,
      bytes: false,
      save,
      query: context.query,
      command: context.command,
      ...(collect && { collect }),
    })
    this.drain = new Drain(this.handle)
    const { liveAfterMs } = service.storages[0] ?? {}
    if (this.isLive && typeof liveAfterMs === 'number' && liveAfterMs > 0) void this.saveLiveEvery(liveAfterMs)
  }

  /** True if input is passed to the binary as it arrives, so that another source may feed it too. */
  get isDirect(): boolean {
    return this.held === undefined
  }

  /** Looks from time to time what another source has fed, until the returned function is called. */
  watch(): () => void {
    if (!this.isLive) return () => {}
    const timer = setInterval(() => this.saveLive(), LOOK_MS).unref()
    return () => clearInterval(timer)
  }

  /** True if the storage takes outputs before their end. */
  private get isLive(): boolean {
    const { storage, storages } = this.service
    return placeOf(storage) === undefined && storages[0]?.saveLive !== undefined
  }

  /** Takes the next piece; resolves when there is room for another. */
  async accept(chunk: string | Uint8Array): Promise<void> {
    if (typeof chunk !== 'string') this.hasBytes = true
    if (this.held === undefined) return this.pass(chunk)
    if (chunk.length > 0) this.held.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk))
    this.heldBytes += Buffer.byteLength(chunk)
    this.heldBreaks += breaksIn(chunk)
    if (this.heldBytes <= this.customStrategyBytes) return
    const held = this.held
    this.held = undefined
    for (const each of held) await this.pass(each)
  }

  private async pass(chunk: string | Uint8Array): Promise<void> {
    for (const slice of chunkSlices(chunk, chunk.length)) {
      if (this.isAbandoned) return
      call(() => push(this.handle, slice))
      this.pending += slice.length
      if (this.pending >= BATCH) await this.work()
    }
  }

  private async work(): Promise<void> {
    await this.drain.room()
    if (this.isAbandoned) return
    this.pending = 0
    this.drain.begin()
    this.saveLive()
  }

  /** Gives what has come in to the storage whenever so much time has passed. */
  private async saveLiveEvery(ms: number): Promise<void> {
    while (!this.hasEnded) {
      this.age = startTimer(ms)
      if (!(await this.age.done) || this.hasEnded) return
      // A strategy of the caller's holds it.
      if (this.held !== undefined) continue
      this.pending = 0
      this.drain.begin()
      await this.drain.settle()
      if (!this.hasEnded) this.saveLive(1)
    }
  }

  private endLive(): void {
    this.hasEnded = true
    this.age?.cancel()
  }

  /** Gives what has come in to the storage, if that takes outputs before their end, and they are that long. */
  private saveLive(minBytes = LIVE_BYTES): void {
    if (!this.isLive) return
    const storage = this.service.storages[0]!
    if (this.live === undefined && this.size().totalBytes >= minBytes) {
      this.live = new LiveSave(this.handle, async (source, signal) =>
        storage.saveLive!(source, { ...this.job.context, signal }),
      )
    }
    this.live?.advance()
  }

  /** Ends the output. @param failed what is known by now of the call */
  async finish(failed = this.job.context.failed === true): Promise<TruncationResult> {
    this.endLive()
    try {
      return await this.finishAs(failed)
    } finally {
      this.live?.drop()
    }
  }

  private async finishAs(failed: boolean): Promise<TruncationResult> {
    await this.drain.end()
    const { service } = this
    const isBypassed = this.held === undefined && this.heldBytes > 0
    const job: Job = {
      ...this.job,
      ...(failed && { context: { ...this.job.context, failed } }),
      ...(isBypassed && {
        strategyProblem: `the output is over ${this.customStrategyBytes} bytes, so the default strategy was used`,
      }),
    }
    const { context, ceiling } = job
    if (this.held) {
      // It has ended, so aborting comes too late.
      return (await decide(service, joined(this.held), { ...context, signal: undefined })) as TruncationResult<string>
    }

    const isOurs = placeOf(service.storage) !== undefined
    const request: RenderRequest = { failed, ceiling }
    const renderAtOnce = isOurs && service.options.formatNotice === undefined
    const end = await background(() =>
      native.intakeFinish(this.handle, renderAtOnce ? JSON.stringify(request) : undefined),
    )
    const outcome: Outcome = JSON.parse(end.outcome)
    const again = await this.asPreview(outcome, end, context)
    if (again !== undefined) return again
    if (typeof end.whole === 'string') {
      if (!job.limits.terminal) {
        reportStrategy(job, { originalSize: end.bytes, truncatedSize: end.bytes })
        return untouched(service, end.whole, context) as TruncationResult
      }
      const kept = end.held ? undefined : isOurs ? keptByUs(outcome) : await this.handOver(outcome, end.bytes, context)
      return cleaned(job, end.whole, end.bytes, kept) as TruncationResult
    }
    const kept = isOurs ? keptByUs(outcome) : await this.handOver(outcome, end.bytes, context)
    const shortened = end.shortened ? read(end.shortened) : renderWith(job, this, request, kept)
    const result = truncated(job, shortened, kept, end.bytes) as TruncationResult
    return isBypassed ? ({ ...result, strategyBypassed: true } as TruncationResult) : result
  }

  /**
   * Returns the result for an output that is a preview, or contains one: that of the whole text. This is not known before the
   * end, so the saved part is read back.
   */
  private async asPreview(
    { saved }: Outcome,
    { whole, bytes, shortened }: { whole?: string | null; bytes: number; shortened?: unknown },
    context: TruncationContext,
  ): Promise<TruncationResult | undefined> {
    const ended = { ...context, signal: undefined }
    if (typeof whole === 'string') {
      const isKnown = hasPreviewOf(whole.length) && previewOf(whole) !== undefined
      return isKnown ? ((await decide(this.service, whole, ended)) as TruncationResult) : undefined
    }
    const isWhole = saved !== undefined && saved.part === undefined && !saved.redactions
    if (!shortened || !isWhole || bytes > MAX_PREVIEW_BYTES) return undefined
    const { storage } = this.service
    const isOfOthers = mayBePrinted(storage, bytes)
    if (!hasNotices() && !isOfOthers) return undefined
    const { store } = placeOf(storage) ?? passagePlace()
    const text = await readAll(
      call(() => native.readerOpen(store, saved.path)),
      saved.path,
    )
    const isPrinted = isOfOthers && printedPreviewOf(storage, text) !== undefined
    if (!isPrinted && noticesIn(text).length === 0) return undefined
    const result = (await decide(this.service, text, ended)) as TruncationResult
    if (!result.truncated || result.outputPath !== saved.path) await promises.rm(saved.path, { force: true })
    return result
  }

  /** Puts the text together once it is known where the output is. */
  render(request: RenderRequest): TruncatedText {
    return read(call(() => native.intakeRender(this.handle, JSON.stringify(request))))
  }

  /** Gives what we kept in the meantime to the caller's storage. */
  private async handOver(outcome: Outcome, bytes: number, asked: TruncationContext): Promise<Kept> {
    const { saved, collected } = outcome
    if (collected) return this.handOverCollected(collected, asked)
    if (!saved) return keptByUs(outcome)
    // All of it has come in, or should be kept as far as it came: it is too late for an abort.
    const toFiles = (storage: TruncationStorage) =>
      storage.saveStream(fileChunks(saved.path), { ...asked, signal: undefined })
    try {
      const toCaller = async (storage: ITruncationStorage, late: AbortSignal) => {
        const path = storage === this.service.storages[0] ? await this.live?.finish(saved.path, late) : undefined
        if (path !== undefined) return path
        late.throwIfAborted()
        const context = { ...asked, signal: late }
        if (storage.saveStream) return storage.saveStream(fileChunks(saved.path), context)
        if (bytes > MAX_HANDED_OVER_BYTES) {
          const limit = `${MAX_HANDED_OVER_BYTES} bytes, and the storage has no saveStream`
          throw new SpillwayError('STORAGE_TOO_LARGE', `the output is over ${limit}`)
        }
        if (!this.hasBytes) {
          const reader = call(() => native.readerOpen(passagePlace().store, saved.path))
          return storage.save(await readAll(reader, saved.path), context)
        }
        const content = await promises.readFile(saved.path)
        return storage.saveBytes ? storage.saveBytes(content, context) : storage.save(content.toString('utf8'), context)
      }
      return await keptBy(this.service, { redactions: saved.redactions }, { toCaller, toFiles })
    } finally {
      await promises.rm(saved.path, { force: true })
    }
  }

  /** The same for what waited in memory. */
  private async handOverCollected(collected: Collected, context: TruncationContext): Promise<Kept> {
    const { handle, hasBytes } = this
    const text = hasBytes ? '' : await readAll(call(() => native.intakeCollectedText(handle)))
    const bytes = hasBytes ? Buffer.from(collectedBytes(handle, collected)) : Buffer.alloc(0)
    const saveFor = (storage: ITruncationStorage, signal?: AbortSignal) => {
      const asked = { ...context, signal }
      if (!hasBytes) return storage.save(text, asked)
      return storage.saveBytes ? storage.saveBytes(bytes, asked) : storage.save(bytes.toString('utf8'), asked)
    }
    const { redactions, part } = collected
    const to = { toCaller: saveFor, toFiles: (storage: TruncationStorage) => saveFor(storage) }
    return keptBy(this.service, { redactions, ...(part && { part }) }, to)
  }

  /** Forgets the output; a file that is not yet visible never will be. */
  async abandon(): Promise<void> {
    this.isAbandoned = true
    this.held = undefined
    this.endLive()
    this.live?.drop()
    await this.drain.settle()
    await background(() => native.intakeAbort(this.handle))
  }

  /** Preview so far. */
  async peek(): Promise<CapturePeek> {
    if (this.held) return { ...(await this.peekHeld(joined(this.held))), ...this.size() }
    const { whole, shortened, bytes, lines } = await background(() => native.intakePeek(this.handle))
    const sizes = { totalBytes: bytes, totalLines: lines }
    if (typeof whole === 'string' || !shortened) return { text: whole ?? '', truncated: false, ...sizes }
    return { text: shownOf(read(shortened)), truncated: true, ...sizes }
  }

  /** A strategy of the caller's is asked about the whole, and once; what is shown before is by the default one. */
  private async peekHeld(content: string | Buffer): Promise<Pick<CapturePeek, 'text' | 'truncated'>> {
    const { service, job } = this
    const intake = new Intake(service.settings.handle, content, { limits: job.limits, units: content.length })
    const { fits, shortened } = await intake.finish({}, undefined)
    if (!fits && shortened) return { text: shownOf(shortened), truncated: true }
    return { text: typeof content === 'string' ? content : content.toString('utf8'), truncated: false }
  }

  /** A part of what came so far. */
  async readRange(range: ReadRange): Promise<RangeResult> {
    return readRange(this.held ? { bytes: await this.asSaved(joined(this.held)) } : { intake: this.handle }, range)
  }

  private async asSaved(content: string | Buffer): Promise<Uint8Array> {
    const { handle, facts } = this.service.settings
    if (!facts.redacts) return Buffer.from(content)
    const intake = new Intake(handle, content, { limits: this.job.limits, units: content.length, collect: {} })
    const { outcome } = await intake.finish(undefined, undefined)
    return intake.collectedBytes(outcome.collected!)
  }

  /** The same once the output has ended. */
  async readEnded(result: TruncationResult, range: ReadRange): Promise<RangeResult> {
    const place = result.truncated ? result : result.raw
    if (place === undefined) return this.readRange(range)
    const { outputPath, saveError } = place
    if (outputPath === '')
      throw new SpillwayError('STORAGE_NOT_FOUND', `the output was not kept: ${saveError?.message}`)
    const { storage } = this.service
    if (canReadRanges(storage)) return storage.readRange(outputPath, range)
    return readRange({ bytes: Buffer.from(await storage.read(outputPath)) }, range)
  }

  /** How much has been worked on. */
  size(): { totalBytes: number; totalLines: number } {
    if (this.held) {
      const end = this.held.at(-1)?.at(-1)
      const isOpen = end !== undefined && end !== '\n' && end !== 10
      return { totalBytes: this.heldBytes, totalLines: this.heldBreaks + (isOpen ? 1 : 0) }
    }
    const [totalBytes = 0, totalLines = 0] = native.intakeProgress(this.handle)
    return { totalBytes, totalLines }
  }
}

/** Within which limits an output is cut that no strategy of the caller's sees. */
function limitsOf(plan: Plan): TextLimits {
  return plan.customStrategy ? plan.defaultLimits : plan.limits
}

function canReadRanges(
  storage: ITruncationStorage,
): storage is ITruncationStorage & Pick<TruncationStorage, 'readRange'> {
  return typeof (storage as Partial<TruncationStorage>).readRange === 'function'
}

const bounds = new WeakMap<object, object>()

/** Settings that keep the first and the last part of what waits in memory. */
function memoryBound({ settings, options }: Client): object {
  const known = bounds.get(settings)
  if (known !== undefined) return known
  const { redact } = options
  const { handle } = new Settings({ maxFileBytes: MAX_HANDED_OVER_BYTES, ...(redact && { redact }) })
  bounds.set(settings, handle)
  return handle
}

function joined(chunks: readonly (string | Buffer)[]): string | Buffer {
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
  const runs: (string | Buffer)[] = []
  for (const chunk of chunks) {
    const last = runs.at(-1)
    // Texts first, because half a character in each of two of them is one.
    if (typeof chunk === 'string' && typeof last === 'string') runs[runs.length - 1] = last + chunk
    else runs.push(chunk)
  }
  return Buffer.concat(runs.map((run) => Buffer.from(run as string)))
}

function breaksIn(chunk: string | Uint8Array): number {
  const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  let breaks = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) breaks += 1
  return breaks
}

function shownOf({ content, facts }: TruncatedText): string {
  return content.slice(facts.preview.from, facts.preview.to)
}
