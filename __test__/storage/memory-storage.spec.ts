import { homedir } from 'node:os'
import { join } from 'node:path'
import { createOutputTools, MemoryStorage, TruncationStorage } from 'spillway'
import { appPaths } from 'spillway/truncation'
import { cut, makeService, numbered, rejection, thrown } from '../support/outputs'
import { tempDir } from '../support/temp'

const tool = { toolName: 'my tool' }

describe('a storage in memory', () => {
  test('reads and searches as one on the disk does', async () => {
    const [memory, disk] = [new MemoryStorage(), new TruncationStorage(tempDir())]
    const odd = ['a\ud800b', '\ufffd', 'a.b']
    for (const text of ['', 'one\r\ntwo\n', numbered(30_000), `${'你😀'.repeat(90_000)}\nend`, 'a\ud800b']) {
      const [here, there] = [await memory.save(text, tool), await disk.save(text, tool)]
      expect(await memory.read(here)).toBe(text)
      for (const range of [{ fromLine: 1 }, { fromLine: 2, lineCount: 1 }, { fromByte: 5, byteCount: 7 }]) {
        expect(await memory.readRange(here, range)).toEqual(await disk.readRange(there, range))
      }
      const options = { context: 1, maxMatches: 3 }
      for (const pattern of ['[3n]', ...odd]) {
        expect(await memory.search(here, pattern, options)).toEqual(await disk.search(there, pattern, options))
      }
    }
    const bytes = Uint8Array.from([0x61, 0xff])
    const path = await memory.saveBytes(bytes, tool)
    bytes[0] = 0
    expect(await memory.read(path)).toBe('a\ufffd')
    const half = Uint8Array.from([0xed, 0xa0, 0x80])
    expect(await memory.read(await memory.saveBytes(half, tool))).toBe(
      await disk.read(await disk.saveBytes(half, tool)),
    )
  })

  test('has paths of its own, and errors like the other', async () => {
    const memory = new MemoryStorage()
    const path = await memory.save('text', { ...tool, sessionId: 's' })
    expect(path).toMatch(/^memory:\/s-[0-9a-f]{12}\/my_tool_\d+_[0-9a-z]{13}\.txt$/)
    expect(path.startsWith(memory.getStorageDir())).toBe(true)
    expect([memory.owns(path), memory.owns('/etc/passwd')]).toEqual([true, false])
    expect(await rejection(memory.read('/etc/passwd'))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    expect(await rejection(memory.readRange(path, {}))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'range' })
    expect(await rejection(memory.search(path, '('))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'pattern' })
    // Arguments are checked before the caller, as on the disk.
    const other = { sessionId: 'other' }
    expect(await rejection(memory.readRange(path, { fromLine: 0 }, other))).toMatchObject({ field: 'range.fromLine' })
    expect(await rejection(memory.search(path, 'x', { ...other, maxMatches: 0 }))).toMatchObject({
      field: 'options.maxMatches',
    })
    expect(await rejection(memory.readRange(path, { fromLine: 1 }, other))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    expect(await rejection(memory.search(path, '(', other))).toMatchObject({ field: 'pattern' })
    expect(await memory.deleteSession('s')).toBe(1)
    expect(await rejection(memory.read(path))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
    await memory.save('text', tool)
    await memory.close()
    expect((await memory.usage()).files).toBe(0)
  })

  test.each([
    [{ redcat: { known: true } }, 'redcat'],
    [{ retentionDays: -1 }, 'retentionDays'],
    [{ maxStoreFiles: 0 }, 'maxStoreFiles'],
    [null, 'options'],
    [5, 'options'],
  ])('refuses %j', (options, field) => {
    expect(thrown(() => new MemoryStorage(options as never))).toMatchObject({ code: 'INVALID_CONFIG', field })
  })

  test('keeps its bounds', async () => {
    const memory = new MemoryStorage({ maxStoreFiles: 2 })
    const paths = [await memory.save('12345', tool), await memory.save('123', { ...tool, sessionId: 's' })]
    paths.push(await memory.save('1', tool))
    expect(await memory.usage()).toEqual({
      files: 3,
      bytes: 9,
      sessions: 1,
      dirs: [{ dir: 'memory:/', files: 3, bytes: 9 }],
    })
    expect((await memory.sweep()).removedFiles).toBe(0)
    const later = Date.now() + 2 * 3_600_000
    const report = await memory.sweep({ now: later })
    expect(report.removed).toEqual([{ path: paths[0], bytes: 5, reason: 'count' }])
    expect(report.kept).toEqual({ files: 2, bytes: 4 })
    expect((await memory.sweep({ now: later, maxStoreBytes: 1 })).removed).toMatchObject([{ reason: 'bytes' }])
    expect((await memory.sweep({ now: later + 8 * 86_400_000 })).removed).toMatchObject([{ reason: 'age' }])
    const lasting = new MemoryStorage({ retentionDays: 30 })
    await lasting.save('text', tool)
    expect((await lasting.sweep({ now: later + 20 * 86_400_000 })).removedFiles).toBe(0)
    expect((await lasting.sweep({ now: later + 40 * 86_400_000 })).removedFiles).toBe(1)
    expect(thrown(() => new MemoryStorage({ retentionDays: 0 }))).toMatchObject({
      code: 'INVALID_CONFIG',
      field: 'retentionDays',
    })
    expect(await memory.cleanup(7)).toBe(0)
    expect(await rejection(memory.cleanup(0))).toMatchObject({ code: 'INVALID_CONFIG' })
  })

  test('serves a service and the tools of a model', async () => {
    const memory = new MemoryStorage()
    const service = makeService({ storage: memory, global: { maxLines: 3 } })
    const { outputPath } = cut(await service.output(numbered(9), { ...tool, sessionId: 's' }))
    const [read] = createOutputTools(memory, { sessionId: 's' })
    expect((await read.execute({ path: outputPath, from_line: 4, line_count: 1 })).output).toContain('line 4')
  })
})

describe('a storage in memory and one on the disk', () => {
  const both = () => [new MemoryStorage(), new TruncationStorage(tempDir())]

  test('refuse the same, in the same words', async () => {
    const gone = new Uint8Array(4)
    structuredClone(gone.buffer, { transfer: [gone.buffer] })
    for (const storage of both()) {
      expect(await rejection(storage.saveBytes(gone, tool))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: 'content',
        message: 'content: the bytes are gone; their buffer was transferred',
      })
      expect(await rejection(storage.sweep(null as never))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        field: 'options',
        message: 'Invalid option "options": expected an object, received null',
      })
      const path = await storage.save('text', { ...tool, sessionId: 's' })
      for (const other of [`${path}/`, `${path}//`, `${path}/.`]) {
        expect(storage.owns(other)).toBe(false)
        for (const asked of [
          storage.read(other),
          storage.readRange(other, { fromLine: 1 }),
          storage.search(other, 'x'),
        ]) {
          expect(await rejection(asked)).toMatchObject({
            code: 'STORAGE_NOT_OWNED',
            message: `${JSON.stringify(other)} is not an output that this store saved`,
          })
        }
      }
      expect(await storage.deleteSession('s')).toBe(1)
      expect(await rejection(storage.read(path))).toMatchObject({
        code: 'STORAGE_NOT_FOUND',
        message: `${JSON.stringify(path)}: is no longer there; it was probably swept`,
      })
    }
  })

  test('ask a context once for each of its fields', async () => {
    for (const field of ['toolName', 'sessionId', 'toolCallId', 'failed', 'signal']) {
      for (const storage of both()) {
        let asked = 0
        const context = {
          ...tool,
          get [field]() {
            asked += 1
            if (asked > 1) throw new Error(`${field} was asked for again`)
            return field === 'toolName' ? 'my tool' : undefined
          },
        }
        expect(await storage.read(await storage.save('text', context))).toBe('text')
      }
    }
  })
})

describe('the places of an application', () => {
  test('are the vault and the home', () => {
    const { vaultDir, dataDir } = appPaths('moryflow')
    expect(vaultDir('/vaults/mine')).toBe(join('/vaults/mine', '.agent-output'))
    expect(dataDir).toBe(join(homedir(), '.moryflow', 'agent-output'))
  })

  test.each([
    ['My Agent', '.my-agent'],
    ['My  Agent 2.0', '.my-agent-2.0'],
    ['Überblick', '.Überblick'],
    ['我的助手', '.我的助手'],
  ])('are those of an application called %s in %s', (name, folder) => {
    expect(appPaths(name).dataDir).toBe(join(homedir(), folder, 'agent-output'))
  })

  test.each(['a\\b', 'a\0b', ' a', 'a ', 'a.', 'a\nb', 'a:b', '', '.', '../x', 'a/b', '.hidden', 5, 'x'.repeat(65)])(
    'have plain names: %p',
    (name) => {
      expect(thrown(() => appPaths(name as string))).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'appName' })
    },
  )
})
