/** Folded results of a history: the targets of their pointers, and their texts if a target is no longer sent. */

import { foldKey, targetsOf, unfolded, withoutPointers } from '../fold/restore'
import type { ResultText } from '../history/message-cache'
import type { CallView, ResultView } from '../history/message-view'
import type { FoldRecord } from '../types'
import type { HistoryItem } from './prunable-item'

/** Least units of an argument that a pointer may refer to. */
const LONG_ARGUMENTS = 300

export class FoldedResults {
  /** Text without pointers of each result that is known by its call. */
  private readonly texts = new Map<string, string>()

  /**
   * Remembers the text of a result without pointers as long as its targets are there: a compaction may take them away.
   * Where texts differ from those that were folded, nothing is known.
   */
  note(
    item: HistoryItem,
    { text, replaceable }: ResultView,
    answered: CallView | undefined,
    folds: FoldRecord | undefined,
  ): void {
    const { toolCallId } = item
    if (toolCallId === undefined) return
    const args = answered !== undefined && answered.argsText.length > LONG_ARGUMENTS ? answered.args() : undefined
    for (const [name, value] of Object.entries(args ?? {})) {
      if (typeof value === 'string' && value.length > LONG_ARGUMENTS) {
        this.texts.set(foldKey(toolCallId, name), value)
      }
    }
    const shown = typeof text === 'string' ? text : text.join('\n')
    if (folds === undefined) {
      this.texts.set(toolCallId, shown)
      return
    }
    const before = this.texts.get(toolCallId)
    const whole = unfolded(shown, folds, (id) => this.texts.get(id))
    if (whole !== undefined) this.texts.set(toolCallId, whole)
    // Facts about another text under this id are dropped; those about this text stay.
    else if (before !== undefined && before.length - shown.length !== folds.saved) this.texts.delete(toolCallId)
    if (replaceable && targetsOf(folds).size > 0) item.folds = folds
  }

  /**
   * Gives folded results their text back where a target of theirs is left out or not in the history, and returns all that have
   * theirs back by now. A pointer is never sent without its target, and `cleared` are results that the provider leaves out.
   */
  restore(
    items: readonly HistoryItem[],
    cleared: ReadonlySet<HistoryItem>,
    textOf: (item: HistoryItem) => ResultText,
    send: (item: HistoryItem, text: string) => void,
  ): HistoryItem[] {
    const folded = items.filter(({ folds, sent }) => folds !== undefined && sent === undefined)
    const restored = items.filter((item) => item.restored)
    if (folded.length === 0) return restored
    const shown = new Map<string, boolean>()
    const shortened = new Set<string>()
    for (const item of items) {
      const { kind, toolCallId, sent, restored } = item
      if (kind === 'arguments' && toolCallId !== undefined && sent !== undefined) shortened.add(toolCallId)
      // With an id that occurs twice it is ambiguous which result is meant.
      if (kind === 'result' && toolCallId !== undefined) {
        const isShown = !cleared.has(item) && (sent === undefined || restored)
        shown.set(toolCallId, !shown.has(toolCallId) && isShown)
      }
    }
    for (const item of folded) {
      const record = item.folds as FoldRecord
      const isShown = ({ toolCallId, argument }: { toolCallId: string; argument?: string }) =>
        argument === undefined ? shown.get(toolCallId) === true : shown.has(toolCallId) && !shortened.has(toolCallId)
      if ([...targetsOf(record).values()].every(isShown)) continue
      const text = textOf(item)
      const own = typeof text === 'string' ? text : text.join('\n')
      const whole = this.texts.get(item.toolCallId as string)
      const isOwn = whole !== undefined && whole.length - own.length === record.saved
      item.restored = true
      restored.push(item)
      send(item, isOwn ? whole : withoutPointers(own, record))
    }
    return restored
  }
}
