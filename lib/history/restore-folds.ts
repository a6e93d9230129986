/** Pointers of a history that was made shorter: none of them outlives its target. */

import type { FoldRecord } from '../types'
import { groupedBy } from '../util/grouped'
import { foldKey, hasPointers, miscounts, targetsOf, withoutPointers } from './fold-records'
import { FoldTexts, longArguments, targetOf } from './fold-texts'
import { elementOf, formatOf, viewsIn } from './formats'
import { knownResults } from './known-results'
import { type ToolResultKnowledge, warnOfLedger } from './ledger'
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
  /** The ledger's record of its folds. */
  readonly folds: FoldRecord | undefined
}

/** A folded result whose pointers have lost a target. */
interface LostPointers extends NamedResult {
  readonly folds: FoldRecord
  /** It as it was before; `undefined` if its text is another one now. */
  readonly before: NamedResult | undefined
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
  const { lost, texts } = lostPointers(before, after, ledger)
  return rewritten(after, lost, ({ id, text, folds, before }) =>
    before?.text === text ? texts.instead(id, text, folds) : withoutPointers(text, folds),
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
    const { lost, texts } = lostPointers(given, made.messages, ledger)
    const own = ({ text, before }: LostPointers) => before?.text ?? text
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
  const shown = shownTexts(namedResults(after, undefined))
  const left = namedResults(before, undefined).flatMap(({ id, text }) => (shown.get(id) === text ? [] : [id]))
  return { left, leftCalls: left.filter((id) => !shown.has(id)) }
}

/** Remembers the texts of the results of a history. */
export function noteResults(texts: FoldTexts, messages: readonly unknown[], ledger: ToolResultKnowledge): void {
  for (const { id, text, called, folds } of namedResults(messages, ledger)) texts.note(id, text, called, folds)
}

function lostPointers(
  before: readonly unknown[],
  after: readonly unknown[],
  ledger: ToolResultKnowledge | undefined,
): { lost: LostPointers[]; texts: FoldTexts } {
  const texts = new FoldTexts()
  if (ledger === undefined || before === after) return { lost: [], texts }
  const results = namedResults(after, ledger)
  if (!results.some(isFolded)) return { lost: [], texts }
  const resultsBefore = namedResults(before, ledger)
  const wholes = new Map<NamedResult, string | undefined>()
  for (const result of resultsBefore) {
    const { id, text, called, folds } = result
    texts.note(id, text, called, folds)
    wholes.set(result, texts.get(id))
  }
  const [idsBefore, ids] = [groupedBy(resultsBefore, idOf), groupedBy(results, idOf)]
  const origins = originsOf(idsBefore, ids)
  const isShown = (result: NamedResult, { toolCallId, argument }: { toolCallId: string; argument?: string }) => {
    const target = targetOf(result, ids.get(toolCallId))
    const origin = origins.get(result)
    const meant = targetOf(origin ?? result, idsBefore.get(toolCallId))
    if (target === undefined || meant === undefined || origins.get(target) !== meant) return false
    if (argument === undefined) return target.text === meant.text || target.text === wholes.get(meant)
    return argumentIn(target, argument) !== undefined && argumentIn(target, argument) === argumentIn(meant, argument)
  }
  const isThere = (id: string) => ids.has(id)
  const lost = results.flatMap((result): LostPointers[] => {
    const origin = origins.get(result)
    // A shortened text no longer tells which record is its own.
    const folds = origin === undefined ? result.folds : origin.folds
    if (folds === undefined || !isFolded({ ...result, folds })) return []
    const isWhole = [...targetsOf(folds).values()].every((target) => isShown(result, target))
    return isWhole && !miscounts(folds, isThere) ? [] : [{ ...result, folds, before: origin }]
  })
  return { lost, texts }
}

const idOf = ({ id }: NamedResult) => id

function isFolded({ replaceable, text, folds }: Pick<NamedResult, 'replaceable' | 'text' | 'folds'>): boolean {
  return replaceable && folds !== undefined && hasPointers(text, folds)
}

/** Returns which result of a history each one was before the history was made shorter. */
function originsOf(
  idsBefore: ReadonlyMap<string, NamedResult[]>,
  ids: ReadonlyMap<string, NamedResult[]>,
): Map<NamedResult, NamedResult> {
  const origins = new Map<NamedResult, NamedResult>()
  for (const [id, results] of ids) {
    const others = [...(idsBefore.get(id) ?? [])]
    for (const [at, result] of [...results.entries()].reverse()) {
      // One that was shortened is at the same distance from the end, unless others after it were removed.
      const same = others.findLastIndex(({ text }, nth) => nth >= at && text === result.text)
      const origin = others[same >= 0 ? same : others.length - 1]
      if (origin === undefined) break
      others.length = others.indexOf(origin)
      origins.set(result, origin)
    }
  }
  return origins
}

function argumentIn({ id, called }: NamedResult, name: string): string | undefined {
  const key = foldKey(id, name)
  return longArguments(id, called).find(([other]) => other === key)?.[1]
}

/** The text of each result. With an id that occurs twice it is ambiguous which result is meant. */
function shownTexts(results: readonly NamedResult[]): Map<string, string | undefined> {
  const shown = new Map<string, string | undefined>()
  for (const { id, text } of results) shown.set(id, shown.has(id) ? undefined : text)
  return shown
}

/** The results of a history that have an id, or whose calls have one. */
export function namedResults(messages: readonly unknown[], ledger: ToolResultKnowledge | undefined): NamedResult[] {
  const { format, views } = viewsIn(messages)
  if (format === undefined) return []
  const pairs = pairsOf(format, messages, views)
  const found = pairs.results.flatMap(({ message: index, place, call }) => {
    const view = views[index]?.results[place]
    const made = call === undefined ? undefined : pairs.calls[call]
    const called = made && views[made.message]?.calls[made.place]
    const id = view?.callId ?? called?.id
    if (view === undefined || id === undefined) return []
    return [{ index, place, id, text: joinedText(view.text), called, replaceable: view.replaceable }]
  })
  const known = knownResults(ledger, found, warnOfLedger)
  return found.map((result, at) => ({ ...result, folds: known[at]?.folds }))
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
