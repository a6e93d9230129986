/**
 * Random names, and names made of texts. `node:crypto` is loaded with the first: it is a tenth of what loading this package
 * takes.
 */

import type { Hash } from 'node:crypto'

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

/** A SHA-256 hash that takes its text piece by piece. */
export function sha256Hash(): Hash {
  return crypto().createHash('sha256')
}

/** A name of a text that no other text has. */
export function sha256(text: string): string {
  return sha256Hash().update(text).digest('hex')
}
