/** Waiting in real time. */

import { elapsed } from './clock'

/** A cancellable delay. */
export interface Timer {
  /** Resolves to `true` when the time is up, to `false` on `cancel()`. */
  done: Promise<boolean>
  cancel: () => void
}

/**
 * Waits for `ms` milliseconds. Libraries that fake timers replace the functions of `node:timers` too, and not always after this
 * module is loaded; they leave a cell of shared memory alone. Does not keep the process alive: see {@link keepAlive}.
 */
export function startTimer(ms: number): Timer {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const wait = async (): Promise<boolean> => {
    for (let left = ms; ; ) {
      const before = elapsed()
      if ((await Atomics.waitAsync(cell, 0, 0, left).value) !== 'timed-out') return false
      const passed = elapsed() - before
      // A clock that does not advance was faked before this module was loaded.
      if (passed >= left || passed <= 0) return true
      // A loop that was busy counts from when it last looked at its clock, and wakes us early.
      left -= passed
    }
  }
  const cancel = () => {
    Atomics.store(cell, 0, 1)
    Atomics.notify(cell, 0)
  }
  return { done: wait(), cancel }
}

let threads: typeof import('node:worker_threads') | undefined

/** Keeps the process alive until the returned function is called: a timer alone does not, an open port does. */
export function keepAlive(): () => void {
  // Loaded when it is needed, which is seldom: it would be a tenth of the time that loading the package takes. Only once, because
  // Jest refuses to load anything for a call that ends after its test.
  threads ??= require('node:worker_threads') as typeof import('node:worker_threads')
  const { port1 } = new threads.MessageChannel()
  port1.ref()
  return () => port1.close()
}
