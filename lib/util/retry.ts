/** Retries failed requests. */

import { keepAlive, startTimer } from './timer'
import { withTimeout } from './with-timeout'

/** Requests for one answer, the first included. */
const ATTEMPTS = 3

/** Longest wait before the second request; it doubles with each. */
const FIRST_WAIT_MS = 100

/**
 * Makes a request up to three times. The waits are random, so that workers whose requests failed together do not all come back at
 * once.
 */
export async function withRetries<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted()
    try {
      return await request()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await pause(waitMs(attempt), signal)
    }
  }
}

/** Returns a random wait in milliseconds, longer with the number of failures. */
export function waitMs(failures: number, maxMs = Number.POSITIVE_INFINITY): number {
  return Math.random() * Math.min(maxMs, FIRST_WAIT_MS * 2 ** (failures - 1))
}

/** Waits, unless the signal is aborted. @throws the reason of the signal */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const timer = startTimer(ms)
  const release = keepAlive()
  try {
    await withTimeout(Number.POSITIVE_INFINITY, () => timer.done, { signal })
  } finally {
    release()
    timer.cancel()
  }
}
