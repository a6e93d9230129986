/** Makes the result: the preview, the path of the saved output, and the events. */

import { types } from 'node:util'
import { SpillwayError } from '../errors'
import type { Intake, RenderRequest, TruncatedText, TruncationFacts } from '../ingest/ingest'
import { wellFormed } from '../settings/settings'
import { rememberOutput } from '../storage/saved-outputs'
import type { ContentPart, NoticeInfo, TruncatedResult, TruncationContext, TruncationResult } from '../types'
import { catchLater, warn } from '../util/warn'
import { describe } from '../validation/validate'
import { isParts, isTextPart, replaceTexts, textsOf } from './content'
import { type EventDetails, emitSkipped } from './events'
import { around, type Preview, rememberPreview, repeated, standsIn } from './previews'
import { type Client, isHeard, type Job, report, reportStrategy, sourceText, type TruncationReport } from './request'
import type { Kept } from './save'

/** The answer for an output that comes back as it is. @param bytes those that came, where the content is the text of bytes */
export function untouched(
  service: Client,
  content: unknown,
  context: TruncationContext,
  bytes?: number,
): TruncationResult<unknown> {
  service.sums.outputs++
  if (isHeard(service)) {
    const size = contentBytes(content)
    emitSkipped(service.options.onEvent, context, bytes ?? size, size)
  }
  return { content, truncated: false }
}

/** The answer for an output of which all that a terminal would show keeps the limits. @param kept where it is as it came */
export function cleaned(job: Job, text: string, bytes: number, kept: Kept | undefined): TruncationResult<unknown> {
  const { service, context, original, parts, source } = job
  const isSame = !types.isUint8Array(original) && text === sourceText(source)
  const content = isSame ? original : parts ? inOnePart(parts, text) : text
  const place = kept && {
    outputPath: kept.path,
    ...(kept.saveError && { saveError: kept.saveError }),
    ...savedAs(kept),
  }
  if (isHeard(service)) {
    const sizes = { originalSize: bytes, truncatedSize: Buffer.byteLength(text, 'utf8') }
    reportStrategy(job, sizes)
    if (kept) reportTrouble(job, kept, sizes)
    const { outputPath } = place ?? {}
    report(service, context, {
      type: 'skipped',
      ...sizes,
      ...(outputPath && { outputPath }),
      ...(kept && savedAs(kept)),
    })
  }
  service.sums.outputs++
  rememberOutput(place?.outputPath)
  return { content, truncated: false, ...(place && { raw: place }) }
}

/** UTF-8 bytes of what comes back as it is. */
export function contentBytes(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content, 'utf8')
  return isParts(content) ? Buffer.byteLength(textsOf(content).join('\n'), 'utf8') : 0
}

/** Puts the text together when it is known where the whole is, with the caller's notice if there is one. */
export function renderWith(
  job: Job,
  intake: Pick<Intake, 'render'>,
  request: RenderRequest,
  kept: Kept,
): TruncatedText {
  const { path, part, saveError } = kept
  const place = path === '' ? { lost: wellFormed(saveError?.message ?? '') } : { path: wellFormed(path), part }
  const { formatNotice, availableTools = [], noticeInside = false } = job.service.options
  let shortened = intake.render({ ...request, ...place })
  const cutOff = job.earlier?.filter((notice) => !standsIn(shortened.content, notice)) ?? []
  const earlier = cutOff.length > 0 ? repeated(cutOff, noticeInside) : undefined
  if (!formatNotice) {
    if (earlier !== undefined) shortened = intake.render({ ...request, ...place, earlier })
    return shortened
  }
  // Where everything must fit, the words leave less room for the text, and the numbers in the words change with it. Room for
  // all words so far stays: else those of two cuts could take turns.
  const room: string[] = []
  let shown = shortened
  for (let round = 0; round < MAX_NOTICE_ROUNDS; round += 1) {
    const info = noticeInfo(job, shown.facts, kept, availableTools)
    const told = JSON.stringify(info)
    const asked = askForNotice(formatNotice, info)
    if (asked === undefined) return shortened
    const notice = earlier === undefined ? asked : `${asked}\n${earlier}`
    shown = intake.render({ ...request, ...place, notice, room })
    if (JSON.stringify(noticeInfo(job, shown.facts, kept, availableTools)) === told) break
    room.push(notice)
  }
  return shown
}

const MAX_NOTICE_ROUNDS = 8

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

function noticeInfo(job: Job, facts: TruncationFacts, kept: Kept, availableTools: readonly string[]): NoticeInfo {
  const { preview: _preview, hint: _hint, pieceUnits: _pieces, isSelected: _how, testRun: _run, ...known } = facts
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

/** The answer for an output that was shortened. */
export function truncated(
  job: Job,
  { content, facts }: TruncatedText,
  kept: Kept,
  bytes: number,
): TruncationResult<unknown> {
  const { service, context, parts } = job
  const sizes = { originalSize: bytes, truncatedSize: Buffer.byteLength(content, 'utf8') }
  addTruncated(service.sums, sizes)
  if (isHeard(service)) {
    reportStrategy(job, sizes)
    reportTrouble(job, kept, sizes)
    report(service, context, { type: 'truncated', ...sizes, outputPath: kept.path, ...savedAs(kept) })
  }
  const { preview, hint, pieceUnits: _pieces, isSelected: _how, direction: _direction, partialLines, ...counts } = facts
  const made: Preview = {
    content,
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
  const beside = around(content, preview.from, preview.to)
  rememberPreview(made, content, beside)
  if (!parts) return copyOf(made, content)
  const shown = inParts(job, parts, content, facts)
  const joined = textsOf(shown).join('\n')
  if (joined !== content) rememberPreview(made, joined, beside)
  return copyOf(made, shown)
}

function addTruncated(
  sums: TruncationReport,
  { originalSize, truncatedSize }: Pick<EventDetails, 'originalSize' | 'truncatedSize'>,
): void {
  sums.outputs++
  sums.truncated++
  sums.savings.bytes += originalSize
  sums.savings.shownBytes += truncatedSize
  sums.savings.savedBytes += originalSize - truncatedSize
}

/** The answer for what is a preview already, or has one in it: that of the call that made it, and nothing is cut. */
export function asBefore(job: Job, preview: Preview): TruncationResult<unknown> {
  const { service, context, original } = job
  const content = types.isUint8Array(original) ? sourceText(original) : original
  if (isHeard(service)) {
    const size = contentBytes(content)
    const { outputPath, savedPart, redactions } = preview
    report(service, context, {
      type: 'skipped',
      originalSize: size,
      truncatedSize: size,
      ...(outputPath && { outputPath }),
      ...savedAs({ part: savedPart, redactions }),
    })
  }
  return copyOf(preview, content)
}

/** Callers may change what they get; what is remembered stays. */
function copyOf<C>(made: Preview, content: C): TruncatedResult<C> {
  const { ranges, partialLines, testRun, saveError, savedPart } = made
  return {
    ...made,
    content,
    ...(ranges && { ranges: ranges.map((range) => ({ ...range })) }),
    ...(partialLines && { partialLines: partialLines.map((line) => ({ ...line })) }),
    ...(testRun && { testRun: structuredClone(testRun) }),
    ...(saveError && { saveError: { ...saveError, attempts: saveError.attempts.map((each) => ({ ...each })) } }),
    ...(savedPart && { savedPart: { ...savedPart } }),
  }
}

/** Reason of a failed save. */
function reportTrouble(
  { service, context }: Job,
  { attempts, saveError }: Kept,
  sizes: { originalSize: number; truncatedSize: number },
): void {
  for (const { dir, error, code = 'STORAGE_WRITE' } of attempts) {
    report(service, context, { type: 'error', ...sizes, error: `${error} (${dir})`, errorCode: code })
  }
  if (saveError && attempts.length === 0) {
    const { message, code } = saveError
    report(service, context, { type: 'error', ...sizes, error: message, errorCode: code })
  }
}

/** How what was saved differs from the output. */
function savedAs({
  part,
  redactions,
}: Pick<Kept, 'part' | 'redactions'>): Pick<TruncatedResult, 'savedPart' | 'redactions'> {
  return { ...(part && { savedPart: { ...part } }), ...(redactions !== undefined && { redactions }) }
}

function inParts(job: Job, parts: readonly ContentPart[], content: string, facts: TruncationFacts): ContentPart[] {
  const { keep, terminal } = job.limits
  const isOfEnds = keep === 'ends' || (keep === 'auto' && !facts.isSelected)
  if (!job.byStrategy && isOfEnds && !terminal) return replaceTexts(parts, content, facts)
  return inOnePart(parts, content)
}

/** A strategy, and a preview with lines of the whole output, see one text; their result is put where that text began. */
function inOnePart(parts: readonly ContentPart[], content: string): ContentPart[] {
  const first = parts.findIndex(isTextPart)
  const kept = parts.filter((part, index) => index === first || !isTextPart(part))
  return kept.map((part) => (isTextPart(part) ? { ...part, text: content } : part))
}
