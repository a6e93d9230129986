/** Changing a few values deep inside of a message, in a copy that shares everything else with it. */

/** A place, key by key from the message, and what comes there. {@link REMOVED} takes the property away. */
export type Edit = readonly [path: readonly PropertyKey[], value: unknown]

export const REMOVED = Symbol('removed')

/** A copy of the message with these changes. Objects on the way to a change are copied, all others are shared. */
export function edited(message: object, edits: readonly Edit[]): object {
  if (edits.length === 0) return message
  const root = shallowCopy(message)
  // Most changes are of the message itself.
  let fresh: Set<object> | undefined
  for (const [path, value] of edits) {
    let holder = root
    for (let at = 0; at < path.length - 1; at++) {
      const key = path[at] as PropertyKey
      let inner = (holder as Record<PropertyKey, unknown>)[key] as object
      fresh ??= new Set([root])
      if (!fresh.has(inner)) {
        inner = shallowCopy(inner)
        fresh.add(inner)
        put(holder, key, inner)
      }
      holder = inner
    }
    const last = path[path.length - 1] as PropertyKey
    if (value === REMOVED) Reflect.deleteProperty(holder, last)
    else put(holder, last, value)
  }
  return root
}

/** A copy of an instance is an instance, and what was frozen can be changed in the copy. */
function shallowCopy(value: object): object {
  if (Array.isArray(value)) return value.slice()
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) return { ...value }
  const copy = Object.create(prototype)
  for (const key of Reflect.ownKeys(value)) {
    const own = Object.getOwnPropertyDescriptor(value, key)
    if (own === undefined) continue
    Object.defineProperty(copy, key, { ...own, configurable: true, ...('value' in own && { writable: true }) })
  }
  return copy
}

/** Sets a property of a copy. */
function put(holder: object, key: PropertyKey, value: unknown): void {
  // A copy by spread has no own getters.
  if (Object.getPrototypeOf(holder) === Object.prototype && Object.hasOwn(holder, key)) {
    ;(holder as Record<PropertyKey, unknown>)[key] = value
    return
  }
  // Not an assignment: a class may have the name as a getter without a setter, and `__proto__` is one.
  const enumerable = Object.getOwnPropertyDescriptor(holder, key)?.enumerable ?? true
  Object.defineProperty(holder, key, { value, enumerable, configurable: true, writable: true })
}
