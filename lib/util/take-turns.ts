/** Lets other work of the process run during long computations. */

import { setImmediate } from 'node:timers/promises'

const MAX_MS = 10

/** Returns a function to await before each step: after 10 ms of steps it lets the event loop run once. */
export function takeTurns(signal?: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < MAX_MS) return undefined
    return setImmediate().then(() => {
      signal?.throwIfAborted()
      since = performance.now()
    })
  }
}
