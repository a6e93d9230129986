/** The two clocks: the time of day, within the range of a date, and the elapsed time. */

/** The last moment that a date can hold. */
const LAST = 8.64e15

/** Returns milliseconds since the epoch, a whole number. A faked clock may return anything. */
export function now(): number {
  const time = Math.trunc(Number(Date.now()))
  return Number.isNaN(time) ? 0 : Math.min(Math.max(time, 0), LAST)
}

// Captured at load, because fake timers replace it. Not that of `performance`, which is loaded with its first use and would
// be a tenth of the time that loading the package takes.
const { hrtime } = process

/** Milliseconds since some moment in the past, in real time. */
export function elapsed(): number {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
