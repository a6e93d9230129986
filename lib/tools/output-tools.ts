/** Tools with which the model reads and searches saved outputs. */

import { renamed, type SpillwayError } from '../errors'
import { wellFormed } from '../settings/settings'
import type { OutputAccess, RangeResult, ReadRange, SearchOptions, SearchResult } from '../storage/read'
import { definedOf } from '../util/defined'
import { countedLines, linesFrom } from '../util/format'
import { messageOf } from '../util/message-of'
import { checkKeys, checkOneOf, invalid, isRecord, readable, unknownOption, wrong } from '../validation/validate'
import { binaryWords, isBinary } from './binary-output'

/** Storage that the tools read. It must enforce `sessionId`: the path comes from a model. */
export interface OutputStore {
  readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>
  search(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>
}

/** A service that has such a storage, such as a `TruncationService`. */
export interface OutputStoreHolder {
  readonly storage: unknown
}

/** Options of {@link createOutputTools}. */
export interface OutputToolsOptions {
  /** Only outputs of this session can be read. Default: the session of the call if it has one, or else all. */
  sessionId?: string | undefined
  /**
   * Bytes of one answer, with the lines that say what it shows and how to read on. Default: 32 KiB of the output, and those lines.
   */
  pageBytes?: number
  /** Lines of one answer. Default: 500 of the output. */
  pageLines?: number
  /**
   * `json`: `pageBytes` limits the length of the answer as a JSON string, for hosts that count that.
   * @default 'text'
   */
  pageCounts?: 'text' | 'json'
}

/** Context of a call. */
export interface OutputToolContext {
  sessionId?: string | undefined
  signal?: AbortSignal | undefined
}

/** A result for the model. Errors are results, too. It needs no truncation: `metadata.truncated` tells middleware so. */
export interface OutputToolResult {
  success: boolean
  output: string
  error?: string
  metadata: { truncated: boolean; next?: object } & Record<string, unknown>
}

/** A tool that hosts can offer to a model, or register in a `ToolRegistry`. */
export interface OutputTool {
  name: 'read_output' | 'search_output'
  description: string
  /** JSON Schema of the arguments. */
  inputSchema: Record<string, unknown>
  execute(args: unknown, context?: OutputToolContext): Promise<OutputToolResult>
}

/** Page size of one call: below every default limit, so that a page is never truncated or saved again. */
const SHOWN_BYTES = 32 * 1024
/** A smaller answer has no room for a path. */
const MIN_PAGE_BYTES = 512
/** The lines around what is shown. */
const FRAME_LINES = 3
const SHOWN_LINES = 500
const SHOWN_MATCHES = 50
/** UTF-16 units of an error that are shown from each of its ends. */
const ERROR_END = 1_000

const PATH = { type: 'string', description: 'The path of the saved output, from the truncation notice.' }
const whole = (min: number, description: string) => ({ type: 'integer', minimum: min, description })

/**
 * Makes the tools `read_output` and `search_output`. In addition to its own names, `read_output` takes `offset` (the first line, from 1; 0 is
 * the first as well) and `limit` (number of lines), and both take names such as `fromLine`.
 *
 * @param source a storage, or a service with one
 * @example
 * for (const tool of createOutputTools(storage, { sessionId })) registry.register([tool])
 */
export function createOutputTools(
  source: OutputStore | OutputStoreHolder,
  options: OutputToolsOptions = {},
): [OutputTool, OutputTool] {
  const page = pageOf(sourceOf(source), options)
  return [readTool(page), searchTool(page)]
}

/** A store, and what one answer may show of it. */
interface Page {
  storage: OutputStore
  sessionId: string | undefined
  shownBytes: number
  shownLines: number
  /** The limits of a whole answer, and how its size is counted. */
  limits: Pick<OutputToolsOptions, 'pageBytes' | 'pageLines' | 'pageCounts'>
}

function pageOf(storage: OutputStore, options: OutputToolsOptions): Page {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  const { sessionId, ...limits } = readable('options', () => {
    checkKeys('options', options, ['sessionId', 'pageBytes', 'pageLines', 'pageCounts'])
    return { ...options } as OutputToolsOptions
  })
  const { pageBytes, pageLines, pageCounts } = limits
  if (sessionId !== undefined && typeof sessionId !== 'string') throw wrong('options.sessionId', sessionId, 'a string')
  checkPage('pageBytes', pageBytes, MIN_PAGE_BYTES)
  checkPage('pageLines', pageLines, FRAME_LINES + 1)
  checkOneOf('options.pageCounts', pageCounts, ['text', 'json'])
  const shownBytes = Math.min(SHOWN_BYTES, Math.floor(pageBytes ?? SHOWN_BYTES))
  const shownLines = Math.min(SHOWN_LINES, Math.floor((pageLines ?? Number.POSITIVE_INFINITY) - FRAME_LINES))
  return { storage, sessionId, shownBytes, shownLines, limits }
}

/** Returns the longest answer that fits: the text around it, and its count, are known only once it is made. */
async function fitting(
  { shownBytes, limits }: Page,
  make: (bytes: number) => Promise<OutputToolResult>,
): Promise<OutputToolResult> {
  const { pageBytes, pageLines, pageCounts } = limits
  const sizeOf = (text: string) => (pageCounts === 'json' ? JSON.stringify(text).length : Buffer.byteLength(text))
  let bytes = shownBytes
  for (;;) {
    const answer = await make(bytes)
    const size = sizeOf(answer.output)
    const lines = linesIn(answer.output)
    const isFit = size <= (pageBytes ?? size) && lines <= (pageLines ?? lines)
    if (isFit || bytes <= 4) return answer
    const share = Math.min((pageBytes ?? size) / size, (pageLines ?? lines) / lines)
    const frame = pageCounts === 'json' ? 0 : size - bytes
    const isFrame = frame > 0 && pageBytes !== undefined && frame < pageBytes && lines <= (pageLines ?? lines)
    const next = isFrame ? pageBytes - frame : Math.floor(bytes * share * 0.97)
    bytes = Math.max(4, Math.min(next, Math.floor(bytes * 0.98) - 1))
  }
}

/** A tool before its arguments are checked. */
interface ToolSpec extends Pick<OutputTool, 'name' | 'description'> {
  properties: Record<string, unknown>
  required: readonly string[]
  /** Names that models know from other tools. Hosts refuse what the schema does not name. */
  others: Record<string, unknown>
  work: (args: Record<string, unknown>, path: string, call: OutputToolContext) => Promise<OutputToolResult>
}

function toolOf(page: Page, { name, description, properties, required, others, work }: ToolSpec): OutputTool {
  const execute: OutputTool['execute'] = async (args, context) => {
    let asked: Readonly<Record<string, string>> = {}
    try {
      if (!isRecord(args)) throw wrong('arguments', args, 'an object')
      const { given, names } = namedAs(withoutNulls(args), ['path', ...Object.keys(properties)], Object.keys(others))
      asked = names
      const { path } = given
      if (typeof path !== 'string') throw wrong('path', path, 'the path of a saved output')
      return await work(given, path, { sessionId: page.sessionId ?? context?.sessionId, signal: context?.signal })
    } catch (thrown) {
      const error = bounded(messageOf(renamed(asked, renamed(KNOWN_AS, thrown))))
      return { success: false, output: `Error: ${error}`, error, metadata: { truncated: false } }
    }
  }
  const schema = { type: 'object', properties: { path: PATH, ...properties, ...others }, required }
  return { name, description, inputSchema: { ...schema, additionalProperties: false }, execute }
}

function readTool(page: Page): OutputTool {
  const { storage, shownBytes, shownLines } = page
  return toolOf(page, {
    name: 'read_output',
    description:
      'Reads a part of a saved tool output, by lines (from_line, line_count) or by bytes (from_byte, byte_count). ' +
      `At most ${shownLines} lines and ${shownBytes} bytes at a time; the answer says how to read on.`,
    properties: {
      from_line: whole(1, 'The first line, from 1; also offset.'),
      line_count: whole(1, `How many lines, ${shownLines} unless given; also limit.`),
      from_byte: whole(0, 'The first byte, from 0; with from_line, a byte inside that line to go on at.'),
      byte_count: whole(1, 'How many bytes.'),
    },
    required: ['path'],
    others: { offset: { type: 'integer', minimum: 0 }, limit: { type: 'integer', minimum: 1 } },
    work: (args, path, { signal, sessionId }) =>
      fitting(page, async (bytes) => {
        const range = { ...rangeOf(args, shownLines, bytes), signal }
        const shown = await storage.readRange(path, range, { sessionId })
        const binary = isBinary(shown.text)
          ? await binaryWords((start) => storage.readRange(path, { ...start, signal }, { sessionId }))
          : undefined
        if (binary !== undefined) {
          return { success: true, output: `[${binary}; it has no text to read]`, metadata: { truncated: false } }
        }
        const next = shown.next && argumentsOf(shown.next)
        const foot = next ? `[More: read_output with ${say(path, next)}]` : '[End of the output]'
        return {
          success: true,
          output: `${headOf(shown)}\n${shown.text}${endOf(shown.text)}${foot}`,
          metadata: { truncated: next !== undefined, ...(next && { next: { path, ...next } }) },
        }
      }),
  })
}

function searchTool(page: Page): OutputTool {
  return toolOf(page, {
    name: 'search_output',
    description:
      'Finds the lines of a saved tool output that match a regular expression (no look-around, no back-references). ' +
      'A match in a long line is shown with its byte offset, which read_output takes as from_byte.',
    properties: {
      pattern: { type: 'string', description: 'The regular expression, matched line by line.' },
      literal: { type: 'boolean', description: 'The pattern is the text itself.' },
      ignore_case: { type: 'boolean', description: 'Upper and lower case are the same.' },
      context: { type: 'integer', minimum: 0, maximum: 20, description: 'Lines to show around each match.' },
      max_matches: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        description: `${SHOWN_MATCHES} unless given; also limit.`,
      },
      after: {
        type: 'string',
        description: 'Continues where an earlier search stopped; that search printed the value.',
      },
    },
    required: ['path', 'pattern'],
    others: { limit: { type: 'integer', minimum: 1, maximum: 1000 } },
    // Line numbers and marks come on top.
    work: (args, path, call) =>
      fitting(page, async (bytes) => {
        const maxBytes = Math.max(1, Math.floor(bytes / 2))
        const found = await page.storage.search(path, args.pattern as string, { ...searchOf(args), maxBytes, ...call })
        const more = found.next === undefined ? undefined : { ...args, after: found.next }
        const count = found.matches.length
        const lines = `${countedLines(found.linesSearched)} searched${found.incomplete ? INCOMPLETE : ''}`
        const head = `[${count} matching line${count === 1 ? '' : 's'} in ${lines}]`
        const foot = more
          ? `\n[More: search_output with the same arguments and after ${JSON.stringify(found.next)}]`
          : ''
        return {
          success: true,
          output: [head, ...linesOf(found)].join('\n') + foot,
          metadata: { truncated: more !== undefined, ...(more && { next: more }) },
        }
      }),
  })
}

/** The options of a search by the arguments of its tool; the storage says which are wrong. */
function searchOf(args: Record<string, unknown>): SearchOptions {
  const { literal, ignore_case: ignoreCase, context = 0, max_matches: maxMatches = SHOWN_MATCHES, after } = args
  const limited = (value: unknown, limit: number) => (typeof value === 'number' ? Math.min(value, limit) : value)
  return {
    literal,
    ignoreCase,
    context: limited(context, 20),
    maxMatches: limited(maxMatches, 1000),
    after,
  } as SearchOptions
}

function sourceOf(given: unknown): OutputStore {
  const isSource = (value: unknown): value is OutputStore =>
    isRecord(value) && typeof value.readRange === 'function' && typeof value.search === 'function'
  // A proxy or a getter can throw.
  const found = readable('storage', () => {
    if (isSource(given)) return given
    const { storage } = Object(given) as Partial<OutputStoreHolder>
    return isSource(storage) ? storage : undefined
  })
  if (found !== undefined) return found
  throw wrong(
    'storage',
    given,
    'a storage with readRange and search, or a TruncationService, such as the `service` of createTruncation',
  )
}

function linesIn(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

function checkPage(name: string, value: unknown, min: number): void {
  const isPage = value === undefined || (typeof value === 'number' && value >= min)
  if (!isPage) throw wrong(`options.${name}`, value, `a number of at least ${min}`)
}

/** An error may repeat what the model made up, which has no end: of a long one the start and the end are shown. */
function bounded(error: string): string {
  if (error.length <= 2 * ERROR_END) return wellFormed(error)
  return wellFormed(`${error.slice(0, ERROR_END)} … ${error.slice(-ERROR_END)}`)
}

/** Names of the storage's options, and the model's names for them. */
const KNOWN_AS = {
  'range.fromLine': 'from_line',
  'range.lineCount': 'line_count',
  'range.fromByte': 'from_byte',
  'range.byteCount': 'byte_count',
  'options.ignoreCase': 'ignore_case',
  'options.maxMatches': 'max_matches',
  'options.': '',
}

/** The arguments that were given: models that must name every argument say `null` for one that they leave out. */
function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

/** Names of other agents' tools for the same arguments. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  offset: ['from_line'],
  limit: ['line_count', 'max_matches'],
  fromLine: ['from_line'],
  start_line: ['from_line'],
  lineCount: ['line_count'],
  fromByte: ['from_byte'],
  byteCount: ['byte_count'],
  file_path: ['path'],
  filePath: ['path'],
  ignoreCase: ['ignore_case'],
  maxMatches: ['max_matches'],
}

/**
 * The arguments under the names of the tool, and how the model calls each of them.
 * @throws SpillwayError for an unknown name, with the nearest one, and for two different values of one argument
 */
function namedAs(
  args: Record<string, unknown>,
  known: readonly string[],
  others: readonly string[],
): { given: Record<string, unknown>; names: Record<string, string> } {
  const given: Record<string, unknown> = {}
  const names: Record<string, string> = {}
  for (const [key, value] of Object.entries(args)) {
    const meant = Object.hasOwn(ALIASES, key) ? ALIASES[key]?.find((name) => known.includes(name)) : undefined
    const alias = known.includes(key) ? key : (meant ?? key)
    if (!known.includes(alias)) throw unknownArgument(key, [...known, ...others])
    // The first line is 1, and many tools call it 0.
    const read = key === 'offset' && value === 0 ? 1 : value
    const other = names[alias]
    if (other !== undefined && given[alias] !== read) {
      throw invalid(key, `means the same as ${other}; give one of them`)
    }
    given[alias] = read
    names[alias] = key
  }
  return { given, names }
}

function unknownArgument(key: string, known: readonly string[]): SpillwayError {
  return unknownOption('', key, known)
}

/** Returns the requested range, limited to one page. Invalid values pass, for the storage to report. */
function rangeOf(
  { from_line, line_count, from_byte, byte_count }: Record<string, unknown>,
  shownLines: number,
  shownBytes: number,
): ReadRange {
  const atMost = (max: number, asked: unknown = max) => (typeof asked === 'number' ? Math.min(asked, max) : asked)
  const byLines = from_line !== undefined || line_count !== undefined
  if (byLines && byte_count !== undefined) {
    // The caller puts the name that the model wrote in the place of this one, and no other name can be put right.
    throw invalid(
      'byte_count',
      'counts bytes from a first byte; leave it out, or leave out the first line and the number of lines',
    )
  }
  const byBytes = !byLines && (from_byte ?? byte_count) !== undefined
  const range = byBytes
    ? { fromByte: from_byte ?? 0, byteCount: atMost(shownBytes, byte_count) }
    : {
        fromLine: from_line ?? 1,
        lineCount: atMost(shownLines, line_count),
        fromByte: from_byte,
        maxBytes: shownBytes,
      }
  return range as ReadRange
}

function headOf({
  fromLine,
  lineCount = 0,
  fromByte,
  byteCount,
  totalBytes,
  totalLines,
  partial,
  incomplete,
}: RangeResult): string {
  const bytes = `bytes ${fromByte}-${fromByte + byteCount} of ${totalBytes}`
  const part = `${partial ? ', cut inside a line' : ''}${incomplete ? INCOMPLETE : ''}`
  if (fromLine === undefined) return `[${bytes}${part}]`
  const lines = totalLines === undefined ? '' : `${countedLines(totalLines)}, `
  if (lineCount === 0) return `[no line ${fromLine}; the output has ${lines}${totalBytes} bytes]`
  return `[${linesFrom(fromLine, fromLine + lineCount - 1)}, ${bytes}${part}]`
}

/** Said of a file that is only a part of what the tool printed. */
const INCOMPLETE = '; only the start and the end of the output were kept'

const endOf = (text: string) => (text === '' || text.endsWith('\n') ? '' : '\n')

function argumentsOf(next: ReadRange): Record<string, number> {
  const { fromLine, lineCount, fromByte, byteCount } = next as Record<string, number | undefined>
  const named = { from_line: fromLine, line_count: lineCount, from_byte: fromByte, byte_count: byteCount }
  return definedOf(named)
}

function say(path: string, next: object): string {
  return JSON.stringify({ path, ...next })
}

/** The matching lines as grep prints them: `12:` for a match, `11-` for a neighbour; `12 (byte 5000):` in a line that is not shown whole. */
function linesOf({ matches }: SearchResult): string[] {
  const lines: string[] = []
  const hasContext = matches.some(({ before, after }) => before.length > 0 || after.length > 0)
  for (const [index, { line, text, before, after, byte, partial }] of matches.entries()) {
    if (hasContext && index > 0) lines.push('--')
    lines.push(...before.map((each, at) => `${line - before.length + at}-${each}`))
    lines.push(`${line}${partial ? ` (byte ${byte})` : ''}:${text}`)
    lines.push(...after.map((each, at) => `${line + 1 + at}-${each}`))
  }
  return lines
}
