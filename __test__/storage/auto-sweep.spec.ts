import { existsSync, utimesSync } from 'node:fs'
import { type ITruncationStorage, MemoryStorage, TruncationService, TruncationStorage } from 'spillway'
import { runChild } from '../support/child'
import { onUnix } from '../support/only'
import { cut, numbered } from '../support/outputs'
import { age, filesIn, ownName as own, putOld, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const put = (dir: string, letter: string, hours: number) => putOld(dir, own(letter), hours)
const DAY = 24

describe('a store that is saved into', () => {
  test('sweeps with the first save and then with every hundredth, and says what it did', async () => {
    const dir = tempDir()
    const first = put(dir, 'a', 8 * DAY)
    const storage = new TruncationStorage(dir)
    expect((await storage.usage()).lastSweep).toBeUndefined()
    await storage.save('new', tool)
    await storage.close()
    expect(existsSync(first)).toBe(false)
    expect((await storage.usage()).lastSweep).toMatchObject({
      removed: [{ path: first, bytes: 3, reason: 'age' }],
      removedFiles: 1,
      kept: { files: 1, bytes: 3 },
    })
    const second = put(dir, 'b', 8 * DAY)
    for (let saved = 1; saved < 100; saved += 1) await storage.save('new', tool)
    await storage.close()
    expect(existsSync(second)).toBe(true)
    await storage.save('new', tool)
    await storage.close()
    expect(existsSync(second)).toBe(false)
  })

  test('keeps to the bounds of its service', async () => {
    const dir = tempDir()
    for (const letter of 'abcd') put(dir, letter, 20 * DAY + letter.charCodeAt(0))
    const service = new TruncationService({ storageDirs: [dir], maxStoreFiles: 3, global: { retentionDays: 30 } })
    await service.output(numbered(3000), tool)
    await service.close()
    // Two of the four, and the one that was just saved.
    expect(filesIn(dir)).toHaveLength(3)
    expect(filesIn(dir)).toEqual(expect.arrayContaining([own('a'), own('b')]))
  })

  test.each([
    ['its option', { sweepOnSave: false }, false],
    ['a profile that never sweeps', { profile: 'takumi' }, false],
    ['a profile that never sweeps, unless it is told to', { profile: 'takumi', sweepOnSave: true }, true],
    ['another profile', { profile: 'opencode' }, true],
    ['a retention without end', { global: { retentionDays: Number.POSITIVE_INFINITY } }, false],
  ] as const)('follows %s', async (_, options, sweeps) => {
    const dir = tempDir()
    const old = put(dir, 'a', 8 * DAY)
    const service = new TruncationService({ storageDirs: [dir], ...options })
    await service.output(numbered(3000), tool)
    await service.close()
    expect(existsSync(old)).toBe(!sweeps)
  })

  test('keeps its own saves, at any date of the file', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', tool)
    age(path, 8 * DAY)
    for (let saved = 1; saved <= 100; saved += 1) await storage.save('new', tool)
    await storage.close()
    expect(existsSync(path)).toBe(true)
    expect(await storage.cleanup(7)).toBe(1)
  })

  onUnix('B15 a clock that is wrong for this process removes nothing', async () => {
    const dir = tempDir()
    const paths = [put(dir, 'a', 6 * DAY), put(dir, 'b', 1)]
    for (const years of [10, -60]) {
      runChild(
        `const real = Date.now
         Date.now = () => real() + input.years * 365 * 86_400_000
         const storage = new spillway.TruncationStorage(input.dir)
         for (let saved = 0; saved <= 100; saved += 1) await storage.save('new', { toolName: 'x' })
         await storage.close()
         answer(0)`,
        { input: { dir, years } },
      )
    }
    expect(paths.map((path) => existsSync(path))).toEqual([true, true])
  })

  test('B15 a clock that may have jumped by years removes nothing', async () => {
    const dir = tempDir()
    const path = put(dir, 'a', 0)
    utimesSync(path, 0, 0)
    const save = async () => {
      const storage = new TruncationStorage(dir)
      await storage.save('new', tool)
      await storage.close()
    }
    await save()
    expect(existsSync(path)).toBe(true)
    // An output of the last days says that the clock has been going.
    put(dir, 'b', DAY)
    await save()
    expect(existsSync(path)).toBe(false)
  })

  test.each([
    [{ sweepOnSave: 1 }, 'sweepOnSave'],
    [{ retentionDays: 0 }, 'retentionDays'],
  ])('refuses %j', (options, field) => {
    expect(() => new TruncationStorage({ storageDirs: [tempDir()], ...(options as object) })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', field }),
    )
  })
})

// No sweep by the way: an output that one might be about to remove is saved again.
describe.each([
  ['on disk', () => new TruncationStorage({ storageDirs: [tempDir()], sweepOnSave: false })],
  ['in memory', () => new MemoryStorage()],
] as [string, () => TruncationStorage | MemoryStorage][])('the same content of the same call %s', (_, make) => {
  const call = { toolName: 'x', sessionId: 's', toolCallId: 'call\ud800' }

  test('is saved once', async () => {
    const storage = make()
    const path = await storage.save('text', call)
    expect(await storage.save('text', { ...call, toolName: 'y' })).toBe(path)
    expect(await storage.saveBytes(Buffer.from('text'), call)).toBe(path)
    const others = [
      await storage.save('tex_', call),
      await storage.save('text', { ...call, toolCallId: 'other' }),
      await storage.save('text', { ...call, sessionId: 'other' }),
      await storage.save('text', { toolName: 'x', sessionId: 's' }),
    ]
    expect(new Set([path, ...others]).size).toBe(5)
    expect(await storage.save('text', call)).toBe(path)
    expect((await storage.usage()).files).toBe(5)
  })

  test('is saved again once it was deleted', async () => {
    const storage = make()
    const path = await storage.save('text', call)
    await storage.deleteSession('s')
    const again = await storage.save('text', call)
    expect(again).not.toBe(path)
    expect(await storage.read(again)).toBe('text')
  })

  test('is saved once by several that save at once', async () => {
    const storage = make()
    const paths = await Promise.all(Array.from({ length: 8 }, () => storage.save('text', call)))
    expect(new Set(paths).size).toBe(1)
    expect((await storage.usage()).files).toBe(1)
  })

  test('is one output of a service and of a capture', async () => {
    const storage: ITruncationStorage = make()
    const service = new TruncationService({ storage })
    const text = numbered(3000)
    const whole = cut(await service.output(text, call))
    expect(cut(await service.output(text, call)).outputPath).toBe(whole.outputPath)
    const capture = service.capture(call)
    capture.write(text.slice(0, 1000))
    capture.end(text.slice(1000))
    expect(await capture.result).toEqual(whole)
  })
})
