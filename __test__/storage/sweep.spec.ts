import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemoryStorage, TruncationService, TruncationStorage } from 'spillway'
import { startChild } from '../support/child'
import { onUnix } from '../support/only'
import { rejection } from '../support/outputs'
import { age, filesIn, ownName as own, putOld, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const put = (dir: string, letter: string, bytes: number, hours: number) => putOld(dir, own(letter), hours, bytes)

describe('a sweep', () => {
  test('says what it removed and why, and what is left', async () => {
    const [one, two] = [tempDir(), tempDir()]
    const paths = [put(one, 'a', 10, 200), put(two, 'b', 1000, 9), put(one, 'c', 10, 8), put(two, 'd', 10, 7)]
    put(one, 'e', 10, 6)
    put(two, 'f', 5000, 0.5)
    const storage = new TruncationStorage({ storageDirs: [one, two], maxStoreBytes: 5050, maxStoreFiles: 3 })
    expect(await storage.sweep()).toEqual({
      removed: [
        { path: paths[0], bytes: 10, reason: 'age' },
        { path: paths[1], bytes: 1000, reason: 'bytes' },
        { path: paths[2], bytes: 10, reason: 'count' },
      ],
      removedFiles: 3,
      removedBytes: 1020,
      kept: { files: 3, bytes: 5020 },
      failed: [],
      failedFiles: 0,
      skippedDirs: [],
    })
    expect([filesIn(one), filesIn(two)]).toEqual([[own('e')], [own('d'), own('f')]])
    // Younger than an hour: kept, though it alone is over the bound.
    const { kept } = await storage.sweep({ maxStoreBytes: 1, maxStoreFiles: 1 })
    expect(kept).toEqual({ files: 1, bytes: 5000 })
  })

  test('takes the time from its caller', async () => {
    const dir = tempDir()
    put(dir, 'a', 1, 0)
    const storage = new TruncationStorage(dir)
    expect((await storage.sweep()).removedFiles).toBe(0)
    expect((await storage.sweep({ now: Date.now() + 8 * 86_400_000 })).removedFiles).toBe(1)
  })

  test('only says what it would remove, if that is all that is asked', async () => {
    const dir = tempDir()
    put(dir, 'a', 10, 200)
    put(dir, 'b', 20, 1)
    const disk = new TruncationStorage(dir)
    const memory = new MemoryStorage()
    await memory.save('0123456789', tool)
    const later = Date.now() + 8 * 86_400_000
    for (const [storage, options] of [
      [disk, { dryRun: true }],
      [memory, { dryRun: true, now: later }],
    ] as const) {
      const { files, bytes } = await storage.usage()
      const tried = await storage.sweep(options)
      expect(tried).toMatchObject({ removedFiles: 1, removedBytes: 10, removed: [{ bytes: 10, reason: 'age' }] })
      expect(await storage.usage()).toMatchObject({ files, bytes })
      expect(await storage.sweep({ ...options, dryRun: false })).toEqual(tried)
    }
    expect(await rejection(disk.sweep({ dryRun: 1 as never }))).toMatchObject({ field: 'options.dryRun' })
  })

  test('leaves a folder alone that only looks like that of a session', async () => {
    const dir = tempDir()
    const theirs = join(dir, 'mydocs-aaaaaaaaaaaa')
    mkdirSync(theirs)
    const file = putOld(theirs, own('a', 'report'), 10_000)
    const storage = new TruncationStorage(dir)
    expect((await storage.sweep()).removedFiles).toBe(0)
    expect([existsSync(file), (await storage.usage()).files]).toEqual([true, 0])
    const ours = await storage.save('x', { ...tool, sessionId: 's' })
    age(ours, 10_000)
    expect((await storage.sweep()).removedFiles).toBe(1)
  })

  test('is for own files only', async () => {
    const dir = tempDir()
    for (const name of ['notes.txt', 'bash_1_x.txt', `${own('a')}.bak`]) {
      writeFileSync(join(dir, name), 'precious')
      age(join(dir, name), 10_000)
    }
    const elsewhere = tempDir()
    put(elsewhere, 'z', 1, 10_000)
    if (process.platform !== 'win32') {
      symlinkSync(elsewhere, join(dir, 'session-0123456789ab'))
      symlinkSync(join(elsewhere, own('z')), join(dir, own('y')))
    }
    const before = filesIn(dir)
    const report = await new TruncationStorage(dir).sweep({ maxStoreBytes: 1, maxStoreFiles: 1 })
    expect([report.removedFiles, report.failedFiles]).toEqual([0, 0])
    expect(filesIn(dir)).toEqual(before)
    expect(readdirSync(elsewhere)).toEqual([own('z')])
  })

  test('by a service uses its settings', async () => {
    const dir = tempDir()
    for (const letter of 'abcd') put(dir, letter, 1, 30 + letter.charCodeAt(0))
    const service = new TruncationService({ storageDirs: [dir], maxStoreFiles: 2, global: { retentionDays: 100 } })
    expect((await service.sweep()).removed.map(({ reason }) => reason)).toEqual(['count', 'count'])
    expect(() => new TruncationService({ maxStoreBytes: 0 })).toThrow(/"maxStoreBytes": .*received 0/)
  })

  test('has no bound with Infinity, wherever that is said', async () => {
    const dir = tempDir()
    for (const letter of 'abcd') put(dir, letter, 1, 30)
    const none = { maxStoreBytes: Number.POSITIVE_INFINITY, maxStoreFiles: Number.POSITIVE_INFINITY }
    const bounded = new TruncationStorage({ storageDirs: [dir], maxStoreFiles: 1 })
    for (const sweep of [
      () => new TruncationStorage({ storageDirs: [dir], ...none }).sweep(),
      () => new TruncationService({ storageDirs: [dir], ...none }).sweep(),
      () => bounded.sweep(none),
    ]) {
      expect((await sweep()).removedFiles).toBe(0)
    }
    expect((await bounded.sweep()).removedFiles).toBe(3)
  })

  test('by a service leaves a storage that it was given its own bounds', async () => {
    const dir = tempDir()
    put(dir, 'a', 1, 20 * 24)
    const storage = new TruncationStorage({ storageDirs: [dir], retentionDays: 30 })
    const service = new TruncationService({ storage })
    expect((await service.sweep()).removedFiles).toBe(0)
    expect((await service.sweep({ retentionDays: 10 })).removedFiles).toBe(1)
  })

  test.each([
    [{ maxStoreBytes: 0 }, 'options.maxStoreBytes'],
    [{ maxStoreFiles: 1.5 }, 'options.maxStoreFiles'],
    [{ now: Number.NaN }, 'options.now'],
    [{ days: 1 }, 'options.days'],
    [{ retentionDays: 0 }, 'options.retentionDays'],
    [{ retentionDays: null }, 'options.retentionDays'],
  ])('refuses %j', async (options, field) => {
    expect(await rejection(new TruncationStorage(tempDir()).sweep(options as never))).toMatchObject({
      name: 'SpillwayError',
      field,
    })
  })

  test('many at once remove every file once', async () => {
    const dir = tempDir()
    for (const letter of 'abcdefghijklmnop') put(dir, letter, 1, 500)
    const reports = await Promise.all(Array.from({ length: 6 }, () => new TruncationStorage(dir).sweep()))
    expect(reports.reduce((sum, { removedFiles }) => sum + removedFiles, 0)).toBe(16)
    expect(filesIn(dir)).toEqual([])
  })
})

describe('a lease', () => {
  onUnix('of another process keeps the files of its session until the others are gone, and ends with it', async () => {
    const dir = tempDir()
    const child = startChild(
      `require('node:v8').setFlagsFromString('--expose-gc')
       const save = () => new spillway.TruncationStorage(input).save('used', { toolName: 'x', sessionId: 'theirs' })
       const path = await save()
       // A lease is the process's, and stays when nobody refers to the storage any more.
       for (let round = 0; round < 5; round += 1) {
         require('node:vm').runInNewContext('gc')()
         await new Promise((resolve) => setImmediate(resolve))
       }
       process.stdout.write(path)
       setInterval(() => {}, 1000)`,
      { input: dir },
    )
    const theirs = String(await new Promise((resolve) => child.stdout!.once('data', resolve)))
    const storage = new TruncationStorage(dir)
    const ours = await storage.save('free', tool)
    age(theirs, 100)
    age(ours, 50)
    const swept = async () => (await storage.sweep({ maxStoreFiles: 1 })).removed.map(({ path }) => path)
    expect(await swept()).toEqual([ours])
    const later = await storage.save('free', tool)
    age(later, 50)
    const died = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await died
    expect(await swept()).toEqual([theirs])
    expect(existsSync(dirname(theirs))).toBe(false)
  })

  test('is given back by close', async () => {
    const dir = tempDir()
    const [storage, other] = [new TruncationStorage(dir), new TruncationStorage(dir)]
    const path = await storage.save('text', { ...tool, sessionId: 's' })
    age(path, 24 * 8)
    expect(await other.cleanup(7)).toBe(1)
    expect(existsSync(dirname(path))).toBe(true)
    await storage.close()
    await other.sweep()
    expect(existsSync(dirname(path))).toBe(false)
    const again = await storage.save('text', { ...tool, sessionId: 's' })
    expect(dirname(again)).toBe(dirname(path))
  })
})

describe('usage', () => {
  test('counts outputs, folder by folder', async () => {
    const [one, two, missing] = [tempDir(), tempDir(), join(tempDir(), 'missing')]
    const storage = new TruncationStorage({ storageDirs: [one, two, missing] })
    await storage.save('12345', tool)
    await storage.save('123', { ...tool, sessionId: 'a' })
    put(two, 'a', 100, 1)
    writeFileSync(join(one, 'notes.txt'), 'not ours')
    const usage = await storage.usage()
    expect(usage).toMatchObject({ files: 3, bytes: 108, sessions: 1 })
    expect(usage.dirs).toMatchObject([
      { dir: one, files: 2, bytes: 8 },
      { dir: two, files: 1, bytes: 100 },
      { dir: missing, files: 0, bytes: 0 },
    ])
    expect(usage.dirs[2]).not.toHaveProperty('freeBytes')
    if (process.platform !== 'win32') expect(usage.dirs[0]!.freeBytes).toBeGreaterThan(0)
  })
})

describe('deleting a session', () => {
  test('removes all of it and nothing else', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const gone = await storage.save('text', { ...tool, sessionId: 'one' })
    await storage.save('more', { ...tool, sessionId: 'one' })
    const kept = [await storage.save('text', { ...tool, sessionId: 'two' }), await storage.save('text', tool)]
    expect(await storage.deleteSession('one')).toBe(2)
    expect(existsSync(dirname(gone))).toBe(false)
    expect(kept.map((path) => existsSync(path))).toEqual([true, true])
    expect(await storage.deleteSession('one')).toBe(0)
    expect(await storage.deleteSession('../..')).toBe(0)
    expect(await rejection(storage.read(gone))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
    expect(await rejection(storage.deleteSession(5 as never))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('leaves the files of others', async () => {
    const storage = new TruncationStorage(tempDir())
    const path = await storage.save('text', { ...tool, sessionId: 'one' })
    writeFileSync(join(dirname(path), 'notes.txt'), 'precious')
    expect(await storage.deleteSession('one')).toBe(1)
    expect(readdirSync(dirname(path)).filter((name) => !name.startsWith('.'))).toEqual(['notes.txt'])
    expect(basename(path)).toContain('x_')
  })

  onUnix('removes what it can, and says what it could not', async () => {
    const [one, two] = [tempDir(), tempDir()]
    const session = { ...tool, sessionId: 'one' }
    const paths = await Promise.all([one, two].map((dir) => new TruncationStorage(dir).save('text', session)))
    const storage = new TruncationStorage({ storageDirs: [one, two] })
    const open = dirname(paths[0]!)
    chmodSync(open, 0o777)
    const reason = `everybody may write to the folder (${open})`
    expect(await rejection(storage.deleteSession('one'))).toMatchObject({
      code: 'STORAGE_WRITE',
      message: `not all of the session could be removed: ${reason}`,
    })
    expect(paths.map((path) => existsSync(path))).toEqual([true, false])
    expect((await storage.sweep()).failed).toEqual([{ path: open, error: 'everybody may write to the folder' }])
    chmodSync(open, 0o700)
    expect(await storage.deleteSession('one')).toBe(1)
  })
})

test('a folder that is named twice counts once', async () => {
  const dir = tempDir()
  put(dir, 'a', 10, 500)
  const storage = new TruncationStorage({ storageDirs: [dir, `${dir}/`] })
  expect(await storage.usage()).toMatchObject({ files: 1, bytes: 10, dirs: [{ dir, files: 1 }] })
  expect(await storage.sweep()).toMatchObject({ removedFiles: 1, skippedDirs: [] })
})

onUnix('a folder that is named once more by a link counts once', async () => {
  const dir = tempDir()
  put(dir, 'a', 10, 5)
  const link = join(tempDir(), 'link')
  symlinkSync(dir, link)
  const storage = new TruncationStorage({ storageDirs: [dir, link] })
  const usage = await storage.usage()
  expect(usage).toMatchObject({ files: 1, bytes: 10 })
  expect(usage.dirs.map((each) => each.dir)).toEqual([dir])
  expect((await storage.sweep()).kept).toEqual({ files: 1, bytes: 10 })
})

onUnix('a folder that cannot be written to is reported as skipped, not as an error', async () => {
  const dir = tempDir()
  put(dir, 'a', 1, 500)
  chmodSync(dir, 0o500)
  const report = await new TruncationStorage(dir).sweep()
  chmodSync(dir, 0o700)
  // Root may write anywhere.
  expect(report.skippedDirs.length + report.removedFiles).toBe(1)
})
