/** Type guards that every value may be given to. */

/** True if this is an array that can be read at all: a proxy can refuse even that. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value) && value.length >= 0
  } catch {
    return false
  }
}
