/** A summary that is applied again to a stored history that still has all its messages. */

import { summaryAt, viewOf } from '../history/formats'
import { messageSize } from '../history/message-identity'
import type { HistoryFormatName } from '../history/message-view'
import { marked } from '../history/summary'
import type { CompactionReport } from './report'

/** An applied summary as JSON. */
export interface AppliedSummaryState {
  first: number
  head: [number, number]
  from: number
  /** A number per replaced message, by which it is recognized. */
  sizes: number[]
  /** The text of the summary. */
  text: string
  format: HistoryFormatName
  /** Tokens that it saves. */
  saved: number
}

/** Part of a stored history that a summary replaces. */
export class AppliedSummary<M> {
  private readonly objects: unknown[]

  private constructor(
    private readonly state: AppliedSummaryState,
    private summary: M | undefined,
    objects: readonly unknown[],
  ) {
    this.objects = objects.slice()
  }

  /**
   * Returns the summary of a compaction of the history that `before` returned, `undefined` if it made none. `tokensOf` counts the
   * tokens of a history.
   */
  static fromReport<M>(
    stored: readonly M[],
    before: AppliedSummary<M> | undefined,
    { kept, summary, format }: CompactionReport,
    message: object,
    tokensOf: (messages: readonly M[]) => number,
  ): AppliedSummary<M> | undefined {
    if (summary === undefined || format === undefined) return undefined
    const at = before === undefined ? (index: number) => index : before.placesIn(stored.length)
    const from = at(kept.from)
    const head: [number, number] =
      kept.head[0] === kept.head[1] ? [from, from] : [at(kept.head[0]), at(kept.head[1] - 1) + 1]
    const sizes = stored.slice(0, from).map((one) => messageSize(viewOf(format, one)))
    const state = { first: kept.first, head, from, sizes, text: summary.text, format, saved: 0 }
    const applied = new AppliedSummary<M>(state, message as M, stored.slice(0, from))
    const compacted = applied.apply(stored)
    if (compacted === undefined) return undefined
    state.saved = tokensOf(stored) - tokensOf(compacted)
    return applied
  }

  static fromJSON<M>(state: AppliedSummaryState): AppliedSummary<M> {
    return new AppliedSummary<M>(state, undefined, [])
  }

  get saved(): number {
    return this.state.saved
  }

  /** Index of the summary in the history that the model gets. */
  get summaryAt(): number {
    return this.state.first
  }

  toJSON(): AppliedSummaryState {
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

  /** True if a history begins with the messages that the summary replaces. */
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

  /** True if the summary does not replace this message of the stored history. */
  shows(index: number): boolean {
    const { first, head, from } = this.state
    return index < first || index >= from || (index >= head[0] && index < head[1])
  }

  /** Returns the index in the stored history of a message of the compacted one. */
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
