/** Outputs that the object store does not take at once: none is lost, and none is waited for too long. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TruncationService } from 'spillway'
import { MemoryObjects, type ObjectStore, RemoteStorage } from 'spillway/remote'
import { cut, numbered, rejection } from '../support/outputs'
import { tempDir } from '../support/temp'
import { counted, through } from './support'

const context = { toolName: 'bash', sessionId: 's1' }
const TEXT = numbered(5000)
const LONG = Buffer.from(numbered(1_500_000))

/** A store that can be down: then requests are refused, or never answered. */
function fragile(objects: ObjectStore = new MemoryObjects()) {
  const state = { is: 'up' as 'up' | 'down' | 'hung' }
  const store = through(objects, (_request, send) => {
    if (state.is === 'hung') return new Promise(() => {})
    return state.is === 'down' ? Promise.reject(new Error('503 SlowDown')) : send()
  })
  return { store, state }
}

const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())

test.each(['down', 'hung'] as const)('a store that is %s costs nothing but the wait', async (is) => {
  const { store, state } = fragile()
  const spoolDir = tempDir()
  const failures: string[] = []
  const storage = new RemoteStorage({
    objects: store,
    spoolDir,
    ackTimeoutMs: 300,
    onError: (_error, path) => failures.push(path),
  })
  state.is = is
  const started = Date.now()
  const paths = [await storage.save(TEXT, context), await storage.saveBytes(LONG, context)]
  expect(Date.now() - started).toBeLessThan(2 * 300 + 2000)
  expect(await storage.read(paths[0]!)).toBe(TEXT)
  expect(await storage.readRange(paths[1]!, { fromLine: 1_400_000, lineCount: 1 })).toMatchObject({
    text: 'line 1400000\n',
  })
  expect((await storage.search(paths[1]!, 'line 1499999$')).matches).toHaveLength(1)
  if (is === 'down') expect(failures).toContain(paths[0])
  if (is === 'hung') return

  state.is = 'up'
  const { files, pending } = await storage.usage()
  // An output whose upload ends now may be counted in both.
  expect(files + pending.files).toBeGreaterThanOrEqual(2)
  expect(await storage.flush()).toBe(0)
  const elsewhere = new RemoteStorage({ objects: store })
  expect(await elsewhere.read(paths[0]!)).toBe(TEXT)
  expect(Buffer.from(await elsewhere.read(paths[1]!)).equals(LONG)).toBe(true)
  expect(filesIn(spoolDir)).toEqual([])
})

test.each([undefined, 'spool'])('with a store that hangs a service answers in its time (%s)', async (spool) => {
  const { store, state } = fragile()
  state.is = 'hung'
  const storageTimeoutMs = 400
  const storage = new RemoteStorage({ objects: store, ...(spool && { spoolDir: tempDir(), ackTimeoutMs: 200 }) })
  const service = new TruncationService({ storage, storageTimeoutMs })
  for (const save of [
    () => service.output(TEXT, context),
    () => {
      const capture = service.capture(context)
      capture.end(LONG)
      return capture.result
    },
  ]) {
    // The files that take the output otherwise are written after the timeout.
    const most = storageTimeoutMs + (spool ? 200 : 600)
    let shortest = Number.POSITIVE_INFINITY
    // Other work on the machine only makes a time longer.
    for (let tries = 0; tries < 3 && shortest >= most; tries += 1) {
      const started = Date.now()
      const result = cut(await save())
      shortest = Math.min(shortest, Date.now() - started)
      expect(result.saveError).toBeUndefined()
      expect(storage.owns(result.outputPath)).toBe(spool !== undefined)
    }
    expect(shortest).toBeLessThan(most)
  }
})

test('with `spool` a save answers before the store does', async () => {
  const { store, state } = fragile()
  state.is = 'down'
  const storage = new RemoteStorage({ objects: store, spoolDir: tempDir(), ack: 'spool', ackTimeoutMs: 60_000 })
  const path = await storage.save(TEXT, context)
  state.is = 'up'
  expect(await storage.flush()).toBe(0)
  expect(await new RemoteStorage({ objects: store }).read(path)).toBe(TEXT)
})

test('the next process uploads what one left', async () => {
  const { store, state } = fragile()
  const spoolDir = tempDir()
  const options = { objects: store, spoolDir, ackTimeoutMs: 0 }
  state.is = 'down'
  const path = await new RemoteStorage(options).save(TEXT, context)
  expect(await rejection(new RemoteStorage({ objects: store }).read(path))).toMatchObject({ code: 'STORAGE_READ' })
  state.is = 'up'
  await using next = new RemoteStorage(options)
  expect(await next.flush()).toBe(0)
  expect(await new RemoteStorage({ objects: store }).read(path)).toBe(TEXT)
  // A spool of another store is none of its business.
  state.is = 'down'
  await new RemoteStorage(options).save(TEXT, context)
  expect(await new RemoteStorage({ objects: new MemoryObjects('s3://other'), spoolDir }).flush()).toBe(0)
})

test('a session that is removed stays removed', async () => {
  const { store, state } = fragile()
  const storage = new RemoteStorage({ objects: store, spoolDir: tempDir(), ackTimeoutMs: 0 })
  await storage.save('there', context)
  await storage.flush()
  state.is = 'down'
  const waiting = await storage.save('waiting', context)
  const other = await storage.save('of another', { ...context, sessionId: 's2' })
  state.is = 'up'
  expect(await storage.deleteSession('s1')).toBe(2)
  expect(await storage.flush()).toBe(0)
  expect(await rejection(storage.read(waiting))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
  expect(await storage.read(other)).toBe('of another')
})

test('a spool that cannot be written to is passed by', async () => {
  const objects = new MemoryObjects()
  const file = join(tempDir(), 'a file')
  writeFileSync(file, '')
  const storage = new RemoteStorage({ objects, spoolDir: file })
  for (const content of [Buffer.from(TEXT), LONG]) {
    const path = await storage.saveBytes(content, context)
    expect(Buffer.from(await new RemoteStorage({ objects }).read(path)).equals(content)).toBe(true)
  }
  expect(await storage.usage()).toMatchObject({ files: 2 })
})

test('other files in the spool are left alone', async () => {
  const objects = new MemoryObjects('s3://bucket')
  const spoolDir = tempDir()
  const storage = new RemoteStorage({ objects, spoolDir })
  await storage.save(TEXT, context)
  const [folder] = readdirSync(spoolDir)
  for (const name of ['notes.txt', '%', '..%2Fo%2Fx', '.x.draft']) writeFileSync(join(spoolDir, folder!, name), 'x')
  mkdirSync(join(spoolDir, folder!, 'o%2Fbash'))
  expect(await new RemoteStorage({ objects, spoolDir }).flush()).toBe(0)
  expect(await storage.usage()).toMatchObject({ files: 1 })
})

describe('an output that is still coming in', () => {
  const half = LONG.subarray(0, 12 * 2 ** 20)

  async function begun(options: object = {}) {
    const { objects, requests } = counted(new MemoryObjects())
    const service = new TruncationService({ storage: new RemoteStorage({ objects, spoolDir: tempDir() }), ...options })
    const capture = service.capture(context)
    for (let at = 0; at < half.length; at += 2 ** 16) {
      if (!capture.write(half.subarray(at, at + 2 ** 16)))
        await new Promise((resolve) => capture.once('drain', resolve))
    }
    while (!requests.some(({ name }) => name === 'part')) await new Promise(setImmediate)
    return { objects, requests, capture }
  }

  test('has parts in the store, and becomes one object without another request for these', async () => {
    const { objects, requests, capture } = await begun()
    capture.end(LONG.subarray(half.length))
    const { outputPath } = cut(await capture.result)
    expect(Buffer.from(await new RemoteStorage({ objects }).read(outputPath)).equals(LONG)).toBe(true)
    const parts = Math.ceil(LONG.length / 2 ** 23)
    const sent = requests.map(({ name }) => name).filter((name) => name !== 'get')
    expect(sent).toEqual(['begin', ...Array(parts).fill('part'), 'complete', 'put'])
  })

  test('is redacted before a part leaves', async () => {
    const { objects, capture } = await begun({ redact: { patterns: [/line 77777\b/] } })
    capture.end()
    const { outputPath } = cut(await capture.result)
    const text = await new RemoteStorage({ objects }).read(outputPath)
    expect(text).not.toContain('line 77777\n')
    expect(text).toContain('line 77778\n')
  })

  test('leaves nothing when it is dropped', async () => {
    const { objects, capture } = await begun()
    capture.destroy()
    await rejection(capture.result)
    while (await anyOf(objects.uploads!(''))) await new Promise(setImmediate)
    expect(await anyOf(objects.list(''))).toBe(false)
  })

  test('is salvaged when its process ended, as far as it came', async () => {
    const { objects, capture } = await begun()
    const elsewhere = new RemoteStorage({ objects })
    expect(await elsewhere.salvage()).toEqual([])
    const [path] = await elsewhere.salvage(0)
    const text = await elsewhere.read(path!)
    expect(text.startsWith(LONG.subarray(0, 2 ** 23).toString())).toBe(true)
    expect(text.slice(2 ** 23)).toMatch(/^\n\[Spillway: the output ends here\..*\]\n$/)
    // Its process was alive: the whole output replaces the part.
    capture.end(LONG.subarray(half.length))
    const { outputPath } = cut(await capture.result)
    expect(outputPath).toBe(path)
    expect(Buffer.from(await elsewhere.read(path!)).equals(LONG)).toBe(true)
  })
})

async function anyOf(source: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _each of source) return true
  return false
}
