/** Waiting in real time. */

/** A wait that can be called off. */
export interface Alarm {
  /** Resolves when the time is up: `true`, or `false` if it was called off. */
  rings: Promise<boolean>
  cancel: () => void
}

/**
 * Waits so many milliseconds. What fakes timers replaces the functions of `node:timers` too, and not always after we are
 * loaded; a cell of shared memory it leaves alone. Does not keep the process alive.
 */
export function alarm(ms: number): Alarm {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const rings = Promise.resolve(Atomics.waitAsync(cell, 0, 0, ms).value).then((how) => how === 'timed-out')
  return { rings, cancel: () => void Atomics.notify(cell, 0) }
}
