/**
 * Random names, and names made of texts. `node:crypto` is loaded with the first: it is a tenth of what loading this package
 * takes.
 */

let loaded: typeof import('node:crypto') | undefined

function crypto(): typeof import('node:crypto') {
  loaded ??= require('node:crypto') as typeof import('node:crypto')
  return loaded
}

/** A UUID of version 4. */
export function randomUUID(): string {
  return crypto().randomUUID()
}

/** Returns `count` random bytes. */
export function randomBytes(count: number): Buffer {
  return crypto().randomBytes(count)
}

/** A name of a text that no other text has. */
export function sha256(text: string): string {
  return crypto().createHash('sha256').update(text).digest('hex')
}
