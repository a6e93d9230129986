import { imageTypeOfBase64, signatureOf, typeOfText } from '../../lib/util/file-signatures'
import { png } from '../support/images'

const IMAGES: [string, Buffer, string][] = [
  ['PNG', Buffer.from(png(10, 10), 'base64'), 'image/png'],
  ['GIF', Buffer.from('GIF89a\x01\0\x01\0', 'latin1'), 'image/gif'],
  ['WebP', Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1'), 'image/webp'],
  ['JPEG with JFIF', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF\0', 'latin1'), 'image/jpeg'],
  ['JPEG with Exif', Buffer.from('\xff\xd8\xff\xe1\x1c\xd0Exif\0', 'latin1'), 'image/jpeg'],
  ['bare JPEG', Buffer.from('\xff\xd8\xff\xdb\0C\0\x03', 'latin1'), 'image/jpeg'],
]

test.each(IMAGES)('an image is known by its bytes, its base64 and the text of a storage: %s', (_, bytes, type) => {
  expect(signatureOf(bytes)?.type).toBe(type)
  expect(imageTypeOfBase64(bytes.toString('base64'))).toBe(type)
  expect(typeOfText(bytes.subarray(0, 16).toString())).toBe(type)
})

test('a document is no image, and a text is nothing', () => {
  const pdf = Buffer.from('%PDF-1.7\n')
  expect([signatureOf(pdf)?.type, typeOfText(pdf.toString())]).toEqual(['application/pdf', 'application/pdf'])
  expect(imageTypeOfBase64(pdf.toString('base64'))).toBeUndefined()
  for (const text of ['', 'P', 'RIFF in a text', 'GIF8 and more', '\ufffd\ufffd\ufffd bad bytes', '%PDFs']) {
    expect([text, typeOfText(text)]).toEqual([text, undefined])
  }
})
