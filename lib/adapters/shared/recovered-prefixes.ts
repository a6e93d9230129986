/**
 * Remembers the recovered form of histories that were too long. A framework brings the whole history again with the next request; without
 * this it would be refused again each time, and compacted again.
 */

import { createHash } from 'node:crypto'
import { safeStringify } from '../../util/safe-stringify'

/** Maximum number of remembered histories. */
const MAX = 32

interface Known {
  readonly keys: readonly string[]
  readonly instead: readonly unknown[]
}

/** Histories, and the messages that are sent in their place, identified by the content of their messages. */
export class Prefixes {
  readonly #known: Known[] = []
  readonly #keys = new WeakMap<object, string>()

  /** From now on a history that begins with these messages begins with those. */
  remember(messages: readonly unknown[], instead: readonly unknown[]): void {
    this.#known.push({ keys: messages.map((message) => this.#keyOf(message)), instead })
    if (this.#known.length > MAX) this.#known.shift()
  }

  /** The history as it is sent; the array itself if nothing is known of it. */
  apply<M>(messages: readonly M[]): readonly M[] {
    let best: Known | undefined
    for (const known of this.#known) {
      const { length } = known.keys
      if (length > messages.length || length < (best?.keys.length ?? 1)) continue
      if (known.keys.every((key, at) => this.#keyOf(messages[at]) === key)) best = known
    }
    return best === undefined ? messages : [...(best.instead as readonly M[]), ...messages.slice(best.keys.length)]
  }

  /** Frameworks bring the same message in a new object, or the same object; never another text in the same object. */
  #keyOf(message: unknown): string {
    const isObject = typeof message === 'object' && message !== null
    const known = isObject ? this.#keys.get(message) : undefined
    if (known !== undefined) return known
    const key = createHash('sha256').update(safeStringify(message)).digest('base64')
    if (isObject) this.#keys.set(message, key)
    return key
  }
}
