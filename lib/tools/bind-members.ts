/** Binds the members of a tool. */

/**
 * Everything that a tool has, also what its class gives it, in a plain object: methods keep the tool as theirs, for classes
 * with private fields.
 */
export function boundMembers<T extends object>(tool: T): T {
  const members: Record<string, unknown> = Object.create(null)
  for (let at = Object.getPrototypeOf(tool); isClass(at); at = Object.getPrototypeOf(at)) {
    for (const key of Object.getOwnPropertyNames(at)) {
      if (key !== 'constructor' && !(key in members)) members[key] = memberOf(tool, key)
    }
  }
  return { ...members, ...tool } as T
}

/** All but the prototype of plain objects, of whatever realm. */
function isClass(prototype: object | null): prototype is object {
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}

function memberOf(tool: object, key: string): unknown {
  try {
    const value: unknown = Reflect.get(tool, key)
    return typeof value === 'function' ? value.bind(tool) : value
  } catch {
    return undefined
  }
}
