/** Copies of what a caller or a model handed over, so that nobody changes what was judged. */

import { isArray } from './context'

/** Deeper values are handed on as they are; nothing that is JSON is so deep. */
const DEEPEST = 200

/** Plain objects and arrays anew, each once however often it is referred to; anything else is handed on. Never throws. */
export function plainCopy(value: unknown): unknown {
  return copyOf(value, 0, new Map())
}

function copyOf(value: unknown, depth: number, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  if (copies.has(value)) return copies.get(value)
  try {
    if (isArray(value)) {
      const copy: unknown[] = []
      copies.set(value, copy)
      for (const item of value) copy.push(copyOf(item, depth + 1, copies))
      return copy
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value
    const copy: Record<string, unknown> = {}
    copies.set(value, copy)
    for (const [key, inner] of Object.entries(value)) {
      const own = copyOf(inner, depth + 1, copies)
      // An assignment would change the prototype.
      if (key === '__proto__') {
        Object.defineProperty(copy, key, { value: own, enumerable: true, configurable: true, writable: true })
      } else {
        copy[key] = own
      }
    }
    return copy
  } catch {
    copies.set(value, value)
    return value
  }
}
