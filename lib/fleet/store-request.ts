/** Requests to an object store, made again if they fail. */

import { SpillwayError } from '../errors'
import type { ObjectStore } from '../remote/object-store'
import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'

/** @throws SpillwayError with the code and the URL of the store; the reason of an aborted signal */
export async function storeRequest<T>(
  { url }: Pick<ObjectStore, 'url'>,
  code: 'STORAGE_READ' | 'STORAGE_WRITE',
  send: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await withRetries(send, signal)
  } catch (cause) {
    signal?.throwIfAborted()
    throw new SpillwayError(code, `${url}: ${messageOf(cause)}`, { cause })
  }
}
