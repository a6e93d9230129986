/** A compaction that is applied again to a stored history that still has everything. */

import { summaryAt, viewOf } from '../history/formats'
import { messageSize } from '../history/message-identity'
import type { HistoryFormatName } from '../history/message-view'
import { marked } from '../history/summary'
import type { CompactionReport } from './report'

/** A fold as JSON. */
export interface FoldState {
  first: number
  head: [number, number]
  from: number
  /** A number per message that is folded, by which it is known again. */
  sizes: number[]
  /** The text of the summary. */
  text: string
  format: HistoryFormatName
  /** Tokens that it saves. */
  saved: number
}

/** Part of a stored history that a summary replaces. */
export class Fold<M> {
  private readonly objects: unknown[]

  private constructor(
    private readonly state: FoldState,
    private summary: M | undefined,
    objects: readonly unknown[],
  ) {
    this.objects = objects.slice()
  }

  /** The fold that a compaction of the history that `before` gave made; `tokensOf` counts what a history has. */
  static after<M>(
    stored: readonly M[],
    before: Fold<M> | undefined,
    { kept, summary, format }: CompactionReport,
    message: object,
    tokensOf: (messages: readonly M[]) => number,
  ): Fold<M> | undefined {
    if (summary === undefined || format === undefined) return undefined
    const at = before === undefined ? (index: number) => index : before.placesIn(stored.length)
    const from = at(kept.from)
    const head: [number, number] =
      kept.head[0] === kept.head[1] ? [from, from] : [at(kept.head[0]), at(kept.head[1] - 1) + 1]
    const sizes = stored.slice(0, from).map((one) => messageSize(viewOf(format, one)))
    const state = { first: kept.first, head, from, sizes, text: summary.text, format, saved: 0 }
    const fold = new Fold<M>(state, message as M, stored.slice(0, from))
    const folded = fold.apply(stored)
    if (folded === undefined) return undefined
    state.saved = tokensOf(stored) - tokensOf(folded)
    return fold
  }

  static fromJSON<M>(state: FoldState): Fold<M> {
    return new Fold<M>(state, undefined, [])
  }

  get saved(): number {
    return this.state.saved
  }

  /** Index of the summary in the history that the model gets. */
  get summaryAt(): number {
    return this.state.first
  }

  toJSON(): FoldState {
    return { ...this.state, head: [...this.state.head], sizes: [...this.state.sizes] }
  }

  /** The history as the model gets it; `undefined` if it is another one. */
  apply(stored: readonly M[]): M[] | undefined {
    const { first, head, from, format, text } = this.state
    if (!this.isOf(stored)) return undefined
    if (this.summary === undefined) {
      const made = summaryAt(format, stored, from, text)
      if (made === undefined) return undefined
      this.summary = marked(made) as M
    }
    return [...stored.slice(0, first), this.summary, ...stored.slice(...head), ...stored.slice(from)]
  }

  /** True if a history begins with the messages that are folded. */
  private isOf(stored: readonly M[]): boolean {
    const { from, sizes, format } = this.state
    if (stored.length < from) return false
    for (let at = 0; at < from; at++) {
      if (stored[at] === this.objects[at]) continue
      // An agent may build its messages again for every request.
      if (messageSize(viewOf(format, stored[at])) !== sizes[at]) return false
      this.objects[at] = stored[at]
    }
    return true
  }

  /** True if this message of the stored history is not folded. */
  shows(index: number): boolean {
    const { first, head, from } = this.state
    return index < first || index >= from || (index >= head[0] && index < head[1])
  }

  /** Where in the stored history a message of the folded one is. */
  placesIn(length: number): (index: number) => number {
    const { first, head, from } = this.state
    const places: number[] = []
    for (let at = 0; at < first; at++) places.push(at)
    // The summary itself is never requested.
    places.push(from)
    for (let at = head[0]; at < head[1]; at++) places.push(at)
    for (let at = from; at <= length; at++) places.push(at)
    return (index) => places[index] ?? length
  }
}
