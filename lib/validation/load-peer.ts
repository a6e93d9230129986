/** Loads optional peer packages. */

import { SpillwayError } from '../errors'
import { messageOf } from '../util/message-of'

/**
 * Returns the module of an optional package.
 *
 * @param load calls `require` with the name, so that bundlers see it
 * @param user the function that needs it
 * @throws SpillwayError `INVALID_CONFIG` that says how to install it
 */
export function loadPeer<T>(load: () => T, user: string, name: string): T {
  try {
    return load()
  } catch (cause) {
    const [first = ''] = messageOf(cause).split('\n')
    const isMissing = (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND' && first.includes(`'${name}'`)
    const remedy = isMissing ? `it is not installed beside Spillway: npm install ${name}` : first
    throw new SpillwayError('INVALID_CONFIG', `${user} needs the package ${name}: ${remedy}`, { cause })
  }
}
