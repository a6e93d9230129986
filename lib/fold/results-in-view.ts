/** Reads which results a history shows to the model, in their order, and which of their lines. */

import { isPointerLine } from '../history/fold-records'
import { FoldTexts } from '../history/fold-texts'
import { warnUnreadable } from '../history/format-warning'
import { viewsIn } from '../history/formats'
import { knownResults } from '../history/known-results'
import { type ToolResultKnowledge, warnOfLedger } from '../history/ledger'
import { joinedText } from '../history/message-cache'
import type { CallView } from '../history/message-view'
import { pairsOf, type ToolPairs } from '../history/tool-pairs'
import { removedBefore } from '../overflow/previous-truncation'
import type { FoldRecord } from '../types'
import { groupedBy } from '../util/grouped'

/** A call of a history. */
export interface CallInView {
  /** The index of the message with its result; of a call that still runs, of the message that made it. */
  readonly message: number
  readonly toolName: string
  /** Absent for a call that is only counted. */
  readonly toolCallId: string | undefined
  readonly args: Readonly<Record<string, unknown>> | undefined
}

/** A call with its result. */
export interface ResultInView extends CallInView {
  /** The result as its tool gave it; absent for a call that is only counted. */
  readonly text: string | undefined
  /** Lines of it that the model does not see: the first of each stretch, and the line after its last. */
  readonly hidden: readonly Stretch[]
}

/** The first line of a stretch, from 0, and the line after its last. */
export type Stretch = readonly [from: number, to: number]

/** The calls of a history, as the model sees them. */
export interface HistoryInView {
  readonly results: readonly ResultInView[]
  /** Calls at the end that may still run. */
  readonly running: readonly CallInView[]
}

/** A result, and what may be known of it. */
interface Found {
  readonly message: number
  readonly toolName: string
  readonly id: string | undefined
  readonly text: string
  readonly called: CallView
  readonly media: number
}

/**
 * Returns the answered calls of a history. Lines count in a folded result as in the text that was folded, if the ledger has its record, because
 * the text is restored from there; otherwise as the result is shown.
 */
export function historyInView(
  place: string,
  messages: readonly unknown[],
  ledger?: ToolResultKnowledge,
): HistoryInView {
  const { format, views } = viewsIn(messages)
  if (format === undefined) {
    warnUnreadable(place, messages, format)
    return { results: [], running: [] }
  }
  const pairs = pairsOf(format, messages, views)
  const callAt = (call: number | undefined): CallView | undefined => {
    const made = call === undefined ? undefined : pairs.calls[call]
    return made && views[made.message]?.calls[made.place]
  }
  const found = pairs.results.flatMap(({ message, place: at, call }): Found[] => {
    const [called, result] = [callAt(call), views[message]?.results[at]]
    // Nothing names a result whose call is not in the history.
    const toolName = called?.name || result?.toolName
    if (called === undefined || result === undefined || !toolName) return []
    const { callId = called.id, text, media } = result
    return [{ message, toolName, id: callId, text: joinedText(text), called, media }]
  })
  const known = knownResults(ledger, found, warnOfLedger)
  const texts = new FoldTexts()
  const newest = new Map([...groupedBy(found, ({ id }) => id)].map(([id, all]) => [id, all.at(-1)]))
  const results = found.map((result, at) => {
    const isNewest = result.id !== undefined && newest.get(result.id) === result
    return resultInView(result, isNewest, known[at]?.folds, texts)
  })
  return { results, running: runningCalls(pairs, callAt) }
}

function resultInView(
  { message, toolName, id, text, called, media }: Found,
  isNewest: boolean,
  folds: FoldRecord | undefined,
  texts: FoldTexts,
): ResultInView {
  const args = called.args()
  const counted = { message, toolName, toolCallId: undefined, args, text: undefined, hidden: [] }
  if (id === undefined) return counted
  const whole = texts.note(id, text, called, folds)
  // A pointer could not tell two results of one id apart.
  if (!isNewest) return counted
  // Lines of a text that was shortened later count otherwise in the stored one.
  if (whole === undefined || media > 0 || removedBefore(text) > 0) return { ...counted, toolCallId: id }
  const hidden = folds === undefined || whole === text ? pointersIn(text) : folds.edits.map(stretchOf)
  return { message, toolName, toolCallId: id, args, text: whole, hidden }
}

function stretchOf({ fromLine, toLine }: FoldRecord['edits'][number]): Stretch {
  return [fromLine, toLine]
}

/** Returns the lines of a shown text that stand for others. */
function pointersIn(text: string): Stretch[] {
  // Most texts have none.
  if (!text.includes('\n[') && !text.startsWith('[')) return []
  return text.split('\n').flatMap((line, at): Stretch[] => (isPointerLine(line) ? [[at, at + 1]] : []))
}

function runningCalls(pairs: ToolPairs, callAt: (call: number) => CallView | undefined): CallInView[] {
  return pairs.open().flatMap(({ call, running }) => {
    const [made, called] = [pairs.calls[call], callAt(call)]
    if (!running || made === undefined || called?.id === undefined || !called.name) return []
    return [{ message: made.message, toolName: called.name, toolCallId: called.id, args: called.args() }]
  })
}
