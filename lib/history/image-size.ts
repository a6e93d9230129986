/** The size of an image, as its header says. */

import { signatureOf } from '../util/file-signatures'

/** Width and height in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** Bytes at the start of an image in which its size is looked for. */
export const MAX_HEADER = 256 * 1024

/** Returns the size of a PNG, GIF, JPEG or WebP in pixels, from its header; `undefined` if it has none, or one of no pixels. */
export function imageSize(bytes: Buffer): ImageSize | undefined {
  const size = sizeIn(bytes)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

function sizeIn(bytes: Buffer): ImageSize | undefined {
  try {
    const head = bytes.subarray(0, MAX_HEADER)
    const type = signatureOf(head)?.type
    if (type === 'image/png') return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
    if (type === 'image/gif') return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
    if (type === 'image/jpeg') return jpegSize(head)
    const [form, chunk] = [head.toString('latin1', 8, 12), head.toString('latin1', 12, 16)]
    return type === 'image/webp' && form === 'WEBP' ? webpSize(head, chunk) : undefined
  } catch {
    // The header is cut off.
    return undefined
  }
}

function webpSize(head: Buffer, chunk: string): ImageSize | undefined {
  if (chunk === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
  if (chunk === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
  if (chunk !== 'VP8L') return undefined
  const bits = head.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** Finds the frame header of a JPEG: segments before it are skipped by their length. */
function jpegSize(head: Buffer): ImageSize | undefined {
  for (let at = 2; head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
  }
  return undefined
}
