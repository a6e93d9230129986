/** Images and documents that are hardly more than a header, in base64. */

/** A PNG of this size, with as many more bytes, all different by `seed`. */
export function png(width: number, height: number, bytes = 0, seed = 0): string {
  const image = Buffer.alloc(24 + bytes, seed)
  image.write('\x89PNG\r\n\x1a\n', 'latin1')
  image.write('IHDR', 12, 'latin1')
  image.writeUInt32BE(width, 16)
  image.writeUInt32BE(height, 20)
  return image.toString('base64')
}

export function gif(width: number, height: number): string {
  const image = Buffer.alloc(16)
  image.write('GIF89a')
  image.writeUInt16LE(width, 6)
  image.writeUInt16LE(height, 8)
  return image.toString('base64')
}

/** A JPEG whose frame comes after a segment of this many bytes, such as a preview. */
export function jpeg(width: number, height: number, before = 2): string {
  const segments = [0, 0].map((_, at) => Math.min(65_535, Math.max(before - at * 65_535, 2)))
  const head = segments.map((length) => {
    const segment = Buffer.alloc(length + 2)
    segment.writeUInt16BE(0xffe1)
    segment.writeUInt16BE(length, 2)
    return segment
  })
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3])
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...head, frame]).toString('base64')
}

/** A WebP of one of its three kinds. */
export function webp(width: number, height: number, kind: 'VP8 ' | 'VP8L' | 'VP8X'): string {
  const image = Buffer.alloc(32)
  image.write('RIFF')
  image.write(`WEBP${kind}`, 8)
  if (kind === 'VP8 ') {
    image.writeUInt16LE(width, 26)
    image.writeUInt16LE(height, 28)
  } else if (kind === 'VP8L') image.writeUInt32LE((width - 1) | ((height - 1) << 14), 21)
  else {
    image.writeUIntLE(width - 1, 24, 3)
    image.writeUIntLE(height - 1, 27, 3)
  }
  return image.toString('base64')
}

/** A PDF of this many pages, behind a stream of as many bytes. */
export function pdf(pages: number, bytes = 0): string {
  const page = '2 0 obj << /Type /Page /Parent 1 0 R >> endobj\n'
  return Buffer.from(`%PDF-1.7\n${'x'.repeat(bytes)}\n<< /Type /Pages >>\n${page.repeat(pages)}`).toString('base64')
}
