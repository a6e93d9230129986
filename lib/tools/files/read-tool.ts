/** A tool that reads a range of lines of a text file. */

import type { FileHandle } from 'node:fs/promises'
import { realpath } from 'node:fs/promises'
import { countedLines } from '../../util/format'
import { type Check, nonEmptyString, wholeFrom } from '../../validation/options'
import {
  type Argument,
  checkToolOptions,
  type FolderOptions,
  PATH,
  pathIn,
  type ReadyTool,
  readyTool,
} from '../definition'
import { FileReads } from './file-reads'
import { checkText, openFile } from './text-file'

/** Options of {@link createReadTool}. */
export interface ReadToolOptions extends FolderOptions {
  /** @default 'read' */
  name?: string
  /** Lines of one answer. A whole number of at least 1. @default 2000 */
  maxLines?: number
  /** UTF-8 bytes of one answer. A whole number of at least 1024. @default 49152 */
  maxBytes?: number
  /** Maximum number of characters shown of a line. A whole number of at least 1. @default 2000 */
  maxLineChars?: number
  /** Records the files that were read: see {@link FileReads}. */
  reads?: FileReads
}

export const READS: Check = ['a FileReads', (value) => value instanceof FileReads]

const CHECKS = {
  name: nonEmptyString,
  maxLines: wholeFrom(1),
  maxBytes: wholeFrom(1024),
  maxLineChars: wholeFrom(1),
  reads: READS,
}

const line = (description: string): Argument => ({
  schema: { type: 'integer', minimum: 1, description },
  check: wholeFrom(1),
})

const CHUNK_BYTES = 65_536
const LINE_FEED = 10

/** The part of a file that is shown, while it is read. */
interface Page {
  lines: string[]
  bytes: number
  /** The line that the next answer begins with; nothing at the end of the file. */
  next: number | undefined
  /** Lines that were passed. */
  seen: number
}

/**
 * Makes the tool `read`: numbered lines of a text file, from `offset` on. Long lines are truncated. Images and other binary files
 * are refused with their kind; so are folders, devices and pipes. Links are followed. The result needs no further truncation.
 *
 * The tool does not check permission: `guardTool` and the adapters do, with `permission`.
 *
 * @example
 * const reads = new FileReads()
 * const read = guardTool(createReadTool({ reads }), { permission })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed
 */
export function createReadTool(options: ReadToolOptions = {}): ReadyTool {
  checkToolOptions(options, CHECKS)
  const { name = 'read', maxLines = 2000, maxBytes = 49_152, maxLineChars = 2000, reads } = options
  const description =
    `Reads a text file. Shows at most ${maxLines} lines and ${maxBytes} bytes, each line after its number and a tab; offset and ` +
    'limit read another part.'
  const parameters = {
    path: PATH,
    offset: line('The first line, from 1.'),
    limit: line(`How many lines, at most ${maxLines}.`),
  }
  return readyTool(
    { ...options, name, description },
    parameters,
    async ({ path, offset = 1, limit = maxLines }, context) => {
      const asked = pathIn(context, path as string)
      const { file, state } = await openFile(asked)
      try {
        await checkText(file, asked, state.bytes)
        const first = offset as number
        const limits = { lines: Math.min(limit as number, maxLines), bytes: maxBytes, chars: maxLineChars }
        const page = await pageOf(file, first, limits, context.signal)
        reads?.remember(await realpath(asked), state.stamp)
        return { success: true, output: textOf(page, first), metadata: { truncated: page.next !== undefined } }
      } finally {
        await file.close()
      }
    },
  )
}

function textOf({ lines, next, seen }: Page, first: number): string {
  if (lines.length === 0)
    return seen === 0 ? '[The file is empty.]' : `[No line ${first}: the file has ${countedLines(seen)}.]`
  const numbered = lines.map((text, at) => `${String(first + at).padStart(6)}\t${text}`)
  return [...numbered, ...(next === undefined ? [] : [`[More lines follow: offset ${next}]`])].join('\n')
}

/** Reads on until the page is full or the file ends. A line is held only as far as it is shown. */
async function pageOf(
  file: FileHandle,
  first: number,
  limits: { lines: number; bytes: number; chars: number },
  signal: AbortSignal | undefined,
): Promise<Page> {
  const page: Page = { lines: [], bytes: 0, next: undefined, seen: 0 }
  const chunk = Buffer.alloc(CHUNK_BYTES)
  // A character has at most four bytes.
  const shown = new LineStart(4 * (limits.chars + 1))
  for (let at = 0; ; ) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at)
    at += bytesRead
    if (bytesRead === 0) break
    let start = 0
    while (start < bytesRead) {
      const end = chunk.subarray(0, bytesRead).indexOf(LINE_FEED, start)
      shown.add(chunk.subarray(start, end === -1 ? bytesRead : end))
      if (end === -1) break
      start = end + 1
      if (!addLine(page, shown.take(limits.chars), first, limits)) return page
    }
  }
  if (shown.bytes > 0) addLine(page, shown.take(limits.chars), first, limits)
  return page
}

/** Adds the next line of the file if the page begins there or before. Returns false if the page is full. */
function addLine(page: Page, text: string, first: number, limits: { lines: number; bytes: number }): boolean {
  const number = page.seen + 1
  if (number >= first) {
    const bytes = Buffer.byteLength(text) + 8
    const isOver = page.lines.length >= limits.lines || (page.lines.length > 0 && page.bytes + bytes > limits.bytes)
    if (isOver) {
      page.next = number
      return false
    }
    page.lines.push(text)
    page.bytes += bytes
  }
  page.seen = number
  return true
}

/** The start of a line of any length. */
class LineStart {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #held = 0
  bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(part: Buffer): void {
    this.bytes += part.length
    if (this.#held >= this.#maxBytes) return
    // The chunk is written over by the next read.
    const copy = Buffer.from(part.subarray(0, this.#maxBytes - this.#held))
    this.#parts.push(copy)
    this.#held += copy.length
  }

  /** The line without its break, cut where it is too long; begins the next one. */
  take(chars: number): string {
    const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '')
    const { bytes } = this
    this.#parts = []
    this.#held = 0
    this.bytes = 0
    if (text.length <= chars) return text
    return `${text.slice(0, chars).toWellFormed()}… [a line of ${bytes} bytes]`
  }
}
