/** Parts whose answers come in another order than they were sent, and parts that the store lists in another order. */

import { MemoryObjects, type ObjectStore, RemoteStorage, type UploadedPart } from 'spillway/remote'
import { rejection } from '../support/outputs'
import { through } from './support'

const MEBIBYTE = 2 ** 20
const content = Buffer.from(Array.from({ length: 4_000_000 }, (_, at) => at % 10).join('\n'))
const options = { partBytes: 5 * MEBIBYTE }

/** Answers for an odd part only after the next one was stored, or the upload is being completed without one. */
function swapping(objects: ObjectStore, order: number[]): ObjectStore {
  let release = () => {}
  return through(objects, async ({ name }, send) => {
    if (name !== 'part') return send()
    const number = order.length + 1
    order.push(number)
    const answer = await send()
    if (number % 2 === 0) release()
    else if (content.length > number * options.partBytes)
      await new Promise<void>((resolve) => {
        release = resolve
      })
    return answer
  })
}

test('answers in another order make the same output', async () => {
  const objects = new MemoryObjects()
  const completed: number[][] = []
  const order: number[] = []
  const store = swapping(objects, order)
  const complete = store.complete.bind(store)
  store.complete = (key, upload, parts) => {
    completed.push(parts.map(({ number }) => number))
    return complete(key, upload, parts)
  }
  const path = await new RemoteStorage({ objects: store, ...options }).saveBytes(content, { toolName: 'bash' })
  expect([order, completed]).toEqual([[1, 2], [[1, 2]]])
  expect(Buffer.from(await new RemoteStorage({ objects }).read(path)).equals(content)).toBe(true)
})

const ORDERS: [name: string, order: (parts: UploadedPart[]) => UploadedPart[], lines: RegExp | undefined][] = [
  ['backwards', (parts) => [...parts].reverse(), /^aaab+/],
  ['with a part that is missing', (parts) => parts.filter(({ number }) => number !== 2), /^aaa(?!b)/],
  ['without the first part', (parts) => parts.slice(1), undefined],
]

test.each(ORDERS)('salvages parts that are listed %s up to the first that is missing', async (_name, order, wanted) => {
  const objects = new MemoryObjects()
  const key = `o/bash_1700000000000_${'0'.repeat(32)}.txt`
  const upload = await objects.begin(key)
  await objects.part(key, upload, 1, Buffer.from('aaa'))
  await objects.part(key, upload, 2, Buffer.from('bbb'))
  await objects.part(key, upload, 3, Buffer.from('ccc'))
  const parts = objects.parts.bind(objects)
  objects.parts = async (...which) => order(await parts(...which))
  const storage = new RemoteStorage({ objects })
  const salvaged = await storage.salvage(0)
  if (wanted === undefined) {
    expect(salvaged).toEqual([])
    expect(await rejection(storage.read(`${objects.url}/${key}`))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
  } else expect(await storage.read(salvaged[0]!)).toMatch(wanted)
})
