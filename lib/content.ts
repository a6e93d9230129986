/** What an output can be: text, bytes, parts of a message, or any other value. */

import { types } from 'node:util'
import type { Facts } from './intake'
import { wellFormed } from './settings'
import type { ContentPart, OutputService, TextContentPart, TruncationContext, TruncationResult } from './types'

/** Whether a value is a list of message parts. */
export function isParts(value: unknown): value is readonly ContentPart[] {
  return Array.isArray(value) && value.every(isPart)
}

function isPart(value: unknown): value is ContentPart {
  return typeof value === 'object' && value !== null && typeof (value as ContentPart).type === 'string'
}

export function isTextPart(part: ContentPart): part is TextContentPart {
  return part.type === 'text' && typeof part.text === 'string'
}

/** The texts of a message's parts. */
export function textsOf(parts: readonly ContentPart[]): string[] {
  return parts.filter(isTextPart).map((part) => part.text)
}

/**
 * Puts a shortened text back into the parts it came from. What is shown of a part stays in that part; parts of which
 * nothing is shown go; everything else keeps its place. The binary saw the texts joined by line feeds.
 */
export function replaceTexts(parts: readonly ContentPart[], content: string, facts: Facts): ContentPart[] {
  const texts = textsOf(parts)
  const joined = texts.reduce((units, text) => units + text.length, 0) + Math.max(texts.length - 1, 0)
  const kept = keptRanges(facts, joined)
  const shown: (string | undefined)[] = []
  let start = 0
  for (const text of texts) {
    const pieces = kept
      .map(([from, to]) => text.slice(Math.max(from - start, 0), Math.max(to - start, 0)))
      .filter((piece) => piece !== '')
    // Both ends in one part: what the binary put between them stands in its place.
    shown.push(pieces.length > 1 ? pieces.join(gapOf(content, facts)) : pieces[0])
    start += text.length + 1
  }
  const { before, after } = noticeOf(content, facts)
  const between = facts.pieceUnits.length > 1 && !shown.some((text, i) => text !== undefined && isSplit(kept, texts, i))
  return compose(parts, shown, { before, after, gap: between ? gapOf(content, facts) : '' }, facts)
}

type Around = { before: string; after: string; gap: string }

function compose(
  parts: readonly ContentPart[],
  shown: readonly (string | undefined)[],
  { before, after, gap }: Around,
  facts: Facts,
): ContentPart[] {
  const last = shown.findLastIndex((text) => text !== undefined)
  const first = shown.findIndex((text) => text !== undefined)
  // With a gap between parts, the notice of the gap ends the part before it.
  const gapAfter = gap === '' ? -1 : lastOfHead(shown, facts)
  const result: ContentPart[] = []
  let index = -1
  for (const part of parts) {
    if (!isTextPart(part)) {
      result.push(part)
      continue
    }
    index += 1
    let text = shown[index]
    if (first === -1 && index === 0) text = ''
    if (text === undefined) continue
    if (index === Math.max(first, 0)) text = before + text
    if (index === gapAfter) text += gap.trimEnd()
    if (index === Math.max(last, 0)) text += after
    result.push({ ...part, text: wellFormed(text) })
  }
  return result
}

/** The part in which the first of two ends stops. */
function lastOfHead(shown: readonly (string | undefined)[], facts: Facts): number {
  let units = facts.pieceUnits[0] ?? 0
  for (const [index, text] of shown.entries()) {
    if (text === undefined) continue
    units -= text.length + 1
    if (units < 0) return index
  }
  return shown.findIndex((text) => text !== undefined)
}

function isSplit(kept: readonly [number, number][], texts: readonly string[], index: number): boolean {
  const start = texts.slice(0, index).reduce((units, text) => units + text.length + 1, 0)
  const end = start + texts[index]!.length
  return kept.filter(([from, to]) => from < end && to > start).length > 1
}

/** The UTF-16 ranges of the joined text that are shown. A preview has as many units as what it shows of the original. */
function keptRanges(facts: Facts, joined: number): [number, number][] {
  const [head = 0, tail] = facts.pieceUnits
  const fromEnd = (units: number): [number, number] => {
    // Line breaks are single bytes, so what follows the last range is as many units as bytes.
    const end = joined - (facts.totalBytes - (facts.ranges.at(-1)?.toByte ?? facts.totalBytes))
    return [end - units, end]
  }
  if (facts.direction === 'tail') return [fromEnd(head)]
  return tail === undefined ? [[0, head]] : [[0, head], fromEnd(tail)]
}

function gapOf(content: string, facts: Facts): string {
  const [head = 0, tail = 0] = facts.pieceUnits
  return content.slice(facts.preview.from + head, facts.preview.to - tail)
}

function noticeOf(content: string, facts: Facts): { before: string; after: string } {
  return { before: content.slice(0, facts.preview.from), after: content.slice(facts.preview.to) }
}

/** The keys under which hosts keep the structured form of a result beside its parts. */
const STRUCTURED_KEYS = ['structured', 'structuredContent'] as const

/** What became of a value. */
export interface BoundValue {
  /** The value itself if nothing had to be cut. */
  value: unknown
  /** What the service answered; nothing for values that cannot be too long. */
  result?: TruncationResult<unknown>
}

/** Bounds any value: text, bytes and parts as they are, everything else by its JSON. */
export async function boundValue(
  service: OutputService,
  value: unknown,
  context: TruncationContext,
): Promise<BoundValue> {
  if (typeof value === 'string') return fromResult(await service.output(value, context), value)
  if (types.isUint8Array(value) || isParts(value)) {
    const result = await service.output(value as Uint8Array, context)
    return fromResult(result, types.isUint8Array(value) ? result.content : value)
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value !== 'bigint') return { value }
    return fromResult(await service.output(String(value), context), value)
  }
  const parts = (value as { content?: unknown }).content
  if (isParts(parts)) return boundContentHolder(service, value, parts, context)
  return fromResult(await service.output(toJson(value), context), value)
}

function fromResult(result: TruncationResult<unknown>, untouched: unknown): BoundValue {
  if (result.truncated) return { value: result.content, result }
  // One lone surrogate in a request makes providers refuse the whole session.
  return { value: typeof untouched === 'string' ? wellFormed(untouched) : untouched, result }
}

/** A tool result in the shape of MCP: parts, and perhaps the same once more as a structure. */
async function boundContentHolder(
  service: OutputService,
  value: object,
  parts: readonly ContentPart[],
  context: TruncationContext,
): Promise<BoundValue> {
  const structured = STRUCTURED_KEYS.filter((key) => (value as Record<string, unknown>)[key] !== undefined)
  if (structured.length === 0) {
    const result = await service.output(parts, context)
    return { value: result.truncated ? { ...value, content: result.content } : value, result }
  }
  // The structure usually says the same as the text, so cutting only one of them saves nothing. Media are not text.
  const result = await service.output(toJson({ ...value, content: parts.filter(isTextPart) }), context)
  if (!result.truncated) return { value, result }
  const content = [{ type: 'text', text: result.content }, ...parts.filter((part) => !isTextPart(part))]
  return { value: { ...value, content, ...Object.fromEntries(structured.map((key) => [key, {}])) }, result }
}

/** JSON with two spaces that never throws: cycles, big integers, errors and throwing getters have a form too. */
export function toJson(value: unknown): string {
  const ancestors: object[] = []
  try {
    const json = JSON.stringify(
      value,
      function (this: unknown, _key, inner: unknown) {
        if (typeof inner === 'bigint') return String(inner)
        if (typeof inner !== 'object' || inner === null) return inner
        // `this` holds the value: everything above it on the path is what a cycle can lead back to.
        while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop()
        if (ancestors.includes(inner)) return '[Circular]'
        if (types.isNativeError(inner)) {
          const { name, message, stack } = inner
          const described = { ...inner, name, message, stack }
          ancestors.push(described)
          return described
        }
        ancestors.push(inner)
        return inner
      },
      2,
    )
    return json ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
