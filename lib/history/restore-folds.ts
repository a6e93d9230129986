/** Pointers of a history that was made shorter: none of them outlives its target. */

import { foldKey, hasPointers, miscounts, targetsOf, withoutPointers } from '../fold/restore'
import type { FoldRecord } from '../types'
import { FoldTexts, longArguments } from './fold-texts'
import { elementOf, formatOf, viewsIn } from './formats'
import { knownCall, type ToolResultKnowledge, warnOfLedger } from './ledger'
import { joinedText } from './message-cache'
import type { CallView } from './message-view'
import { pairsOf } from './tool-pairs'

/** A result of a history that is known by its call. */
interface NamedResult {
  readonly index: number
  readonly place: number
  readonly id: string
  readonly text: string
  readonly called: CallView | undefined
  readonly replaceable: boolean
}

/** A folded result whose pointers have lost a target. */
interface LostPointers extends NamedResult {
  readonly folds: FoldRecord
}

/**
 * Returns `after`, which was made of `before` by removing or shortening results, with the text of each result in it whose pointers have lost
 * their target. A result that was shortened itself has a sentence in place of each pointer. Returns `after` itself if there is none.
 */
export function restoreFolds<M>(
  before: readonly M[],
  after: readonly M[],
  ledger: ToolResultKnowledge | undefined,
): readonly M[] {
  const { lost, texts, textBefore } = lostPointers(before, after, ledger)
  return rewritten(after, lost, ({ id, text, folds }) =>
    text === textBefore.get(id) ? texts.instead(id, text, folds) : withoutPointers(text, folds),
  )
}

/**
 * Shortens the results of a history so that no pointer loses its target: a result that would lose one gets its text back first, and is
 * shortened like all others. `shorten` keeps the messages in their places.
 */
export function shortenFolded<M, R extends { messages: readonly M[] }>(
  messages: readonly M[],
  ledger: ToolResultKnowledge | undefined,
  shorten: (messages: readonly M[]) => R,
): R {
  let given = messages
  for (;;) {
    const made = shorten(given)
    const { lost, texts, textBefore } = lostPointers(given, made.messages, ledger)
    const own = ({ id, text }: LostPointers) => textBefore.get(id) ?? text
    // Without pointers it would be shortened to the same text again.
    const folded = lost.filter((result) => hasPointers(own(result), result.folds))
    const next = rewritten(given, folded, (result) => texts.instead(result.id, own(result), result.folds))
    if (next === given) return made
    given = next
  }
}

/** Returns the ids of the calls whose results are not in `after` as they are in `before`, and of those that are not in it at all. */
export function changedResults(
  before: readonly unknown[],
  after: readonly unknown[],
): { left: string[]; leftCalls: string[] } {
  if (before === after) return { left: [], leftCalls: [] }
  const shown = shownTexts(namedResults(after))
  const left = namedResults(before).flatMap(({ id, text }) => (shown.get(id) === text ? [] : [id]))
  return { left, leftCalls: left.filter((id) => !shown.has(id)) }
}

/** Remembers the texts of the results of a history. */
export function noteResults(texts: FoldTexts, messages: readonly unknown[], ledger: ToolResultKnowledge): void {
  for (const { id, text, called } of namedResults(messages)) texts.note(id, text, called, foldsOf(ledger, id))
}

function lostPointers(
  before: readonly unknown[],
  after: readonly unknown[],
  ledger: ToolResultKnowledge | undefined,
): { lost: LostPointers[]; texts: FoldTexts; textBefore: ReadonlyMap<string, string | undefined> } {
  const texts = new FoldTexts()
  if (ledger === undefined || before === after) return { lost: [], texts, textBefore: new Map() }
  const results = namedResults(after)
  const folded = results.flatMap((result): LostPointers[] => {
    const folds = foldsOf(ledger, result.id)
    return result.replaceable && folds && hasPointers(result.text, folds) ? [{ ...result, folds }] : []
  })
  if (folded.length === 0) return { lost: [], texts, textBefore: new Map() }
  const resultsBefore = namedResults(before)
  for (const { id, text, called } of resultsBefore) texts.note(id, text, called, foldsOf(ledger, id))
  const textBefore = shownTexts(resultsBefore)
  const shown = shownTexts(results)
  const written = new Map(results.flatMap(({ id, called }) => longArguments(id, called)))
  const isShown = ({ toolCallId, argument }: { toolCallId: string; argument?: string }) => {
    const text = shown.get(toolCallId)
    if (argument === undefined)
      return text !== undefined && (text === textBefore.get(toolCallId) || text === texts.get(toolCallId))
    const key = foldKey(toolCallId, argument)
    return written.has(key) && written.get(key) === texts.get(key)
  }
  const isThere = (id: string) => shown.has(id)
  const lost = folded.filter(({ folds }) => ![...targetsOf(folds).values()].every(isShown) || miscounts(folds, isThere))
  return { lost, texts, textBefore }
}

/** The record of the folds of a result. */
export function foldsOf(ledger: ToolResultKnowledge, id: string): FoldRecord | undefined {
  return knownCall(ledger, id, warnOfLedger)?.folds
}

/** The text of each result. With an id that occurs twice it is ambiguous which result is meant. */
function shownTexts(results: readonly NamedResult[]): Map<string, string | undefined> {
  const shown = new Map<string, string | undefined>()
  for (const { id, text } of results) shown.set(id, shown.has(id) ? undefined : text)
  return shown
}

/** The results of a history that have an id, or whose calls have one. */
export function namedResults(messages: readonly unknown[]): NamedResult[] {
  const { format, views } = viewsIn(messages)
  if (format === undefined) return []
  const pairs = pairsOf(format, messages, views)
  return pairs.results.flatMap(({ message: index, place, call }): NamedResult[] => {
    const view = views[index]?.results[place]
    const made = call === undefined ? undefined : pairs.calls[call]
    const called = made && views[made.message]?.calls[made.place]
    const id = view?.callId ?? called?.id
    if (view === undefined || id === undefined) return []
    return [{ index, place, id, text: joinedText(view.text), called, replaceable: view.replaceable }]
  })
}

/** The history with other texts in these results; itself if none could be written. */
function rewritten<M>(
  messages: readonly M[],
  lost: readonly LostPointers[],
  textOf: (result: LostPointers) => string,
): readonly M[] {
  if (lost.length === 0) return messages
  const texts = new Map<number, Map<number, string>>()
  for (const result of lost) {
    const places = texts.get(result.index) ?? new Map<number, string>()
    texts.set(result.index, places.set(result.place, textOf(result)))
  }
  const { format } = viewsIn(messages)
  let copy: M[] | undefined
  for (const [index, places] of texts) {
    const message = elementOf(messages, index)
    const made = format && message && formatOf(format, message)?.withResults(message, places)
    if (made === undefined) continue
    copy ??= messages.slice()
    copy[index] = made as M
  }
  return copy ?? messages
}
