/** URLs of object stores, distinguished from file paths by their scheme. */

import { nearest } from './suggest'

/** The schemes of object stores that are opened by URL. */
export const STORE_SCHEMES = ['s3', 'azblob'] as const

const SCHEMES = STORE_SCHEMES.join('|')
const STORE = new RegExp(`^(?:${SCHEMES})://`)
const WITH_USER = new RegExp(`^(?:${SCHEMES})://[^/?#]*@`)
/** Also a scheme of ours in capitals or without its slashes. */
const ANY_URL = new RegExp(`^(?:[a-z][a-z0-9+.-]+://|(?:${SCHEMES}):)`, 'i')

/** Returns whether a text is the URL of an object store or of something in one. */
export function isStoreUrl(given: string): boolean {
  return STORE.test(given)
}

/** Returns whether a text is a URL that names no object store: no folder is meant by it. */
export function isOtherUrl(given: string): boolean {
  return !isStoreUrl(given) && ANY_URL.test(given)
}

/** The problem of a URL for which {@link hasCredentials} is true. */
export const NO_CREDENTIALS = 'credentials do not belong in it: the environment has them'

/** Returns whether the URL of an object store has a user or a password. */
export function hasCredentials(url: string): boolean {
  return WITH_USER.test(url)
}

/**
 * Returns the end of a message about a URL whose scheme is not among `schemes`, with the nearest one; nothing for any other text. The
 * rest of a URL may have a password in it.
 */
export function wrongScheme(url: string, schemes: readonly string[]): string {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? []
  if (scheme === undefined || schemes.includes(scheme)) return ''
  const meant = nearest(scheme, schemes)
  return `, received ${scheme}://…${meant === undefined ? '' : `; did you mean '${meant}://'?`}`
}
