/** Warnings about failures that must not affect a call, such as those of a callback. */

import { debuglog } from 'node:util'
import { messageOf } from './message-of'

/** Writes to standard error with `NODE_DEBUG=spillway`. */
export const debug = debuglog('spillway')

/**
 * A callback that must answer at once may be asynchronous by mistake: its failure is reported, not left unhandled.
 * Answers whether it was.
 */
export function catchLater(place: string, answer: unknown): boolean {
  const isPromise = typeof (answer as PromiseLike<unknown> | null)?.then === 'function'
  if (isPromise) Promise.resolve(answer).catch((error) => warn(place, error))
  return isPromise
}

/**
 * Calls a callback that only learns something, if there is one. A failure of it, at once or later, is one warning and reaches
 * neither the caller of this function nor the process.
 */
export function tellCaller<Given extends unknown[]>(
  place: string,
  callback: ((...given: Given) => unknown) | undefined,
  ...given: Given
): void {
  try {
    catchLater(place, callback?.(...given))
  } catch (error) {
    warn(place, error)
  }
}

/** Reports what went wrong in a place of the caller's where a person can find it and no call trips over it. */
export function warn(place: string, error: unknown): void {
  process.emitWarning(`${place}: ${messageOf(error)}`, 'SpillwayWarning')
}
