/**
 * A line that is longer than a search has in memory. It is searched in overlapping pieces, as the core does with lines over 1 MiB:
 * a match over 64 KiB may be missed.
 */

import type { SearchMatch, SearchOptions, SearchResult } from '../storage/read'
import type { SearchWindow } from './search-window'

const LINE_FEED = 10

/** Longest match that is always found. */
const OVERLAP = 2 ** 16

/** How far the core looks for the end of a line, to show the lines after it. */
const REACH = 2 ** 20

/** Bytes before a piece that are shown with its first match, and decide whether a word begins with it. */
const LOOK_BEHIND = 2 ** 12

/** Stands before a piece that does not begin with its line. No character has this byte, so `^` finds nothing there. */
const NO_CHARACTER = 0xff

/** Searches some bytes with the question of the caller. */
export type Ask = (
  bytes: Uint8Array,
  start: number,
  more: SearchOptions & { pattern?: string },
) => Promise<SearchResult>

/** Searches one line, and leaves the window at the next. */
export class LongLine {
  /** Byte of the output up to which the line is searched. */
  private searchedTo: number
  private readonly number: number
  private before: string[] = []

  constructor(
    private readonly window: SearchWindow,
    private readonly ask: Ask,
  ) {
    this.searchedTo = window.base + window.start
    this.number = window.line
  }

  /** Returns the first match in the line, in a text of at most `maxBytes`. */
  async search(maxBytes: number): Promise<SearchMatch | undefined> {
    const { window } = this
    let found = await this.searchBeginning(maxBytes)
    while (found === undefined && !this.isWhole()) {
      window.drop(this.searchedTo - window.base - LOOK_BEHIND)
      window.start = 0
      await window.extend()
      found = await this.searchPiece(maxBytes)
    }
    await this.toNextLine()
    return found
  }

  /** Searches as much of the line as the window holds from its beginning. */
  private async searchBeginning(maxBytes: number): Promise<SearchMatch | undefined> {
    const { window } = this
    const known = { maxBytes, maxMatches: 1 }
    const { matches } = await this.ask(window.bytes, window.start, known)
    const end = this.end
    this.before = await this.linesBefore()
    this.searchedTo = window.base + end
    const [match] = matches
    return match && match.byte < end ? this.inOutput(match, window.base, match.before) : undefined
  }

  private async linesBefore(): Promise<string[]> {
    const { window } = this
    const { matches } = await this.ask(window.bytes.subarray(0, window.start + 1), window.start, {
      pattern: '^',
      literal: false,
      maxBytes: REACH,
      maxMatches: 1,
    })
    return matches[0]?.before ?? []
  }

  /** Searches a piece that does not begin with the line. */
  private async searchPiece(maxBytes: number): Promise<SearchMatch | undefined> {
    const { window } = this
    const from = this.searchedTo - window.base
    const { end } = this
    if (end <= from) return undefined
    const begin = wordStart(window.bytes, from)
    const piece = Buffer.concat([Buffer.of(NO_CHARACTER), window.bytes.subarray(begin)])
    const { matches } = await this.ask(piece, 0, { maxBytes, maxMatches: 1 })
    this.searchedTo = window.base + end
    const [match] = matches
    const at = match === undefined ? -1 : match.byte + begin - 1
    const isInside = match !== undefined && at >= from && at < end
    return isInside ? this.inOutput(match, window.base + begin - 1, this.before) : undefined
  }

  private inOutput(match: SearchMatch, base: number, before: string[]): SearchMatch {
    return { ...match, line: this.number, byte: base + match.byte, before }
  }

  /** Where matches must begin before: those after it may go on beyond the window. */
  private get end(): number {
    const lineFeed = this.lineFeed()
    if (lineFeed !== -1) return lineFeed + 1
    const { bytes, isAtEnd } = this.window
    return isAtEnd ? bytes.length + 1 : bytes.length - REACH - OVERLAP
  }

  private lineFeed(): number {
    return this.window.bytes.indexOf(LINE_FEED, this.window.start)
  }

  private isWhole(): boolean {
    return this.lineFeed() !== -1 || this.window.isAtEnd
  }

  /** Moves the window to the line after this one, wherever it begins. */
  private async toNextLine(): Promise<void> {
    const { window } = this
    while (!this.isWhole()) {
      // The end of a long line is shown before a match in the next.
      window.drop(Math.max(0, window.bytes.length - REACH - OVERLAP))
      window.start = 0
      await window.extend()
    }
    const lineFeed = this.lineFeed()
    window.pass(lineFeed === -1 ? window.bytes.length : lineFeed + 1)
  }
}

/** Returns an index shortly before `at` at which a word begins or none is, so that `\b` means there what it means in the line. */
function wordStart(bytes: Buffer, at: number): number {
  const first = Math.max(1, at - LOOK_BEHIND)
  for (let index = first; index < at - LOOK_BEHIND / 2; index += 1) {
    if (/^[\0-/:-@[-^`{-\x7f]$/.test(String.fromCharCode(bytes[index - 1]!))) return index
  }
  return first
}
