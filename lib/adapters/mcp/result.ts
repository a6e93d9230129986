/** A tool's result with the texts in it bounded; everything else stays as it is, where it is. */

import { isDeepStrictEqual } from 'node:util'
import type { ToolResultLike, TruncationContext, TruncationMiddleware } from 'spillway'
import type { Check } from '../../checks'
import { cuttable } from '../../content'
import { isRecord } from '../../context'
import { parseExactly, toJson } from '../../exact-json'
import { type McpContentBlock, type McpToolResult, META_KEY } from './types'

/** Whether a structure that says the same as the texts goes when those are cut. */
export type StructuredContent = 'drop' | 'keep'

export const STRUCTURED_CONTENT: Check = ["'drop' or 'keep'", (value) => value === 'drop' || value === 'keep']

/** Where a stand-in has the block that it stands for. */
const BLOCK = Symbol('block')

/** A block of a type that nobody knows, or the description of a link, is text from this size on. */
const SMALL_UNITS = 1024

const MEDIA = new Set(['image', 'audio', 'resource_link'])

/** A part as the service takes it: all texts share one budget, and what is no text keeps its place. */
type Part = { type: 'text'; text: string; [BLOCK]?: McpContentBlock } | { type: 'file'; [BLOCK]: unknown }

/**
 * The result, bounded; the very same object if there is nothing to do.
 *
 * Texts, the texts of embedded resources and long descriptions of links are bounded together. With `'drop'` a `structuredContent` goes when they are cut,
 * because it says the same once more; where it does not, it is bounded and kept with them.
 */
export async function boundResult<R>(
  result: R,
  bound: TruncationMiddleware,
  context: TruncationContext,
  structured: StructuredContent,
): Promise<R> {
  const given: unknown = result
  if (!isRecord(given)) return result
  if (!Array.isArray(given.content)) return (await boundOther(given, bound, context)) as R
  const { content, structuredContent, ...rest } = given as McpToolResult & { content: unknown[] }
  const parts = withDescriptionsApart(content).map(partOf)
  const extra = structured === 'drop' ? structureBeside(content, structuredContent) : undefined
  if (extra !== undefined) parts.push({ type: 'text', text: extra })
  const failed = given.isError === true
  const answer = await bound(context.toolName, { output: parts }, { ...context, ...(failed && { failed }) })
  const isCut = answer.metadata?.truncated === true
  if (!isCut && hasTextsOf(answer.output, parts)) return mended(result, content)
  const blocks = Array.isArray(answer.output) ? (answer.output as Part[]).map(blockOf) : [textBlock(answer.output)]
  const kept = structured === 'keep' && structuredContent !== undefined ? { structuredContent } : {}
  const isKept = isCut || answer.metadata?.truncationPath !== undefined
  return { ...rest, content: blocks, ...kept, ...(isKept && { _meta: metaOf(given._meta, answer) }) } as R
}

/**
 * The blocks, with the long descriptions of links as texts behind them: a description is no more than another text to read, and a
 * link whose description went would still lead somewhere.
 */
export function withDescriptionsApart(
  content: readonly unknown[],
  isLong: (description: string) => boolean = isLongText,
): unknown[] {
  return content.flatMap((block) => {
    if (!isRecord(block) || block.type !== 'resource_link') return [block]
    const { description, ...link } = block
    return typeof description === 'string' && isLong(description) ? [link, textBlock(description)] : [block]
  })
}

export function isLongText({ length }: string): boolean {
  return length > SMALL_UNITS
}

/** A result without blocks, as older servers give it: too long, it is one text. */
async function boundOther(
  given: Record<string, unknown>,
  bound: TruncationMiddleware,
  context: TruncationContext,
): Promise<Record<string, unknown>> {
  const failed = given.isError === true
  const whole = given.content ?? given
  const output = typeof whole === 'string' ? whole : jsonOf(whole)
  const answer = await bound(context.toolName, { output }, { ...context, ...(failed && { failed }) })
  if (answer.metadata?.truncated !== true) return given
  return { content: [textBlock(answer.output)], ...(failed && { isError: true }), _meta: metaOf(given._meta, answer) }
}

/** The fields of an error beside its message that are too long to go with it. */
export function longFields(error: object, hasMore: (json: string) => boolean = () => false): Record<string, unknown> {
  const isLong = (json: string) => isLongText(json) || hasMore(json)
  const long = Object.entries(error).filter(([name, value]) => name !== 'message' && isLong(jsonOf(value)))
  return Object.fromEntries(long)
}

/** An object without some of its fields. */
export function without(value: object, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !Object.hasOwn(fields, name)))
}

/**
 * An error of the protocol, bounded; the very same object if there is nothing to do. What is long beside its message is bounded and
 * kept with it.
 *
 * @param bound bounds a result; nothing is as the result itself
 * @param hasMore whether a JSON is only an outline
 */
export async function boundError(
  error: Record<string, unknown>,
  bound: (result: Record<string, unknown>) => Promise<Record<string, unknown> | undefined>,
  hasMore: (json: string) => boolean = () => false,
): Promise<Record<string, unknown>> {
  const { message = '' } = error
  const long = longFields(error, hasMore)
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
  return { ...without(error, long), message: stillSaid(said, texts.join('\n')) }
}

/**
 * What is shown of an error, its message in front unless that is long itself: what failed is cut to its end, and what says why is
 * not to go for what lies beside it.
 */
export function stillSaid(message: string, shown: string): string {
  return isLongText(message) || shown.startsWith(message) ? shown : `${message}\n${shown}`
}

/** Whether nothing was changed but what was not well-formed. */
function hasTextsOf(output: unknown, parts: readonly Part[]): boolean {
  const texts = (all: readonly Part[]) =>
    all.map((part) => (part.type === 'text' ? part.text.toWellFormed() : undefined))
  if (output === parts || !Array.isArray(output) || output.length !== parts.length) return output === parts
  const before = texts(parts)
  return texts(output as Part[]).every((text, index) => text === before[index])
}

/** What is known of a cut, beside whatever else is known of the result. */
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

/** The block with another text. */
export function withText(block: McpContentBlock, text: string): McpContentBlock {
  if (block.type === 'text') return { ...block, text }
  if (block.type === 'resource' && textOf(block) !== undefined) {
    return { ...block, resource: { ...(block.resource as object), text } }
  }
  return { type: 'text', text }
}

/** Whether a block holds what is no text. */
export function isMedia(block: unknown): boolean {
  if (!isRecord(block)) return false
  if (MEDIA.has(String(block.type))) return true
  return block.type === 'resource' && isRecord(block.resource) && typeof block.resource.blob === 'string'
}

function partOf(block: unknown): Part {
  const text = textOf(block)
  if (text !== undefined) return { type: 'text', text, [BLOCK]: block as McpContentBlock }
  if (isMedia(block)) return { type: 'file', [BLOCK]: block }
  const json = jsonOf(block)
  if (json.length <= SMALL_UNITS || !isRecord(block)) return { type: 'file', [BLOCK]: block }
  return { type: 'text', text: json, [BLOCK]: block as McpContentBlock }
}

function blockOf(part: Part): unknown {
  const block = part[BLOCK]
  if (part.type === 'file') return block
  return block === undefined ? textBlock(part.text) : withText(block as McpContentBlock, part.text)
}

export function textBlock(text: unknown): McpContentBlock {
  return { type: 'text', text: String(text) }
}

/** The JSON of a structure, unless the one text is that JSON: servers send both, for clients that read only one. */
function structureBeside(content: readonly unknown[], structuredContent: unknown): string | undefined {
  if (structuredContent === undefined) return undefined
  const texts = content.map(textOf).filter((text) => text !== undefined)
  const [text] = texts
  if (texts.length === 1 && text !== undefined && says(text, structuredContent)) return undefined
  return jsonOf(structuredContent)
}

function says(text: string, value: unknown): boolean {
  try {
    return isDeepStrictEqual(parseExactly(text), value)
  } catch {
    return false
  }
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
  const json = (indent?: number) => toJson(value, indent) ?? 'null'
  try {
    return cuttable(json(2), json)
  } catch {
    // A value of the host's own that refuses.
    return Object.prototype.toString.call(value)
  }
}
