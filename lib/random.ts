/** Random names. `node:crypto` is loaded with the first of them: it is a tenth of what loading this package takes. */

let loaded: typeof import('node:crypto') | undefined

function crypto(): typeof import('node:crypto') {
  loaded ??= require('node:crypto') as typeof import('node:crypto')
  return loaded
}

/** A UUID of version 4. */
export function randomUUID(): string {
  return crypto().randomUUID()
}

/** So many random bytes. */
export function randomBytes(count: number): Buffer {
  return crypto().randomBytes(count)
}
