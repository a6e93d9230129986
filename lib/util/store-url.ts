/** URLs of object stores, told from paths of files by how they begin. */

/** The schemes of object stores that are opened by URL. */
export const STORE_SCHEMES = ['s3', 'azblob'] as const

const BEGINNING = new RegExp(`^(?:${STORE_SCHEMES.join('|')})://`)

/** Returns whether a text is the URL of an object store or of something in one. */
export function isStoreUrl(given: string): boolean {
  return BEGINNING.test(given)
}
