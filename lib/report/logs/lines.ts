/** Reads the lines of a file one after another, because logs are too long to read at once. */

import { createReadStream, promises } from 'node:fs'
import { createGunzip } from 'node:zlib'

const LINE_FEED = 10

/** Bytes of the longest line that is read; a longer one is skipped. It is near the longest string there can be. */
export const MAX_LINE_LENGTH = 256 * 1024 * 1024

/** A line and its number from 1; without its text if it is too long. */
export interface LogLine {
  number: number
  text?: string
}

/** The lines of a file, which may be packed with gzip. */
export async function* readLogLines(path: string): AsyncGenerator<LogLine> {
  const unpack = await isPacked(path)
  const file = createReadStream(path)
  const stream = unpack ? file.pipe(createGunzip()) : file
  // The one that is piped would fail unheard.
  file.on('error', (error) => stream.destroy(error))
  let pieces: Buffer[] = []
  let length = 0
  let number = 0
  const line = (): LogLine => {
    const whole = length > MAX_LINE_LENGTH ? undefined : Buffer.concat(pieces, length).toString('utf8')
    ;[pieces, length] = [[], 0]
    return { number: ++number, ...(whole !== undefined && { text: whole.replace(/^\ufeff|\r$/g, '') }) }
  }
  const add = (piece: Buffer) => {
    length += piece.length
    if (length > MAX_LINE_LENGTH) pieces = []
    else pieces.push(piece)
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, at))
      yield line()
      from = at + 1
    }
    if (from < chunk.length) add(chunk.subarray(from))
  }
  if (length > 0) yield line()
}

async function isPacked(path: string): Promise<boolean> {
  const file = await promises.open(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b
  } finally {
    await file.close()
  }
}
