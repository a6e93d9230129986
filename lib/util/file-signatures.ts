/** How files begin that are no text in UTF-8: the one table of TypeScript. The core describes outputs by its own, in `truncation/binary.rs`. */

export interface FileSignature {
  /** The first bytes, as Latin-1. */
  start: string
  name: string
  /** The media type of images and documents. */
  type?: string
  /** Follows the start where bytes that are not UTF-8 are read as U+FFFD, as a storage reads them: it tells some files from others. */
  rest?: RegExp
}

export const FILE_SIGNATURES: readonly FileSignature[] = [
  { start: '\x89PNG', name: 'a PNG image', type: 'image/png', rest: /^\r\n/ },
  {
    start: '\xff\xd8\xff',
    name: 'a JPEG image',
    type: 'image/jpeg',
    rest: /^\uFFFD(?:[\s\S]{1,2}(?:JFIF|Exif)|\0C)/,
  },
  { start: 'GIF8', name: 'a GIF image', type: 'image/gif', rest: /^[79]a/ },
  { start: 'RIFF', name: 'an image, a sound or a video', type: 'image/webp', rest: /^[\s\S]{1,4}WEBP/ },
  { start: 'BM', name: 'a BMP image' },
  { start: '%PDF', name: 'a PDF document', type: 'application/pdf', rest: /^-/ },
  { start: 'PK\x03\x04', name: 'a ZIP archive or an office document' },
  { start: '\x7fELF', name: 'a program' },
  { start: '\xff\xfe', name: 'text in UTF-16' },
  { start: '\xfe\xff', name: 'text in UTF-16' },
]

/** Finds the signature of a file by its first bytes. */
export function signatureOf(bytes: Buffer): FileSignature | undefined {
  return FILE_SIGNATURES.find(({ start }) => bytes.toString('latin1', 0, start.length) === start)
}

/** Finds the media type of a file by its beginning as a storage reads it. */
export function typeOfText(text: string): string | undefined {
  return FILE_SIGNATURES.find(({ start, type, rest = /^/ }) => {
    const read = Buffer.from(start, 'latin1').toString()
    return type !== undefined && text.startsWith(read) && rest.test(text.slice(read.length))
  })?.type
}

/** Finds the media type of an image by its base64. */
export function imageTypeOfBase64(base64: string): string | undefined {
  return FILE_SIGNATURES.find(({ start, type }) => {
    const whole = Math.floor((start.length * 8) / 6)
    return (
      type?.startsWith('image/') && base64.startsWith(Buffer.from(start, 'latin1').toString('base64').slice(0, whole))
    )
  })?.type
}

/** True if no text begins like this. */
export function isNeverText({ start }: FileSignature): boolean {
  return start === '%PDF' || start.charCodeAt(0) > 0x7e
}
