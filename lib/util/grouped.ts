/** Values by a key of theirs. */

/** Returns values by their keys, in their order. A value without a key is left out. */
export function groupedBy<T>(values: Iterable<T>, keyOf: (value: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    if (key === undefined) continue
    const others = groups.get(key)
    if (others === undefined) groups.set(key, [value])
    else others.push(value)
  }
  return groups
}
