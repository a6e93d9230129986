/** Images and files in messages: their bytes in a request, and what a header says about an image. */

import { createHash } from 'node:crypto'
import { isRecord } from '../validation/validate'
import { kindOfMedia } from './formats/extras'

/** An image or a file in a message. */
export interface Medium {
  /** Its media type, or a word for it. */
  type: string
  /** Bytes that it takes in a request; 0 if the provider fetches it from elsewhere. */
  bytes: number
  /** Its content; `undefined` if the message does not have it, or it is not base64. */
  content(): Buffer | undefined
}

/** Parts of messages hold the data of a medium no deeper than this. */
const MOST_DEPTH = 4

/** Bytes at the start of an image in which its size is looked for. */
const MOST_HEADER = 256 * 1024

/** Reads a part of a message that is no text. Never throws. */
export function mediumOf(part: unknown): Medium {
  const data = dataIn(part, MOST_DEPTH)
  const type = kindOfMedia(part)
  if (data === undefined) return { type, bytes: 0, content: () => undefined }
  const bytes = typeof data === 'string' ? data.length : Math.ceil(data.byteLength / 3) * 4
  return { type, bytes, content: () => contentOf(data) }
}

/** Returns the longest string that is no address, or the bytes, in a part. */
function dataIn(value: unknown, depth: number): string | Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return isAddress(value) ? undefined : value
  if (depth === 0 || !isRecord(value)) return undefined
  let longest: string | Uint8Array | undefined
  for (const key of Object.keys(value)) {
    const found = dataIn(value[key], depth - 1)
    if (found !== undefined && found.length > (longest?.length ?? 0)) longest = found
  }
  return longest
}

function isAddress(text: string): boolean {
  return /^(?!data:)[a-z][a-z0-9+.-]*:\/\//i.test(text.slice(0, 32))
}

/** Strings that are no base64 have no content. */
function contentOf(data: string | Uint8Array): Buffer | undefined {
  if (typeof data !== 'string') return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const base64 = /^data:[^,]*;base64,/i.exec(data.slice(0, 256))
  const text = base64 ? data.slice(base64[0].length) : data
  return /^[a-z0-9+/_-]+={0,2}$/i.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** A key that equal media share. */
export function mediumKey(medium: Medium): string | undefined {
  const content = medium.content()
  return content && createHash('sha256').update(content).digest('base64')
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
function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}

/** Returns the size of a PNG, GIF, JPEG or WebP in pixels, from its header. */
export function imageSize(bytes: Buffer): { width: number; height: number } | undefined {
  try {
    const head = bytes.subarray(0, MOST_HEADER)
    const signature = head.toString('latin1', 0, 16)
    if (signature.startsWith('\x89PNG')) return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
    if (signature.startsWith('GIF8')) return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
    if (signature.startsWith('RIFF') && signature.slice(8, 12) === 'WEBP') return webpSize(head, signature.slice(12))
    return head.readUInt16BE(0) === 0xffd8 ? jpegSize(head) : undefined
  } catch {
    // The header is cut off.
    return undefined
  }
}

function webpSize(head: Buffer, chunk: string): { width: number; height: number } | undefined {
  if (chunk === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
  if (chunk === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
  if (chunk !== 'VP8L') return undefined
  const bits = head.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Finds the frame header of a JPEG: segments before it are skipped by their length. */
function jpegSize(head: Buffer): { width: number; height: number } | undefined {
  for (let at = 2; head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
  }
  return undefined
}
