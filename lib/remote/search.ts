/**
 * Searches a remote output in windows of complete lines: the core searches each, and positions are counted from the beginning of
 * the output. The answer is that of a search of the whole.
 */

import {
  type CheckedQuery,
  checkQuery,
  type SearchMatch,
  type SearchOptions,
  type SearchResult,
  search,
} from '../storage/read'
import { invalid } from '../validation/validate'
import { type Ask, LongLine } from './long-line'
import { PARTIAL_SUFFIX } from './output-keys'
import type { RemoteOutput } from './range'
import { SearchWindow } from './search-window'

const LINE_FEED = 10

/** Most bytes of text that the core gives at once. */
const MAX_SHOWN_BYTES = 2 ** 22

/** Finds the lines of an output that match. */
export async function remoteSearch(
  output: RemoteOutput,
  windowBytes: number,
  pattern: string,
  options?: SearchOptions,
): Promise<SearchResult> {
  const checked = checkQuery(pattern, options)
  checked.signal?.throwIfAborted()
  // An invalid expression is refused before anything is fetched.
  await search({ find: () => new Uint8Array(), path: output.name }, pattern, {
    ...options,
    after: undefined,
    sessionId: undefined,
  })
  return new RemoteSearch(output, windowBytes, checked).run()
}

/** A search that a limit stopped, or that came to the end. */
interface Stop {
  line: number
  byte: number
}

class RemoteSearch {
  private readonly matches: SearchMatch[] = []
  private readonly window: SearchWindow
  private readonly cursor: Stop
  private shownBytes = 0

  constructor(
    private readonly output: RemoteOutput,
    windowBytes: number,
    private readonly checked: CheckedQuery,
  ) {
    this.cursor = parseCursor(checked.query.cursor)
    const { byte, line } = this.cursor
    this.window = new SearchWindow(output, windowBytes, contextOf(checked), byte, line, checked.signal)
  }

  async run(): Promise<SearchResult> {
    const { window } = this
    await window.extend()
    if (this.cursor.byte > window.total) throw wrongCursor(this.checked.query.cursor!)
    for (;;) {
      this.checked.signal?.throwIfAborted()
      let stop: Stop | undefined
      if (window.isInLongLine) stop = await this.searchLongLine()
      else if (window.end > window.start) stop = await this.searchLines()
      else if (window.isAtEnd) return this.result()
      else await window.extend()
      if (stop !== undefined) return this.result(stop)
    }
  }

  /** Searches the whole lines of the window. */
  private async searchLines(): Promise<Stop | undefined> {
    const { window } = this
    const { end } = window
    while (window.start < end) {
      const { start } = window
      const isFirst = this.matches.length === 0
      // Only the first match of a call is truncated to fit, which the core does if it is asked for as many bytes.
      const maxBytes = isFirst ? this.checked.query.maxBytes : MAX_SHOWN_BYTES
      const found = await this.ask(window.bytes, start, { maxBytes })
      const inside = found.matches.filter(({ byte }) => byte < end)
      const line = window.line
      for (const match of inside) {
        const stop = this.take(match, line - 1, isFirst)
        if (stop !== undefined) return stop
      }
      const next = found.next === undefined ? undefined : parseCursor(found.next)
      if (next === undefined || next.byte >= end) break
      if (isFirst) return { line: line - 1 + next.line, byte: window.base + next.byte }
      // The core gave as much as it may at once.
      window.line += next.line - 1
      window.start = next.byte
    }
    window.pass(end)
    return undefined
  }

  /** Adds a match. Returns where the search stops, if it does. */
  private take(match: SearchMatch, linesBefore: number, isFitted: boolean): Stop | undefined {
    const { window, checked } = this
    const { maxBytes, maxMatches } = checked.query
    const at = match.byte
    const line = match.line + linesBefore
    const bytes = bytesOf(match)
    if (!isFitted && this.shownBytes + bytes > maxBytes) return { line, byte: window.base + window.lineStart(at) }
    this.shownBytes += bytes
    this.matches.push({ ...match, line, byte: window.base + at })
    if (this.matches.length < maxMatches) return undefined
    const lineFeed = window.bytes.indexOf(LINE_FEED, at)
    const end = lineFeed === -1 ? window.bytes.length : lineFeed + 1
    return { line: line + 1, byte: window.base + end }
  }

  /** Searches a line that is longer than the window, and moves to the next line. */
  private async searchLongLine(): Promise<Stop | undefined> {
    const { window, checked } = this
    const { maxBytes, maxMatches } = checked.query
    const line = new LongLine(window, this.ask)
    const { line: number, base, start } = window
    const lineStart = base + start
    const isFirst = this.matches.length === 0
    const found = await line.search(isFirst ? maxBytes : MAX_SHOWN_BYTES)
    if (found === undefined) return undefined
    const bytes = bytesOf(found)
    if (!isFirst && this.shownBytes + bytes > maxBytes) return { line: number, byte: lineStart }
    this.shownBytes += bytes
    this.matches.push(found)
    return this.matches.length < maxMatches ? undefined : { line: number + 1, byte: window.base + window.start }
  }

  private readonly ask: Ask = async (bytes, start, { pattern = this.checked.query.pattern, ...more }) => {
    const { ignoreCase, literal, maxMatches } = this.checked.query
    const left = maxMatches - this.matches.length
    const asked = {
      ignoreCase,
      literal,
      context: contextOf(this.checked),
      maxMatches: left,
      after: `1:${start}`,
      ...more,
    }
    return search({ find: () => bytes, path: this.output.name }, pattern, asked)
  }

  private result(stop?: Stop): SearchResult {
    const { window, matches, cursor } = this
    const isTruncated = stop !== undefined && stop.byte < window.total
    const end = stop?.line ?? window.line + (window.endsOpen ? 1 : 0)
    return {
      matches,
      truncated: isTruncated,
      ...(isTruncated && { next: `${stop.line}:${stop.byte}` }),
      linesSearched: end - cursor.line,
      ...(this.output.name.endsWith(PARTIAL_SUFFIX) && { incomplete: true }),
    }
  }
}

function contextOf({ query }: CheckedQuery): { before: number; after: number } {
  return { before: query.before, after: query.after }
}

function bytesOf({ text, before, after }: SearchMatch): number {
  return [text, ...before, ...after].reduce((sum, line) => sum + Buffer.byteLength(line), 0)
}

function parseCursor(cursor: string | undefined): Stop {
  if (cursor === undefined) return { line: 1, byte: 0 }
  const [line, byte] = (/^(\d{1,16}):(\d{1,16})$/.exec(cursor) ?? []).slice(1).map(Number)
  if (line === undefined || byte === undefined || line < 1 || line - 1 > byte) throw wrongCursor(cursor)
  return { line, byte }
}

function wrongCursor(cursor: string): Error {
  return invalid('options.after', `expected the \`next\` of an earlier search, received ${JSON.stringify(cursor)}`)
}
