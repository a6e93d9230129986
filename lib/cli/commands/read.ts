/** `spillway read`: prints a part of a saved output, or all of it. */

import { createReadStream } from 'node:fs'
import type { OutputAccess, RangeResult, ReadRange } from 'spillway'
import type { LineRange } from 'spillway/truncation'
import { definedOf } from '../../util/defined'
import { countedLines } from '../../util/format'
import { type Command, type Parsed, UsageError } from '../command'
import { isLocal, type OutputStorage } from '../output-storage'
import { askedOutput } from '../outputs'
import { finiteBytes } from '../parse-sizes'
import { quoted, text, whole } from '../parse-values'
import { typedCommand } from '../shared-options'
import { STORE_OR_BUCKET } from '../store-options'
import { EXIT, note, print, printJson } from '../terminal'

const LINES = 500
const BYTES = 32 * 1024

const command: Command = {
  name: 'read',
  summary: 'Prints a part of a saved output.',
  usage: '[options] <output>',
  about: `Without a range: the first ${LINES} lines, ${BYTES / 1024} KiB at most. Standard error says how to read on. Only files
that the store saved can be read. An output is a path, or -1 for the newest, -2 for the one before.`,
  options: {
    'from-line': { type: 'string', value: 'N', help: 'The first line, counted from 1.' },
    lines: { type: 'string', short: 'n', value: 'N', help: `Number of lines. Default: ${LINES}.` },
    'from-byte': {
      type: 'string',
      value: 'N',
      help: 'The first byte, counted from 0 in the file; with --from-line, a byte of that line.',
    },
    bytes: { type: 'string', value: 'SIZE', help: 'Number of bytes, such as 4k.' },
    all: { type: 'boolean', help: 'Print everything from the start of the range to the end.' },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE_OR_BUCKET,
  },
  positionals: [1, 1],
  takesOutputs: true,
  examples: [
    ['spillway read "$path"', 'the first lines'],
    ['spillway read --from-line 1200 --lines 50 "$path"', 'fifty lines from the middle'],
    ['spillway read --all "$path" | less', 'everything, in a pager'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [given = ''] = positionals
  const { storage, path, access } = await askedOutput(values, given)
  const isAll = values.all === true
  if (isAll && json)
    throw new UsageError('--all and --json cannot be combined: a full output is not printed as one JSON value')
  const range = rangeOf(values, isAll)
  if ('fromLine' in range && range.fromByte !== undefined) await checkInLine(storage, path, range, access)
  const part = await storage.readRange(path, range, access)
  if (json) {
    await printJson(part)
    return EXIT.ok
  }
  if (isLocal(storage)) await printBytes(path, part, isAll)
  else await printText(storage, path, part, isAll, access)
  if (part.byteCount === 0 && part.totalBytes > 0) {
    const { totalLines } = part
    const size = totalLines === undefined ? `${part.totalBytes} bytes` : countedLines(totalLines)
    note(`nothing to print: the output has ${size}`)
  }
  if (part.next !== undefined && !isAll)
    note(`more: ${continued(values, part.next)} ${quoted(/^-\d/.test(given) ? path : given)}`)
  return EXIT.ok
}

/**
 * Prints what the file holds there: the text of a range is decoded. That the file may be read was checked by reading the range.
 */
async function printBytes(path: string, { fromByte, byteCount }: RangeResult, toTheEnd: boolean): Promise<void> {
  if (byteCount === 0) return
  const end = toTheEnd ? Number.POSITIVE_INFINITY : fromByte + byteCount - 1
  for await (const piece of createReadStream(path, { start: fromByte, end })) await print(piece as Buffer)
}

/** Prints what a bucket holds there, a part of it at a time. */
async function printText(
  storage: OutputStorage,
  path: string,
  first: RangeResult,
  toTheEnd: boolean,
  access: OutputAccess,
): Promise<void> {
  await print(first.text)
  if (!toTheEnd) return
  for (let { next } = first; next !== undefined; ) {
    const part: RangeResult = await storage.readRange(path, next, access)
    await print(part.text)
    next = part.next
  }
}

/** @throws UsageError for a byte of another line, of which the numbers of the lines would be wrong */
async function checkInLine(
  storage: OutputStorage,
  path: string,
  { fromLine = 1, fromByte = 0 }: LineRange,
  access: OutputAccess,
): Promise<void> {
  const startOf = async (line: number) => {
    const { fromByte: start } = await storage.readRange(path, { fromLine: line, lineCount: 1 }, access)
    return start
  }
  const [start, next] = [await startOf(fromLine), await startOf(fromLine + 1)]
  if (fromByte >= start && fromByte < next) return
  throw new UsageError(
    `--from-byte ${fromByte}: is not in line ${fromLine}, which has the bytes ${start} to ${next - 1}`,
  )
}

function rangeOf(values: Parsed['values'], isAll: boolean): ReadRange {
  const fromLine = whole(values, 'from-line')
  const lineCount = whole(values, 'lines')
  const fromByte = whole(values, 'from-byte', 0)
  const byteCount = finiteBytes(values, 'bytes')
  if (byteCount !== undefined && (fromLine !== undefined || lineCount !== undefined)) {
    throw new UsageError('--bytes: can be combined with --from-byte, not with lines')
  }
  if (isAll && (lineCount ?? byteCount) !== undefined)
    throw new UsageError('--all: reads to the end; leave out --lines and --bytes')
  if (isAll && fromLine !== undefined && fromByte !== undefined) {
    throw new UsageError('--all: can be combined with --from-line or --from-byte, not with both')
  }
  const isByBytes = fromLine === undefined && lineCount === undefined && (fromByte ?? byteCount) !== undefined
  if (isAll) return isByBytes || fromLine === undefined ? { fromByte: fromByte ?? 0 } : { fromLine }
  if (isByBytes) return { fromByte: fromByte ?? 0, byteCount: byteCount ?? BYTES }
  return {
    fromLine: fromLine ?? 1,
    lineCount: lineCount ?? LINES,
    // Prints the requested range, as far as one call reads.
    ...(lineCount === undefined && { maxBytes: BYTES }),
    ...(fromByte !== undefined && { fromByte }),
  }
}

/** The command that reads on, in the same place. */
function continued(values: Parsed['values'], next: ReadRange): string {
  const { fromLine, lineCount, fromByte, byteCount } = next as Record<string, number | undefined>
  const named = { 'from-line': fromLine, lines: lineCount, 'from-byte': fromByte, bytes: byteCount }
  const where = { store: text(values, 'store'), session: text(values, 'session') }
  const options = Object.entries(definedOf({ ...named, ...where }))
  return `${typedCommand()} read ${options.map(([name, value]) => `--${name} ${quoted(String(value))}`).join(' ')}`
}
