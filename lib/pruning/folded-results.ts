/** Folded results of a history: the targets of their pointers, and their texts if a target is no longer sent. */

import { foldKey, hasPointers, miscounts, targetsOf, withoutPointers } from '../history/fold-records'
import { FoldTexts, targetOf } from '../history/fold-texts'
import type { ToolResultKnowledge } from '../history/ledger'
import { joinedText, type ResultText } from '../history/message-cache'
import type { CallView, ResultView } from '../history/message-view'
import { noteResults } from '../history/restore-folds'
import { removedBefore } from '../overflow/previous-truncation'
import type { FoldRecord } from '../types'
import { groupedBy } from '../util/grouped'
import type { HistoryItem } from './prunable-item'

export class FoldedResults {
  private readonly texts = new FoldTexts()

  /** Remembers the text of a result without pointers as long as its targets are there. */
  note(
    item: HistoryItem,
    { text, replaceable }: ResultView,
    answered: CallView | undefined,
    folds: FoldRecord | undefined,
  ): void {
    const { toolCallId } = item
    if (toolCallId === undefined) return
    const shown = joinedText(text)
    const isWhole = this.texts.note(toolCallId, shown, answered, folds) !== undefined
    if (!replaceable || folds === undefined || !hasPointers(shown, folds)) return
    item.folds = folds
    item.lacksTarget = !isWhole && this.hasShortenedTarget(folds)
  }

  /** Remembers the texts of a history that is not sent as it is. */
  learn(messages: readonly unknown[], ledger: ToolResultKnowledge): void {
    noteResults(this.texts, messages, ledger)
  }

  /** True if a target was shortened before it came here, so that the lines of a pointer are not in it any more. */
  private hasShortenedTarget(folds: FoldRecord): boolean {
    return folds.edits.some(({ toolCallId, argument, line = 0, fromLine, toLine }) => {
      const text = toolCallId === undefined ? undefined : this.texts.get(foldKey(toolCallId, argument))
      if (text === undefined) return false
      return removedBefore(text) > 0 || text.split('\n').length < line + toLine - fromLine
    })
  }

  /**
   * Gives folded results their text back where a target of theirs is left out or not in the history, and returns all results that lost
   * pointers by now. `cleared` are results that the provider leaves out: a pointer to one of them stays where signed reasoning binds
   * the messages, which is in front of the index `boundTo`, and is restored elsewhere. The keys of those are added to `kept`, because
   * they stay restored once reasoning after them is bound to their text.
   */
  restore(
    items: readonly HistoryItem[],
    { cleared, boundTo, kept }: { cleared: ReadonlySet<HistoryItem>; boundTo: number; kept: Set<string> },
    textOf: (item: HistoryItem) => ResultText,
    send: (item: HistoryItem, text: string) => void,
  ): HistoryItem[] {
    const folded = items.filter(({ folds, restored }) => folds !== undefined && !restored)
    if (folded.length === 0) return items.filter(hasTextBack)
    const results = groupedBy(items, ({ kind, toolCallId }) => (kind === 'result' ? toolCallId : undefined))
    const shortened = new Set(
      items.flatMap(({ kind, toolCallId, sent }) =>
        kind !== 'result' && (kind !== 'arguments' || sent !== undefined) ? (toolCallId ?? []) : [],
      ),
    )
    const isThere = (id: string) => results.has(id)
    for (const item of folded) {
      const record = item.folds as FoldRecord
      const resultOf = (id: string) => targetOf(item, results.get(id))
      const isShown = ({ toolCallId, argument }: { toolCallId: string; argument?: string }) => {
        const target = resultOf(toolCallId)
        if (target === undefined) return false
        if (argument === undefined) return target.sent === undefined || target.restored
        return !shortened.has(toolCallId)
      }
      const { sent, lacksTarget } = item
      const own = sent ?? joinedText(textOf(item))
      if (!hasPointers(own, record)) continue
      const targets = [...targetsOf(record).values()]
      if (!lacksTarget && targets.every(isShown) && !miscounts(record, isThere)) {
        const isCleared = targets.some(({ toolCallId, argument }) => {
          const target = argument === undefined ? resultOf(toolCallId) : undefined
          return target !== undefined && cleared.has(target)
        })
        if (!kept.has(item.key) && (!isCleared || item.index < boundTo)) continue
        kept.add(item.key)
      }
      if (sent === undefined) {
        item.restored = true
        send(item, this.texts.instead(item.toolCallId as string, own, record))
      } else {
        // A result that was shortened stays so.
        item.withPointers = sent
        send(item, withoutPointers(sent, record))
      }
    }
    return items.filter(hasTextBack)
  }
}

function hasTextBack({ restored, withPointers }: HistoryItem): boolean {
  return restored || withPointers !== undefined
}
