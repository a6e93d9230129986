/** What is new in a history, as the binary wants it: numbers in columns, and the paths that were read. */

import { native } from '../../native'
import type { MessageView } from '../view'

const { ITEM_GONE, ITEM_READ, ITEM_TRIMMED } = native

/** A file that was read, and which lines; `null` is its end. */
export type FileRead = [path: string, fromLine: number, toLine: number | null]

/** How much of an item is sent. */
export type ItemForm = 'whole' | 'trimmed' | 'gone'

const FORM_FLAGS: Readonly<Record<ItemForm, number>> = { whole: 0, trimmed: ITEM_TRIMMED, gone: ITEM_GONE }

/** An item, for the binary. */
export interface ItemColumns {
  flags: number
  /** What the text and the tool say, in the binary's terms. */
  facts: number
  tokens: number
  /** Tokens of what stands in its place, or would. */
  placeholder: number
  /** Tokens once it is trimmed, if it can be. */
  trimmed: number | undefined
  form: ItemForm
  /** Milliseconds since the epoch. */
  time: number | undefined
  /** Requests that have carried it since it could have gone. */
  carried: number | null | undefined
  read: FileRead | undefined
}

const ROLES: Record<MessageView['role'] | 'summary', number> = {
  user: 0,
  assistant: 1,
  summary: 2,
  system: 3,
  tool: 3,
  other: 3,
}

export class Columns {
  readonly paths: string[] = []
  private readonly messageNumbers: number[] = []
  private readonly itemNumbers: number[] = []

  /** A message; its items are those that come before the next one. */
  message(role: keyof typeof ROLES, tokens: number, items: readonly ItemColumns[]): void {
    this.messageNumbers.push(ROLES[role], tokens, items.length)
    for (const item of items) this.item(item)
  }

  get messages(): Float64Array {
    return new Float64Array(this.messageNumbers)
  }

  get items(): Float64Array {
    return new Float64Array(this.itemNumbers)
  }

  private item({ flags, facts, tokens, placeholder, trimmed, form, time, carried, read }: ItemColumns): void {
    const all = flags | FORM_FLAGS[form] | (read !== undefined ? ITEM_READ : 0)
    const [path, fromLine, toLine] = read ?? ['', 0, 0]
    if (read !== undefined) this.paths.push(path)
    const lines = [fromLine, toLine ?? Number.POSITIVE_INFINITY] as const
    const sizes = [tokens, placeholder] as const
    this.itemNumbers.push(all, facts, ...sizes, time ?? Number.NaN, carried ?? -1, ...lines, trimmed ?? -1)
  }
}
