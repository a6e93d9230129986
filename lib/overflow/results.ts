/** Finds the tool results of a history in any format, and replaces their texts. */

import { formatOf } from '../history/formats'
import type { HistoryFormatName, MessageView, ResultView } from '../history/message-view'
import { isAnswer } from '../history/roles'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'

/** A tool result, found in a history. */
export interface FoundResult {
  /** The place of its message in the history. */
  readonly index: number
  /** Its place among the results of the message. */
  readonly place: number
  readonly view: ResultView
  readonly texts: readonly string[]
  /** It belongs to the newest turn: the model has not answered it yet. */
  readonly fresh: boolean
}

/** The results of a history, oldest first. */
export function resultsOf(views: readonly MessageView[]): FoundResult[] {
  const lastAnswer = views.findLastIndex(isAnswer)
  const found: FoundResult[] = []
  views.forEach(({ results }, index) => {
    results.forEach((view, place) => {
      const texts = typeof view.text === 'string' ? [view.text] : view.text
      // In some formats an answer and the results of its calls are one message.
      found.push({ index, place, view, texts, fresh: index >= lastAnswer })
    })
  })
  return found
}

/** The texts of results by the place of their message in the history and their place in it. */
export type NewTexts = Map<number, Map<number, readonly string[]>>

/** Outcome for a history. */
export interface Rewritten<M> {
  messages: M[]
  /** Results that could not be written: they are as they were. */
  unwritable: number
}

/** A history with other texts in these results. Unchanged messages are returned as the same objects (`===`). */
export function rewrite<M>(
  messages: readonly M[],
  format: HistoryFormatName | undefined,
  texts: NewTexts,
): Rewritten<M> {
  const copy = messages.slice()
  let unwritable = 0
  for (const [index, changes] of texts) {
    const message = messages[index] as object
    const changed = withBlocks(message, changes) ?? (format && withTexts(format, message, changes))
    if (changed === undefined) unwritable += changes.size
    else copy[index] = changed as M
  }
  return { messages: copy, unwritable }
}

function withTexts(format: HistoryFormatName, message: object, changes: ReadonlyMap<number, readonly string[]>) {
  const joined = new Map([...changes].map(([place, texts]) => [place, texts.join('\n')]))
  return formatOf(format, message)?.withResults(message, joined)
}

/** A message that is one result of several parts of text keeps its parts. */
function withBlocks(message: object, changes: ReadonlyMap<number, readonly string[]>): object | undefined {
  try {
    const texts = changes.get(0)
    if (texts === undefined || texts.length < 2 || changes.size > 1) return undefined
    if (Object.getPrototypeOf(message) !== Object.prototype) return undefined
    const { content } = message as { content?: unknown }
    if (!isArray(content) || content.filter(isText).length !== texts.length) return undefined
    let at = 0
    return { ...message, content: content.map((part) => (isText(part) ? { ...part, text: texts[at++] } : part)) }
  } catch {
    return undefined
  }
}

function isText(part: unknown): part is { text: string } {
  const { type, text } = Object(part) as { type?: unknown; text?: unknown }
  return type === 'text' && typeof text === 'string'
}

const weights = new WeakMap<ResultView, { weight: number; fingerprint?: string }>()

/** Which characters might count more than their units, or fewer: V8 answers at once where a text cannot have them. */
const DENSE = /[\u1100-\uffff]/

/** Number of UTF-16 units passed to the core at a time. */
const PIECE = 2 ** 20

/** The length of a text as a profile counts, and its characters. */
export function measure(text: string, weighted: boolean): { weight: number; characters: number } {
  const size = { weight: 0, characters: 0 }
  if (!DENSE.test(text)) return { weight: text.length, characters: text.length }
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PIECE, text.length)
    // Both halves of a pair go together.
    while (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++
    const [weight = 0, characters = 0] = call(() => native.overflowSize(text.slice(at, end), weighted))
    size.weight += weight
    size.characters += characters
    at = end
  }
  return size
}

/** The length of a text as a profile counts. */
export function weigh(text: string, weighted: boolean): number {
  return weighted ? measure(text, true).weight : text.length
}

/** The length of a result's texts together; remembered for weighted ones, which have to be read. */
export function weightOf({ view, texts }: FoundResult, weighted: boolean): number {
  if (!weighted) return texts.reduce((sum, text) => sum + text.length, 0)
  let known = weights.get(view)
  if (known === undefined) {
    known = { weight: texts.reduce((sum, text) => sum + weigh(text, true), 0) }
    weights.set(view, known)
  }
  return known.weight
}

/** A short name for the texts of a result. */
export function fingerprintOf(result: FoundResult): string {
  weightOf(result, true)
  const known = weights.get(result.view) as { fingerprint?: string }
  known.fingerprint ??= result.texts.map((text) => native.textFingerprint(text)).join(',')
  return known.fingerprint
}
