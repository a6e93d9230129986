/** Images and files in messages: their bytes in a request, and what a header says about an image. */

import { createHash } from 'node:crypto'
import { isRecord } from '../validation/validate'
import { kindOfMedia } from './formats/reasoning-and-files'
import { imageSize } from './image-size'

/** An image or a file in a message. */
export interface Medium {
  /** Its media type, or a word for it. */
  type: string
  /** Bytes that it takes in a request; 0 if the provider fetches it from elsewhere. */
  bytes: number
  /** Its content; `undefined` if the message does not have it, or it is not base64. */
  content(): Buffer | undefined
  /** A short text by which it is known again. */
  fingerprint(): string
}

/** Parts of messages hold the data of a medium no deeper than this. */
const MAX_DEPTH = 4

/** Reads a part of a message that is not text. Never throws. */
export function mediumOf(part: unknown): Medium {
  const data = dataIn(part, MAX_DEPTH)
  const type = kindOfMedia(part)
  const fingerprint = () => fingerprintOf(type, data ?? dataIn(part, MAX_DEPTH, true) ?? '')
  if (data === undefined) return { type, bytes: 0, content: () => undefined, fingerprint }
  const bytes = typeof data === 'string' ? data.length : Math.ceil(data.byteLength / 3) * 4
  return { type, bytes, content: () => contentOf(data), fingerprint }
}

/** Size of a sample of a medium, and how many are taken. */
const SAMPLE = 1024
const SAMPLES = 16

/**
 * Returns the length of the data and a digest of samples: all of it would have to be read at every request. The last sample has the
 * checksums of a PNG.
 */
function fingerprintOf(type: string, data: string | Uint8Array): string {
  const digest = createHash('sha256').update(type)
  const step = Math.max(SAMPLE, Math.ceil(data.length / SAMPLES))
  for (let at = 0; at < data.length; at += step) digest.update(data.slice(at, at + SAMPLE))
  digest.update(data.slice(-SAMPLE))
  return `${data.length} ${digest.digest('base64').slice(0, 22)}`
}

/** Returns the longest string in a part that is not a URL unless it may be one, or its bytes. */
function dataIn(value: unknown, depth: number, mayBeAddress = false): string | Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  const text = value instanceof URL ? value.href : value
  if (typeof text === 'string') return !mayBeAddress && isAddress(text) ? undefined : text
  if (depth === 0 || !isRecord(value)) return undefined
  let longest: string | Uint8Array | undefined
  for (const key of Object.keys(value)) {
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
  const base64 = /^data:[^,]*;base64,/i.exec(data.slice(0, 256))
  const text = base64 ? data.slice(base64[0].length) : data
  return /^[a-z0-9+/_-]+={0,2}$/i.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** A key that equal media share. */
export function mediumKey(medium: Medium): string | undefined {
  const content = medium.content()
  return content && digestOf(content)
}

export function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64')
}

/** Returns the first bytes of a medium, which a header is read from, and the detail that was asked for. Never reads all of it. */
export function mediumHead(part: unknown, most: number): { bytes: Buffer | undefined; detail: unknown } {
  const image = isRecord(part) ? part.image_url : undefined
  const detail = isRecord(image) && image.detail !== undefined ? image.detail : isRecord(part) ? part.detail : undefined
  const data = dataIn(part, MAX_DEPTH)
  if (data === undefined) return { bytes: undefined, detail }
  // Four characters of base64 are three bytes; in front of them may be the start of an address.
  const head = typeof data === 'string' ? data.slice(0, Math.ceil(most / 3) * 4) : data.subarray(0, most)
  return { bytes: contentOf(head), detail }
}

/** Describes a medium in a few words, such as `image/png 1280×800, 1.0 MB`. */
export function describeMedium({ type, content }: Medium): string {
  const bytes = content()
  if (bytes === undefined) return type
  const size = type.startsWith('image') ? imageSize(bytes) : undefined
  const pages = type === 'application/pdf' ? pagesOf(bytes) : 0
  const detail = size ? ` ${size.width}×${size.height}` : pages > 0 ? ` of ${pages} pages` : ''
  return `${type}${detail}, ${sizeText(bytes.length)}`
}

function sizeText(bytes: number): string {
  return bytes >= 100_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1000).toFixed(1)} kB`
}

/** Counts the pages of a PDF whose page objects are not compressed; 0 if they are. */
export function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}
