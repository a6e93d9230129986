/**
 * Remembers the form in which each result was shown to the model. The SDK asks for it apart from the call, and again whenever a history of its user
 * interface becomes messages.
 */

import { createHash } from 'node:crypto'
import { LruCache } from '../../util/lru-cache'
import { safeStringify } from '../../util/safe-stringify'
import type { ModelOutput } from './output'

/** Maximum number of remembered results; mostly the newest are asked for. */
const MAX = 256
/** A longer text is compared by its two ends and its length. */
const MAX_UNITS = 2 ** 19

/** The shown forms, by call and by content. Content alone gives the form without pointers if several calls had it. */
export class Shown {
  readonly #outputs = new LruCache<string, ModelOutput | 'as it is'>(MAX)

  /** `undefined` for what was shown as it is; `unfolded` is `output` with the lines that pointers of it stand for. */
  remember(
    toolCallId: string | undefined,
    value: unknown,
    output: ModelOutput | undefined,
    unfolded: ModelOutput | undefined,
  ): void {
    const print = printOf(value)
    const isKnown = this.#outputs.get(print) !== undefined
    this.#outputs.set(print, (isKnown ? unfolded : undefined) ?? output ?? 'as it is')
    if (typeof toolCallId === 'string') this.#outputs.set(`${toolCallId} ${print}`, output ?? 'as it is')
  }

  /** Returns the shown form of this result, by its content alone where the SDK does not name the call. */
  recall(toolCallId: string | undefined, value: unknown): ModelOutput | 'as it is' | undefined {
    const print = printOf(value)
    return this.#outputs.get(typeof toolCallId === 'string' ? `${toolCallId} ${print}` : print)
  }
}

function printOf(value: unknown): string {
  const text = typeof value === 'string' ? value : safeStringify(value)
  const { length } = text
  const hash = createHash('sha256').update(`${typeof value} ${length} `)
  if (length <= MAX_UNITS) return hash.update(text).digest('base64')
  return hash
    .update(text.slice(0, MAX_UNITS / 2))
    .update(text.slice(-MAX_UNITS / 2))
    .digest('base64')
}
