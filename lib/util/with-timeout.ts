/** Waits for a callback of the caller's, with a time limit. */

import { keepAlive, startTimer } from './timer'

/** Rejection of {@link withTimeout} after the timeout. */
export class TimeoutError extends Error {}

/**
 * The answer of a callback, or a rejection when the time is up, or when a signal says so: the callback may never settle.
 * `onLate` is called when the time is up.
 */
export async function withTimeout<T>(
  ms: number,
  work: () => T | PromiseLike<T>,
  { signal, onLate }: { signal?: AbortSignal | undefined; onLate?: () => void } = {},
): Promise<T> {
  const answer = work()
  if (typeof (answer as PromiseLike<T> | null)?.then !== 'function') return answer
  const wait = Number.isFinite(ms) ? startTimer(ms) : undefined
  const release = keepAlive()
  let stop: (() => void) | undefined
  const late = new Promise<never>((_, reject) => {
    wait?.rings.then((rang) => {
      if (!rang) return
      onLate?.()
      reject(new TimeoutError(`took longer than ${ms} ms`))
    })
    stop = () => reject(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    release()
    wait?.cancel()
    if (stop) signal?.removeEventListener('abort', stop)
    // It may still fail after the last listener is gone.
    Promise.resolve(answer).catch(() => {})
  }
}
