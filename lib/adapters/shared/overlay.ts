/** An object with some of its methods replaced. */

/**
 * The same object to whoever uses it, but for these members. Methods keep their object, so that classes with private fields
 * work; nothing is written to the object.
 */
export function overlay<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(object, key) {
      if (typeof key === 'string' && Object.hasOwn(members, key)) return members[key]
      const value: unknown = Reflect.get(object, key, object)
      return typeof value === 'function' && key !== 'constructor' ? value.bind(object) : value
    },
    set: (object, key, value) => Reflect.set(object, key, value, object),
  })
}

/** A copy of an object with some members replaced; what is not enumerable and what it inherits comes with it. */
export function copyWith<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  const copy = Object.create(Object.getPrototypeOf(target), Object.getOwnPropertyDescriptors(target))
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy
}
