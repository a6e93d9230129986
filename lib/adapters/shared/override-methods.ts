/** An object with some of its methods replaced. */

/**
 * Returns a view of the object with these members replaced. Methods of its class keep their object, so that private fields
 * work; nothing is written to the object.
 */
export function overlay<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  const bound = new Map<unknown, unknown>()
  // A proxy must show an immutable member as it is, so its target is a copy of a frozen object.
  const shell = Object.keys(members).some((name) => isFixed(target, name)) ? copyWith(target, members) : target
  return new Proxy(shell, {
    get(_, key) {
      if (typeof key === 'string' && Object.hasOwn(members, key)) return members[key]
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function' || key === 'constructor' || Object.hasOwn(target, key)) return value
      if (!bound.has(value)) bound.set(value, value.bind(target))
      return bound.get(value)
    },
    set: (_, key, value) => Reflect.set(target, key, value, target),
  })
}

function isFixed(target: object, name: string): boolean {
  return Object.getOwnPropertyDescriptor(target, name)?.configurable === false
}

/** Returns a copy of an object with some members replaced, including its non-enumerable and inherited members. */
export function copyWith<T extends object>(target: T, members: Readonly<Record<string, unknown>>): T {
  const replaced = Object.entries(members).map(([name, value]) => [
    name,
    { value, enumerable: true, configurable: true, writable: true },
  ])
  return Object.create(Object.getPrototypeOf(target), {
    ...Object.getOwnPropertyDescriptors(target),
    ...Object.fromEntries(replaced),
  })
}
