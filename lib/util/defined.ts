/** Options without those that are `undefined`. */

/** Copies the members that have a value: spread as it is, an option that is `undefined` would take the place of a default. */
export function definedOf<T extends object>(options: { [K in keyof T]: T[K] | undefined } | undefined): T {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined)) as T
}
