/** How many requests an operation makes, and how much memory: the bill of a fleet. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { counted, through } from './support'

const MEBIBYTE = 2 ** 20
const context = { toolName: 'bash', sessionId: 's1' }
const LINE = `${'0123456789'.repeat(2)}abc\n`

async function* pieces(bytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.from(LINE.repeat(5000))
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length))
}

const names = (requests: { name: string }[]) => requests.splice(0).map(({ name }) => name)

test('an output of up to 8 MiB is one request', async () => {
  const { objects, requests } = counted()
  const storage = new RemoteStorage({ objects })
  for (const bytes of [0, 1, 100_000, 8 * MEBIBYTE]) await storage.saveStream(pieces(bytes), context)
  expect(names(requests)).toEqual(['put', 'put', 'put', 'put'])
})

describe('an output of 50 MB', () => {
  const { objects, requests } = counted()
  const size = 50_000_000
  let path: string
  beforeAll(async () => {
    path = await new RemoteStorage({ objects }).saveStream(pieces(size), context)
  })

  test('is saved in nine requests', () => {
    expect(names(requests).sort()).toEqual(['begin', 'complete', ...Array(6).fill('part'), 'put'])
  })

  test('shows lines far inside in two requests, and then in one', async () => {
    const storage = new RemoteStorage({ objects })
    for (const [fromLine, expected] of [
      [1_000_000, ['get', 'get']],
      [1_900_000, ['get']],
      [3_000_000, []],
    ] as const) {
      const { text } = await storage.readRange(path, { fromLine, lineCount: 100 })
      expect(text).toBe(fromLine < 2_000_000 ? LINE.repeat(100) : '')
      expect(names(requests)).toEqual(expected)
    }
  })

  test('shows its first lines, or bytes anywhere, in one request', async () => {
    const storage = new RemoteStorage({ objects })
    await storage.readRange(path, { fromLine: 1, lineCount: 500 })
    await storage.readRange(path, { fromByte: 40_000_000, byteCount: 65_536 })
    expect(names(requests)).toEqual(['get', 'get'])
  })

  test('is searched in one request for every 8 MiB, and no further than needed', async () => {
    const storage = new RemoteStorage({ objects })
    expect(await storage.search(path, 'nothing like it')).toMatchObject({ matches: [], truncated: false })
    expect(names(requests)).toHaveLength(Math.ceil(size / (8 * MEBIBYTE)))
    await storage.search(path, 'abc', { context: 3 })
    expect(names(requests).length).toBeLessThanOrEqual(2)
  })
})

test('lines of a short output that another worker saved are found in two requests, and then in one', async () => {
  const { objects, requests } = counted()
  const path = await new RemoteStorage({ objects }).saveStream(pieces(3 * MEBIBYTE), context)
  const storage = new RemoteStorage({ objects })
  names(requests)
  for (const expected of [['get', 'get'], ['get']]) {
    expect(await storage.readRange(path, { fromLine: 50_000, lineCount: 1 })).toMatchObject({ text: LINE })
    expect(names(requests)).toEqual(expected)
  }
})

test('a session is removed in two requests for every 1,000 outputs', async () => {
  const { objects, requests } = counted()
  const storage = new RemoteStorage({ objects })
  for (let output = 0; output < 2000; output += 1) await storage.save(`${output}`, context)
  await storage.save('of another session', { ...context, sessionId: 's2' })
  requests.length = 0
  expect(await storage.deleteSession('s1')).toBe(2000)
  expect(names(requests)).toEqual(['list', 'remove', 'remove'])
  expect((await storage.list()).map(({ toolName }) => toolName)).toEqual(['bash'])
})

test('a session of 100,000 outputs is listed and removed, and nothing of another one', async () => {
  const memory = new MemoryObjects()
  const other = await new RemoteStorage({ objects: memory }).save('of another session', { ...context, sessionId: 's2' })
  const first = await new RemoteStorage({ objects: memory }).save('x', context)
  const folder = first.slice(memory.url.length + 1, first.lastIndexOf('/'))
  for (let at = 1; at < 100_000; at += 1) {
    await memory.put(`${folder}/bash_${at}_${at.toString(16).padStart(32, '0')}.txt`, Buffer.from('x'))
  }
  const { objects, requests } = counted(memory)
  const storage = new RemoteStorage({ objects })
  expect(await storage.list({ sessionId: 's1' })).toHaveLength(100_000)
  expect(await storage.usage()).toMatchObject({ files: 100_001, sessions: 2 })
  requests.length = 0
  expect(await storage.deleteSession('s1')).toBe(100_000)
  // A listing is one request here, and one for every 1,000 objects in a bucket.
  expect(names(requests)).toEqual(['list', ...Array(100).fill('remove')])
  expect((await storage.list()).map(({ path }) => path)).toEqual([other])
})

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Frees buffers that are not in use: memory is given back beside the program, which the second call waits for. */
function gc() {
  collect()
  collect()
}

test('saving and searching take at most 40 MB, at any size', async () => {
  // Only the last part of an upload is kept, so that what the store holds is not measured.
  const parts = new Map<number, number>()
  const line = Buffer.from(LINE.repeat(400_000)).subarray(0, 8 * MEBIBYTE)
  const objects = {
    ...through(new MemoryObjects(), (_request, send) => send()),
    part: async (_key: string, _upload: string, number: number, body: Uint8Array) => {
      parts.set(number, body.length)
      return String(number)
    },
    complete: async () => {},
    get: async (_key: string, from: number, to: number) => {
      const total = [...parts.values()].reduce((sum, bytes) => sum + bytes, 0)
      return { bytes: Buffer.from(line.subarray(0, Math.max(0, Math.min(to, total) - from))), total }
    },
  }
  const storage = new RemoteStorage({ objects })
  gc()
  const before = process.memoryUsage().arrayBuffers
  const bound = before + 40 * MEBIBYTE
  let most = 0
  let least = Number.POSITIVE_INFINITY
  const watch = setInterval(() => {
    // Buffers that are not collected yet are not in use.
    if (process.memoryUsage().arrayBuffers > bound) gc()
    const used = process.memoryUsage().arrayBuffers
    most = Math.max(most, used)
    least = Math.min(least, used)
  }, 1)
  const path = await storage.saveStream(pieces(300_000_000), context)
  await storage.search(path, 'nothing like it', { context: 5 })
  clearInterval(watch)
  expect(parts.size).toBe(Math.ceil(300_000_000 / (8 * MEBIBYTE)))
  // Buffers of earlier tests may be freed meanwhile; those of this one are measured.
  expect(most).toBeGreaterThan(least)
  expect(most).toBeLessThanOrEqual(bound)
})
