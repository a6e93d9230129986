/** `spillway read`: a part of a saved output, or all of it. */

import type { RangeResult, ReadRange } from 'spillway'
import { STORE, storageOf } from '../bounding'
import { type Command, type Parsed, UsageError } from '../command'
import { EXIT, note, print, printJson } from '../terminal'
import { text, whole } from '../values'

const LINES = 500
const BYTES = 32 * 1024

const command: Command = {
  name: 'read',
  summary: 'Prints a part of a saved output.',
  usage: '[options] <path>',
  about: `Without a range: the first ${LINES} lines, ${BYTES / 1024} KiB at most. Where to read on is told on standard error. Only files
that the store saved are read.`,
  options: {
    'from-line': { type: 'string', value: 'N', help: 'The first line, from 1.' },
    lines: { type: 'string', short: 'n', value: 'N', help: `How many lines. Default: ${LINES}.` },
    'from-byte': { type: 'string', value: 'N', help: 'The first byte, from 0; with --from-line, inside that line.' },
    bytes: { type: 'string', value: 'N', help: 'How many bytes.' },
    all: { type: 'boolean', help: 'Print everything from there on.' },
    session: { type: 'string', value: 'ID', help: 'Only an output of this session.' },
    ...STORE,
  },
  positionals: [1, 1],
  examples: [
    ['spillway read "$path"', 'how it begins'],
    ['spillway read --from-line 1200 --lines 50 "$path"', 'fifty lines from the middle'],
    ['spillway read --all "$path" | less', 'the whole'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const [path = ''] = positionals
  const sessionId = text(values, 'session')
  const access = sessionId === undefined ? {} : { sessionId }
  const storage = storageOf(values)
  const isAll = values.all === true
  if (isAll && json) throw new UsageError('--all and --json: a whole output is not one JSON; leave out one of them')
  let range: ReadRange | undefined = rangeOf(values, isAll)
  let last: RangeResult | undefined
  while (range !== undefined) {
    last = await storage.readRange(path, range, access)
    if (json) {
      await printJson(last)
      return EXIT.ok
    }
    await print(last.text)
    range = isAll ? last.next : undefined
  }
  if (last?.next !== undefined) note(`more: spillway read ${argumentsOf(last.next)} ${quoted(path)}`)
  return EXIT.ok
}

function rangeOf(values: Parsed['values'], isAll: boolean): ReadRange {
  const fromLine = whole(values, 'from-line')
  const lineCount = whole(values, 'lines')
  const fromByte = whole(values, 'from-byte', 0)
  const byteCount = whole(values, 'bytes')
  if (byteCount !== undefined && (fromLine !== undefined || lineCount !== undefined)) {
    throw new UsageError('--bytes: goes with --from-byte, not with lines')
  }
  const isByBytes = fromLine === undefined && lineCount === undefined && (fromByte ?? byteCount) !== undefined
  if (isAll) return isByBytes || fromLine === undefined ? { fromByte: fromByte ?? 0 } : { fromLine }
  if (isByBytes) return { fromByte: fromByte ?? 0, byteCount: byteCount ?? BYTES }
  return {
    fromLine: fromLine ?? 1,
    lineCount: lineCount ?? LINES,
    // What was asked for is given, as far as one call goes.
    ...(lineCount === undefined && { maxBytes: BYTES }),
    ...(fromByte !== undefined && { fromByte }),
  }
}

function argumentsOf(next: ReadRange): string {
  const { fromLine, lineCount, fromByte, byteCount } = next as Record<string, number | undefined>
  const named = { 'from-line': fromLine, lines: lineCount, 'from-byte': fromByte, bytes: byteCount }
  return Object.entries(named)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ')
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
