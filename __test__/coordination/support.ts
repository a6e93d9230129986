/** A coordination whose calls can be counted, refused, or done without an answer. */

import { SpillwayError } from 'spillway'
import { type Coordination, MemoryCoordination } from 'spillway/remote'

/** Passes every call that a server answers to another coordination, by way of `around`. */
export function throughCoordination(
  coordination: Coordination,
  around: (name: string, send: () => Promise<unknown>) => Promise<unknown>,
): Coordination {
  return new Proxy(coordination, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name === 'watch' || name === 'close') return value.bind(target)
      return (...args: unknown[]) => around(String(name), () => value.apply(target, args))
    },
  })
}

/** The error of a server that cannot be reached. */
export const outage = () => new SpillwayError('COORDINATION', 'connect ECONNREFUSED')

/** A coordination that can be cut off from the one that has the values. */
export function severable(behind: Coordination = new MemoryCoordination()) {
  const state = { isDown: false, behind }
  const coordination = throughCoordination(behind, (_name, send) => (state.isDown ? Promise.reject(outage()) : send()))
  return { coordination, state }
}

/** How a worker is killed at a call: before it reaches the server, or after. */
export const KILLS = { before: false, after: true }

/** A coordination of a worker that dies at its n-th call, from 1. */
export function mortal(behind: Coordination, nth: number, isDone: boolean): Coordination {
  let made = 0
  return throughCoordination(behind, async (_name, send) => {
    made += 1
    if (made < nth) return send()
    if (made === nth && isDone) await send()
    // Nothing happens in a dead worker any more.
    return new Promise(() => {})
  })
}
