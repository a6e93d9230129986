/** `ack: 'live'`: what a running command has printed is in the store, and is found there if the process ends. */

import { TruncationService } from 'spillway'
import { MemoryObjects, type ObjectStore, RemoteStorage } from 'spillway/remote'
import { tempDir } from '../support/temp'
import { keysOf, through } from './support'

const MEBIBYTE = 2 ** 20
const context = { toolName: 'bash', sessionId: 's1' }
const LINE = '\n[Spillway: the output ends here. The process that saved it ended before the rest was saved.]\n'

/** A store whose process can be killed: none of its requests is made after that. */
function killable(objects: ObjectStore) {
  let isDead = false
  let saw = (_size: number) => {}
  const mortal = through(objects, async ({ name, key, bytes }, send) => {
    if (isDead) return new Promise(() => {})
    const answer = await send()
    if (name === 'put' && key.endsWith('.snapshot')) saw(bytes)
    return answer
  })
  const snapshot = (size: number) =>
    new Promise<void>((resolve) => {
      saw = (bytes) => bytes === size && resolve()
    })
  return { mortal, snapshot, kill: () => (isDead = true) }
}

const options = (objects: ObjectStore, spoolDir?: string) => ({
  ...({ objects, ack: 'live', snapshotMs: 100, partBytes: 5 * MEBIBYTE, ackTimeoutMs: 2000 } as const),
  ...(spoolDir !== undefined && { spoolDir }),
})

/** A text of lines that differ. */
const textOf = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 16) }, (_, at) => `line ${String(at).padStart(10, '0')}\n`)
    .join('')
    .slice(0, bytes)

async function* pieces(text: string, then: Promise<unknown>) {
  for (let at = 0; at < text.length; at += MEBIBYTE) yield Buffer.from(text.slice(at, at + MEBIBYTE))
  await then
}

const never = new Promise(() => {})

describe.each([true, false])('with a spool: %s', (hasSpool) => {
  const folder = () => (hasSpool ? tempDir() : undefined)

  test.each([
    ['a line', 30, 30],
    ['less than a part', 3 * MEBIBYTE + 5, 3 * MEBIBYTE + 5],
    ['two parts and some more', 12 * MEBIBYTE + 7, 2 * MEBIBYTE + 7],
  ])('the output of a process that had printed %s is whole', async (_name, bytes, unsent) => {
    const objects = new MemoryObjects()
    const { mortal, snapshot, kill } = killable(objects)
    const text = textOf(bytes)
    const seen = snapshot(unsent)
    void new RemoteStorage(options(mortal, folder())).saveLive(pieces(text, never), context).catch(() => {})
    await seen
    kill()

    const elsewhere = new RemoteStorage(options(objects))
    const [path, ...others] = await elsewhere.salvage(0)
    expect(others).toEqual([])
    expect((await elsewhere.read(path!)) === text + LINE).toBe(true)
    expect(await keysOf(objects)).toEqual([path!.slice(objects.url.length + 1)])
    expect(await elsewhere.salvage(0)).toEqual([])
  })

  test('an output that ends leaves no snapshot, and replaces what was salvaged meanwhile', async () => {
    const objects = new MemoryObjects()
    const { mortal, snapshot } = killable(objects)
    const text = textOf(MEBIBYTE)
    const seen = snapshot(text.length)
    const elsewhere = new RemoteStorage(options(objects))
    const salvaged = seen.then(() => elsewhere.salvage(0))
    const path = await new RemoteStorage(options(mortal, folder())).saveLive(pieces(text, salvaged), context)
    expect(await salvaged).toEqual([path])
    expect((await elsewhere.read(path)) === text).toBe(true)
    expect((await keysOf(objects)).filter((key) => key.endsWith('.snapshot'))).toEqual([])
  })

  test('a short output is in the store while its command runs, and not when it has ended', async () => {
    const objects = new MemoryObjects()
    const { mortal, snapshot } = killable(objects)
    const seen = snapshot(4)
    const capture = new TruncationService({ storage: new RemoteStorage(options(mortal, folder())) }).capture(context)
    capture.write('one\n')
    await seen
    expect(await keysOf(objects)).toHaveLength(1)
    capture.end('two\n')
    expect(await capture.result).toEqual({ truncated: false, content: 'one\ntwo\n' })
    await vanished(objects)
  })
})

/** Resolves when a store is empty. */
async function vanished(objects: ObjectStore) {
  while ((await keysOf(objects)).length > 0) await new Promise((resolve) => setImmediate(resolve))
}

test('snapshots are no outputs, and go with their session', async () => {
  const objects = new MemoryObjects()
  const { mortal, snapshot, kill } = killable(objects)
  const seen = snapshot(10)
  void new RemoteStorage(options(mortal)).saveLive(pieces(textOf(10), never), context).catch(() => {})
  await seen
  kill()
  const elsewhere = new RemoteStorage(options(objects))
  expect(await elsewhere.list()).toEqual([])
  expect((await elsewhere.usage()).files).toBe(0)
  expect(await elsewhere.salvage(3_600_000)).toEqual([])
  // A storage that makes none does not list all outputs for them.
  expect(await new RemoteStorage({ objects }).salvage(0)).toEqual([])
  expect(await elsewhere.deleteSession('s1')).toBe(0)
  expect(await keysOf(objects)).toEqual([])
})

test('a snapshot that was left beside its output is removed', async () => {
  const objects = new MemoryObjects()
  const storage = new RemoteStorage(options(objects))
  const path = await storage.save('whole\n', context)
  const key = path.slice(objects.url.length + 1)
  await objects.put(`${key}.0-3.snapshot`, Buffer.from('who'))
  expect(await storage.salvage(0)).toEqual([])
  expect(await keysOf(objects)).toEqual([key])
  expect(await storage.read(path)).toBe('whole\n')
})

test.each([
  [
    { snapshotMs: 50 },
    'Invalid option "snapshotMs": expected a finite number of milliseconds of at least 100, received 50',
  ],
  [
    { ack: 'life' },
    `Invalid option "ack": expected one of 'remote', 'spool', 'live', received "life"; did you mean 'live'?`,
  ],
])('%j is refused', (wrong, message) => {
  const made = () => new RemoteStorage({ objects: new MemoryObjects(), ...(wrong as object) })
  expect(made).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', message }))
})
