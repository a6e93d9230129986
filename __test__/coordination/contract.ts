/** Tests that every coordination must pass, whichever server has the values. */

import { randomUUID } from 'node:crypto'
import type { Coordination } from 'spillway/remote'
import { rejection } from '../support/outputs'

const HOUR = 3_600_000

/** A key that no other test has. */
export const newKey = (folder = 'values') => `${folder}/${randomUUID()}`

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Resolves when the check passes. A server tells of its clock and of changes in its own time. */
export async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 10_000
  while (!(await check())) {
    if (Date.now() > end) throw new Error('it did not happen within 10 seconds')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** @param workers returns several clients of one server */
export function coordinationContract(workers: () => Coordination[]): void {
  let all: Coordination[]
  let one: Coordination
  let other: Coordination
  const everyWorker = <T>(count: number, act: (worker: Coordination, at: number) => Promise<T>) =>
    Promise.all(times(count, (at) => act(all[at % all.length]!, at)))

  beforeAll(() => {
    all = workers()
    one = all[0]!
    other = all[1] ?? one
  })

  test('has a value until it is removed', async () => {
    const key = newKey()
    expect(await one.get(key)).toBeUndefined()
    await one.put(key, 'é\n"🙂')
    expect(await other.get(key)).toBe('é\n"🙂')
    await other.put(key, '')
    expect(await one.get(key)).toBe('')
    await other.remove(key)
    await other.remove(key)
    expect(await one.get(key)).toBeUndefined()
  })

  test('forgets a value when its time is over', async () => {
    const [first, second] = [newKey(), newKey()]
    expect(await one.first(first, 'a', 50)).toBe('a')
    await one.put(second, 'a', { ttlMs: 50 })
    await eventually(async () => (await one.get(first)) === undefined && (await one.get(second)) === undefined)
    expect(await other.first(first, 'b', HOUR)).toBe('b')
  })

  test('the first of many values counts', async () => {
    const key = newKey()
    const answers = await everyWorker(50, (worker, at) => worker.first(key, String(at), HOUR))
    expect(new Set(answers).size).toBe(1)
    expect(await one.get(key)).toBe(answers[0])
  })

  test('lists a folder, and nothing below or beside it', async () => {
    const folder = `folder-${randomUUID()}`
    const keys = times(30, (at) => `${folder}/${String(at).padStart(2, '0')}`)
    await everyWorker(30, (worker, at) => worker.put(keys[at]!, String(at)))
    await one.put(`${folder}/below/it`, 'x')
    await one.put(`${folder}s/beside`, 'x')
    await one.put(`${folder}/gone`, 'x', { ttlMs: 1 })
    await one.remove(keys[29]!)
    const known = times(29, (at) => ({ key: keys[at]!, value: String(at) }))
    await eventually(async () => (await other.list(folder)).length === known.length)
    expect(await other.list(folder)).toEqual(known)
    expect(await one.list(`${folder}-none`)).toEqual([])
  })

  test('tells of what is stored and removed in a folder', async () => {
    const folder = `folder-${randomUUID()}`
    const heard: (string | undefined)[] = []
    const unwatch = other.watch(folder, (key) => heard.push(key))
    const after = async (change: () => Promise<unknown>) => {
      // The subscription may not have reached the server: a change before that is reported without a key.
      heard.length = 0
      await change()
      await eventually(() => heard.length > 0)
    }
    await after(() => one.first(`${folder}/a`, 'x', HOUR))
    await after(() => one.put(`${folder}/b`, 'x'))
    heard.length = 0
    await one.put(`${folder}s/c`, 'x')
    await one.remove(`${folder}/a`)
    await eventually(() => heard.includes(`${folder}/a`))
    expect(heard).not.toContain(`${folder}s/c`)
    unwatch()
    const heardBefore = heard.length
    const witness = new Promise<void>((resolve) => {
      const end = other.watch(folder, () => resolve(end()))
    })
    await one.put(`${folder}/d`, 'x')
    await witness
    expect(heard).toHaveLength(heardBefore)
  })

  test('a log is one chain, however many add to it', async () => {
    const log = newKey('logs')
    const added = await everyWorker(8, async (worker, at) => {
      const places: number[] = []
      for (let next = 0; places.length < 5; next += 1) {
        if (await worker.append(log, next, `${at}:${places.length}`)) places.push(next)
      }
      return places
    })
    expect(added.flat().sort((a, b) => a - b)).toEqual(times(40, (at) => at))
    const entries = await other.read(log, 0)
    expect(new Set(entries).size).toBe(40)
    expect(await one.read(log, 38)).toEqual(entries.slice(38))
    expect(await one.read(log, 40)).toEqual([])
  })

  test('returns an entry that was added before, and adds none after a gap', async () => {
    const log = newKey('logs')
    expect(await one.append(log, 1, 'b')).toBe(false)
    expect(await one.append(log, 0, 'a')).toBe(true)
    // The answer may have been lost.
    expect(await one.append(log, 0, 'a')).toBe(true)
    expect(await other.append(log, 0, 'b')).toBe(false)
    expect(await one.read(log, 0)).toEqual(['a'])
  })

  test('a limit over all workers is exact', async () => {
    const counter = newKey('quotas')
    const taken = await everyWorker(300, (worker, at) => worker.take(counter, 1 + (at % 2), 200, HOUR))
    const granted = taken.flatMap((left, at) => (left === undefined ? [] : 1 + (at % 2)))
    const sum = granted.reduce((a, b) => a + b, 0)
    expect(sum).toBe(200)
    expect(await one.take(counter, 1, 200, HOUR)).toBeUndefined()
    expect(await one.take(counter, 1, 201, HOUR)).toBe(0)
    expect(await one.take(counter, 0, 201, HOUR)).toBe(0)
  })

  test('a counter begins again after its time, which a take does not extend', async () => {
    const counter = newKey('quotas')
    expect(await one.take(counter, 5, 5, 200)).toBe(0)
    await eventually(async () => (await other.take(counter, 2, 5, HOUR)) === 3)
  })

  test('a lease has one owner, and a number that grows', async () => {
    const key = newKey('leases')
    const first = (await one.lease(key, 'a', HOUR))!
    expect(first).toBeGreaterThan(0)
    expect(await other.lease(key, 'b', HOUR)).toBeUndefined()
    expect(await one.lease(key, 'a', HOUR)).toBe(first)
    await other.release(key, 'b')
    expect(await other.lease(key, 'b', HOUR)).toBeUndefined()
    await one.release(key, 'a')
    expect(await other.lease(key, 'b', HOUR)).toBeGreaterThan(first)
  })

  test('gives a lease to one of many concurrent callers', async () => {
    const key = newKey('leases')
    const fences = await everyWorker(50, (worker, at) => worker.lease(key, String(at), HOUR))
    expect(fences.filter((fence) => fence !== undefined)).toHaveLength(1)
  })

  test('rejects writes of an earlier owner of a lease', async () => {
    const key = newKey('leases')
    const [value, log] = [newKey(), newKey('logs')]
    const old = { key, fence: (await one.lease(key, 'a', 50))! }
    let fence: number | undefined
    await eventually(async () => {
      fence = await other.lease(key, 'b', HOUR)
      return fence !== undefined
    })
    expect(await rejection(one.put(value, 'late', { lease: old }))).toMatchObject({ code: 'CONFLICT' })
    expect(await rejection(one.append(log, 0, 'late', old))).toMatchObject({ code: 'CONFLICT' })
    await other.put(value, 'x', { lease: { key, fence: fence! } })
    expect(await other.append(log, 0, 'x', { key, fence: fence! })).toBe(true)
    expect([await one.get(value), await one.read(log, 0)]).toEqual(['x', ['x']])
    await other.release(key, 'b')
    expect(await rejection(other.put(value, 'y', { lease: { key, fence: fence! } }))).toMatchObject({
      code: 'CONFLICT',
    })
  })

  test.each<[string, (worker: Coordination) => Promise<unknown>]>([
    ['key', (worker) => worker.get('no-folder')],
    ['key', (worker) => worker.put('a/../b c', 'x')],
    ['key', (worker) => worker.append('a/', 0, 'x')],
    ['key', (worker) => worker.read(undefined as never, 0)],
    ['folder', (worker) => worker.list('a/')],
    ['value', (worker) => worker.put('a/b', 'x\0')],
    ['value', (worker) => worker.first('a/b', '\ud800', 1)],
    ['entry', (worker) => worker.append('a/b', 0, 1 as never)],
    ['ttlMs', (worker) => worker.first('a/b', 'x', 0)],
    ['at', (worker) => worker.append('a/b', -1, 'x')],
    ['amount', (worker) => worker.take('a/b', 0.5, 1, 1)],
    ['ms', (worker) => worker.lease('a/b', 'x', Number.NaN)],
  ])('refuses a wrong %s', async (field, act) => {
    expect(await rejection(act(one))).toMatchObject({ code: 'INVALID_ARGUMENT', field })
  })
}
