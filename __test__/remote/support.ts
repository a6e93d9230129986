/** Object stores for tests: one that counts requests, one that breaks the n-th. */

import type { ObjectStore } from 'spillway/remote'
import { MemoryObjects } from 'spillway/remote'

/** The keys of a store. */
export async function keysOf(objects: ObjectStore): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of objects.list('')) keys.push(key)
  return keys
}

/** A request as it was made: `put o/…`. */
export interface Request {
  name: string
  key: string
  bytes: number
}

/** Passes every request to another store, by way of `around`. */
export function through(
  objects: ObjectStore,
  around: (request: Request, send: () => Promise<unknown>) => Promise<unknown>,
): ObjectStore {
  const pass =
    (name: string, send: (...args: never[]) => Promise<unknown>) =>
    (...args: unknown[]) => {
      const body = args.find((arg) => arg instanceof Uint8Array) as Uint8Array | undefined
      const request = { name, key: String(args[0]), bytes: body?.length ?? 0 }
      return around(request, () => send.apply(objects, args as never[]))
    }
  const listed = (name: 'list' | 'uploads') =>
    async function* (prefix: string) {
      const all: unknown[] = []
      await around({ name, key: prefix, bytes: 0 }, async () => {
        all.length = 0
        for await (const each of objects[name]!(prefix)) all.push(each)
      })
      yield* all
    }
  const names = ['put', 'begin', 'part', 'complete', 'abort', 'get', 'remove', 'parts'] as const
  const passed = names.map((name) => [name, pass(name, objects[name] as never)])
  return { url: objects.url, ...Object.fromEntries(passed), list: listed('list'), uploads: listed('uploads') }
}

/** A store that keeps a list of the requests made to it. */
export function counted(objects: ObjectStore = new MemoryObjects()): { objects: ObjectStore; requests: Request[] } {
  const requests: Request[] = []
  const counting = through(objects, (request, send) => {
    requests.push(request)
    return send()
  })
  return { objects: counting, requests }
}

/** The ways in which a request breaks. */
export const BREAKS: Record<string, (send: () => Promise<unknown>) => Promise<unknown>> = {
  'is refused': () => Promise.reject(new Error('503 SlowDown')),
  'is done, but its answer is lost': async (send) => {
    await send()
    throw new Error('socket hang up')
  },
  'is made twice': async (send) => {
    await send()
    return send()
  },
}

/** A store whose n-th request, from 1, breaks. */
export function breaking(objects: ObjectStore, nth: number, how: (send: () => Promise<unknown>) => Promise<unknown>) {
  let made = 0
  return through(objects, (_request, send) => {
    made += 1
    return made === nth ? how(send) : send()
  })
}
