/** The service: decides per output whether it is too long, keeps the whole, and gives back what a model should read. */

import { types } from 'node:util'
import { alarm, keepAlive } from './alarm'
import { Capture } from './capture'
import { decodeBytes, isParts, isTextPart, replaceTexts, textsOf } from './content'
import { checkContext, describe, isPlain, isRecord, wrong } from './context'
import { asyncDispose } from './dispose'
import { messageOf, SpillwayError } from './errors'
import { type Facts, Intake, type Outcome, type RenderRequest, type Shortened, type Source } from './intake'
import { MemoryStorage } from './memory-storage'
import { call, native } from './native'
import { catchLater, debug, type EventDetails, emit, warn } from './report'
import { type Limits, type Plan, Settings, Tag, unreadable, wellFormed } from './settings'
import { isStorage, placeOf, saveTarget, TruncationStorage } from './storage'
import { builtInName, isStrategy } from './strategies'
import type { SweepOptions, SweepReport } from './sweep'
import type {
  CaptureOptions,
  ContentOf,
  ContentPart,
  EffectiveConfig,
  ITruncationStorage,
  NoticeInfo,
  OutputService,
  SavedPart,
  SaveError,
  StrategyResult,
  ToolTruncationConfig,
  TruncatedResult,
  TruncationConfig,
  TruncationContent,
  TruncationContext,
  TruncationResult,
  TruncationServiceConfig,
  TruncationStrategy,
} from './types'

/** Up to so many units a text is looked at on the spot: the copy takes less than a tenth of a millisecond. */
const AT_ONCE_UNITS = 2 ** 17

/** Bounds the output of tools. */
export class TruncationService implements OutputService {
  /** @internal */
  readonly settings: Settings
  /** @internal */
  readonly storage: ITruncationStorage
  /** @internal */
  readonly options: Readonly<TruncationServiceConfig>
  /** @internal */
  readonly strategy: TruncationStrategy | undefined
  /** @internal */
  closed: boolean

  /** @throws SpillwayError `INVALID_CONFIG` that names the option, its value and what is allowed */
  constructor(options: TruncationServiceConfig = {}) {
    this.options = copyOptions(options)
    this.settings = new Settings(describeOptions(this.options))
    const { storageTimeoutMs: _timeout, redacts: _redacts, maxFileBytes, ...ofStorage } = this.settings.facts
    // What is redacted for the service is redacted before its storage gets it.
    this.storage =
      this.options.storage ?? new TruncationStorage({ ...ofStorage, maxFileBytes: maxFileBytes ?? undefined })
    const { strategy } = this.options
    this.strategy = typeof strategy === 'object' ? strategy : undefined
    this.closed = false
  }

  /**
   * Bounds one output. Within limits it comes back as it is; over them, the whole is saved first and a preview with a
   * notice comes back. A failing disk, strategy or storage never fails the call: the preview is bounded all the same.
   *
   * @param content text, bytes (decoded as UTF-8, saved as they are; they must not change until the promise settles),
   *   or the parts of a message, whose texts share one budget
   * @throws SpillwayError `INVALID_ARGUMENT` for any other content and for a wrong context, `CLOSED` after {@link close}
   */
  async output<C extends TruncationContent>(
    content: C,
    context: TruncationContext,
  ): Promise<TruncationResult<ContentOf<C>>> {
    if (typeof content === 'string') {
      const plan = isPlain(context) ? this.settings.plans.get(context.toolName) : undefined
      // Most outputs are small, and one comparison is all they cost.
      if (plan !== undefined && !this.closed && (content.length <= plan.sureUnits || isShort(content, plan))) {
        return untouched(this, content, context) as TruncationResult<ContentOf<C>>
      }
    }
    return (await bound(this, content, context)) as TruncationResult<ContentOf<C>>
  }

  /**
   * Takes an output while it is made: a writable stream of text or bytes, in pieces of any size. Memory is bounded by the
   * limits, whatever comes; the file is made when a limit is passed, and is complete from the first byte. Its `result` is
   * what {@link output} says of the whole; only a tool that asks to be left alone is bounded above the hard ceiling
   * whoever asked for it, because a stream cannot be held.
   *
   * @example
   * const capture = service.capture({ toolName: 'bash' })
   * child.stdout.pipe(capture)
   * const result = await capture.result
   * @throws SpillwayError `INVALID_ARGUMENT` for a wrong context or option, `CLOSED` after {@link close}
   */
  capture(context: TruncationContext, options: CaptureOptions = {}): Capture {
    return new Capture(this, context, options)
  }

  /** Removes saved outputs that are older than `retentionDays`, and answers how many. */
  async cleanup(): Promise<number> {
    return this.storage.cleanup(this.settings.facts.retentionDays)
  }

  /**
   * Removes saved outputs that are older than `retentionDays`, and then the oldest over `maxStoreBytes` and `maxStoreFiles`.
   * @throws SpillwayError `INVALID_CONFIG` if the storage is a custom one that cannot be swept
   */
  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    const { storage } = this
    if (!('sweep' in storage) || typeof storage.sweep !== 'function') {
      throw new SpillwayError('INVALID_CONFIG', 'storage: has no sweep', { field: 'storage' })
    }
    return storage.sweep({ retentionDays: this.settings.facts.retentionDays, ...options })
  }

  /**
   * Changes settings for every tool, from the next call on.
   * @throws SpillwayError `INVALID_CONFIG`; `retentionDays`, `storageDir` and quotas can only be set when the service is made
   */
  updateConfig(config: Partial<Omit<TruncationConfig, 'retentionDays' | 'storageDir'>>): void {
    this.settings.update(config)
  }

  /** Sets the user's entry for a tool, from the next call on. The built-in settings of the tool stay below it. */
  setToolConfig(toolName: string, config: ToolTruncationConfig): void {
    if (typeof toolName !== 'string') throw wrong('toolName', toolName, 'a string')
    this.settings.setTool(toolName, config)
  }

  /** The configuration that a call with this context would use, and where each field comes from. */
  effectiveConfig(context: TruncationContext): EffectiveConfig {
    checkContext(context)
    const { config, sources } = this.settings.plan(context)
    return { config: { ...config }, sources: { ...sources } }
  }

  /** Refuses further outputs, and gives back what its own storage holds. Calls under way come to their end. */
  async close(): Promise<void> {
    this.closed = true
    if (!this.options.storage && this.storage instanceof TruncationStorage) await this.storage.close()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

function copyOptions(options: TruncationServiceConfig): TruncationServiceConfig {
  if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
  try {
    return { ...options }
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** The options with what is not data replaced by its description, for the binary to check. */
function describeOptions(options: TruncationServiceConfig): object {
  const { strategy, storage, ...data } = options
  const described: Record<string, unknown> = { ...data }
  if (strategy !== undefined) {
    described.strategy = isStrategy(strategy) ? (builtInName(strategy) ?? new Tag('strategy')) : strategy
  }
  if (storage !== undefined) described.storage = isStorage(storage) ? new Tag('storage') : storage
  return described
}

/** The average line is shorter than this; a text needs about so many hops per line that it has over the limit. */
const LINE_UNITS = 80
const MAX_HOPS = 32

/** Whether a text that could be too long is short after all, found out without leaving the thread. */
function isShort(content: string, plan: Plan): boolean {
  const { maxLines, maxBytes } = plan.limits
  const units = content.length
  if (plan.mode !== 'bound' || plan.customStrategy || units > AT_ONCE_UNITS) return false
  if (maxBytes !== null && units > maxBytes) return false
  // A unit is at most three bytes. What is left then is a question of lines.
  if (maxBytes === null || units * 3 <= maxBytes) {
    const limit = maxLines ?? Number.POSITIVE_INFINITY
    if (units - limit < MAX_HOPS * LINE_UNITS && hasFewLines(content, limit)) return true
    if (call(() => native.breaksAtMost(content, units)) + 1 <= limit) return true
  }
  return isWithin(content, plan.limits)
}

/** Every unit that is not a break makes one line less possible: often a few breaks show that there are not too many. */
function hasFewLines(content: string, limit: number): boolean {
  let at = -1
  for (let breaks = 0; breaks < MAX_HOPS; breaks += 1) {
    if (breaks + content.length - at <= limit) return true
    at = content.indexOf('\n', at + 1)
    if (at === -1) return breaks + 1 <= limit
  }
  return false
}

function isWithin(content: string, { maxLines, maxBytes, lineRule }: Limits): boolean {
  const most = Number.POSITIVE_INFINITY
  return call(() => native.within(content, maxLines ?? most, maxBytes ?? most, lineRule === 'split'))
}

/** One output on its way: what it is, what is to be done with it, and for whom. */
export interface Job {
  service: TruncationService
  context: TruncationContext
  plan: Plan
  /** The text or bytes; of parts, their texts. */
  source: Source
  /** UTF-16 units or bytes of it when the call began. */
  units: number
  /** What comes back if nothing is cut. */
  original: unknown
  parts: readonly ContentPart[] | undefined
  limits: Limits
  /** The ceiling that overrules the tool's wish to be left alone. */
  ceiling?: number
  /** The preview was made by a strategy of the caller's. */
  byStrategy?: boolean
}

async function bound(
  service: TruncationService,
  content: unknown,
  context: TruncationContext,
): Promise<TruncationResult<unknown>> {
  checkCall(service, context)
  context.signal?.throwIfAborted()
  return decide(service, content, context)
}

/** @throws SpillwayError for a wrong context and for a closed service */
export function checkCall(service: TruncationService, context: TruncationContext): void {
  checkContext(context)
  if (service.closed) throw new SpillwayError('CLOSED', 'the service was closed')
}

/** What becomes of an output that is there. */
export async function decide(
  service: TruncationService,
  content: unknown,
  context: TruncationContext,
): Promise<TruncationResult<unknown>> {
  const parts = isParts(content) ? content : undefined
  if (typeof content !== 'string' && !types.isUint8Array(content) && !parts) {
    throw wrong('content', content, 'a string, a Uint8Array or an array of message parts')
  }
  const source: Source = parts ? textsOf(parts) : (content as string | Uint8Array)
  const plan = service.settings.plan(context)
  const units = lengthOf(source)
  const job: Job = { service, context, plan, source, units, original: content, parts, limits: plan.limits }
  if (units <= plan.sureUnits) return leave(job)
  if (plan.mode === 'ceiling') {
    if (await fits(job, ceilingOf(plan))) return leave(job)
    return shorten({ ...job, limits: plan.defaultLimits, ceiling: plan.hardCeilingBytes })
  }
  if (plan.customStrategy && service.strategy) return byStrategy(job, service.strategy)
  return (await fits(job, plan.limits)) ? leave(job) : shorten(job)
}

/** The limits up to which an output is left alone that asks for it. */
export function ceilingOf(plan: Plan): Limits {
  return { ...plan.limits, maxLines: null, maxBytes: plan.hardCeilingBytes }
}

function lengthOf(source: Source): number {
  if (typeof source === 'string') return source.length
  if (!Array.isArray(source)) return (source as Uint8Array).byteLength
  return source.reduce((units: number, text: string) => units + text.length, 0) + Math.max(source.length - 1, 0)
}

async function fits(job: Job, limits: Limits): Promise<boolean> {
  const { source, units, service, context } = job
  // Every unit and every byte is at least one byte when it is shown.
  if (limits.maxBytes !== null && units > limits.maxBytes) return false
  if (typeof source === 'string' && source.length <= AT_ONCE_UNITS) return isWithin(source, limits)
  const intake = new Intake(service.settings.handle, limits, source, units, undefined)
  const end = await intake.finish(undefined, context.signal)
  intake.release()
  return end.fits
}

function leave(job: Job): TruncationResult<unknown> {
  const { original, service, context } = job
  return untouched(service, types.isUint8Array(original) ? decodeBytes(original) : original, context)
}

export function untouched(
  service: TruncationService,
  content: unknown,
  context: TruncationContext,
): TruncationResult<unknown> {
  if (service.options.onEvent || debug.enabled) {
    const size = sizeOf(content)
    report(service, context, { type: 'skipped', originalSize: size, truncatedSize: size })
  }
  return { content, truncated: false }
}

export function report(service: TruncationService, context: TruncationContext, details: EventDetails): void {
  if (service.options.onEvent || debug.enabled) emit(service.options.onEvent ?? (() => {}), context, details)
}

function sizeOf(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content, 'utf8')
  return isParts(content) ? Buffer.byteLength(textsOf(content).join('\n'), 'utf8') : 0
}

/** Saves the whole and shortens it by the built-in strategies. */
async function shorten(job: Job): Promise<TruncationResult<unknown>> {
  const { service, context, limits } = job
  const place = placeOf(service.storage)
  const request: RenderRequest = { failed: context.failed === true, ceiling: job.ceiling }
  const intake = keepingIntake(job, limits)
  const { formatNotice } = service.options
  const renderAtOnce = place !== undefined && formatNotice === undefined
  const end = await intake.finish(renderAtOnce ? request : undefined, context.signal)
  const kept = place ? keptByUs(end.outcome) : await keptByCaller(job, intake, end.outcome)
  if (end.shortened) return truncated(job, end.shortened, kept, end.bytes)
  const shortened = renderWith(job, intake, request, kept)
  intake.release()
  return truncated(job, shortened, kept, end.bytes)
}

/** Takes an output in to be saved by us, or collects it where a storage of the caller's must not get it as it is. */
function keepingIntake({ service, context, source, units }: Job, limits: Limits): Intake {
  const { handle, facts } = service.settings
  const place = placeOf(service.storage)
  const collect = !place && facts.redacts ? {} : undefined
  return new Intake(handle, limits, source, units, place && saveTarget(place, context), collect)
}

/** No path or URL is longer; what goes into a notice must leave room for the text. */
const MAX_PLACE_UNITS = 4096

/** Whether what a storage answered can stand in one line of a notice. */
function isPlace(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && path.length <= MAX_PLACE_UNITS && !/\p{Cc}/u.test(path)
}

/** Where the whole output is, or why it is nowhere. */
export interface Kept {
  path: string
  saveError?: SaveError
  part?: SavedPart
  redactions?: number
  /** Folders that failed before one did not. */
  attempts: { dir: string; error: string }[]
}

export function keptByUs({ saved, saveError }: Outcome): Kept {
  const { path = '', part, redactions } = saved ?? {}
  return { path, part, redactions, saveError, attempts: saved?.attempts ?? saveError?.attempts ?? [] }
}

function keptByCaller(job: Job, intake: Intake, { collected }: Outcome): Promise<Kept> {
  const { service, context, source, original } = job
  const { storage } = service
  return keptBy(service, collected?.redactions, async () => {
    if (types.isUint8Array(original)) {
      const bytes = collected ? intake.collectedBytes(collected) : original
      return storage.saveBytes ? storage.saveBytes(bytes, context) : storage.save(decodeBytes(bytes), context)
    }
    return storage.save(collected ? await intake.collectedText() : textOf(source), context)
  })
}

/** What a storage of the caller's answers, in time. */
export async function keptBy(
  service: TruncationService,
  redactions: number | undefined,
  save: () => Promise<string>,
): Promise<Kept> {
  const { storageTimeoutMs } = service.settings.facts
  try {
    const path = await withTimeout(save(), storageTimeoutMs)
    if (!isPlace(path)) {
      throw new SpillwayError(
        'STORAGE_WRITE',
        `the storage answered ${describe(path)} instead of a path that fits a line`,
      )
    }
    const memory = service.storage instanceof MemoryStorage ? service.storage.kept.get(path) : undefined
    const known = [redactions, memory?.redactions].filter((count) => count !== undefined)
    const total = known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : undefined
    return { path, part: memory?.part, redactions: total, attempts: [] }
  } catch (error) {
    const code = error instanceof SpillwayError ? error.code : 'STORAGE_WRITE'
    return { path: '', attempts: [], saveError: { code, message: messageOf(error), attempts: [] } }
  }
}

const LATE = Symbol('late')

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  const { rings, cancel } = alarm(ms)
  const late = rings.then(() => LATE)
  const letGo = keepAlive()
  try {
    const first = await Promise.race([work, late])
    if (first !== LATE) return first as T
    throw new SpillwayError('STORAGE_TIMEOUT', `the storage did not answer within ${ms} ms`)
  } finally {
    letGo()
    cancel()
  }
}

/** Puts the text together when it is known where the whole is, with the caller's notice if there is one. */
export function renderWith(job: Job, intake: Pick<Intake, 'render'>, request: RenderRequest, kept: Kept): Shortened {
  const { path, part, saveError } = kept
  const place = path === '' ? { lost: wellFormed(saveError?.message ?? '') } : { path: wellFormed(path), part }
  const shortened = intake.render({ ...request, ...place })
  const { formatNotice, availableTools = [] } = job.service.options
  if (!formatNotice) return shortened
  // Where everything must fit, the words leave less room for the text, and the numbers in the words change with it.
  let shown = shortened
  for (let round = 0; round < MAX_NOTICE_ROUNDS; round += 1) {
    const info = noticeInfo(job, shown.facts, kept, availableTools)
    const notice = askForNotice(formatNotice, info)
    if (notice === undefined) return shortened
    const next = intake.render({ ...request, ...place, notice })
    const settled = next.facts.keptBytes === shown.facts.keptBytes
    shown = next
    if (settled) break
  }
  return shown
}

const MAX_NOTICE_ROUNDS = 4

function askForNotice(formatNotice: (info: NoticeInfo) => string, info: NoticeInfo): string | undefined {
  try {
    const text: unknown = formatNotice(info)
    if (typeof text === 'string') return wellFormed(text)
    catchLater('formatNotice', text)
    throw new SpillwayError('CALLBACK', `formatNotice answered ${describe(text)} instead of a string`)
  } catch (error) {
    warn('formatNotice', error)
    return undefined
  }
}

function noticeInfo(job: Job, facts: Facts, kept: Kept, availableTools: readonly string[]): NoticeInfo {
  const { preview: _preview, hint: _hint, pieceUnits: _pieces, ...known } = facts
  const { ranges, partialLines } = known
  return {
    // Copies: whatever a callback does to them, the result is made from ours.
    ...known,
    ranges: ranges.map((range) => ({ ...range })),
    partialLines: partialLines.map((line) => ({ ...line })),
    toolName: job.context.toolName,
    failed: job.context.failed === true,
    ceilingReached: job.ceiling !== undefined,
    outputPath: kept.path,
    ...(kept.saveError && {
      saveError: { ...kept.saveError, attempts: kept.saveError.attempts.map((each) => ({ ...each })) },
    }),
    ...savedAs(kept),
    availableTools: [...availableTools],
  }
}

export function truncated(
  job: Job,
  { content, facts }: Shortened,
  kept: Kept,
  bytes: number,
): TruncationResult<unknown> {
  const { service, context, parts } = job
  const sizes = { originalSize: bytes, truncatedSize: Buffer.byteLength(content, 'utf8') }
  for (const { dir, error } of kept.attempts) {
    report(service, context, { type: 'error', ...sizes, error: `${error} (${dir})`, errorCode: 'STORAGE_WRITE' })
  }
  if (kept.saveError && kept.attempts.length === 0) {
    const { message, code } = kept.saveError
    report(service, context, { type: 'error', ...sizes, error: message, errorCode: code })
  }
  report(service, context, { type: 'truncated', ...sizes, outputPath: kept.path, ...savedAs(kept) })
  const { preview, hint, pieceUnits: _pieces, direction: _direction, partialLines, ...counts } = facts
  return {
    content: parts ? inParts(job, parts, content, facts) : content,
    truncated: true,
    outputPath: kept.path,
    ...counts,
    preview: content.slice(preview.from, preview.to),
    hint,
    ...(partialLines.length > 0 && { partialLines }),
    ...(job.ceiling !== undefined && { ceilingReached: true }),
    ...(kept.saveError && { saveError: kept.saveError }),
    ...savedAs(kept),
  }
}

/** How what was saved differs from the output. */
function savedAs({ part, redactions }: Kept): Pick<TruncatedResult, 'savedPart' | 'redactions'> {
  return { ...(part && { savedPart: { ...part } }), ...(redactions !== undefined && { redactions }) }
}

function inParts(job: Job, parts: readonly ContentPart[], content: string, facts: Facts): ContentPart[] {
  if (!job.byStrategy) return replaceTexts(parts, content, facts)
  // A strategy sees one text, so what it made stands where that began.
  const first = parts.findIndex(isTextPart)
  const kept = parts.filter((part, index) => index === first || !isTextPart(part))
  return kept.map((part) => (isTextPart(part) ? { ...part, text: content } : part))
}

/** Lets a strategy of the caller's decide, within the hard ceiling. */
async function byStrategy(job: Job, strategy: TruncationStrategy): Promise<TruncationResult<unknown>> {
  const { service, context, plan, source } = job
  const byDefault: Job = { ...job, limits: plan.defaultLimits }
  const text = textOf(source)
  let result: StrategyResult | undefined
  try {
    result = askStrategy(strategy, text, plan.config)
  } catch (error) {
    const size = Buffer.byteLength(text, 'utf8')
    const problem = { originalSize: size, truncatedSize: size, error: messageOf(error), errorCode: 'STRATEGY' }
    report(service, context, { type: 'error', ...problem })
    return (await fits(byDefault, plan.defaultLimits)) ? leave(job) : shorten(byDefault)
  }
  const shown = result?.content ?? text
  if (shown.length > plan.hardCeilingBytes || Buffer.byteLength(shown, 'utf8') > plan.hardCeilingBytes) {
    return shorten({ ...byDefault, ceiling: plan.hardCeilingBytes })
  }
  if (!result || result.content === text) return leave(job)

  const place = placeOf(service.storage)
  const intake = keepingIntake(job, plan.defaultLimits)
  const end = await intake.finish(undefined, context.signal)
  const kept = place ? keptByUs(end.outcome) : await keptByCaller(job, intake, end.outcome)
  const { removedLines, removedBytes } = result
  const request: RenderRequest = {
    failed: context.failed === true,
    preview: wellFormed(result.content),
    removedLines,
    removedBytes,
  }
  const shortened = renderWith(job, intake, request, kept)
  intake.release()
  return truncated({ ...job, byStrategy: true }, shortened, kept, end.bytes)
}

/** What the strategy says, checked; nothing if it leaves the text alone. */
function askStrategy(strategy: TruncationStrategy, text: string, config: TruncationConfig): StrategyResult | undefined {
  const needed = strategy.needsTruncation(text, { ...config })
  catchLater('strategy', needed)
  if (typeof needed !== 'boolean') throw nonsense(`needsTruncation answered ${describe(needed)} instead of a boolean`)
  if (!needed) return undefined
  const result = strategy.truncate(text, { ...config })
  catchLater('strategy', result)
  if (typeof result?.content !== 'string')
    throw nonsense('truncate answered something without a content that is a string')
  for (const key of ['removedLines', 'removedBytes'] as const) {
    const value = result[key]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw nonsense(`truncate answered ${describe(value)} as ${key}`)
    }
  }
  return result
}

function nonsense(problem: string): SpillwayError {
  return new SpillwayError('STRATEGY', problem)
}

function textOf(source: Source): string {
  if (typeof source === 'string') return source
  return Array.isArray(source) ? source.join('\n') : decodeBytes(source as Uint8Array)
}
