/** A tool's result with the texts in it bounded; everything else stays as it is, where it is. */

import { isDeepStrictEqual } from 'node:util'
import type { ToolResultLike, TruncationContext, TruncationMiddleware } from 'spillway'
import type { Check } from '../../checks'
import { isRecord } from '../../context'
import { parseExactly, toJson } from '../../exact-json'
import { type McpContentBlock, type McpToolResult, META_KEY } from './types'

/** Whether a structure that says the same as the texts goes when those are cut. */
export type StructuredContent = 'drop' | 'keep'

export const STRUCTURED_CONTENT: Check = ["'drop' or 'keep'", (value) => value === 'drop' || value === 'keep']

/** Where a stand-in has the block that it stands for. */
const BLOCK = Symbol('block')

/** A block of a type that nobody knows is text from this size on. */
const SMALL_UNITS = 1024

const MEDIA = new Set(['image', 'audio', 'resource_link'])

/** A part as the service takes it: all texts share one budget, and what is no text keeps its place. */
type Part = { type: 'text'; text: string; [BLOCK]?: McpContentBlock } | { type: 'file'; [BLOCK]: unknown }

/**
 * The result, bounded; the very same object if there is nothing to do.
 *
 * Texts and the texts of embedded resources are bounded together. With `'drop'` a `structuredContent` goes when they are cut,
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
  const parts = content.map(partOf)
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

export function jsonOf(value: unknown): string {
  try {
    return toJson(value, 2) ?? 'null'
  } catch {
    // Nested deeper than the stack, or a value of the host's own that refuses.
    return Object.prototype.toString.call(value)
  }
}
