/** Waiting for something that another process stores. */

import { elapsed } from '../util/clock'
import { waitMs } from '../util/retry'
import { keepAlive, startTimer } from '../util/timer'
import { TimeoutError, withTimeout } from '../util/with-timeout'

/** How to look for an answer, and how long. */
export interface Wait<T> {
  /** Looks once. */
  look: () => Promise<T | undefined>
  /** Calls `wake` when there may be an answer, until the returned function is called. */
  watch: (wake: () => void) => () => void
  /** Longest time between two looks. */
  pollMs: number
  /** Ends the wait without an answer. */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Receives the failure of a look, which is made again. Never throws. */
  onError: (error: unknown) => void
}

/**
 * Looks until there is an answer. Resolves to nothing when the time is up, even while a look hangs.
 * @throws the reason of the signal
 */
export async function waitForAnswer<T>({ look, watch, ...wait }: Wait<T>): Promise<T | undefined> {
  const { pollMs, timeoutMs, signal, onError } = wait
  const end = elapsed() + timeoutMs
  const wakeup = new Wakeup()
  const wake = () => wakeup.wake()
  // First, so that an answer between the first look and the first wait wakes it.
  const unwatch = watch(wake)
  signal?.addEventListener('abort', wake, { once: true })
  const release = keepAlive()
  try {
    for (let failures = 0; ; ) {
      signal?.throwIfAborted()
      const left = end - elapsed()
      if (left <= 0) return undefined
      try {
        const found = await withTimeout(left, look, { signal })
        if (found !== undefined) return found
        failures = 0
        await wakeup.wait(Math.min(pollMs, end - elapsed()))
      } catch (error) {
        signal?.throwIfAborted()
        // The time is up.
        if (error instanceof TimeoutError) continue
        failures += 1
        onError(error)
        await wakeup.wait(Math.min(waitMs(failures, pollMs), end - elapsed()))
      }
    }
  } finally {
    release()
    signal?.removeEventListener('abort', wake)
    unwatch()
  }
}

/** Ends a wait early. A call of `wake` between two waits ends the next one at once. */
class Wakeup {
  private isWoken = false
  private cancel: (() => void) | undefined

  wake(): void {
    this.isWoken = true
    this.cancel?.()
  }

  async wait(ms: number): Promise<void> {
    if (!this.isWoken && ms > 0) {
      // A timer without a finite time never ends.
      const { done, cancel } = startTimer(Math.min(ms, 2 ** 31))
      this.cancel = cancel
      await done
      this.cancel = undefined
    }
    this.isWoken = false
  }
}
