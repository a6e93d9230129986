/** The time for the binary, which takes only times that a date can have. */

/** The last moment that a date can hold. */
const LAST = 8.64e15

/** Milliseconds since the epoch, a whole number. What fakes the clock may answer anything. */
export function now(): number {
  const time = Math.trunc(Number(Date.now()))
  return Number.isNaN(time) ? 0 : Math.min(Math.max(time, 0), LAST)
}
