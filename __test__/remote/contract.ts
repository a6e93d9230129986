/** Tests that every object store must pass. */

import { randomBytes } from 'node:crypto'
import { type ObjectStore, RemoteStorage } from 'spillway/remote'
import { numbered } from '../support/outputs'
import { BREAKS, breaking, counted } from './support'

const MEBIBYTE = 2 ** 20

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of source) found.push(each)
  return found
}

/** A key that looks like that of an output. */
const newKey = (folder = 'o') => `${folder}/bash_1_${randomBytes(16).toString('hex')}.txt`

/** @param make returns the store, in which nothing else is */
export function objectStoreContract(make: () => ObjectStore): void {
  let objects: ObjectStore
  beforeAll(() => {
    objects = make()
  })

  test('gives back what was put, as a whole and in parts', async () => {
    const key = newKey()
    await objects.put(key, Buffer.from('0123456789'))
    const read = async (from: number, to: number) => {
      const range = await objects.get(key, from, to)
      return [Buffer.from(range!.bytes).toString(), range!.total]
    }
    expect(await read(0, 100)).toEqual(['0123456789', 10])
    expect(await read(3, 5)).toEqual(['34', 10])
    expect(await read(9, 12)).toEqual(['9', 10])
    expect(await read(10, 12)).toEqual(['', 10])
    expect(await read(50, 60)).toEqual(['', 10])
  })

  test('has empty objects', async () => {
    const key = newKey()
    await objects.put(key, new Uint8Array())
    expect(await objects.get(key, 0, 10)).toMatchObject({ total: 0 })
  })

  test('answers nothing for what is not there', async () => {
    expect(await objects.get(newKey(), 0, 10)).toBeUndefined()
    await objects.remove([newKey()])
  })

  test('makes an object of parts, once they are complete', async () => {
    const key = newKey()
    const bodies = [randomBytes(5 * MEBIBYTE), randomBytes(5 * MEBIBYTE), randomBytes(7)]
    const upload = await objects.begin(key)
    const parts = []
    // In any order.
    for (const at of [1, 0, 2]) {
      const tag = await objects.part(key, upload, at + 1, bodies[at]!)
      parts.push({ number: at + 1, tag, bytes: bodies[at]!.length })
    }
    parts.sort((a, b) => a.number - b.number)
    expect(await objects.get(key, 0, 1)).toBeUndefined()
    if (objects.uploads !== undefined && objects.parts !== undefined) {
      const open = await all(objects.uploads('o/')).catch(unsupported)
      if (open !== undefined) {
        expect(open).toEqual([{ key, upload, started: expect.any(Number) }])
        const known = parts.map(({ number, bytes }) => expect.objectContaining({ number, bytes }))
        expect(await objects.parts(key, upload)).toEqual(known)
      }
    }
    await objects.complete(key, upload, parts)
    const whole = Buffer.concat(bodies)
    const { bytes, total } = (await objects.get(key, 0, 20 * MEBIBYTE))!
    expect([total, Buffer.from(bytes).equals(whole)]).toEqual([whole.length, true])
    // The answer may have been lost.
    await objects.complete(key, upload, parts)
  })

  test('drops what is aborted', async () => {
    const key = newKey()
    const upload = await objects.begin(key)
    await objects.part(key, upload, 1, Buffer.from('x'))
    await objects.abort(key, upload)
    expect(await objects.get(key, 0, 1)).toBeUndefined()
  })

  test('lists what is below a prefix, and removes it', async () => {
    const keys = Array.from({ length: 1100 }, (_, at) => `list/${String(at).padStart(4, '0')}.txt`)
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(keys.slice(at, at + 50).map((key) => objects.put(key, Buffer.from('x'))))
    }
    await objects.put('lists.txt', Buffer.from('x'))
    const listed = await all(objects.list('list/'))
    expect(listed.map(({ key }) => key)).toEqual(keys)
    expect(listed[0]).toEqual({ key: keys[0], bytes: 1, modified: expect.any(Number) })
    expect(Math.abs(listed[0]!.modified - Date.now())).toBeLessThan(120_000)
    await objects.remove(keys.slice(0, 1000))
    await objects.remove(keys.slice(1000))
    expect(await all(objects.list('list/'))).toEqual([])
    await objects.remove(['lists.txt'])
  })

  test('stops a read that is aborted', async () => {
    const key = newKey()
    await objects.put(key, Buffer.from('x'))
    await expect(objects.get(key, 0, 1, AbortSignal.abort(new Error('enough')))).rejects.toThrow()
  })

  test('holds outputs', async () => {
    const storage = new RemoteStorage({ objects })
    const context = { toolName: 'bash', sessionId: `s${Math.random()}` }
    const text = numbered(1_300_000)
    const path = await storage.save(text, context)
    await storage.save('short', context)
    expect(path.startsWith(`${objects.url}/o/`)).toBe(true)
    const elsewhere = new RemoteStorage({ objects })
    expect((await elsewhere.read(path)) === text).toBe(true)
    expect(await elsewhere.readRange(path, { fromLine: 1_200_000, lineCount: 1 })).toMatchObject({
      text: 'line 1200000\n',
    })
    expect((await elsewhere.search(path, 'line 1299999$')).matches).toMatchObject([{ line: 1_299_999 }])
    expect((await elsewhere.list({ sessionId: context.sessionId })).length).toBe(2)
    expect(await elsewhere.deleteSession(context.sessionId)).toBe(2)
  })

  test.each(Object.entries(BREAKS))('keeps an output when any request %s', async (_name, how) => {
    const context = { toolName: 'bash', sessionId: `s${Math.random()}` }
    const content = Buffer.from(numbered(900_000))
    const save = (store: ObjectStore) => new RemoteStorage({ objects: store }).saveBytes(content, context)
    const { objects: counting, requests } = counted(objects)
    await save(counting)
    for (let nth = 1; nth <= requests.length; nth += 1) {
      const path = await save(breaking(objects, nth, how))
      expect((await new RemoteStorage({ objects }).search(path, 'line 899999$')).matches).toHaveLength(1)
    }
    await new RemoteStorage({ objects }).deleteSession(context.sessionId)
  })
}

/** Not every store lists uploads. */
function unsupported(error: unknown): undefined {
  if ((error as { name?: string }).name !== 'NotImplemented') throw error
}
