/** The message of anything that was thrown. */

import { types } from 'node:util'
import { safeStringify } from './safe-stringify'

/**
 * The sentence of anything that was thrown.
 * @internal
 */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown
    // Under Jest the system's errors are of another realm, and no `instanceof` knows them. Anything may be thrown.
    const message: unknown = typeof thrown === 'object' && thrown !== null && (thrown as Error).message
    if (typeof message === 'string') return message
    return typeof thrown !== 'object' || types.isNativeError(thrown) ? String(thrown) : safeStringify(thrown)
  } catch {
    return 'a value that cannot be shown'
  }
}
