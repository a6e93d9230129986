/** Reads saved outputs: a range of lines or bytes, and a search, for files of any size. */

import { SpillwayError } from '../errors'
import { background, call, native } from '../native/native'
import { wellFormed } from '../settings/settings'
import { checkOption, flag, string, wholeBetween, wholeFrom } from '../validation/options'
import { checkKeys, checkSignal, invalid, isRecord, readable, wrong } from '../validation/validate'

/** Lines of a saved output. A line ends with `\n`. */
export interface LineRange {
  /**
   * The first line, from 1.
   * @default 1
   */
  fromLine?: number
  /** Number of lines. Default: as many as fit into one call. */
  lineCount?: number
  /** Set by `next` where a call ended inside a line: continues at this byte, which is in the line `fromLine`. */
  fromByte?: number
  /**
   * Maximum bytes of the file in one call, 4 to 262,144. The text ends after a complete line if at least one fits.
   * @default 262144
   */
  maxBytes?: number
  signal?: AbortSignal | undefined
}

/** Bytes of a saved output. */
export interface ByteRange {
  /**
   * The first byte, from 0.
   * @default 0
   */
  fromByte?: number
  /**
   * Number of bytes, at most 262,144 in one call.
   * @default 262144
   */
  byteCount?: number
  signal?: AbortSignal | undefined
}

/**
 * The part of a saved output to read: lines if `fromLine` or `lineCount` is given, or else bytes. At least one of the four must be given.
 */
export type ReadRange = LineRange | ByteRange

/** Outputs of a storage that may be read. */
export interface OutputAccess {
  /** Only an output that was saved for this session, wherever links in the path lead; any other is refused. Default: all. */
  sessionId?: string | undefined
}

/**
 * A part of a saved output. A call gives at most 262,144 bytes of the file.
 *
 * No character is split. A character belongs to the byte range of its first byte: a range that begins inside a character begins
 * after it, and a range that ends inside a character ends after it, so that adjacent ranges neither lose nor repeat a character.
 * Bytes that are not UTF-8 are U+FFFD in the text.
 */
export interface RangeResult {
  /** The text, well-formed, with the line breaks that the file has. */
  text: string
  /** The line of the first byte of the text; only for a range of lines. */
  fromLine?: number
  /** The lines that the text shows, whole or in part; only for a range of lines. */
  lineCount?: number
  /** Byte of the file at which the text begins. */
  fromByte: number
  /** Number of bytes of the file that the text covers. */
  byteCount: number
  /** Bytes of the whole file. */
  totalBytes: number
  /** Lines of the whole file; only for a range that begins with a line beyond its end. */
  totalLines?: number
  /** The range of the next call, with the same count; absent at the end of the file. */
  next?: LineRange | ByteRange
  /** True if the text begins or ends inside a line or a character of the file. */
  partial: boolean
  /** True if the file itself has only a part of the output; lines and bytes refer to the file. */
  incomplete?: boolean
}

/** Options of a search. */
export interface SearchOptions extends OutputAccess {
  /** Ignores case. @default false */
  ignoreCase?: boolean
  /** Takes the pattern as plain text, not as a regular expression. @default false */
  literal?: boolean
  /** Lines to show before and after each matching line, 0 to 100. @default 0 */
  context?: number | { before?: number; after?: number }
  /** Maximum number of matching lines in one call, 1 to 10,000. @default 100 */
  maxMatches?: number
  /** Maximum UTF-8 bytes of text in one call, 1 to 4,194,304. A single match is truncated to fit. @default 65536 */
  maxBytes?: number
  /** Continues where an earlier search of the same file with the same pattern stopped: its `next`. */
  after?: string
  signal?: AbortSignal | undefined
}

/** A line that matches. */
export interface SearchMatch {
  /** Its number, from 1. */
  line: number
  /** The line without its break, well-formed; over 1,024 bytes only the part around the match, with `…` where text is missing. */
  text: string
  /** The lines before it, each at most about 512 bytes. */
  before: string[]
  /** The lines after it. */
  after: string[]
  /** Byte of the file at which the match begins: `readRange(path, { fromByte })` reads from there. */
  byte: number
  /** The text is a part of the line. */
  partial?: boolean
}

/** Result of a search. */
export interface SearchResult {
  /** One for every matching line, in order. */
  matches: SearchMatch[]
  /** A limit stopped the search before the end of the file. */
  truncated: boolean
  /** Pass it as `after` to continue; present if truncated. */
  next?: string
  /** Lines that this call searched. */
  linesSearched: number
  /** The file holds only a part of the output; the rest was not searched. */
  incomplete?: boolean
}

/** Limits of the core. */
interface ReadingLimits {
  range: { minBytes: number; maxBytes: number }
  search: {
    maxContext: number
    matches: number
    maxMatches: number
    bytes: number
    maxBytes: number
    patternBytes: number
  }
}

let readingLimits: ReadingLimits | undefined

function limitsOfReading(): ReadingLimits {
  readingLimits ??= JSON.parse(call(() => native.readingLimits())) as ReadingLimits
  return readingLimits
}

/** @throws SpillwayError `INVALID_ARGUMENT` with the field */
export function checkRange(range: ReadRange): { range: object; signal: AbortSignal | undefined } {
  return readable('range', () => rangeOf(range))
}

function rangeOf(range: ReadRange): { range: object; signal: AbortSignal | undefined } {
  const given: unknown = range
  if (!isRecord(given)) throw wrong('range', given, 'an object with fromLine and lineCount, or fromByte and byteCount')
  checkKeys('range', given, ['fromLine', 'lineCount', 'fromByte', 'byteCount', 'maxBytes', 'signal'])
  const { fromLine, lineCount, fromByte, byteCount, maxBytes, signal } = range as LineRange & ByteRange
  const limits = limitsOfReading().range
  checkOption('range.fromLine', fromLine, wholeFrom(1))
  checkOption('range.lineCount', lineCount, wholeFrom(1))
  checkOption('range.fromByte', fromByte, wholeFrom(0))
  checkOption('range.byteCount', byteCount, wholeFrom(1))
  checkOption('range.maxBytes', maxBytes, wholeBetween(limits.minBytes, limits.maxBytes))
  checkSignal('range.signal', signal)
  const byLine = fromLine !== undefined || lineCount !== undefined
  const isMixed = byLine ? byteCount !== undefined : maxBytes !== undefined
  if (isMixed || (!byLine && fromByte === undefined && byteCount === undefined)) {
    throw invalid('range', 'expected either fromLine, lineCount and maxBytes, or fromByte and byteCount')
  }
  if (byLine && fromLine === undefined && fromByte !== undefined) throw wrong('range.fromLine', fromLine, 'a line')
  const lines = { fromLine: fromLine ?? 1, lineCount, fromByte, maxBytes }
  return { range: byLine ? lines : { fromByte, byteCount }, signal }
}

/** The question of a search as the binary takes it. */
export interface Query {
  pattern: string
  ignoreCase: boolean
  literal: boolean
  before: number
  after: number
  maxMatches: number
  maxBytes: number
  cursor?: string
}

/** A question of a search whose options are known to be right. */
export interface CheckedQuery extends OutputAccess {
  query: Query
  signal?: AbortSignal
}

/** @throws SpillwayError `INVALID_ARGUMENT` with the field */
export function checkQuery(pattern: string, options?: SearchOptions): CheckedQuery {
  return readable('options', () => queryOf(pattern, options))
}

function queryOf(pattern: string, options: SearchOptions = {}): CheckedQuery {
  if (typeof pattern !== 'string') throw wrong('pattern', pattern, 'a string')
  const given: unknown = options
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  checkKeys('options', given, SEARCH_OPTIONS)
  const limits = limitsOfReading().search
  const {
    ignoreCase = false,
    literal = false,
    context = 0,
    maxMatches = limits.matches,
    maxBytes = limits.bytes,
  } = options
  const { after, signal, sessionId } = options
  checkOption('options.ignoreCase', ignoreCase, flag)
  checkOption('options.literal', literal, flag)
  const around: unknown = typeof context === 'number' ? { before: context, after: context } : context
  if (!isRecord(around)) throw wrong('options.context', context, 'a number of lines, or { before, after }')
  checkKeys('options.context', around, ['before', 'after'])
  const lines = around as { before?: number; after?: number }
  const field = typeof context === 'number' ? () => 'options.context' : (side: string) => `options.context.${side}`
  checkOption(field('before'), lines.before, wholeBetween(0, limits.maxContext))
  checkOption(field('after'), lines.after, wholeBetween(0, limits.maxContext))
  checkOption('options.maxMatches', maxMatches, wholeBetween(1, limits.maxMatches))
  checkOption('options.maxBytes', maxBytes, wholeBetween(1, limits.maxBytes))
  checkOption('options.after', after, string)
  checkSignal('options.signal', signal)
  checkAccess('options', { sessionId })
  // The binary would say so too; a text of any length need not cross for that.
  if (pattern.length > limits.patternBytes) {
    const problem = `pattern: is longer than ${limits.patternBytes} bytes`
    throw new SpillwayError('INVALID_ARGUMENT', problem, { field: 'pattern' })
  }
  const query: Query = {
    pattern: wellFormed(pattern),
    ignoreCase,
    literal,
    before: lines.before ?? 0,
    after: lines.after ?? 0,
    maxMatches,
    maxBytes,
    cursor: after === undefined ? undefined : wellFormed(after),
  }
  return { query, signal, sessionId }
}

const SEARCH_OPTIONS: readonly (keyof SearchOptions)[] = [
  'ignoreCase',
  'literal',
  'context',
  'maxMatches',
  'maxBytes',
  'after',
  'signal',
  'sessionId',
]

/** @throws SpillwayError `INVALID_ARGUMENT` with the field */
export function checkAccess(field: string, access: OutputAccess): void {
  const given: unknown = access
  if (!isRecord(given)) throw wrong(field, given, 'an object with sessionId')
  const { sessionId } = readable(field, () => {
    checkKeys(field, given, SESSION_KEYS)
    return { sessionId: given.sessionId }
  })
  if (sessionId !== undefined && typeof sessionId !== 'string') throw wrong(`${field}.sessionId`, sessionId, 'a string')
}

const SESSION_KEYS: readonly (keyof OutputAccess)[] = ['sessionId']

/** Where an output is: in a file of a store, or in memory, where it is looked up once the question is known to be right. */
export type OutputPlace = { store: object; path: string } | { find: () => Uint8Array; path: string }

/** The same while it is coming in. */
export type UnfinishedPlace = { intake: object } | { bytes: Uint8Array }

/** Reads a part of an output. */
export async function readRange(
  place: OutputPlace | UnfinishedPlace,
  asked: ReadRange,
  { sessionId }: OutputAccess = {},
): Promise<RangeResult> {
  const { range, signal } = checkRange(asked)
  signal?.throwIfAborted()
  const text = JSON.stringify(range)
  const open = () => {
    if ('find' in place) return native.rangeOfBytes(place.find(), place.path, text)
    if ('bytes' in place) return native.rangeOfBytes(place.bytes, '', text)
    if ('intake' in place) return native.rangeOfIntake(place.intake, text)
    return native.rangeOpen(place.store, place.path, sessionId, text)
  }
  const answer = await finish(open, signal)
  return { text: answer.text, ...(JSON.parse(answer.facts) as Omit<RangeResult, 'text'>) }
}

/** Searches an output. */
export async function search(
  place: OutputPlace,
  pattern: string,
  options: SearchOptions | undefined,
): Promise<SearchResult> {
  const { query, signal, sessionId } = checkQuery(pattern, options)
  signal?.throwIfAborted()
  const text = JSON.stringify(query)
  const open = () =>
    'find' in place
      ? native.searchOfBytes(bytesOf(place, text), place.path, text)
      : native.searchOpen(place.store, place.path, sessionId, text)
  return JSON.parse((await finish(open, signal)).facts) as SearchResult
}

/** As on a disk, an invalid expression is reported before the path is looked up. */
function bytesOf({ find, path }: Extract<OutputPlace, { find: unknown }>, query: string): Uint8Array {
  try {
    return find()
  } catch (error) {
    native.searchOfBytes(new Uint8Array(), path, query)
    throw error
  }
}

/** Step by step, so that an abort is heard and others get their turn in the pool. */
async function finish(open: () => object, signal: AbortSignal | undefined): Promise<{ text: string; facts: string }> {
  const steps = call(open)
  for (;;) {
    const answer = await background(() => native.stepsNext(steps))
    signal?.throwIfAborted()
    if (answer) return answer
  }
}
