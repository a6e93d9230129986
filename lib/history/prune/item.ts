/** What can be left out of a history, and how it is known again. */

import type { PrunedInfo } from './options'
import type { Trim } from './trim'

/** Something in a history that can be left out. */
export class HistoryItem {
  /** What stands for it once it is left out. */
  placeholder = ''

  constructor(
    readonly kind: PrunedInfo['kind'],
    /** Index of the message. */
    readonly index: number,
    /** Place among the results or calls of the message. */
    readonly place: number,
    readonly tokens: number,
    private readonly name: ItemName,
    readonly toolName: string | undefined,
    readonly toolCallId: string | undefined,
    readonly outputPath: string | undefined,
    /** Where it is cut when it is trimmed. */
    readonly trim: Trim | undefined,
  ) {}

  /** Names the item for good, also in another process. Of most items nobody asks for it. */
  get key(): string {
    return keyOf(this.name)
  }
}

/** Ids can come twice, and some formats have none: the count and the length tell such items apart. */
export interface ItemName {
  readonly name: string
  /** So many items before it have the same name. */
  readonly nth: number
  /** UTF-16 units of its text. */
  readonly units: number
}

export function keyOf({ name, nth, units }: ItemName): string {
  return `${name}#${nth}:${units}`
}

/** How many items have the same name so far. */
export class Namesakes {
  private readonly counts = new Map<string, number>()

  take(name: string, units: number): ItemName {
    const nth = this.counts.get(name) ?? 0
    this.counts.set(name, nth + 1)
    return { name, nth, units }
  }

  /** Of these items nothing is left: one for each name. */
  drop(names: readonly string[]): void {
    for (const name of names) this.counts.set(name, (this.counts.get(name) ?? 1) - 1)
  }
}
