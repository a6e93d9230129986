/** Copies arguments of a caller or a model, so that they cannot change after they were checked. */

import { types } from 'node:util'
import { isArray } from './guards'

/** Deeper values are handed on as they are; nothing that is JSON is so deep. */
const DEEPEST = 200

/**
 * Copies plain objects and arrays, each once however often it is referred to; returns anything else as it is. Never throws.
 * A value that may change between reads (`toJSON`, a getter, a proxy) is read once.
 */
export function deepClone(value: unknown): unknown {
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
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function' && !isBuiltIn(value)) {
      const json: unknown = toJSON.call(value)
      if (json !== value) {
        const copy = copyOf(json, depth + 1, copies)
        copies.set(value, copy)
        return copy
      }
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null
    if (!isPlain && typeof toJSON !== 'function' && !types.isProxy(value) && !hasGetter(value)) return value
    if (!isPlain && isBuiltIn(value)) return value
    const copy: Record<string, unknown> = {}
    copies.set(value, copy)
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'toJSON' && typeof inner === 'function') continue
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

/** True if JSON makes of a value what it holds itself. */
function isBuiltIn(value: object): boolean {
  if (types.isProxy(value) || Object.hasOwn(value, 'toJSON')) return false
  return types.isDate(value) || ArrayBuffer.isView(value) || value instanceof URL || value instanceof URLSearchParams
}

function hasGetter(value: object): boolean {
  return Object.values(Object.getOwnPropertyDescriptors(value)).some(({ get }) => get !== undefined)
}
