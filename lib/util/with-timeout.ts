/** Waits for a callback of the caller's, with a time limit and a signal. */

import { keepAlive, startTimer } from './timer'

/** Rejection of {@link withTimeout} after the timeout. */
export class TimeoutError extends Error {}

/**
 * The answer of a callback, or a rejection when the time is up, or when a signal says so: the callback may never settle. If the
 * signal is aborted already, the callback is not called. `onLate` is called when the time is up. `Infinity` is no time limit,
 * and then the wait alone does not keep the process alive.
 */
export async function withTimeout<T>(
  ms: number,
  work: () => T | PromiseLike<T>,
  { signal, onLate }: { signal?: AbortSignal | undefined; onLate?: () => void } = {},
): Promise<T> {
  if (signal?.aborted) throw signal.reason
  const answer = work()
  if (typeof (answer as PromiseLike<T> | null)?.then !== 'function') return answer
  const wait = Number.isFinite(ms) ? startTimer(ms) : undefined
  const release = wait && keepAlive()
  let stop = () => {}
  const late = new Promise<never>((_, reject) => {
    wait?.done.then((isLate) => {
      if (!isLate) return
      onLate?.()
      reject(new TimeoutError(`took longer than ${ms} ms`))
    })
    stop = () => reject(signal?.reason)
    // The callback may have aborted it, and then no listener is called.
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    release?.()
    wait?.cancel()
    signal?.removeEventListener('abort', stop)
    // It may still fail after the last listener is gone.
    Promise.resolve(answer).catch(() => {})
  }
}
