import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { TruncationService, TruncationStorage } from 'spillway'
import { runChild } from '../support/child'
import { asRoot, isLong, mounted, NOBODY, notHere, onLinux, onUnix, SOMEBODY, traced } from '../support/only'
import { cut, rejection, thrown } from '../support/outputs'
import { age, filesIn, OUTPUT_NAME, overrideDefaultDir, ownName, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const own = (letter: string, name = 'x') => ownName(letter, name)

/** A folder that another user may enter. */
function openDir(): string {
  const dir = tempDir()
  chmodSync(dir, 0o755)
  return dir
}

/** A folder of another user in a folder of ours. */
function dirOf(uid: number, parent: string, name: string): string {
  const dir = join(parent, name)
  mkdirSync(dir)
  chownSync(dir, uid, uid)
  return dir
}

const SAVE = `const [storageDirs, sessionId] = [input.dirs, input.session]
  const storage = new spillway.TruncationStorage({ storageDirs })
  answer(await storage.save('text', { toolName: 'x', sessionId }).catch(({ message }) => 'failed: ' + message))`

describe('D4 #42 a link in the place of the folder', () => {
  asRoot('to a folder of another user is not followed', () => {
    const [root, good] = [openDir(), tempDir()]
    const theirs = dirOf(SOMEBODY, root, 'theirs')
    chmodSync(theirs, 0o777)
    symlinkSync(theirs, join(root, 'link'))
    for (const uid of [undefined, NOBODY]) {
      const next = uid === undefined ? good : dirOf(NOBODY, root, 'next')
      const path = runChild<string>(SAVE, { input: { dirs: [join(root, 'link'), next] }, uid, cwd: '/' })
      expect([uid, dirname(path)]).toEqual([uid, next])
    }
    expect(readdirSync(theirs)).toEqual([])
  })

  for (const [what, link, asked] of [
    ['as the folder itself', 'link', 'link'],
    ['on the way to it', 'link', 'link/below'],
    ['behind a link of ours', 'link', 'ours/below/more'],
  ] as const) {
    asRoot(`that another user put there is not followed: ${what}`, async () => {
      const [root, precious] = [openDir(), tempDir()]
      const theirs = dirOf(NOBODY, root, 'theirs')
      // The link leads to a folder of ours, where nothing but its maker wants the output.
      runChild(`require('node:fs').symlinkSync(input.to, input.at); answer(1)`, {
        input: { to: precious, at: join(theirs, link) },
        uid: NOBODY,
        cwd: '/',
      })
      symlinkSync(join(theirs, link), join(theirs, 'ours'))
      const error = await rejection(new TruncationStorage(join(theirs, asked)).save('secret', tool))
      expect(error).toMatchObject({
        code: 'STORAGE_WRITE',
        message: expect.stringContaining('belongs to another user'),
      })
      expect(readdirSync(precious)).toEqual([])
    })
  }
})

onUnix('D4 #43 a folder further up that is swapped for a link in the middle leads no file elsewhere', async () => {
  // A save may be over before we come to swap anything, or may make the folder again in between, and has nothing to show then.
  for (let wasOver = true; wasOver; ) {
    const [root, outside] = [tempDir(), tempDir()]
    const dir = join(root, 'above', 'out')
    const saving = new TruncationStorage(dir).save('x'.repeat(20_000_000), { ...tool, sessionId: 's' })
    // With the session's folder in it the place is open; until then a link of ours is where it leads.
    const isOpen = () => existsSync(dir) && readdirSync(dir).length > 0
    while (!isOpen()) await new Promise((resolve) => setImmediate(resolve))
    renameSync(join(root, 'above'), join(root, 'moved'))
    const isSwapped = linkIsMade(outside, join(root, 'above'))
    const outcome = await saving.catch((error: unknown) => ({ error }))
    expect(readdirSync(outside)).toEqual([])
    wasOver = !isSwapped || typeof outcome === 'string'
    if (wasOver) continue
    // It could not be found under the name that it would have.
    expect(outcome).toMatchObject({ error: { code: 'STORAGE_WRITE', message: expect.stringContaining(dir) } })
    expect(filesIn(join(root, 'moved'))).toEqual([])
  }
})

/** Returns true if a link was made: not if the path exists by now. */
function linkIsMade(to: string, at: string): boolean {
  try {
    symlinkSync(to, at)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'EEXIST' })
    return false
  }
}

/** Runs a process in which some system calls fail. */
const failing = (call: string, how: string) => [
  'strace',
  '-f',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  `trace=${call}`,
  '-e',
  `inject=${call}:${how}`,
]

describe('D4 #44 a name that is taken', () => {
  traced('is chosen anew, and nothing is overwritten', () => {
    const dir = tempDir()
    const path = runChild<string>(SAVE, {
      input: { dirs: [dir] },
      under: failing('linkat', 'error=EEXIST:when=1..3'),
      env: { UV_THREADPOOL_SIZE: '1' },
    })
    expect(basename(path)).toMatch(OUTPUT_NAME)
    expect(filesIn(dir)).toEqual([basename(path)])
  })

  traced('again and again: the next folder is taken', () => {
    const [dir, next] = [tempDir(), tempDir()]
    const path = runChild<string>(SAVE, {
      input: { dirs: [dir, next] },
      under: failing('linkat', 'error=EEXIST:when=1..9'),
      env: { UV_THREADPOOL_SIZE: '1' },
    })
    expect([dirname(path), filesIn(dir)]).toEqual([next, []])
  })
})

test('D4 #45 a folder that is removed or replaced between two pieces of an output is made again, or the next is taken', async () => {
  const [root, next] = [tempDir(), tempDir()]
  const dir = join(root, 'out')
  const text = 'x'.repeat(3_000_000)
  for (const [replace, expected] of [
    [false, dir],
    [true, next],
  ] as const) {
    const capture = new TruncationService({ storageDirs: [dir, next] }).capture(tool)
    capture.write(text.slice(0, 1_000_000))
    // From here on the file is open, and nothing is done until more comes.
    expect((await capture.peek()).totalBytes).toBe(1_000_000)
    rmSync(dir, { recursive: true })
    if (replace) writeFileSync(dir, 'a file')
    capture.end(text.slice(1_000_000))
    const { outputPath } = cut(await capture.result)
    expect([dirname(outputPath), readFileSync(outputPath, 'utf8')]).toEqual([expected, text])
    rmSync(dir, { recursive: true })
  }
})

describe('D4 #46 a file system that takes nothing', () => {
  const rows: [what: string, mount: string, reason: RegExp][] = [
    ['read-only', 'mount -t tmpfs -o ro none $0', /^EROFS: /],
    ['full', 'mount -t tmpfs -o size=64k none $0', /^ENOSPC: /],
  ]
  for (const [what, mount, reason] of rows) {
    mounted(`${what}: the next folder is taken, with all that was written`, () => {
      const [dir, next] = [tempDir(), tempDir()]
      const told = runChild<{ outputPath: string; errors: string[] }>(
        `const errors = []
         const onEvent = ({ type, error }) => type === 'error' && errors.push(error)
         const service = new spillway.TruncationService({ storageDirs: input, onEvent })
         const { outputPath } = await service.output('line\\n'.repeat(100_000), { toolName: 'x' })
         answer({ outputPath, errors })`,
        { input: [dir, next], under: ['unshare', '-m', 'sh', '-c', `${mount} && exec "$@"`, dir] },
      )
      expect(told.errors).toEqual([expect.stringMatching(reason)])
      expect([dirname(told.outputPath), readFileSync(told.outputPath).length]).toEqual([next, 500_000])
      expect(filesIn(dir)).toEqual([])
    })
  }
  notHere('with a quota, or in user space', 'needs btrfs or FUSE, which few machines have')
})

mounted('D4 #47 a session that is a file system of its own: nothing is moved between the two', () => {
  const dir = tempDir()
  const session = dirname(runChild<string>(SAVE, { input: { dirs: [dir], session: 's' } }))
  const path = runChild<string>(SAVE, {
    input: { dirs: [dir], session: 's' },
    under: ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o mode=700 none "$0" && exec "$@"', session],
  })
  expect(dirname(path)).toBe(session)
})

describe('D4 #48 the path of a folder', () => {
  const refused = ['', ' ', '/', '//', '/.', '/tmp/..', '/../..', 'a\0b', `${'../'.repeat(50)}`]
  test.each(refused)('%j is refused when it is set', (dir) => {
    expect(thrown(() => new TruncationStorage(dir))).toMatchObject({ code: 'INVALID_CONFIG', field: 'storageDirs[0]' })
    overrideDefaultDir(dir || ' ')
    expect(thrown(() => new TruncationStorage())).toMatchObject({ code: 'INVALID_CONFIG' })
  })

  onUnix('is taken from the home or the working folder at that time', () => {
    const [home, work] = [tempDir(), tempDir()]
    const dirs = runChild<string[]>(
      `const storages = ['~', '~/outputs', 'out', './out'].map((dir) => new spillway.TruncationStorage(dir))
       process.chdir('/')
       const saved = storages.map(async (storage) => require('node:path').dirname(await storage.save('x', { toolName: 'x' })))
       answer(await Promise.all(saved))`,
      { env: { HOME: home }, cwd: work },
    )
    expect(dirs.slice(0, 3)).toEqual([home, join(home, 'outputs'), join(work, 'out')])
    expect(readdirSync(work).sort()).toEqual(['out'])
    expect(filesIn(join(work, 'out')).filter((name) => OUTPUT_NAME.test(name))).toHaveLength(2)
  })

  onUnix('that names no folder there is says so, and nothing else changes', async () => {
    const file = join(tempDir(), 'file')
    writeFileSync(file, 'precious')
    const error = await rejection(new TruncationStorage(file).save('x', tool))
    expect(error).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringMatching(/^ENOTDIR/) })
    expect(readFileSync(file, 'utf8')).toBe('precious')
  })
})

describe('D4 #49 without a home or a working folder', () => {
  const rows: [what: string, home: string][] = [
    ['no home', 'unset HOME;'],
    ['an empty one', 'HOME=;'],
    ['a relative one', 'HOME=relative;'],
    ['the root', 'HOME=/;'],
    ['one that is not there', 'HOME=/nowhere/at/all;'],
  ]
  for (const [what, home] of rows) {
    asRoot(`${what}: saved in a private folder, and nothing in the root`, () => {
      const temporary = openDir()
      chownSync(temporary, NOBODY, NOBODY)
      const before = readdirSync('/')
      const path = runChild<string>(
        `const { outputPath } = await new spillway.TruncationService({ global: { maxLines: 1 } }).output('a\\nb', { toolName: 'x' })
         answer(outputPath)`,
        {
          under: [
            'sh',
            '-c',
            `${home} export HOME; [ -n "$HOME" ] || unset HOME; unset XDG_DATA_HOME; exec "$@"`,
            'sh',
          ],
          env: { TMPDIR: temporary },
          uid: NOBODY,
          cwd: '/',
        },
      )
      expect([what, path.startsWith(temporary)]).toEqual([what, true])
      expect(readdirSync('/')).toEqual(before)
    })
  }

  onUnix('a working folder that is gone: what is relative fails, the next is taken', () => {
    const [gone, next] = [tempDir(), tempDir()]
    const path = runChild<string>(
      `process.chdir(input.gone)
       require('node:fs').rmdirSync(input.gone)
       const storage = new spillway.TruncationStorage({ storageDirs: ['out', input.next] })
       answer(await storage.save('text', { toolName: 'x' }))`,
      { input: { gone, next } },
    )
    expect(dirname(path)).toBe(next)
    mkdirSync(gone)
  })
})

describe('D4 #50 long paths', () => {
  test('300 folders deep', async () => {
    const dir = join(tempDir(), ...Array.from({ length: 300 }, () => 'd'))
    const storage = new TruncationStorage(dir)
    const path = await storage.save('text', { ...tool, sessionId: 's' })
    expect([dirname(dirname(path)), await storage.read(path)]).toEqual([dir, 'text'])
  })

  onUnix('of 4,096 bytes and more fail with the reason of the system', async () => {
    for (const part of ['x'.repeat(4096), `${'y'.repeat(200)}/`.repeat(25)]) {
      const storage = new TruncationStorage(join(tempDir(), part))
      const error = await rejection(storage.save('text', tool))
      expect(error).toMatchObject({ code: 'STORAGE_WRITE', message: expect.stringMatching(/^ENAMETOOLONG/) })
      expect(await rejection(storage.read(join(part, own('a'))))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    }
  })
})

test('D4 #51 names stay apart where the disk does not tell cases apart', async () => {
  const storage = new TruncationStorage(tempDir())
  const names = ['BASH', 'bash', 'Bash', 'É', 'É'.normalize('NFD')]
  const paths = await Promise.all(names.flatMap((toolName) => [1, 2, 3].map(() => storage.save('', { toolName }))))
  expect(new Set(paths.map((path) => path.toLowerCase().normalize('NFC'))).size).toBe(15)
  for (const path of paths) expect(path).toMatch(/^[\x20-\x7e]+$/)
})

describe('D4 #52 reading by a path that is not ours', () => {
  const reads: [string, (storage: TruncationStorage, path: string) => Promise<unknown>][] = [
    ['read', (storage, path) => storage.read(path)],
    ['readRange', (storage, path) => storage.readRange(path, { fromByte: 0 })],
    ['search', (storage, path) => storage.search(path, '.')],
  ]
  /** A fault, and a path into the store that has it. */
  const rows: [what: string, make: (dir: string) => string][] = [
    ['../../etc/passwd', () => '../../etc/passwd'],
    ['an absolute one', () => '/etc/passwd'],
    ['another name', (dir) => put(dir, 'notes.txt')],
    ['a folder', (dir) => at(dir, own('f'), (path) => mkdirSync(path))],
    ['a link', (dir) => at(dir, own('l'), (path) => symlinkSync('/etc/passwd', path))],
    ['a link to a file of ours', (dir) => at(dir, own('l'), (path) => symlinkSync(put(dir, own('t')), path))],
    ['a hard link', (dir) => at(dir, own('h'), (path) => linkSync(put(dir, 'precious'), path))],
    [
      'a session that is a link',
      (dir) =>
        put(
          at(dir, 's-0123456789ab', (path) => symlinkSync(tempDir(), path)),
          own('s'),
        ),
    ],
    ['out and in again by the parent', (dir) => `${put(dir, own('p'))}/../../${basename(dir)}x/${own('p')}`],
    ['a process’s own memory', () => `/proc/self/root/etc/${own('m')}`],
  ]
  const at = (dir: string, name: string, make: (path: string) => void) => {
    make(join(dir, name))
    return join(dir, name)
  }
  const put = (dir: string, name: string) => at(dir, name, (path) => writeFileSync(path, 'text'))
  for (const [what, make] of rows) {
    onUnix(`${what}: refused by everything that reads`, async () => {
      const dir = tempDir()
      const path = make(dir)
      const storage = new TruncationStorage(dir)
      for (const [name, read] of reads) {
        const error = await rejection(read(storage, path))
        expect([name, error]).toEqual([name, expect.objectContaining({ name: 'SpillwayError', field: 'path' })])
      }
    })
  }

  onUnix('a pipe and a socket: refused, and not waited for', () => {
    const dir = tempDir()
    const told = runChild<string[]>(
      `const path = (letter) => require('node:path').join(input, 'x_1700000000000_' + letter.repeat(13) + '.txt')
       require('node:child_process').execFileSync('mkfifo', [path('p')])
       const server = require('node:net').createServer().listen(path('s'))
       await require('node:events').once(server, 'listening')
       const storage = new spillway.TruncationStorage(input)
       const tries = ['p', 's'].flatMap((letter) => [storage.read(path(letter)), storage.search(path(letter), '.')])
       const codes = (await Promise.allSettled(tries)).map(({ reason }) => reason?.name)
       server.close()
       answer(codes)`,
      { input: dir, timeoutMs: 10_000 },
    )
    expect(told).toEqual(Array(4).fill('SpillwayError'))
  })

  asRoot('a file of another user: refused, even for root', async () => {
    const dir = tempDir()
    const path = put(dir, own('o'))
    chownSync(path, NOBODY, NOBODY)
    const storage = new TruncationStorage(dir)
    expect(storage.owns(path)).toBe(false)
    for (const [, read] of reads)
      expect(await rejection(read(storage, path))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
  })
})

onUnix('D4 #53 cleaning up takes the expired file and nothing that only looks like one', async () => {
  for (const clean of ['cleanup', 'sweep'] as const) {
    const [dir, elsewhere] = [tempDir(), tempDir()]
    const precious = join(elsewhere, 'precious')
    writeFileSync(precious, 'precious')
    symlinkSync(precious, join(dir, own('a', 'bash')))
    linkSync(precious, join(dir, own('b', 'bash')))
    mkdirSync(join(dir, own('c', 'bash')))
    writeFileSync(join(dir, 'notes.txt'), '')
    // Written by a process that is still running.
    writeFileSync(join(dir, `.spillway_1700000000000_${'d'.repeat(13)}.tmp`), '')
    const expired = join(dir, own('e', 'bash'))
    writeFileSync(expired, '')
    for (const name of readdirSync(dir)) if (!name.startsWith('.spillway')) age(join(dir, name), 24 * 365)
    utimesSync(precious, 0, 0)
    const before = readdirSync(dir)
    await new TruncationStorage(dir)[clean]()
    expect(readdirSync(dir)).toEqual(before.filter((name) => name !== basename(expired)))
    expect(readFileSync(precious, 'utf8')).toBe('precious')
  }
})

if (!isLong)
  notHere('D4 #54 a folder with 5,000,000 entries', 'takes minutes; with SPILLWAY_TEST_LONG=1, B16 goes over them')

onLinux('D4 #56 one that sweeps and has stopped is not waited for', async () => {
  const dir = tempDir()
  const path = join(dir, own('a'))
  writeFileSync(path, 'x')
  age(path, 24 * 8)
  const holder = spawn('flock', ['-x', dir, 'sh', '-c', 'echo held; kill -STOP $$'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  try {
    await new Promise((resolve) => holder.stdout.once('data', resolve))
    const storage = new TruncationStorage(dir)
    expect(await storage.sweep()).toMatchObject({ removedFiles: 0, skippedDirs: [dir] })
    expect(await storage.read(path)).toBe('x')
    await storage.save('meanwhile', tool)
    // The sweep that comes with a save must be over, or it is the one that is in the way.
    await storage.close()
  } finally {
    process.kill(-holder.pid!, 'SIGKILL')
  }
  await new Promise((resolve) => holder.once('close', resolve))
  expect(await new TruncationStorage(dir).sweep()).toMatchObject({ removedFiles: 1, skippedDirs: [] })
})
