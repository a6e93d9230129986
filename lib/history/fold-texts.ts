/** Texts of folded results without their pointers. */

import type { FoldRecord } from '../types'
import { sha256 } from '../util/crypto'
import { foldKey, showsEdits, unfolded, withoutPointers } from './fold-records'
import type { CallView } from './message-view'

/** Minimum length of an argument that a pointer may refer to. */
const LONG_ARGUMENTS = 300

/** Remembers the texts of results while the targets of their pointers are there: a compaction may take these away. */
export class FoldTexts {
  /** The newest texts of each id. */
  private readonly texts = new Map<string, string>()
  /** The texts of folded results, by their ids and hashes of what is shown of them: an id may be used again. */
  private readonly wholes = new Map<string, string>()

  /** Returns the text of the newest result, or argument, with a key. */
  get(key: string): string | undefined {
    return this.texts.get(key)
  }

  /**
   * Remembers a result after those that it may point to. Returns its text; `undefined` if it has pointers and the text cannot be made of
   * what there is: nothing is known of a text that differs from the one that was folded.
   */
  note(
    toolCallId: string,
    shown: string,
    answered: CallView | undefined,
    folds: FoldRecord | undefined,
  ): string | undefined {
    for (const [key, value] of longArguments(toolCallId, answered)) this.texts.set(key, value)
    // One that got its text back has the record still.
    if (folds === undefined || !showsEdits(shown, folds)) {
      this.texts.set(toolCallId, shown)
      return shown
    }
    const key = ofShown(toolCallId, shown)
    const made = unfolded(shown, folds, (target) => this.texts.get(target))
    const known = [made, this.wholes.get(key), this.texts.get(toolCallId)]
    const whole = known.find((text) => text !== undefined && text.length - shown.length === folds.saved)
    if (whole !== undefined) {
      this.texts.set(toolCallId, whole)
      this.wholes.set(key, whole)
    } else {
      // It would be the text of another result under this id.
      this.texts.delete(toolCallId)
    }
    return made
  }

  /** Returns what is sent in place of a result whose pointers have lost a target: its text, or else a sentence for each pointer. */
  instead(toolCallId: string, shown: string, folds: FoldRecord): string {
    const whole = this.wholes.get(ofShown(toolCallId, shown))
    const isOwn = whole !== undefined && whole.length - shown.length === folds.saved
    return isOwn ? whole : withoutPointers(shown, folds)
  }
}

/** A key that does not hold the text, which may be long. */
function ofShown(toolCallId: string, shown: string): string {
  return `${sha256(shown)} ${toolCallId}`
}

/** Returns the arguments that pointers may refer to, by their keys. */
export function longArguments(toolCallId: string, called: CallView | undefined): [key: string, text: string][] {
  if (called === undefined || called.argsText.length <= LONG_ARGUMENTS) return []
  return Object.entries(called.args() ?? {}).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && value.length > LONG_ARGUMENTS ? [[foldKey(toolCallId, name), value]] : [],
  )
}

/** The result of an id that a pointer in `from` means: the newest before it. */
export function targetOf<T extends { readonly index: number; readonly place: number }>(
  from: T,
  results: readonly T[] = [],
): T | undefined {
  const isBefore = ({ index, place }: T) => index < from.index || (index === from.index && place < from.place)
  return results.length > 1 ? results.findLast(isBefore) : results[0]
}
