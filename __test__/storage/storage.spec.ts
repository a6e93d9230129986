import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { SpillwayError, TruncationService, TruncationStorage } from 'spillway'
import { appPaths } from 'spillway/truncation'
import { runChild, startChild } from '../support/child'
import { isRoot, NOBODY, onLinux, onUnix } from '../support/only'
import { cut, makeListening, makeService, numbered, rejection, thrown } from '../support/outputs'
import { age, filesIn, OUTPUT_NAME, overrideDefaultDir, ownName as own, putOld as put, tempDir } from '../support/temp'

const tool = { toolName: 'mytool' }

/** A path that cannot be a folder, because it is a file. */
function blocked(): string {
  const file = join(tempDir(), 'a-file')
  writeFileSync(file, 'precious')
  return file
}

describe('names', () => {
  test('are the tool, the time and something random', async () => {
    const dir = tempDir()
    const before = Date.now()
    const path = await new TruncationStorage(dir).save('text', { toolName: 'my-tool_2' })
    expect(dirname(path)).toBe(dir)
    expect(basename(path)).toMatch(OUTPUT_NAME)
    const [, time, random] = /^my-tool_2_(\d+)_([a-z0-9]+)\.txt$/.exec(basename(path))!
    expect(Number(time)).toBeGreaterThanOrEqual(before)
    expect(Number(time)).toBeLessThanOrEqual(Date.now())
    // 36 digits to the 13th are more than 64 bits.
    expect(random!.length).toBeGreaterThanOrEqual(13)
  })

  test('never repeat', async () => {
    const storage = new TruncationStorage(tempDir())
    const paths = await Promise.all(Array.from({ length: 200 }, () => storage.save('same', tool)))
    expect(new Set(paths.map((path) => basename(path).split('_').at(-1))).size).toBe(200)
  })

  test('are recognized even if a tool is called like an output', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', { toolName: 'bash_1700000000000_abcdefghijklm.txt' })
    expect(basename(path)).toMatch(OUTPUT_NAME)
    expect(await storage.read(path)).toBe('text')
    age(path, 24 * 8)
    expect(await storage.cleanup(7)).toBe(1)
  })
})

describe('sessions', () => {
  test('have a folder of their own', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', { toolName: 'x', sessionId: 'my session' })
    expect(dirname(dirname(path))).toBe(dir)
    expect(basename(dirname(path))).toMatch(/^my_session-[0-9a-f]{12,}$/)
    expect(dirname(await storage.save('more', { toolName: 'y', sessionId: 'my session' }))).toBe(dirname(path))
    expect(await storage.read(path)).toBe('text')
    expect(storage.owns(path)).toBe(true)
  })

  test('have a folder of their own in a service, too', async () => {
    const dir = tempDir()
    const service = makeService({ storageDirs: [dir], global: { maxLines: 3 } })
    const result = cut(await service.output(numbered(9), { ...tool, sessionId: 'one' }))
    expect(dirname(dirname(result.outputPath))).toBe(dir)
  })
})

describe('folders in order', () => {
  test('one that does not exist is made', async () => {
    const dir = join(tempDir(), 'not', 'there')
    const path = await new TruncationStorage({ storageDirs: [dir, tempDir()] }).save('text', tool)
    expect(dirname(path)).toBe(dir)
  })

  test('one that is a file is left for the next, and stays as it is', async () => {
    const [file, good] = [blocked(), tempDir()]
    const path = await new TruncationStorage({ storageDirs: [file, good] }).save('text', tool)
    expect(dirname(path)).toBe(good)
    expect(readFileSync(file, 'utf8')).toBe('precious')
  })

  onUnix('one that is read-only is left for the next', () => {
    const root = tempDir()
    const [readOnly, good] = [join(root, 'read-only'), join(root, 'good')]
    for (const dir of [readOnly, good]) mkdirSync(dir)
    chmodSync(readOnly, 0o555)
    if (isRoot) {
      // Nothing is read-only for root, so another user tries.
      chmodSync(root, 0o755)
      chownSync(good, NOBODY, NOBODY)
    }
    const result = runChild<{ outputPath: string; events: { type: string; error?: string }[] }>(
      `const events = []
       const service = new spillway.TruncationService({
         global: { maxLines: 3 }, storageDirs: input, onEvent: ({ type, error }) => events.push({ type, error }),
       })
       const { outputPath } = await service.output('a\\nb\\nc\\nd', { toolName: 'x' })
       answer({ outputPath, events })`,
      { input: [readOnly, good], uid: isRoot ? NOBODY : undefined, cwd: '/' },
    )
    expect(dirname(result.outputPath)).toBe(good)
    expect(result.events).toEqual([
      { type: 'error', error: expect.stringMatching(/^EACCES: .*read-only/) },
      { type: 'truncated' },
    ])
    expect(readdirSync(readOnly)).toEqual([])
  })

  test('the folder of the settings comes before the others', async () => {
    const [first, second] = [tempDir(), tempDir()]
    const service = makeService({ global: { storageDir: first, maxLines: 3 }, storageDirs: [second] })
    expect(dirname(cut(await service.output(numbered(9), tool)).outputPath)).toBe(first)
    expect(new TruncationStorage({ storageDirs: [first, second] }).getStorageDir()).toBe(first)
  })

  test('a folder that is removed or replaced while it is used is made again, or the next is taken', async () => {
    const [dir, good] = [join(tempDir(), 'out'), tempDir()]
    const storage = new TruncationStorage({ storageDirs: [dir, good] })
    await storage.save('text', tool)
    rmSync(dir, { recursive: true })
    expect(dirname(await storage.save('text', tool))).toBe(dir)
    rmSync(dir, { recursive: true })
    writeFileSync(dir, 'a file now')
    expect(dirname(await storage.save('text', tool))).toBe(good)
  })

  test('a path that is too long for the system is left for the next', async () => {
    const [long, good] = [join(tempDir(), 'x'.repeat(300)), tempDir()]
    expect(dirname(await new TruncationStorage({ storageDirs: [long, good] }).save('text', tool))).toBe(good)
    const deep = join(tempDir(), ...Array.from({ length: 60 }, () => 'y'.repeat(100)))
    expect(dirname(await new TruncationStorage({ storageDirs: [deep, good] }).save('text', tool))).toBe(good)
  })

  test('when all fail, the preview is returned, and says that the rest was not kept', async () => {
    const [one, two] = [blocked(), join(blocked(), 'below')]
    const { service, events } = makeListening({ storageDirs: [one, two], global: { maxLines: 3 } })
    const result = cut(await service.output(numbered(9), tool))
    expect(result.outputPath).toBe('')
    expect(result.preview).toBe(numbered(3))
    expect(result.saveError.code).toBe('STORAGE_WRITE')
    expect(result.saveError.attempts.map(({ dir }) => dir)).toEqual([one, two])
    for (const { error } of result.saveError.attempts) expect(error).toMatch(/^ENOTDIR: /)
    expect(result.content).toContain('...6 lines truncated...')
    expect(result.content).toContain('could not be saved and was not kept')
    expect(result.content).not.toContain('saved to')
    expect(events.map(({ type }) => type)).toEqual(['error', 'error', 'truncated'])
  })

  test('when all fail, a save is rejected with every reason', async () => {
    const [one, two] = [blocked(), blocked()]
    const error = await rejection(new TruncationStorage({ storageDirs: [one, two] }).save('text', tool))
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringContaining(one) })
    expect((error as Error).message).toContain(two)
  })

  test('so is the folder of a project that was there before, and no other one', async () => {
    for (const [dir, names] of [
      [appPaths('x').vaultDir(tempDir()), ['.gitignore', 'CACHEDIR.TAG']],
      [join(tempDir(), 'logs'), []],
    ] as const) {
      mkdirSync(dir, { recursive: true })
      const storage = new TruncationStorage(dir)
      await storage.save('text', tool)
      const marks = () => readdirSync(dir).filter((name) => ['.gitignore', 'CACHEDIR.TAG'].includes(name))
      expect(marks().sort()).toEqual(names)
      // Those that are removed later are not made again.
      for (const name of names) rmSync(join(dir, name))
      await storage.save('text', tool)
      expect(marks()).toEqual([])
    }
  })

  test('a folder that it makes is ignored by version control and left out by backups', async () => {
    const dir = appPaths('x').vaultDir(tempDir())
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', { ...tool, sessionId: 's' })
    expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toBe('*\n')
    expect(readFileSync(join(dir, 'CACHEDIR.TAG'), 'utf8')).toMatch(/^Signature: 8a477f597d28d172789f06886806bc55\n/)
    expect(await storage.usage()).toMatchObject({ files: 1, bytes: 4 })
    for (const name of ['.gitignore', 'CACHEDIR.TAG']) expect(storage.owns(join(dir, name))).toBe(false)
    expect((await storage.sweep({ now: Date.now() + 1e12 })).removed.map((file) => file.path)).toEqual([path])
    // A file of the user's in its place stays.
    writeFileSync(join(dir, '.gitignore'), '')
    await storage.save('text', tool)
    expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toBe('')
  })

  test('a folder that was there gets nothing but outputs', async () => {
    const dir = tempDir()
    const path = await new TruncationStorage(dir).save('text', tool)
    expect(readdirSync(dir)).toEqual([basename(path)])
  })
})

describe('the default folder', () => {
  test('is the one that SPILLWAY_STORAGE_DIR names', async () => {
    const dir = tempDir()
    overrideDefaultDir(dir)
    expect(new TruncationStorage().getStorageDir()).toBe(dir)
    const result = cut(await new TruncationService({ global: { maxLines: 3 } }).output(numbered(9), tool))
    expect(dirname(result.outputPath)).toBe(dir)
  })

  onUnix('is in the home of the user', () => {
    const home = tempDir()
    const dir = runChild<string>(`answer(new spillway.TruncationStorage().getStorageDir())`, {
      env: { HOME: home, XDG_DATA_HOME: '' },
    })
    expect(dir.startsWith(home + sep)).toBe(true)
  })

  for (const home of ['/', 'relative']) {
    onLinux(`is a private one in the temporary folder where the home is ${home}`, () => {
      const temporary = tempDir()
      const dir = runChild<string>(`answer(new spillway.TruncationStorage().getStorageDir())`, {
        env: { HOME: home, XDG_DATA_HOME: '', TMPDIR: temporary },
      })
      expect([dir, dir.startsWith(temporary + sep)]).toEqual([dir, true])
    })
  }

  test('is refused under the name of the variable', () => {
    overrideDefaultDir('/')
    for (const make of [() => new TruncationStorage(), () => new TruncationService().storage]) {
      expect(make).toThrow(
        expect.objectContaining({
          code: 'INVALID_CONFIG',
          field: 'SPILLWAY_STORAGE_DIR',
          message:
            'Invalid option "SPILLWAY_STORAGE_DIR": expected the path of a folder that is not the root, received "/"',
        }),
      )
    }
  })

  test.each(['/', '//', ' '])('is never one that no setting may name: %j', (value) => {
    const dir = runChild<string>(
      `let dir
       try { dir = new spillway.TruncationStorage().getStorageDir() } catch (error) { dir = error.code }
       answer(dir)`,
      { env: { SPILLWAY_STORAGE_DIR: value }, cwd: '/' },
    )
    expect([value, dir === 'INVALID_CONFIG' || dir.split(sep).filter((part) => part.trim()).length > 1]).toEqual([
      value,
      true,
    ])
  })
})

describe('saving and reading back', () => {
  const texts: [string, string][] = [
    ['nothing', ''],
    ['one newline', '\n'],
    ['no final newline', 'a\nb'],
    ['all kinds of breaks', 'a\r\nb\rc\u2028d\u0085e\r\n'],
    ['a byte order mark and NULs', '\ufeff\u0000a\u0000'],
    ['every script', 'é你好مرحبا👨‍👩‍👧🇩🇪e\u0301'],
    ['a lone high surrogate', 'a\ud800b'],
    ['a lone low surrogate', 'a\udc00b'],
    ['surrogates in the wrong order', '\udc00\ud800'],
    ['a lone surrogate at the end', 'a\ud83d'],
    ['lone surrogates at every place', '\ud800\ud800\udc00\udc00'.repeat(50)],
    ['escape sequences', '\u001b[31mred\u001b]8;;http://x\u0007link'],
  ]

  test.each(texts)('give the same string: %s', async (_what, text) => {
    const storage = new TruncationStorage(tempDir())
    const path = await storage.save(text, tool)
    expect(await storage.read(path)).toBe(text)
    if (text.isWellFormed()) expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('give the same string when surrogates lie where the text is handed over in slices', async () => {
    const storage = new TruncationStorage(tempDir())
    for (const length of [2 ** 15, 2 ** 18, 2 ** 19]) {
      for (const shift of [-2, -1, 0, 1]) {
        const text = `${'x'.repeat(length + shift)}😀\ud800${'y'.repeat(length)}\udc00😀`
        expect((await storage.read(await storage.save(text, tool))) === text).toBe(true)
      }
    }
  })

  test('keep a pair of surrogates apart that two saves split', async () => {
    const storage = new TruncationStorage(tempDir())
    const [high, low] = await Promise.all([storage.save('\ud83d', tool), storage.save('\ude00', tool)])
    expect((await storage.read(high)) + (await storage.read(low))).toBe('😀')
  })

  test('keep bytes as they are', async () => {
    const storage = new TruncationStorage(tempDir())
    const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) % 256)
    const path = await storage.saveBytes(bytes, tool)
    expect(readFileSync(path).equals(bytes)).toBe(true)
    const text = Buffer.from('valid 你好\n')
    expect(await storage.read(await storage.saveBytes(text, tool))).toBe('valid 你好\n')
    expect(await storage.read(await storage.saveBytes(new Uint8Array(0), tool))).toBe('')
  })

  test.each(['process', 'file', 'full'] as const)('with durability %s', async (durability) => {
    const dir = join(tempDir(), 'new')
    const storage = new TruncationStorage({ storageDirs: [dir], durability })
    const path = await storage.save('text', { ...tool, sessionId: 's' })
    expect(await storage.read(path)).toBe('text')
    expect(filesIn(dir)).toHaveLength(1)
    const service = makeService({ storageDirs: [dir], durability, global: { maxLines: 3 } })
    expect(readFileSync(cut(await service.output(numbered(9), tool)).outputPath, 'utf8')).toBe(numbered(9))
  })

  test('an aborted save leaves nothing', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const reason = new Error('stop')
    expect(await rejection(storage.save('x', { ...tool, signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    const pending = storage.save('x'.repeat(20_000_000), { ...tool, signal: controller.signal })
    controller.abort(reason)
    expect(await rejection(pending)).toBe(reason)
    expect(filesIn(dir)).toEqual([])
  })

  test('a storage works in a service like a folder does', async () => {
    const dir = tempDir()
    const service = makeService({ storage: new TruncationStorage(dir), global: { maxLines: 3 } })
    const result = cut(await service.output('\ud800\n'.repeat(9), tool))
    expect(dirname(result.outputPath)).toBe(dir)
    expect(await new TruncationStorage(dir).read(result.outputPath)).toBe('\ud800\n'.repeat(9))
  })

  test('a storage that is extended is asked', async () => {
    class Counting extends TruncationStorage {
      saves: string[] = []
      override async save(...args: Parameters<TruncationStorage['save']>): Promise<string> {
        this.saves.push(args[0])
        return super.save(...args)
      }
    }
    const storage = new Counting(tempDir())
    const result = cut(await makeService({ storage, global: { maxLines: 3 } }).output(numbered(9), tool))
    expect(storage.saves).toEqual([numbered(9)])
    expect(await storage.read(result.outputPath)).toBe(numbered(9))
  })
})

describe('reading is for own files only', () => {
  const refused = async (storage: TruncationStorage, path: string) => {
    expect([path, storage.owns(path)]).toEqual([path, false])
    expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_NOT_OWNED', field: 'path' })
  }
  const ours = 'x_1700000000000_aaaaaaaaaaaaa.txt'

  test('paths elsewhere, relative ones and nonsense are refused', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', tool)
    writeFileSync(join(dir, 'notes.txt'), 'mine')
    const nonsense = ['', '/', '.', '..', '/etc/passwd', '../../etc/passwd', 'a\0b', '\ud800', 'x'.repeat(10_000), dir]
    const disguised = [
      join(dir, 'notes.txt'),
      join(dir, '..', '..', 'etc', 'passwd'),
      `${path}/../../etc/passwd`,
      `${path}\0.txt`,
      basename(path),
    ]
    for (const wrong of [...nonsense, ...disguised]) await refused(storage, wrong)
  })

  test('a way round that ends at an own file is that file', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', { ...tool, sessionId: 's' })
    const round = `${dirname(path)}${sep}..${sep}${basename(dirname(path))}${sep}${basename(path)}`
    expect(await storage.read(round)).toBe('text')
  })

  test('files of another store are refused', async () => {
    const path = await new TruncationStorage(tempDir()).save('text', tool)
    await refused(new TruncationStorage(tempDir()), path)
  })

  onUnix('links are not followed', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const secret = join(tempDir(), ours)
    writeFileSync(secret, 'secret')
    symlinkSync(secret, join(dir, ours))
    linkSync(secret, join(dir, ours.replace('aaa', 'bbb')))
    expect(await rejection(storage.read(join(dir, ours)))).toMatchObject({ name: 'SpillwayError' })
    expect(await rejection(storage.read(join(dir, ours.replace('aaa', 'bbb'))))).toMatchObject({
      code: 'STORAGE_NOT_OWNED',
    })
  })

  onUnix('links are not owned', () => {
    const dir = tempDir()
    const secret = join(tempDir(), ours)
    writeFileSync(secret, 'secret')
    symlinkSync(secret, join(dir, ours))
    linkSync(secret, join(dir, ours.replace('aaa', 'bbb')))
    const storage = new TruncationStorage(dir)
    expect([ours, ours.replace('aaa', 'bbb')].map((name) => storage.owns(join(dir, name)))).toEqual([false, false])
  })

  onUnix('a folder that looks like a session and is a link leads nowhere', async () => {
    const [dir, other] = [tempDir(), tempDir()]
    writeFileSync(join(other, ours), 'secret')
    const session = join(dir, 'session-0123456789ab')
    symlinkSync(other, session)
    await refused(new TruncationStorage(dir), join(session, ours))
  })

  onUnix('a store that is reached through a link reads its files by either path', async () => {
    const [dir, parent] = [tempDir(), tempDir()]
    const link = join(parent, 'link')
    symlinkSync(dir, link)
    const storage = new TruncationStorage(link)
    const path = await storage.save('text', tool)
    expect(await storage.read(path)).toBe('text')
    expect(await storage.read(join(dir, basename(path)))).toBe('text')
  })

  onUnix('a pipe is refused and not waited for', async () => {
    const dir = tempDir()
    runChild(`require('node:child_process').execFileSync('mkfifo', [input]); answer(1)`, { input: join(dir, ours) })
    const storage = new TruncationStorage(dir)
    expect(await rejection(storage.read(join(dir, ours)))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    mkdirSync(join(dir, ours.replace('aaa', 'ccc')))
    expect(await rejection(storage.read(join(dir, ours.replace('aaa', 'ccc'))))).toMatchObject({
      name: 'SpillwayError',
    })
  })

  test('a file that was swept has a code of its own', async () => {
    const storage = new TruncationStorage(tempDir())
    for (const context of [tool, { ...tool, sessionId: 's' }]) {
      const path = await storage.save('text', context)
      age(path, 24 * 8)
      expect(await storage.cleanup(7)).toBe(1)
      expect(await rejection(storage.read(path))).toMatchObject({ code: 'STORAGE_NOT_FOUND', field: 'path' })
    }
  })
})

describe('cleaning up', () => {
  const day = 24

  test('uses the time of the last change and counts the removed outputs', async () => {
    const dir = tempDir()
    put(dir, own('a'), 7 * day + 1)
    put(dir, own('b'), 7 * day - 1)
    put(dir, own('c'), -50)
    put(dir, own('d'), 365 * day * 40)
    expect(await new TruncationStorage(dir).cleanup(7)).toBe(2)
    expect(readdirSync(dir).sort()).toEqual([own('b'), own('c')])
    expect(await new TruncationStorage(dir).cleanup(7)).toBe(0)
  })

  test('is for own files only', async () => {
    const dir = tempDir()
    const foreign = [
      'notes.txt',
      'tool_old',
      'bash_1_x.txt',
      'bash_1700000000000_AAAAAAAAAAAAA.txt',
      `${own('a')}.bak`,
      `.${own('a')}`,
      'spillway.tmp',
    ]
    for (const name of foreign) put(dir, name, 365 * day)
    mkdirSync(join(dir, own('f')))
    mkdirSync(join(dir, 'photos'))
    put(join(dir, 'photos'), own('a'), 365 * day)
    expect(await new TruncationStorage(dir).cleanup(1)).toBe(0)
    expect(filesIn(dir)).toHaveLength(foreign.length + 1)
    expect(existsSync(join(dir, own('f')))).toBe(true)
  })

  onUnix('leaves links and what they point at alone', async () => {
    const dir = tempDir()
    const precious = join(tempDir(), 'precious')
    put(dirname(precious), 'precious', 365 * day)
    symlinkSync(precious, join(dir, own('a')))
    linkSync(precious, join(dir, own('b')))
    const elsewhere = tempDir()
    put(elsewhere, own('c'), 365 * day)
    symlinkSync(elsewhere, join(dir, 'session-0123456789ab'))
    expect(await new TruncationStorage(dir).cleanup(1)).toBe(0)
    expect([existsSync(precious), readdirSync(elsewhere), readdirSync(dir).length]).toEqual([true, [own('c')], 3])
  })

  test('keeps what is younger than an hour, however few days are asked for', async () => {
    const dir = tempDir()
    put(dir, own('a'), 0.9)
    put(dir, own('b'), 1.1)
    expect(await new TruncationStorage(dir).cleanup(0.0001)).toBe(1)
    expect(readdirSync(dir)).toEqual([own('a')])
  })

  test('reaches every folder and every session, and removes sessions that are empty', async () => {
    const [one, two] = [tempDir(), tempDir()]
    const storage = new TruncationStorage({ storageDirs: [one, join(one, 'missing'), two] })
    const old = await storage.save('old', { ...tool, sessionId: 'old' })
    const mixed = await storage.save('old', { ...tool, sessionId: 'mixed' })
    const young = await storage.save('young', { ...tool, sessionId: 'mixed' })
    age(old, 8 * day)
    age(mixed, 8 * day)
    put(two, own('a'), 8 * day)
    expect(await storage.cleanup(7)).toBe(3)
    expect([existsSync(dirname(old)), existsSync(young), readdirSync(two)]).toEqual([false, true, []])
    expect(existsSync(join(one, 'missing'))).toBe(false)
  })

  test('removes drafts of a killed process after an hour, and does not count them', async () => {
    const dir = tempDir()
    const left = (letter: string) => `.spillway_1700000000000_${letter.repeat(13)}.tmp`
    put(dir, left('a'), 2)
    put(dir, left('b'), 0.5)
    expect(await new TruncationStorage(dir).cleanup(7)).toBe(0)
    expect(readdirSync(dir)).toEqual([left('b')])
  })

  test.each([0, -1, Number.NaN, -Infinity, '7', null])('refuses %p days', async (days) => {
    const dir = tempDir()
    put(dir, own('a'), 365 * day)
    const error = await rejection(new TruncationStorage(dir).cleanup(days as number))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', field: expect.stringMatching(/retentionDays$/) })
    expect((error as Error).message).toContain('above 0')
    expect(readdirSync(dir)).toHaveLength(1)
  })

  test('keeps outputs forever with Infinity, in the configuration too', async () => {
    const dir = tempDir()
    put(dir, own('a'), 365 * day * 40)
    expect(await new TruncationStorage(dir).cleanup(Number.POSITIVE_INFINITY)).toBe(0)
    const service = makeService({ global: { storageDir: dir, retentionDays: Number.POSITIVE_INFINITY } })
    expect(await service.cleanup()).toBe(0)
    expect(service.effectiveConfig(tool).config.retentionDays).toBe(Number.POSITIVE_INFINITY)
  })

  test('by the service uses its retention, seven days by default', async () => {
    const dir = tempDir()
    put(dir, own('a'), 8 * day)
    put(dir, own('b'), 6 * day)
    put(dir, own('c'), 3 * day)
    expect(await new TruncationService({ storageDirs: [dir] }).cleanup()).toBe(1)
    expect(await new TruncationService({ storageDirs: [dir], global: { retentionDays: 5 } }).cleanup()).toBe(1)
    expect(await new TruncationStorage(dir).cleanup()).toBe(0)
    expect(readdirSync(dir)).toEqual([own('c')])
  })

  test('removes no file from a missing folder, and does not create it', async () => {
    const dir = join(tempDir(), 'missing')
    expect(await new TruncationStorage(dir).cleanup(1)).toBe(0)
    expect(existsSync(dir)).toBe(false)
  })

  test('many at once remove every file once', async () => {
    const dir = tempDir()
    const letters = [...'abcdefghijklmnopqrstuvwxyz']
    for (const letter of letters) put(dir, own(letter), 8 * day)
    const counts = await Promise.all(Array.from({ length: 6 }, () => new TruncationStorage(dir).cleanup(7)))
    expect(counts.reduce((sum, count) => sum + count)).toBe(letters.length)
    expect(readdirSync(dir)).toEqual([])
  })

  test('does not take the folder away from an output that is being saved into it', async () => {
    const text = '0123456789\n'.repeat(300_000)
    for (let turns = 0; turns < 10; turns += 1) {
      const storage = new TruncationStorage(tempDir())
      const context = { ...tool, sessionId: 's' }
      age(await storage.save('old', context), 8 * day)
      const saving = storage.save(text, context)
      for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve))
      await storage.cleanup(7)
      expect(statSync(await saving).size).toBe(text.length)
    }
  })
})

describe('complete or absent', () => {
  test('shows no file before the save is complete', async () => {
    const dir = tempDir()
    const text = '0123456789abcde\n'.repeat(50 * 65_536)
    const seen: number[] = []
    let looks = 0
    let saving = true
    const saved = new TruncationStorage(dir).save(text, tool).finally(() => {
      saving = false
    })
    while (saving) {
      looks += 1
      for (const name of filesIn(dir)) seen.push(statSync(join(dir, name)).size)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const path = await saved
    // A reader saw nothing or everything.
    expect(looks).toBeGreaterThan(10)
    expect(seen.filter((size) => size !== text.length)).toEqual([])
    expect(filesIn(dir)).toEqual([basename(path)])
    expect(statSync(path).size).toBe(text.length)
  })

  test('never overwrites a file', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage(dir)
    const first = await storage.save('first', tool)
    await Promise.all(Array.from({ length: 50 }, () => storage.save('later', tool)))
    expect(readFileSync(first, 'utf8')).toBe('first')
    expect(filesIn(dir)).toHaveLength(51)
  })

  onUnix('a process that is killed in the middle leaves nothing torn and nothing behind', async () => {
    const dir = tempDir()
    const size = 8 * 1024 * 1024
    let killedWhileSaving = 0
    for (let run = 0; run < 20; run += 1) {
      // One byte for every turn of the child's loop while it saves; the parent kills it a little later each time.
      const child = startChild(
        `const write = (text) => require('node:fs').writeSync(1, text)
         const storage = new spillway.TruncationStorage({ storageDirs: [input.dir] })
         let saving = true
         const text = '0123456789abcde\\n'.repeat(input.size / 16)
         write('.')
         const all = Promise.all([1, 2, 3].map((i) => storage.save(text, { toolName: 't' + i, sessionId: 's' })))
         all.finally(() => { saving = false })
         while (saving) { write('.'); await new Promise(setImmediate) }
         write('done' + '.'.repeat(1000))
         setTimeout(() => {}, 30_000)`,
        { input: { dir, size } },
      )
      let said = ''
      child.stdout!.on('data', (data: Buffer) => {
        said += data.toString()
        if (said.length > run * 2) child.kill('SIGKILL')
      })
      const signal = await new Promise((resolve) => child.once('close', (_code, name) => resolve(name)))
      expect(signal).toBe('SIGKILL')
      if (!said.includes('done')) killedWhileSaving += 1
    }
    expect(killedWhileSaving).toBeGreaterThan(0)
    for (const name of filesIn(dir)) {
      expect(basename(name)).toMatch(OUTPUT_NAME)
      expect(statSync(join(dir, name)).size).toBe(size)
    }
  })

  onUnix('a folder that is swapped for a link in the middle does not lead a file elsewhere', async () => {
    const outside = tempDir()
    const text = 'x'.repeat(30_000_000)
    // The save may make the folder again between the two steps of the swap; then the swap is tried with another save.
    const swapped = async () => {
      const root = tempDir()
      const dir = join(root, 'out')
      const saving = new TruncationStorage({ storageDirs: [dir, join(root, 'next')] }).save(text, tool)
      while (!existsSync(dir)) await new Promise((resolve) => setImmediate(resolve))
      renameSync(dir, join(root, 'moved'))
      try {
        symlinkSync(outside, dir)
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
        return false
      } finally {
        await saving.catch(() => {})
      }
    }
    let tries = 0
    while (!(await swapped()) && tries < 20) tries += 1
    expect(tries).toBeLessThan(20)
    expect(readdirSync(outside)).toEqual([])
  })
})

describe('options', () => {
  test('a folder may be given alone, relative ones are taken from where the storage is made', () => {
    const dir = realpathSync(tempDir())
    expect(new TruncationStorage(dir).getStorageDir()).toBe(dir)
    expect(new TruncationStorage('some/where').getStorageDir()).toBe(join(process.cwd(), 'some/where'))
  })

  test('a storage can be disposed of', async () => {
    const storage = new TruncationStorage(tempDir())
    await storage.close()
    await storage[Symbol.asyncDispose]()
  })

  test.each([
    ['', 'storageDirs[0]'],
    ['/', 'storageDirs[0]'],
    ['a\0b', 'storageDirs[0]'],
    [{ storageDirs: ['ok', ' '] }, 'storageDirs[1]'],
    [{ storageDirs: 'x' }, 'storageDirs'],
    [{ storageDirs: [5] }, 'storageDirs[0]'],
    [{ durability: 'never' }, 'durability'],
    [{ storageDir: '/tmp/x' }, 'storageDir'],
  ])('wrong ones are refused: %j', (options, field) => {
    expect(thrown(() => new TruncationStorage(options as string))).toMatchObject({ code: 'INVALID_CONFIG', field })
  })
})

test('an aborted output leaves a folder that is removed when it is old', async () => {
  const dir = tempDir()
  const storage = new TruncationStorage(dir)
  const abort = new AbortController()
  const saving = storage.save('x'.repeat(5_000_000), { ...tool, sessionId: 's', signal: abort.signal })
  abort.abort()
  await rejection(saving)
  for (const name of readdirSync(dir)) age(join(dir, name), 24)
  await storage.cleanup(7)
  expect(readdirSync(dir)).toEqual([])
})
