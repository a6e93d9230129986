/** Truncates everything in a tool's result except media, in place. */

import type { ToolResultLike, TruncationContext } from 'spillway'
import { cuttable } from '../../truncation/content'
import { stringifyLossless } from '../../util/lossless-json'
import { oneOf } from '../../validation/options'
import { isRecord } from '../../validation/validate'
import { IN_MEMORY, type Item, itemsOf, type Look, REST_BYTES, Several, SMALL_BYTES, slimmed } from './items'
import { besideTexts } from './structure'
import { type McpContentBlock, type McpToolResult, META_KEY } from './types'

/** Handling of a structure: `drop` for one that repeats the texts, and for any other when they are truncated; `keep`. */
export type StructuredContent = 'drop' | 'keep'

export const STRUCTURED_CONTENT = oneOf('drop', 'keep')

/**
 * Bounds an output as a middleware does.
 *
 * @param besides bytes that go out beside the output and count towards the same limit
 */
export type Bound = (
  toolName: string,
  result: ToolResultLike,
  context: TruncationContext,
  besides?: number,
) => Promise<ToolResultLike>

/** The block that receives a part. */
const BLOCK = Symbol('block')

/** A part as the service takes it: all texts share one budget, and anything that is not text keeps its place. */
type Part = { type: 'text'; text: string; [BLOCK]?: McpContentBlock } | { type: 'file'; [BLOCK]: unknown }

/** How a result is bounded. */
export interface ResultBounds {
  bound: Bound
  structured: StructuredContent
  /** Bytes that may stay beside the texts. */
  restBytes?: number
}

/**
 * Returns the result, truncated; the same object (`===`) if nothing is to change.
 *
 * Texts, the texts of embedded resources and all that is long beside them are bounded together. With `'drop'` a
 * `structuredContent` that says no more than the texts is dropped, and any other when they are truncated; its other fields are
 * kept with them.
 */
export async function boundResult<R>(result: R, bounds: ResultBounds, context: TruncationContext): Promise<R> {
  const { bound, structured, restBytes = REST_BYTES } = bounds
  const given: unknown = result
  if (!isRecord(given) || !Array.isArray(given.content)) return (await boundOther(given, bounds, context)) as R
  const { content } = given as McpToolResult & { content: unknown[] }
  const { items, besides, isStripped } = itemsOf(content, IN_MEMORY, restBytes)
  const parts = items.map(partOf)
  const { rest, meta, long } = membersOf(given, IN_MEMORY, restBytes)
  for (const value of long) parts.push({ type: 'text', text: jsonOf(value) })
  const { structuredContent } = given
  const extra = structured === 'drop' ? besideTexts(textsOf(content), structuredContent) : undefined
  if (extra !== undefined) parts.push({ type: 'text', text: jsonOf(extra) })
  const failed = given.isError === true
  const about = { ...context, ...(failed && { failed }) }
  const answer = await bound(context.toolName, { output: parts }, about, besides + IN_MEMORY.sizeOf(rest))
  const isCut = answer.metadata?.truncated === true
  const isRepeated = structured === 'drop' && structuredContent !== undefined && extra === undefined
  if (!isCut && !isStripped && hasTextsOf(answer.output, parts)) {
    return mended(isRepeated ? (without(given, { structuredContent }) as R) : result, content)
  }
  const blocks = Array.isArray(answer.output) ? (answer.output as Part[]).map(blockOf) : [textBlock(answer.output)]
  const kept = structured === 'keep' && structuredContent !== undefined ? { structuredContent } : {}
  const isKept = isCut || answer.metadata?.truncationPath !== undefined
  return {
    ...rest,
    content: blocks,
    ...kept,
    ...(isKept ? { _meta: metaOf(meta, answer) } : meta && { _meta: meta }),
  } as R
}

/**
 * The members of a result beside its content, without those that are long, and those: what is long there is one more text, or a
 * result could be of any size.
 */
export function membersOf(
  given: Record<string, unknown>,
  look: Look,
  restBytes: number,
): { rest: Record<string, unknown>; meta: Record<string, unknown> | undefined; long: unknown[] } {
  const { content: _content, structuredContent: _structure, _meta, isError, ...others } = given
  const failed = isError === true ? { isError } : {}
  const odd = isError === undefined || typeof isError === 'boolean' ? {} : { isError }
  const some = slimmed({ ...others, ...odd }, look, '') ?? { value: {}, long: [others] }
  const meta = isRecord(_meta) ? slimmed(_meta, look) : undefined
  const long = [...some.long, ...(meta?.long.length ? [{ _meta: Object.assign({}, ...meta.long.map(named)) }] : [])]
  const isMuch = look.sizeOf(some.value) + look.sizeOf(meta?.value ?? {}) > restBytes
  if (isMuch) return { rest: failed, meta: undefined, long: [{ ...others, ...odd, ...(isRecord(_meta) && { _meta }) }] }
  return { rest: { ...some.value, ...failed }, meta: meta?.value, long }
}

const named = (long: unknown) => (isRecord(long) ? long : { long })

/** A result without blocks, as older servers give it, or no result at all: too long, it is one text. */
async function boundOther(given: unknown, bounds: ResultBounds, context: TruncationContext): Promise<unknown> {
  const record = isRecord(given) ? given : {}
  const failed = record.isError === true
  const whole = record.content ?? given
  const output = typeof whole === 'string' ? whole : jsonOf(whole)
  const about = { ...context, ...(failed && { failed }) }
  const isMore = whole !== given && IN_MEMORY.sizeOf(given) > 2 * IN_MEMORY.sizeOf(whole) + SMALL_BYTES
  const said = isMore ? jsonOf(given) : output
  const answer = await bounds.bound(context.toolName, { output: said }, about)
  if (answer.metadata?.truncated !== true) return given
  const { meta } = membersOf(record, IN_MEMORY, SMALL_BYTES)
  const { resultType } = record
  return {
    ...(resultType === 'complete' && { resultType }),
    content: [textBlock(answer.output)],
    ...(failed && { isError: true }),
    _meta: metaOf(meta, answer),
  }
}

/** The fields of an error beside its message that are too long to go with it. */
export function longFields(error: object, hasMore: (json: string) => boolean = () => false): Record<string, unknown> {
  const isLong = (json: string) => isLongText(json) || hasMore(json)
  const long = Object.entries(error).filter(([name, value]) => name !== 'message' && isLong(jsonOf(value)))
  return Object.fromEntries(long)
}

export function isLongText({ length }: string): boolean {
  return length > SMALL_BYTES
}

/** An object without some of its fields. */
export function without(value: object, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !Object.hasOwn(fields, name)))
}

/**
 * Truncates an error of the protocol; returns the same object (`===`) if nothing is to change. Long fields beside its message are
 * truncated and kept with it.
 *
 * @param bound truncates a result; returns `undefined` if the result stays as it is
 * @param hasMore whether a JSON is only an outline
 */
export async function boundError(
  error: Record<string, unknown>,
  bound: (result: Record<string, unknown>) => Promise<Record<string, unknown> | undefined>,
  hasMore: (json: string) => boolean = () => false,
): Promise<Record<string, unknown>> {
  const { message = '' } = error
  const all = longFields(error, hasMore)
  // Many small fields are as long as a long one.
  const isCrowded = Object.keys(error).length > 8
  const long = isCrowded ? without(error, { code: 0, message: 0 }) : all
  const blocks = Object.entries(long).map(([name, value]) => {
    const block = { [name]: value }
    const json = jsonOf(block)
    return hasMore(json) ? block : textBlock(json)
  })
  const said = typeof message === 'string' ? message : jsonOf(message)
  const result = { content: [textBlock(said), ...blocks], isError: true }
  const answer = (await bound(result)) ?? result
  if (answer === result || !Array.isArray(answer.content)) return error
  const texts = answer.content.map(textOf).filter((text) => text !== undefined)
  const { code } = error
  const rest =
    typeof code === 'number' || code === undefined ? without(error, long) : { ...without(error, long), code: -32603 }
  return { ...rest, message: stillSaid(said, texts.join('\n')) }
}

/**
 * The shown part of an error, its message first unless that is long itself: what failed is cut to its end, and what says why is
 * not to go for what lies beside it.
 */
export function stillSaid(message: string, shown: string): string {
  return isLongText(message) || shown.startsWith(message) ? shown : `${message}\n${shown}`
}

/** True if nothing was changed but what was not well-formed. */
function hasTextsOf(output: unknown, parts: readonly Part[]): boolean {
  const texts = (all: readonly Part[]) =>
    all.map((part) => (part.type === 'text' ? part.text.toWellFormed() : undefined))
  if (output === parts || !Array.isArray(output) || output.length !== parts.length) return output === parts
  const before = texts(parts)
  return texts(output as Part[]).every((text, index) => text === before[index])
}

/** Metadata of a truncation, added to the other metadata of the result. */
export function metaOf(meta: unknown, { metadata = {} }: ToolResultLike): Record<string, unknown> {
  const {
    truncationPath: outputPath,
    truncationRemovedLines: removedLines,
    truncationRemovedBytes: removedBytes,
  } = metadata
  return { ...(isRecord(meta) ? meta : {}), [META_KEY]: { outputPath, removedLines, removedBytes } }
}

/** The text of a block, if it is one that is bounded. */
export function textOf(block: unknown): string | undefined {
  if (!isRecord(block)) return undefined
  if (block.type === 'text' && typeof block.text === 'string') return block.text
  const { resource } = block
  return block.type === 'resource' && isRecord(resource) && typeof resource.text === 'string'
    ? resource.text
    : undefined
}

function textsOf(content: readonly unknown[]): string[] {
  return content.map(textOf).filter((text) => text !== undefined)
}

/** The block with another text. */
export function withText(block: McpContentBlock, text: string): McpContentBlock {
  if (block.type === 'text') return { ...block, text }
  if (block.type === 'resource' && textOf(block) !== undefined) {
    return { ...block, resource: { ...(block.resource as object), text } }
  }
  return { type: 'text', text }
}

function partOf(item: Item): Part {
  if ('stays' in item) return { type: 'file', [BLOCK]: item.stays }
  const { text, block } = item
  return { type: 'text', text: saidBy(text), ...(block && { [BLOCK]: block }) }
}

/** The text of an item of a message in memory. */
function saidBy(text: unknown): string {
  if (typeof text === 'string') return text
  return text instanceof Several ? text.texts.map(saidBy).join('\n') : jsonOf(text)
}

function blockOf(part: Part): unknown {
  const block = part[BLOCK]
  if (part.type === 'file') return block
  return block === undefined ? textBlock(part.text) : withText(block as McpContentBlock, part.text)
}

export function textBlock(text: unknown): McpContentBlock {
  return { type: 'text', text: String(text) }
}

/** One lone surrogate in a request makes providers refuse the whole session. */
function mended<R>(result: R, content: readonly unknown[]): R {
  const isTorn = (block: unknown) => textOf(block)?.isWellFormed() === false
  if (!content.some(isTorn)) return result
  const whole = content.map((block) =>
    isTorn(block) ? withText(block as McpContentBlock, textOf(block)!.toWellFormed()) : block,
  )
  return { ...result, content: whole }
}

/** The JSON of a value, as it can be cut. */
export function jsonOf(value: unknown): string {
  const json = (indent?: number) => stringifyLossless(value, indent) ?? 'null'
  try {
    return cuttable(json(), () => json(2))
  } catch {
    // A value of the host's own that refuses.
    return Object.prototype.toString.call(value)
  }
}
