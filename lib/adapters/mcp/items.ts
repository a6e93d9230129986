/**
 * Splits the blocks of a result into those that are truncated and those that stay. All text shares one budget. Everything counts as
 * text except real media and a few small members, because a result could evade a budget that counts only some members.
 */

import { asText } from '../../util/guards'
import { stringifyLossless } from '../../util/lossless-json'
import { isRecord } from '../../validation/validate'
import type { McpContentBlock } from './types'

/** A member or a block up to this size may stay beside the texts. */
export const SMALL_BYTES = 1024
/** Maximum bytes beside the texts of one result where its limit is not known. */
export const REST_BYTES = 12_800
/** More texts than this become one. */
const MAX_TEXTS = 128
/** Base64 of images, audio and files in one result; what comes on top is described. */
const MEDIA_BYTES = 2 ** 25

/** How values are measured: those of a message in memory, or those of an outline of it. */
export interface Look {
  /** Bytes of the JSON of a value. */
  sizeOf(value: unknown): number
  isBase64(value: string): boolean
}

/** A text to truncate, and the block that receives its preview; or a block that stays. */
export type Item =
  | { text: unknown; block?: McpContentBlock | undefined; bytes: number }
  | { stays: unknown; bytes: number }

export interface Items {
  items: readonly Item[]
  /** Bytes of what stays, without media. */
  besides: number
  /** Blocks lost members that are small, but many: the result changes even if no text is cut. */
  isStripped: boolean
}

export const IN_MEMORY: Look = {
  sizeOf: (value) => (typeof value === 'string' ? value.length + 2 : Buffer.byteLength(stringifyLossless(value) ?? '')),
  isBase64,
}

const MEDIA_KINDS = new Set(['image', 'audio'])
/** Members that say what a block is; a block in which one of them is long is a text as a whole. */
const IDENTITY = ['type', 'uri', 'name', 'mimeType']

/** Returns the blocks of a result, and with them what is long beside the blocks, as items. */
export function itemsOf(content: readonly unknown[], look: Look, restBytes = REST_BYTES): Items {
  const items: Item[] = []
  let [besides, media] = [0, 0]
  const stay = (stays: unknown, bytes: number, mediaBytes = 0) => {
    if (mediaBytes > 0 && media + mediaBytes > MEDIA_BYTES) {
      items.push({ text: leftOut(stays, mediaBytes), bytes: 0 })
    } else if (besides + bytes > restBytes) {
      items.push({ text: mediaBytes > 0 ? leftOut(stays, mediaBytes) : stays, bytes: 0 })
    } else {
      besides += bytes
      media += mediaBytes
      items.push({ stays, bytes })
    }
  }
  const push = (text: unknown, block?: McpContentBlock, bytes = 0) => items.push({ text, block, bytes })
  for (const block of content) {
    if (isPlainText(block)) {
      push(block.text, block)
      continue
    }
    const size = look.sizeOf(block)
    if (!isRecord(block)) {
      if (size > SMALL_BYTES) push(block)
      else stay(block, size)
      continue
    }
    const main = mainOf(block)
    const whole = main && slimmed(block, look, main.path[0])
    const inner = whole && main.path.length > 1 ? slimmed(block[main.path[0]!], look, main.path[1]) : undefined
    if (main === undefined || whole === undefined || (main.path.length > 1 && inner === undefined)) {
      if (size > SMALL_BYTES || main?.kind === 'text') push(block)
      else stay(block, size)
      continue
    }
    const slim = inner ? { ...whole.value, [main.path[0]!]: inner.value } : whole.value
    const value = main.value
    const bytes = Math.max(0, size - (typeof value === 'string' ? look.sizeOf(value) : 0))
    const moved = [...whole.long, ...(inner?.long ?? [])]
    const beside = moved.length === 0 ? bytes : look.sizeOf(slim) - (typeof value === 'string' ? look.sizeOf(value) : 0)
    if (main.kind === 'text') push(value, slim as McpContentBlock, beside)
    else if (main.kind === 'link') stay(slim, beside)
    else if (look.isBase64(value as string)) stay(slim, beside, look.sizeOf(value))
    else push(value)
    for (const long of moved) push(long)
  }
  const shaped = items.filter((item) => 'text' in item)
  const overhead = shaped.reduce((total, { bytes }) => total + bytes, 0)
  if (shaped.length <= MAX_TEXTS && besides + overhead <= restBytes)
    return { items, besides: besides + overhead, isStripped: false }
  return { items: shaped.length > MAX_TEXTS ? merged(items) : items.map(plain), besides, isStripped: true }
}

/** The member of a block that it is there for. */
function mainOf(
  block: Record<string, unknown>,
): { kind: 'text' | 'media' | 'link'; path: string[]; value?: unknown } | undefined {
  const { type, text, data, resource, mimeType } = block
  if (type === 'text' && typeof text === 'string') return { kind: 'text', path: ['text'], value: text }
  if (type === 'resource_link') return { kind: 'link', path: [''] }
  if (MEDIA_KINDS.has(asText(type)) && typeof data === 'string') {
    return { kind: isTextType(mimeType) ? 'text' : 'media', path: ['data'], value: data }
  }
  if (type !== 'resource' || !isRecord(resource)) return undefined
  if (typeof resource.text === 'string') return { kind: 'text', path: ['resource', 'text'], value: resource.text }
  if (typeof resource.blob === 'string') {
    return { kind: isTextType(resource.mimeType) ? 'text' : 'media', path: ['resource', 'blob'], value: resource.blob }
  }
  return undefined
}

/** Hosts decode what is text and hand it to the model. */
function isTextType(mimeType: unknown): boolean {
  return typeof mimeType === 'string' && /^text\/|[/+](json|javascript|yaml|toml|xml)\b/.test(mimeType)
}

/** An object without its long members but the main one, and those; nothing if it is not known any more without them. */
export function slimmed(
  value: unknown,
  look: Look,
  main?: string,
): { value: Record<string, unknown>; long: unknown[] } | undefined {
  if (!isRecord(value)) return undefined
  const long: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    if (name === main || (typeof member !== 'string' && typeof member !== 'object')) continue
    if (look.sizeOf(member) <= SMALL_BYTES && name.length <= SMALL_BYTES) continue
    if (IDENTITY.includes(name)) return undefined
    long.push([name, member])
  }
  if (long.length === 0) return { value, long }
  const names = new Set(long.map(([name]) => name))
  const rest = Object.entries(value).filter(([name]) => !names.has(name))
  return {
    value: Object.assign(Object.fromEntries(rest), symbolsOf(value)),
    long: long.map(([name, member]) =>
      typeof member === 'string' && name.length <= SMALL_BYTES ? member : { [name]: member },
    ),
  }
}

function symbolsOf(value: object): object {
  return Object.fromEntries(Object.getOwnPropertySymbols(value).map((key) => [key, (value as never)[key]]))
}

function isPlainText(block: unknown): block is McpContentBlock & { text: string } {
  if (!isRecord(block) || block.type !== 'text' || typeof block.text !== 'string') return false
  return Object.keys(block).length === 2
}

/** A text without the members of its block. */
function plain(item: Item): Item {
  return 'stays' in item ? item : { text: item.text, bytes: 0 }
}

/** One text of all, where the first of them is. */
function merged(items: readonly Item[]): Item[] {
  const texts: unknown[] = []
  const first = items.findIndex((item) => 'text' in item)
  for (const item of items) if ('text' in item) texts.push(item.text)
  return items.flatMap((item, index): Item[] => {
    if ('stays' in item) return [item]
    return index === first ? [{ text: new Several(texts), bytes: 0 }] : []
  })
}

/** Texts that are one: each on lines of its own. */
export class Several {
  constructor(readonly texts: readonly unknown[]) {}
}

function leftOut(block: unknown, bytes: number): string {
  const { type, mimeType, resource } = isRecord(block) ? block : {}
  const { uri, mimeType: kind = mimeType } = isRecord(resource) ? resource : ({} as Record<string, unknown>)
  const what = [kind ?? type, uri].filter((each) => typeof each === 'string').join(' ')
  return `[${what}: ${bytes} bytes of base64 left out, more than can be handed over]`
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/
/** Lines of base64, as `base64` and MIME write them, are at least this long. */
const MIN_LINE = 60

/** True if a string is base64, on one line or on lines of equal length. Anything else is text, whatever the type of its block. */
export function isBase64(value: string): boolean {
  if (BASE64.test(value)) return true
  const lines = value.split(/\r?\n/)
  const [first = ''] = lines
  if (first.length < MIN_LINE) return false
  return lines.every((line, index) => BASE64.test(line) && (index >= lines.length - 2 || line.length === first.length))
}
