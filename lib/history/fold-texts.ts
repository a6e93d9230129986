/** Texts of folded results without their pointers. */

import { foldKey, unfolded, withoutPointers } from '../fold/restore'
import type { FoldRecord } from '../types'
import type { CallView } from './message-view'

/** Minimum length of an argument that a pointer may refer to. */
const LONG_ARGUMENTS = 300

/** Remembers the texts of results while the targets of their pointers are there: a compaction may take these away. */
export class FoldTexts {
  private readonly texts = new Map<string, string>()

  /** Returns the text of a result, or of an argument, by its key. */
  get(key: string): string | undefined {
    return this.texts.get(key)
  }

  /**
   * Remembers a result after those that it may point to. Returns false if it has pointers and its text cannot be made of what there is:
   * nothing is known of a text that differs from the one that was folded.
   */
  note(toolCallId: string, shown: string, answered: CallView | undefined, folds: FoldRecord | undefined): boolean {
    for (const [key, value] of longArguments(toolCallId, answered)) this.texts.set(key, value)
    if (folds === undefined) {
      this.texts.set(toolCallId, shown)
      return true
    }
    const before = this.texts.get(toolCallId)
    const whole = unfolded(shown, folds, (key) => this.texts.get(key))
    if (whole !== undefined) this.texts.set(toolCallId, whole)
    // Facts about another text under this id are dropped; those about this text stay.
    else if (before !== undefined && before.length - shown.length !== folds.saved) this.texts.delete(toolCallId)
    return whole !== undefined
  }

  /** Returns what is sent in place of a result whose pointers have lost a target: its text, or else a sentence for each pointer. */
  instead(toolCallId: string, shown: string, folds: FoldRecord): string {
    const whole = this.texts.get(toolCallId)
    const isOwn = whole !== undefined && whole.length - shown.length === folds.saved
    return isOwn ? whole : withoutPointers(shown, folds)
  }
}

/** Returns the arguments that pointers may refer to, by their keys. */
export function longArguments(toolCallId: string, called: CallView | undefined): [key: string, text: string][] {
  if (called === undefined || called.argsText.length <= LONG_ARGUMENTS) return []
  return Object.entries(called.args() ?? {}).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && value.length > LONG_ARGUMENTS ? [[foldKey(toolCallId, name), value]] : [],
  )
}
