/** URLs of object stores, which paths of outputs begin with. */

import { wrong } from '../validation/validate'

/**
 * Returns a prefix as keys begin with it: with one slash at its end, or empty.
 * @throws SpillwayError `INVALID_ARGUMENT`
 */
export function checkPrefix(prefix: string): string {
  const trimmed = prefix.replace(/^\/|\/$/g, '')
  if (trimmed === '') return ''
  // Paths are printed in one line, and no client may make another key of one.
  const isPlain = trimmed.split('/').every((part) => /^[\w!.*'()=+-]+$/.test(part) && !/^\.+$/.test(part))
  if (!isPlain || trimmed.length > 512) {
    throw wrong('options.prefix', prefix, "up to 512 letters, digits and !_.*'()=+- with single slashes between them")
  }
  return `${trimmed}/`
}

/** Returns the URL of a prefix, without a slash at its end. */
export function joinUrl(base: string, prefix: string): string {
  return prefix === '' ? base : `${base}/${prefix.slice(0, -1)}`
}
