/** Least recently used cache. */

const MAX = 1000

/** Values by key; of more than `capacity`, those not used for longest are forgotten. */
export class LruCache<K, V> {
  readonly #values = new Map<K, V>()
  readonly #capacity: number

  constructor(capacity = MAX) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#values.size
  }

  get(key: K): V | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#capacity) this.#values.delete(this.#values.keys().next().value as K)
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#values.entries()
  }

  delete(key: K): boolean {
    return this.#values.delete(key)
  }
}
