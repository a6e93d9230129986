/**
 * The only door to the binary. Nothing else imports `binary.ts`, and no error or object made natively gets past here:
 * under Jest and Vitest's vm pools those belong to another realm.
 */

import type * as Binding from '../../binding'
import { SpillwayError, type SpillwayErrorCode } from '../errors'
import { Semaphore } from '../util/semaphore'
import { loadBinary } from './load-binary'

/** The binary's functions as they are. Use {@link call} and {@link background} around those that can fail. */
export const native: typeof Binding = loadBinary()

/** Turns what the binary threw into the public error. */
export function toSpillwayError(thrown: unknown): SpillwayError {
  if (thrown instanceof SpillwayError) return thrown
  const text = (thrown as { message?: unknown } | null)?.message
  if (typeof text === 'string' && text.startsWith('{"code":')) {
    const { code, message, field } = JSON.parse(text) as { code: SpillwayErrorCode; message: string; field?: string }
    return new SpillwayError(code, message, field ? { field } : {})
  }
  return new SpillwayError('INTERNAL', typeof text === 'string' ? text : String(thrown))
}

/** Calls into the binary and throws only public errors. */
export function call<T>(work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    throw toSpillwayError(thrown)
  }
}

/** The host's `fs`, `dns` and `crypto` share libuv's four threads with us: two are left to them. */
const threads = new Semaphore(2)

/** Runs work on a thread of libuv's pool, at most two at a time, and rejects only with public errors. */
export async function background<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await threads.take(start)
  } catch (thrown) {
    throw toSpillwayError(thrown)
  }
}
