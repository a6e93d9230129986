/** Type guards and conversions that every value may be given to. */

/** Elements of an array that is read. Holes cost nothing to make, and reading a billion of them takes a minute. */
const MAX_ELEMENTS = 2 ** 24

/** True if this is an array that can be read at all: a proxy can refuse even that, and the length can be any number. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value) && value.length <= MAX_ELEMENTS
  } catch {
    return false
  }
}

/** True if a value is a whole number of at least 0 that is exact. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** True if a value is an object with named fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !isRevoked(value) && !Array.isArray(value)
}

/** True if a value is a proxy that was revoked: whatever is asked of it throws. */
export function isRevoked(value: unknown): boolean {
  try {
    // The one question that reaches no trap. Its answer is used, for a bundler leaves out a call without an effect.
    return typeof Array.isArray(value) !== 'boolean'
  } catch {
    return true
  }
}

/**
 * A text as it is, a number as its digits, and an empty text for anything else. `String` throws for some of what JSON can
 * hold: `{"toString": null}`.
 */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}
