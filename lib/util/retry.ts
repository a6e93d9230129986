/** Retries failed requests. */

import { keepAlive, startTimer } from './timer'

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
      await pause(waitMs(attempt))
    }
  }
}

/** Returns a random wait in milliseconds, longer with the number of failures. */
export function waitMs(failures: number, mostMs = Number.POSITIVE_INFINITY): number {
  return Math.random() * Math.min(mostMs, FIRST_WAIT_MS * 2 ** (failures - 1))
}

async function pause(ms: number): Promise<void> {
  const release = keepAlive()
  await startTimer(ms).rings
  release()
}
