/** New part of a history, as the core reads it: numbers in columns, and the paths that were read. */

import { ROLES } from '../history/roles'
import { native } from '../native/native'

const { ITEM_GONE, ITEM_READ, ITEM_TRIMMED } = native

/** A file that was read, and which lines; `null` is its end. */
export type FileRead = [path: string, fromLine: number, toLine: number | null]

/** How much of an item is sent. */
export type ItemForm = 'whole' | 'trimmed' | 'gone'

const FORM_FLAGS: Readonly<Record<ItemForm, number>> = { whole: 0, trimmed: ITEM_TRIMMED, gone: ITEM_GONE }

/** An item, for the binary. */
export interface ItemColumns {
  flags: number
  /** Facts about the text and the tool, as the core encodes them. */
  facts: number
  tokens: number
  /** Tokens of its placeholder, actual or planned. */
  placeholder: number
  /** Tokens once it is trimmed, if it can be. */
  trimmed: number | undefined
  form: ItemForm
  /** Milliseconds since the epoch. */
  time: number | undefined
  /** Requests that have carried it since it could have been pruned. */
  carried: number | null | undefined
  read: FileRead | undefined
}

export class Columns {
  readonly paths: string[] = []
  /** Uses of results, as the core reads them. */
  uses: readonly number[] = []
  private readonly messageNumbers = new Numbers()
  private readonly itemNumbers = new Numbers()

  /** Adds a message; its items are the last `items`, and `thinking` are the tokens of its signed reasoning. */
  message(role: keyof typeof ROLES, tokens: number, items: number, thinking: number, isWithoutThinking: boolean): void {
    const { messageNumbers } = this
    messageNumbers.push(ROLES[role])
    messageNumbers.push(tokens)
    messageNumbers.push(items)
    messageNumbers.push(thinking)
    messageNumbers.push(isWithoutThinking ? 1 : 0)
  }

  /** An item of the message that comes next. */
  item({ flags, facts, tokens, placeholder, trimmed, form, time, carried, read }: ItemColumns): void {
    const { itemNumbers } = this
    itemNumbers.push(flags | FORM_FLAGS[form] | (read === undefined ? 0 : ITEM_READ))
    itemNumbers.push(facts)
    itemNumbers.push(tokens)
    itemNumbers.push(placeholder)
    itemNumbers.push(time ?? Number.NaN)
    itemNumbers.push(carried ?? -1)
    itemNumbers.push(read === undefined ? 0 : read[1])
    itemNumbers.push(read === undefined ? 0 : (read[2] ?? Number.POSITIVE_INFINITY))
    itemNumbers.push(trimmed ?? -1)
    if (read !== undefined) this.paths.push(read[0])
  }

  get messages(): Float64Array {
    return this.messageNumbers.all
  }

  get items(): Float64Array {
    return this.itemNumbers.all
  }
}

/** Numbers that cross as they are. An array of them would have to be copied, one by one. */
class Numbers {
  private held = new Float64Array(64)
  private length = 0

  push(number: number): void {
    if (this.length === this.held.length) {
      const more = new Float64Array(2 * this.length)
      more.set(this.held)
      this.held = more
    }
    this.held[this.length++] = number
  }

  get all(): Float64Array {
    return this.held.subarray(0, this.length)
  }
}
