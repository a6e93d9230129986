import { createHash } from 'node:crypto'
import { TruncationService, TruncationStorage } from 'spillway'
import { MemoryObjects, type ObjectStore, RemoteStorage, type RemoteStorageOptions } from 'spillway/remote'
import { cut, numbered, rejection } from '../support/outputs'
import { tempDir } from '../support/temp'
import { BREAKS, breaking, counted, through } from './support'

const context = { toolName: 'bash', sessionId: 's1' }
const TEXT = numbered(5000)

test('a service saves to it, and its paths are read by another worker', async () => {
  const objects = new MemoryObjects('s3://bucket/prod')
  const service = new TruncationService({ storage: new RemoteStorage({ objects }) })
  const { outputPath } = cut(await service.output(TEXT, context))
  expect(outputPath).toMatch(/^s3:\/\/bucket\/prod\/o\/s1-[0-9a-f]{32}\/bash_\d+_[0-9a-f]{32}\.txt$/)
  expect(await new RemoteStorage({ objects }).read(outputPath)).toBe(TEXT)
})

test('a capture reaches it, and its lines are found', async () => {
  const objects = new MemoryObjects()
  const service = new TruncationService({ storage: new RemoteStorage({ objects }) })
  const capture = service.capture(context)
  capture.end(numbered(1_500_000))
  const { outputPath } = cut(await capture.result)
  const range = await new RemoteStorage({ objects }).readRange(outputPath, { fromLine: 1_400_000, lineCount: 2 })
  expect(range.text).toBe('line 1400000\nline 1400001\n')
})

test('in a list, files take what the object store does not', async () => {
  const objects = through(new MemoryObjects(), () => Promise.reject(new Error('503 SlowDown')))
  const files = new TruncationStorage(tempDir())
  const service = new TruncationService({ storage: [new RemoteStorage({ objects }), files] })
  const { outputPath } = cut(await service.output(TEXT, context))
  expect(await files.read(outputPath)).toBe(TEXT)
})

describe('only outputs of the storage are read', () => {
  const { objects, requests } = counted(new MemoryObjects('s3://bucket/a'))
  const storage = new RemoteStorage({ objects })
  let path: string
  beforeAll(async () => {
    path = await storage.save('text', context)
    requests.length = 0
  })

  test('and those of other prefixes, other names and what lies beside them are refused without a request', async () => {
    const name = path.split('/').at(-1)!
    const paths = [
      '',
      '/etc/passwd',
      'o/x',
      path.replace('bucket/a', 'bucket/b'),
      path.replace('bucket/a', 'other/a'),
      path.replace('s3:', 'http:'),
      path.replace(name, `../${name}`),
      path.replace('/o/', '/o/../'),
      `${path}.idx`,
      `${path}/`,
      `${path}?versionId=1`,
      path.replace('bash_', 'ba/sh_'),
      path.toUpperCase(),
    ]
    for (const foreign of paths) {
      expect(storage.owns(foreign)).toBe(false)
      for (const work of [
        storage.read(foreign),
        storage.readRange(foreign, { fromLine: 1 }),
        storage.search(foreign, 'x'),
        storage.remove(foreign),
      ]) {
        expect(await rejection(work)).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
      }
    }
    expect(storage.owns(path)).toBe(true)
    expect(requests).toEqual([])
  })

  test('and with a session only its own', async () => {
    for (const sessionId of ['s2', 'S1', 's1\0', '']) {
      const access = { sessionId }
      expect(await rejection(storage.readRange(path, { fromLine: 1 }, access))).toMatchObject({
        code: 'STORAGE_NOT_OWNED',
      })
      expect(await rejection(storage.search(path, 'x', access))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    }
    expect(requests).toEqual([])
    expect(await storage.readRange(path, { fromLine: 1 }, { sessionId: 's1' })).toMatchObject({ text: 'text' })
  })
})

test('a removed output is not found', async () => {
  const storage = new RemoteStorage({ objects: new MemoryObjects() })
  const path = await storage.save('text', context)
  expect([await storage.remove(path), await storage.remove(path)]).toEqual([true, false])
  expect(storage.owns(path)).toBe(true)
  expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
})

test('it is listed, measured and swept as files are', async () => {
  const storage = new RemoteStorage({ objects: new MemoryObjects('s3://bucket'), maxStoreFiles: 2 })
  const paths = [await storage.save('a', context), await storage.save('bb', { toolName: 'grep' })]
  paths.push(await storage.save('ccc', { ...context, sessionId: 's2' }))
  expect(await storage.usage()).toEqual({
    files: 3,
    bytes: 6,
    sessions: 2,
    dirs: [{ dir: 's3://bucket', files: 3, bytes: 6 }],
    pending: { files: 0, bytes: 0 },
  })
  expect(await storage.list({ sessionId: 's2' })).toEqual([
    { path: paths[2], toolName: 'bash', savedAt: expect.any(Number), bytes: 3 },
  ])
  const inTwoHours = Date.now() + 7_200_000
  expect(await storage.sweep({ now: inTwoHours, dryRun: true })).toMatchObject({ removedFiles: 1, kept: { files: 2 } })
  expect(await storage.sweep({ now: inTwoHours })).toMatchObject({ removed: [{ reason: 'count' }], failedFiles: 0 })
  expect(await storage.sweep({ now: Date.now() + 8 * 86_400_000 })).toMatchObject({ removedFiles: 2 })
  expect(await storage.cleanup(1)).toBe(0)
})

test('an index that lies is not believed', async () => {
  const objects = new MemoryObjects()
  const path = await new RemoteStorage({ objects }).saveBytes(Buffer.from(numbered(1_000_000)), context)
  const key = path.slice(objects.url.length + 1)
  const saved = JSON.parse(Buffer.from((await objects.get(`${key}.idx`, 0, 1e6))!.bytes).toString())
  const counts: string[] = saved.counts.split(' ')
  const none = counts.map(() => '0').join(' ')
  // The bytes that are read tell these, also with a digest that fits.
  const wrong = [
    { ...saved, size: 7 },
    { ...saved, size: saved.size + 1 },
    { ...saved, counts: counts.slice(1).join(' ') },
    { ...saved, counts: none },
    { ...saved, counts: none, lineFeeds: 3 },
    { ...saved, lineFeeds: saved.size },
    { ...saved, lineFeeds: saved.lineFeeds - 1 },
    { ...saved, isOpen: true },
  ]
  const hidden = [
    { ...saved, counts: shifted(counts, 7, -7) },
    { ...saved, counts: shifted(counts, 7, 0), lineFeeds: saved.lineFeeds + 7 },
  ]
  const lies = [
    'no JSON',
    ...[...wrong, ...hidden].map((lie) => JSON.stringify(lie)),
    ...wrong.map((lie) => signed(key, lie)),
  ]
  for (const lie of lies) {
    await objects.put(`${key}.idx`, Buffer.from(lie))
    for (const fromLine of [900_000, 999_999, 5_000_000]) {
      const found = await new RemoteStorage({ objects }).readRange(path, { fromLine, lineCount: 1 })
      const text = fromLine > 1_000_000 ? '' : `line ${fromLine}\n`
      expect([lie, found.text, found.totalLines ?? 1_000_000]).toEqual([lie, text, 1_000_000])
    }
  }
})

/** Counts with other numbers in the first two strides. */
function shifted(counts: string[], first: number, second: number): string {
  const [one, two, ...others] = counts.map((count) => Number.parseInt(count, 36))
  return [one! + first, two! + second, ...others].map((count) => count.toString(36)).join(' ')
}

/** An index with the digest that fits it. */
function signed(key: string, lie: Record<string, unknown>): string {
  const { size, lineFeeds, isOpen, counts, ...others } = lie
  const text = JSON.stringify([key, size, lineFeeds, isOpen, counts])
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return JSON.stringify({ ...others, size, lineFeeds, isOpen, counts, digest })
}

test('the end of a session leaves what is none of its outputs', async () => {
  const objects = new MemoryObjects()
  const storage = new RemoteStorage({ objects })
  const path = await storage.save(TEXT, context)
  await storage.saveBytes(Buffer.from(numbered(1_000_000)), context)
  const folder = path.slice(objects.url.length + 1).replace(/[^/]*$/, '')
  const others = [`${folder}below/${path.split('/').at(-1)}`, `${folder}notes of another person.md`, `${folder}x.idx`]
  for (const key of others) await objects.put(key, Buffer.from('mine'))
  expect(await storage.deleteSession(context.sessionId)).toBe(2)
  const left: string[] = []
  for await (const { key } of objects.list('')) left.push(key)
  expect(left).toEqual(others)
})

test('an index of another output is not believed', async () => {
  const objects = new MemoryObjects()
  const storage = new RemoteStorage({ objects })
  const [one, other] = [numbered(1_000_000), `x\ny\n${numbered(1_000_000).slice(0, -4)}`]
  const keys: string[] = []
  for (const text of [one, other]) keys.push((await storage.save(text, context)).slice(objects.url.length + 1))
  const index = (await objects.get(`${keys[0]}.idx`, 0, 1e6))!.bytes
  await objects.put(`${keys[1]}.idx`, index)
  const { text } = await new RemoteStorage({ objects }).readRange(`${objects.url}/${keys[1]}`, { fromLine: 900_000 })
  expect(text.startsWith('line 899998\n')).toBe(true)
})

describe('whichever request breaks', () => {
  const content = Buffer.from('0123456789abcde\n'.repeat(1_100_000))
  const work = async (objects: ObjectStore) => {
    const storage = new RemoteStorage({ objects })
    const path = await storage.saveBytes(content, context)
    const range = await storage.readRange(path, { fromLine: 1_000_000, lineCount: 1 })
    const { matches } = await storage.search(path, 'abc', { after: '1000001:16000000', maxMatches: 1 })
    return [range.text, matches[0]!.line, await storage.deleteSession('s1')]
  }

  test.each(Object.entries(BREAKS))('and %s, the answers stay right', async (_name, how) => {
    const { objects, requests } = counted()
    const expected = await work(objects)
    expect(expected).toEqual(['0123456789abcde\n', 1_000_001, 1])
    for (let nth = 1; nth <= requests.length; nth += 1) {
      const store = new MemoryObjects()
      expect([nth, ...(await work(breaking(store, nth, how)))]).toEqual([nth, ...expected])
      for await (const { key } of store.list('')) throw new Error(`${key} stayed`)
    }
  })
})

test('an upload that fails leaves nothing', async () => {
  const objects = new MemoryObjects()
  const failing = through(objects, ({ name }, send) => (name === 'complete' ? Promise.reject(new Error('no')) : send()))
  const storage = new RemoteStorage({ objects: failing })
  expect(await rejection(storage.saveBytes(Buffer.alloc(2 ** 24), context))).toMatchObject({ code: 'STORAGE_WRITE' })
  for await (const upload of objects.uploads('')) throw new Error(`${upload.key} stayed`)
  expect(await storage.list()).toEqual([])
})

test('wrong options are named', () => {
  const objects = new MemoryObjects()
  const rows: [unknown, string][] = [
    [undefined, 'options'],
    [{}, 'objects'],
    [{ objects: {} }, 'objects'],
    [{ objects, partBytes: 1 }, 'partBytes'],
    [{ objects, windowBytes: 2 ** 30 }, 'windowBytes'],
    [{ objects, retentionDays: 0 }, 'retentionDays'],
    [{ objects, maxStoreFiles: -1 }, 'maxStoreFiles'],
    [{ objects, bucket: 'x' }, 'bucket'],
  ]
  for (const [options, field] of rows) {
    expect(() => new RemoteStorage(options as RemoteStorageOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', field }),
    )
  }
})
