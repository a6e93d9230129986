/** Creates an object only if it does not exist yet, on servers with different error codes. */

import { asText } from '../util/guards'
import { withRetries } from '../util/retry'
import { SALVAGED_LINE } from './salvaged-line'

/** How an object is made, and how a server answers. */
export interface NewObject {
  /** Its size. */
  bytes: number
  /** Makes it; with the condition, only if nothing has its key. */
  save: (isConditional: boolean) => Promise<unknown>
  /** The size of the object that has the key; nothing if none has. */
  sizeOf: () => Promise<number | undefined>
  /** True for the answer that the key is taken. */
  isThere: (error: unknown) => boolean
}

/**
 * Makes an object that is not there yet. Not every server obeys the condition; that no two outputs have one key is what the random
 * part of keys is for. An object of the same size is that of an earlier request whose answer was lost; one that was salvaged has some or
 * all of the bytes, and a line after them.
 */
export async function makeNew({ bytes, save, sizeOf, isThere }: NewObject): Promise<void> {
  try {
    await save(true)
  } catch (error) {
    const isKnown = isThere(error)
    // Also the answer may be lost with the connection.
    if (!isKnown && !isCutOff(error)) throw error
    // The client may send this on the connection that the server has closed: it refused before it had read the body.
    const size = await withRetries(sizeOf).catch((failure) => {
      throw isKnown ? failure : error
    })
    const found = size ?? (isKnown ? 0 : undefined)
    const isSalvaged = found !== undefined && found !== bytes && found <= bytes + SALVAGED_LINE.length
    if (isSalvaged) await save(false)
    else if (found !== bytes) throw error
  }
}

const CUT_OFF = new Set(['EPIPE', 'ECONNRESET'])

/** True if a connection was closed while a request was sent. */
function isCutOff(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  return CUT_OFF.has(asText(code)) || (cause !== undefined && isCutOff(cause))
}
