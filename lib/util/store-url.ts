/** URLs of object stores, distinguished from file paths by their scheme. */

import { nearest } from './suggest'

/** The schemes of object stores that are opened by URL. */
export const STORE_SCHEMES = ['s3', 'azblob'] as const

/** How an object store is written. */
export const STORE_FORM = 's3://bucket/prefix?endpoint=https://host&region=name or azblob://account/container/prefix'

const BEGINNING = new RegExp(`^(?:${STORE_SCHEMES.join('|')})://`)

/** Returns whether a text is the URL of an object store or of something in one. */
export function isStoreUrl(given: string): boolean {
  return BEGINNING.test(given)
}

/** Returns whether a text is a URL but of no object store: no folder is meant by it. */
export function isOtherUrl(given: string): boolean {
  const schemes = STORE_SCHEMES.join('|')
  return !isStoreUrl(given) && new RegExp(`^(?:[a-z][a-z0-9+.-]+://|(?:${schemes}):)`, 'i').test(given)
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
