/** Lets other work of the process run during long computations. */

import { setImmediate } from 'node:timers/promises'
import { elapsed } from './clock'

const MAX_MS = 10

/** Returns a function to await before each step: after 10 ms of steps it lets the event loop run once. */
export function takeTurns(signal?: AbortSignal): () => Promise<void> | undefined {
  let since = elapsed()
  return () => {
    if (elapsed() - since < MAX_MS) return undefined
    return setImmediate().then(() => {
      signal?.throwIfAborted()
      since = elapsed()
    })
  }
}
