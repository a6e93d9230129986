/** The lines that match a search, read a part at a time, and the one that is shown. */

import type { SearchMatch } from 'spillway'
import type { OutputSource } from 'spillway/view'
import type { Hit } from './rendered-line'

export interface SearchQuery {
  pattern: string
  literal: boolean
  ignoreCase: boolean
}

const MATCHES = 200
/** Marks in one line. */
const MAX_HITS = 500

let count = 0

export class Found {
  /** Differs from that of every other search. */
  readonly id = ++count
  readonly matches: SearchMatch[] = []
  /** Index of the match that is shown. */
  at = -1
  private after: string | undefined
  private isWhole = false
  private readonly stop = new AbortController()
  private readonly expression: RegExp | undefined

  constructor(
    private readonly source: OutputSource,
    private readonly path: string,
    private readonly query: SearchQuery,
  ) {
    this.expression = expressionOf(query)
  }

  get current(): SearchMatch | undefined {
    return this.matches[this.at]
  }

  /** Says how many there are, as far as that is known. */
  get words(): string {
    if (this.matches.length === 0) return 'No match'
    return `${(this.at + 1).toLocaleString('en')} of ${this.matches.length.toLocaleString('en')}${this.isWhole ? '' : '+'}`
  }

  /** Moves to the next match or the one before; from the last known one on, more is searched for. */
  async move(by: 1 | -1, fromLine = 1): Promise<SearchMatch | undefined> {
    if (this.matches.length === 0) await this.more()
    const first = this.at < 0 ? this.matches.findIndex(({ line }) => line >= fromLine) : -1
    let next = this.at < 0 ? Math.max(0, first) : this.at + by
    if (next >= this.matches.length && !this.isWhole) await this.more()
    if (next >= this.matches.length) next = 0
    if (next < 0) next = this.matches.length - 1
    this.at = this.matches.length === 0 ? -1 : next
    return this.current
  }

  private async more(): Promise<void> {
    const { pattern, literal, ignoreCase } = this.query
    const { signal } = this.stop
    const options = { literal, ignoreCase, maxMatches: MATCHES, ...(this.after && { after: this.after }), signal }
    const { matches, next } = await this.source.search!(this.path, pattern, options)
    this.matches.push(...matches)
    this.after = next
    this.isWhole = next === undefined
  }

  cancel(): void {
    this.stop.abort()
  }

  /** The hits in a text that is shown. */
  hitsIn(text: string): Hit[] {
    const hits: Hit[] = []
    if (this.expression === undefined) return hits
    for (const match of text.matchAll(this.expression)) {
      if (match[0] !== '') hits.push([match.index, match.index + match[0].length])
      if (hits.length === MAX_HITS) break
    }
    return hits
  }
}

/** The expression to mark hits with; the lines are found by the source, whose expressions may know more. */
function expressionOf({ pattern, literal, ignoreCase }: SearchQuery): RegExp | undefined {
  const source = literal ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : pattern
  try {
    return new RegExp(source, ignoreCase ? 'giu' : 'gu')
  } catch {
    return undefined
  }
}
