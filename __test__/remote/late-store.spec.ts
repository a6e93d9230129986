/** A store that answers later than a service waits: an output has one path, and is nowhere else. */

import { type ITruncationStorage, TruncationService, TruncationStorage } from 'spillway'
import { MemoryObjects, type ObjectStore, RemoteStorage } from 'spillway/remote'
import { cut, numbered } from '../support/outputs'
import { tempDir } from '../support/temp'
import { through } from './support'

const context = { toolName: 'bash', sessionId: 's1' }
const SHORT = numbered(30_000)
const LONG = numbered(900_000)
const STORAGE_TIMEOUT_MS = 150

/** A store that does what it is asked, and answers later than is waited for. */
function late(objects: ObjectStore): ObjectStore {
  return through(objects, async ({ name }, send) => {
    if (['put', 'begin', 'part', 'complete'].includes(name)) await new Promise((resolve) => setTimeout(resolve, 600))
    return send()
  })
}

const WAYS: Record<string, (service: TruncationService, text: string) => Promise<unknown>> = {
  output: (service, text) => service.output(text, context),
  capture: async (service, text) => {
    const capture = service.capture(context)
    for (let at = 0; at < text.length; at += 2 ** 16) {
      if (!capture.write(text.slice(at, at + 2 ** 16))) await new Promise((resolve) => capture.once('drain', resolve))
    }
    capture.end()
    return capture.result
  },
}

const cases = Object.keys(WAYS).flatMap((way) =>
  [false, true].flatMap((hasSpool) => [SHORT, LONG].map((text) => ({ way, hasSpool, bytes: text.length, text }))),
)

test.each(cases)('$way of $bytes bytes, with a spool: $hasSpool', async ({ way, hasSpool, text }) => {
  const objects = new MemoryObjects()
  const remote = new RemoteStorage({ objects: late(objects), ...(hasSpool && { spoolDir: tempDir() }) })
  const local = new TruncationStorage(tempDir())
  const service = new TruncationService({ storage: [remote, local], storageTimeoutMs: STORAGE_TIMEOUT_MS })
  const { outputPath } = cut((await WAYS[way]!(service, text)) as never)
  // An output that is in the spool in time will be in the bucket.
  const isRemote = remote.owns(outputPath)
  expect(isRemote).toBe(hasSpool && (text === SHORT || isRemote))
  expect(await service.storage.read(outputPath)).toBe(text)
  await new Promise((resolve) => setTimeout(resolve, 2600))
  await remote.flush()
  const inBucket = (await remote.list()).map(({ path }) => path)
  expect(inBucket).toEqual(isRemote ? [outputPath] : [])
  expect(await local.list()).toHaveLength(isRemote ? 0 : 1)
  const open = []
  for await (const upload of objects.uploads('')) open.push(upload)
  expect(open).toEqual([])
})

test('a storage that says so after the signal has the output', async () => {
  const saved: string[] = []
  const patient: ITruncationStorage = {
    save: (text, { signal }) =>
      new Promise((resolve) =>
        signal!.addEventListener('abort', () => {
          saved.push(text)
          resolve('memory:1')
        }),
      ),
    read: async () => saved[0]!,
    cleanup: async () => 0,
    getStorageDir: () => 'memory:',
  }
  const service = new TruncationService({ storage: [patient], storageTimeoutMs: 20 })
  expect(cut(await service.output(SHORT, context)).outputPath).toBe('memory:1')
})
