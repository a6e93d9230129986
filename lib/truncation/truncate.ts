/** Truncation of a complete output: it is returned unchanged, or saved and truncated. */

import { types } from 'node:util'
import { SpillwayError } from '../errors'
import { Intake, type Outcome, type RenderRequest, type Source } from '../ingest/ingest'
import { type Plan, type TextLimits, wellFormed } from '../settings/settings'
import { placeOf, saveTarget } from '../storage/file-storage'
import {
  EXTRA_BYTES,
  EXTRA_LINES,
  EXTRA_TOKENS,
  type FoundPreview,
  mayBePrinted,
  printedPreviewOf,
} from '../storage/printed-previews'
import type {
  ITruncationStorage,
  StrategyResult,
  TruncationConfig,
  TruncationContext,
  TruncationResult,
  TruncationStrategy,
} from '../types'
import { isCount } from '../util/guards'
import { messageOf } from '../util/message-of'
import { catchLater } from '../util/warn'
import { decodeBytes } from '../validation/bytes'
import { describe, wrong } from '../validation/validate'
import { isParts, textsOf } from './content'
import { AT_ONCE_UNITS, isWithin, needsTerminal } from './fast-path'
import {
  type EarlierNotice,
  END_UNITS,
  hasNotices,
  hasPreviewOf,
  hasPreviews,
  MAX_PREVIEW_BYTES,
  mayNamePath,
  noticesIn,
  type Preview,
  previewIn,
  previewOf,
  printedBefore,
  rememberPreview,
} from './previews'
import { type Client, ceilingOf, type Job, reportStrategy, sourceText } from './request'
import { asBefore, cleaned, contentBytes, renderWith, truncated, untouched } from './result'
import { type Kept, keptBy, keptByUs, withSignal } from './save'

/** Truncates a complete output; `looked` is the plan by which {@link isShort} found it too long. */
export async function decide(
  service: Client,
  content: unknown,
  context: TruncationContext,
  looked?: Plan,
): Promise<TruncationResult<unknown>> {
  const parts = isParts(content) ? content : undefined
  if (typeof content !== 'string' && !types.isUint8Array(content) && !parts) {
    throw wrong('content', content, 'a string, a Uint8Array or an array of message parts')
  }
  const source: Source = parts ? textsOf(parts) : (content as string | Uint8Array)
  const plan = service.settings.plan(context)
  const units = lengthOf(source)
  const job: Job = { service, context, plan, source, units, original: content, parts, limits: plan.limits }
  const isTerminal = plan.mode === 'bound' && plan.limits.terminal && needsTerminal(source)
  const before = plan.mode === 'leave' ? undefined : previewBefore(job)
  if (before !== undefined) return asBefore(job, before)
  if (units <= plan.sureUnits && !isTerminal) return leave(job)
  if (plan.mode === 'ceiling') {
    if (await fits(job, ceilingOf(plan))) return leave(job)
    const limits = plan.customStrategy ? plan.defaultLimits : plan.limits
    return shorten({ ...job, limits, ceiling: plan.hardCeilingBytes })
  }
  if (plan.customStrategy && service.strategy) return byStrategy(job, service.strategy)
  if (isTerminal) return shorten(job)
  // Counting once more would give the same answer.
  const isKnown = looked === plan && plan.mode === 'bound' && units <= AT_ONCE_UNITS
  return !isKnown && (await fits(job, plan.limits)) ? leave(job) : shorten(job)
}

function lengthOf(source: Source): number {
  if (typeof source === 'string') return source.length
  if (!Array.isArray(source)) return (source as Uint8Array).byteLength
  return source.reduce((units: number, text: string) => units + text.length, 0) + Math.max(source.length - 1, 0)
}

async function fits(job: Job, limits: TextLimits): Promise<boolean> {
  const { source, units, service, context } = job
  // Every unit and every byte is at least one byte when it is shown.
  if (limits.maxBytes !== null && units > limits.maxBytes) return false
  if (typeof source === 'string' && source.length <= AT_ONCE_UNITS) return isWithin(source, limits)
  const intake = new Intake(service.settings.handle, source, { limits, units })
  const end = await intake.finish(undefined, context.signal)
  intake.release()
  return end.fits
}

function leave(job: Job): TruncationResult<unknown> {
  const { original, service, context } = job
  const [content, bytes] = types.isUint8Array(original) ? [decodeBytes(original), original.byteLength] : [original]
  if (job.strategyProblem !== undefined) {
    const size = contentBytes(content)
    reportStrategy(job, { originalSize: bytes ?? size, truncatedSize: size })
  }
  return untouched(service, content, context, bytes)
}

/** The preview that an output is, unless it is too long for this call. */
function previewBefore({ source, units, plan, service }: Job): Preview | undefined {
  const isBytes = types.isUint8Array(source)
  if (isBytes ? units > MAX_PREVIEW_BYTES || !hasPreviews() : !hasPreviewOf(units)) return undefined
  const preview = previewOf(sourceText(source))
  return preview !== undefined && isAllowed(preview, plan, service) ? preview : undefined
}

/**
 * True if a preview may be left alone although it is over the limits: they bounded it without its notice. Above the hard ceiling
 * that another tool's limits allowed, and where the notice counts, it is an output like any other.
 */
function isAllowed({ content, preview = content }: Preview, plan: Plan, service: Client): boolean {
  const limits = plan.customStrategy ? plan.defaultLimits : plan.limits
  // A final line feed does not count as another line in the notice, for any profile.
  if (service.options.noticeInside && plan.mode === 'bound')
    return isWithin(content, { ...limits, lineRule: 'terminated' })
  const maxLength = Math.max(plan.hardCeilingBytes, limits.maxBytes ?? Number.POSITIVE_INFINITY)
  return preview.length <= maxLength && Buffer.byteLength(preview) <= maxLength
}

/** Share of the limits for text around a preview; within it the sum is not truncated again. */
const SHARE_AROUND = 1 / 4

function isLittle(text: string, { maxLines, maxBytes, maxTokens }: TextLimits): boolean {
  const bytes = Buffer.byteLength(text)
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return (
    (maxBytes === null || bytes <= maxBytes * SHARE_AROUND) &&
    (maxTokens === null || bytes <= maxTokens * SHARE_AROUND) &&
    (maxLines === null || lines <= Math.max(maxLines * SHARE_AROUND, 1))
  )
}

function earlierNotices({ source }: Job): EarlierNotice[] {
  if (!hasNotices()) return []
  if (!types.isUint8Array(source)) return noticesIn(sourceText(source))
  const { length } = source
  const ends = length <= 2 * END_UNITS ? [source] : [source.subarray(0, END_UNITS), source.subarray(length - END_UNITS)]
  // Finding no path costs a tenth of decoding the bytes.
  return ends.some(mayNamePath) ? noticesIn(ends.map(decodeBytes).join('\n')) : []
}

/** Finds the preview that an output is, if another process printed it for this store. */
function printedIn({ source, units, service }: Job): { text: string; found: FoundPreview } | undefined {
  if (!mayBePrinted(service.storage, units)) return undefined
  const text = sourceText(source)
  const found = printedPreviewOf(service.storage, text)
  return found && { text, found }
}

/** True if a text is over the limits by no more than the notice of a preview. */
function isLittleOver(text: string, { plan, service }: Job): boolean {
  const { maxLines, maxBytes, maxTokens, ...limits } = plan.customStrategy ? plan.defaultLimits : plan.limits
  return (
    !service.options.noticeInside &&
    isWithin(text, {
      ...limits,
      maxLines: maxLines && maxLines + EXTRA_LINES,
      maxBytes: maxBytes && maxBytes + EXTRA_BYTES,
      maxTokens: maxTokens && maxTokens + EXTRA_TOKENS,
    })
  )
}

/** The answer for an output that has a preview in it and little else; or the output with the notices that must be kept. */
function withEarlier(job: Job): { job: Job; answer?: TruncationResult<unknown> } {
  const printed = printedIn(job)
  const before = printed && printedBefore(printed.found)
  if (printed !== undefined && before !== undefined && isLittleOver(printed.text, job)) {
    rememberPreview({ ...before.preview, content: printed.text }, printed.text, before.notice.notice)
    return { job, answer: asBefore(job, before.preview) }
  }
  const earlier = before === undefined ? earlierNotices(job) : [before.notice]
  if (earlier.length === 0) return { job }
  const { plan, service, source, units } = job
  if (!service.options.noticeInside && units <= MAX_PREVIEW_BYTES) {
    const found = previewIn(sourceText(source), earlier)
    if (found !== undefined && isAllowed(found.preview, plan, service) && isLittle(found.around, plan.defaultLimits)) {
      return { job, answer: asBefore(job, found.preview) }
    }
  }
  return { job: { ...job, earlier } }
}

/** Saves the whole and shortens it by the built-in strategies; with `terminal`, only if it must be. */
async function shorten(given: Job): Promise<TruncationResult<unknown>> {
  const { job, answer } = withEarlier(given)
  if (answer !== undefined) return answer
  const { service, context, limits } = job
  const place = placeOf(service.storage)
  const request: RenderRequest = { failed: context.failed === true, ceiling: job.ceiling }
  const hold = limits.terminal ? (job.ceiling === undefined ? limits : ceilingOf(job.plan)) : undefined
  const intake = keepingIntake(job, limits, hold)
  const { formatNotice } = service.options
  const renderAtOnce = place !== undefined && formatNotice === undefined && job.earlier === undefined
  const end = await intake.finish(renderAtOnce ? request : undefined, context.signal)
  if (end.whole !== undefined) {
    const kept = end.held ? undefined : place ? keptByUs(end.outcome) : await keptByCaller(job, intake, end.outcome)
    intake.release()
    return cleaned(job, end.whole, end.bytes, kept)
  }
  const kept = place ? keptByUs(end.outcome) : await keptByCaller(job, intake, end.outcome)
  if (end.shortened) return truncated(job, end.shortened, kept, end.bytes)
  const shortened = renderWith(job, intake, request, kept)
  intake.release()
  return truncated(job, shortened, kept, end.bytes)
}

/** Takes an output in to be saved by us, or collects it where a storage of the caller's must not get it as it is. */
function keepingIntake({ service, context, source, units }: Job, limits: TextLimits, hold?: TextLimits): Intake {
  const { handle, facts } = service.settings
  const place = placeOf(service.storage)
  const collect = !place && facts.redacts ? {} : undefined
  const save = place && saveTarget(place, context)
  return new Intake(handle, source, {
    limits,
    units,
    save,
    collect,
    hold,
    query: context.query,
    command: context.command,
  })
}

function keptByCaller(job: Job, intake: Intake, { collected }: Outcome): Promise<Kept> {
  const { service, context, source, original } = job
  const bytes = () => (collected ? intake.collectedBytes(collected) : (original as Uint8Array))
  const saveFor = async (storage: ITruncationStorage, asked: TruncationContext) => {
    if (types.isUint8Array(original)) {
      return storage.saveBytes ? storage.saveBytes(bytes(), asked) : storage.save(decodeBytes(bytes()), asked)
    }
    return storage.save(collected ? await intake.collectedText() : sourceText(source), asked)
  }
  return keptBy(
    service,
    { redactions: collected?.redactions },
    {
      toCaller: (storage, late) => saveFor(storage, withSignal(context, late)),
      toFiles: (storage) => saveFor(storage, context),
    },
    context.signal instanceof AbortSignal ? context.signal : undefined,
  )
}

/** Lets a strategy of the caller's decide, within the hard ceiling. */
async function byStrategy(given: Job, strategy: TruncationStrategy): Promise<TruncationResult<unknown>> {
  const { service, context, plan, source } = given
  let job = given
  const byDefault: Job = { ...job, limits: plan.defaultLimits }
  const text = sourceText(source)
  let result: StrategyResult | undefined
  try {
    result = askStrategy(strategy, text, plan.config)
  } catch (error) {
    const failed: Job = { ...byDefault, strategyProblem: messageOf(error) }
    if (plan.defaultLimits.terminal && needsTerminal(source)) return shorten(failed)
    return (await fits(failed, plan.defaultLimits)) ? leave(failed) : shorten(failed)
  }
  const shown = result?.content ?? text
  if (shown.length > plan.hardCeilingBytes || Buffer.byteLength(shown, 'utf8') > plan.hardCeilingBytes) {
    return shorten({ ...byDefault, ceiling: plan.hardCeilingBytes })
  }
  if (!result || result.content === text) return leave(job)

  const { job: known, answer } = withEarlier(job)
  if (answer !== undefined) return answer
  job = known
  const place = placeOf(service.storage)
  const intake = keepingIntake(job, plan.defaultLimits)
  const end = await intake.finish(undefined, context.signal)
  const kept = place ? keptByUs(end.outcome) : await keptByCaller(job, intake, end.outcome)
  const { removedLines, removedBytes } = result
  // A strategy that filters first and then asks its base class counts what that removed of the filtered text: nothing.
  const isUncounted = removedLines === 0 && removedBytes === 0
  const request: RenderRequest = {
    failed: context.failed === true,
    preview: wellFormed(result.content),
    ...(!isUncounted && { removedLines, removedBytes }),
  }
  const shortened = renderWith(job, intake, request, kept)
  intake.release()
  return truncated({ ...job, byStrategy: true }, shortened, kept, end.bytes)
}

/** Returns the validated answer of the strategy; nothing if it keeps the text. */
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
    if (value !== undefined && !isCount(value)) {
      throw nonsense(`truncate answered ${describe(value)} as ${key}`)
    }
  }
  return result
}

function nonsense(problem: string): SpillwayError {
  return new SpillwayError('STRATEGY', problem)
}
