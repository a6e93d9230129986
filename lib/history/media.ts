/** Images and files in messages: their bytes in a request, and what a header says about an image. */

import { sha256Hash } from '../util/crypto'
import { groupedBy } from '../util/grouped'
import { isRecord } from '../validation/validate'
import { kindOfMedia } from './formats/reasoning-and-files'
import { type ImageSize, imageSize, MAX_HEADER } from './image-size'
import type { Medium } from './message-view'

/** Parts of messages hold the data of a medium no deeper than this. */
const MAX_DEPTH = 4

/** Reads a part of a message that is not text. Never throws. */
export function mediumOf(part: unknown): Medium {
  const data = dataIn(part, MAX_DEPTH)
  const type = kindOfMedia(part)
  const fingerprint = () => fingerprintOf(type, data ?? dataIn(part, MAX_DEPTH, true) ?? '')
  if (data === undefined) {
    const nothing = () => undefined
    return { type, bytes: 0, content: nothing, head: nothing, size: nothing, fingerprint }
  }
  const bytes = typeof data === 'string' ? data.length : Math.ceil(data.byteLength / 3) * 4
  return {
    type,
    bytes,
    content: () => contentOf(data),
    head: (maxBytes) => headOf(data, maxBytes),
    size: () => sizeOf(data),
    fingerprint,
  }
}

/** Size of a sample of a medium, and how many are taken. */
const SAMPLE = 1024
const SAMPLES = 16

/**
 * Returns the length of the data and a digest of samples: all of it would have to be read at every request. The last sample has the
 * checksums of a PNG.
 */
function fingerprintOf(type: string, data: string | Uint8Array): string {
  const digest = sha256Hash().update(type)
  const step = Math.max(SAMPLE, Math.ceil(data.length / SAMPLES))
  for (let at = 0; at < data.length; at += step) digest.update(data.slice(at, at + SAMPLE))
  digest.update(data.slice(-SAMPLE))
  return `${data.length} ${digest.digest('base64').slice(0, 22)}`
}

/** Fields that say something of a medium, and never have its data. */
const DESCRIBING: ReadonlySet<string> = new Set([
  'type',
  'source_type',
  'format',
  'mimeType',
  'mime_type',
  'mediaType',
  'media_type',
  'detail',
  'id',
  'fileId',
  'file_id',
  'name',
  'displayName',
  'filename',
  'title',
  'context',
])

/** Returns the longest string in a part, or its bytes; only if it may be an address also a URL, or a field that describes the part. */
function dataIn(value: unknown, depth: number, mayBeAddress = false): string | Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  const text = value instanceof URL ? value.href : value
  if (typeof text === 'string') return !mayBeAddress && isAddress(text) ? undefined : text
  if (depth === 0 || !isRecord(value)) return undefined
  let longest: string | Uint8Array | undefined
  for (const key of Object.keys(value)) {
    if (!mayBeAddress && DESCRIBING.has(key)) continue
    const found = dataIn(value[key], depth - 1, mayBeAddress)
    if (found !== undefined && found.length > (longest?.length ?? 0)) longest = found
  }
  return longest
}

function isAddress(text: string): boolean {
  return /^(?!data:)[a-z][a-z0-9+.-]*:\/\//i.test(text.slice(0, 32))
}

/** Strings that are not base64 have no content. */
function contentOf(data: string | Uint8Array): Buffer | undefined {
  if (typeof data !== 'string') return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return decoded(base64In(data))
}

function headOf(data: string | Uint8Array, maxBytes: number): Buffer | undefined {
  if (typeof data !== 'string') return contentOf(data.subarray(0, maxBytes))
  // Four characters are three bytes.
  return decoded(base64In(data).slice(0, Math.ceil(maxBytes / 3) * 4))?.subarray(0, maxBytes)
}

function sizeOf(data: string | Uint8Array): number | undefined {
  if (typeof data !== 'string') return data.byteLength
  if (headOf(data, SAMPLE) === undefined) return undefined
  const base64 = base64In(data)
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

/** Base64 without the start of an address. */
function base64In(data: string): string {
  const start = /^data:[^,]*;base64,/i.exec(data.slice(0, 256))
  return start === null ? data : data.slice(start[0].length)
}

function decoded(base64: string): Buffer | undefined {
  return /^[a-z0-9+/_-]+={0,2}$/i.test(base64) ? Buffer.from(base64, 'base64') : undefined
}

/** A key that equal media share. */
export function mediumKey(medium: Medium): string | undefined {
  const content = medium.content()
  return content && digestOf(content)
}

export function digestOf(content: Buffer): string {
  return sha256Hash().update(content).digest('base64')
}

/** Bytes that have the size of most images. */
const SHORT_HEADER = 1024

/** Returns the size of an image in pixels, as its header says. Most headers are in front; that of a JPEG may be behind a preview. */
export function pixelsOf(medium: Medium): ImageSize | undefined {
  for (const maxBytes of [SHORT_HEADER, MAX_HEADER]) {
    const head = medium.head(maxBytes)
    const size = head && imageSize(head)
    if (size !== undefined || head === undefined || head.length < maxBytes) return size
  }
  return undefined
}

/** Describes a medium in a few words, such as `image/png 1280×800, 1.0 MB`. */
export function describeMedium(medium: Medium): string {
  const { type } = medium
  const size = medium.size()
  if (size === undefined) return type
  const pixels = type.startsWith('image') ? pixelsOf(medium) : undefined
  const pages = type === 'application/pdf' ? pagesOf(medium) : 0
  const detail = pixels ? ` ${pixels.width}×${pixels.height}` : pages > 0 ? ` of ${pages} pages` : ''
  return `${type}${detail}, ${sizeText(size)}`
}

/** Maximum number of entries in a list of media. */
const MAX_ENTRIES = 5

/**
 * Describes media in a list that is short however many they are. Equal ones are counted; if too many differ, those of each type are
 * counted and their bytes added up, and the rarest types together.
 */
export function describeMedia(media: readonly Medium[], chinese: boolean): string {
  const equal = groupedBy(media, describeMedium)
  if (equal.size <= MAX_ENTRIES) return [...equal].map(([words, some]) => timesText(some.length, words)).join('; ')
  // A sum would be too small for media of which some have no known size: these are counted by themselves.
  const byType = groupedBy(media, (medium) => `${medium.type} ${medium.size() !== undefined}`)
  const types = [...byType.values()].sort((one, other) => other.length - one.length)
  const named = types.length > MAX_ENTRIES ? types.splice(0, MAX_ENTRIES - 1) : types.splice(0)
  const others = types.flat()
  return [
    ...named.map((some) => summedText((some[0] as Medium).type, some, chinese)),
    ...(others.length > 0 ? [summedText(chinese ? '其他文件' : 'other files', others, chinese)] : []),
  ].join('; ')
}

function summedText(words: string, media: readonly Medium[], chinese: boolean): string {
  const sizes = media.map((medium) => medium.size())
  const counted = timesText(media.length, words)
  if (sizes.includes(undefined)) return counted
  const all = sizeText(sizes.reduce<number>((sum, size = 0) => sum + size, 0))
  if (media.length === 1) return `${counted}, ${all}`
  return chinese ? `${counted}，共 ${all}` : `${counted}, ${all} in all`
}

function timesText(count: number, words: string): string {
  return count === 1 ? words : `${count} × ${words}`
}

function sizeText(bytes: number): string {
  if (bytes < 100) return `${bytes} B`
  return bytes >= 100_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1000).toFixed(1)} kB`
}

/** Counts the pages of a PDF whose page objects are not compressed; 0 if they are. All of it has to be read. */
export function pagesOf(pdf: Medium): number {
  const text = pdf.content()?.toString('latin1')
  return text?.match(/\/Type\s*\/Page\b/g)?.length ?? 0
}
