/** Prunable items of a history, and their keys. */

import type { FoldRecord } from '../types'
import type { PrunedInfo } from './options'
import type { Trim } from './trim'

/** Something in a history that can be left out. */
export class HistoryItem {
  /** Placeholder once it is pruned. */
  placeholder = ''

  constructor(
    readonly kind: PrunedInfo['kind'],
    /** Index of the message. */
    readonly index: number,
    /** Place among the results or calls of the message. */
    readonly place: number,
    readonly tokens: number,
    /** Ids can come twice, and some formats have none: the count and the length tell such items apart. */
    readonly name: string,
    /** Number of items before it with the same name. */
    private readonly nth: number,
    /** UTF-16 units of its text. */
    private readonly units: number,
    readonly toolName: string | undefined,
    readonly toolCallId: string | undefined,
    readonly outputPath: string | undefined,
    /** Where it is cut when it is trimmed. */
    readonly trim: Trim | undefined,
  ) {}

  /** It holds images or other media, which go with its text. */
  hasMedia = false

  /** The folded parts of its text, if it has pointers. */
  folds: FoldRecord | undefined = undefined

  /** A target of its pointers was shortened before the history was read. */
  lacksTarget = false

  /** Its text is sent again, because the target of its pointers is not sent any more. */
  restored = false

  /** The shortened text that would be sent if the targets of its pointers were sent as well. */
  withPointers: string | undefined = undefined

  /** Replacement that is sent, if any. */
  sent: string | undefined = undefined

  /** Names the item permanently, also in another process. Most items never need it. */
  get key(): string {
    return itemKey(this.name, this.nth, this.units)
  }
}

export function itemKey(name: string, nth: number, units: number): string {
  return `${name}#${nth}:${units}`
}

/** How many items have the same name so far. */
export class Namesakes {
  private readonly counts = new Map<string, number>()

  take(name: string): number {
    const nth = this.counts.get(name) ?? 0
    this.counts.set(name, nth + 1)
    return nth
  }

  /** An item of this name no longer exists. */
  drop(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 1) - 1)
  }
}
