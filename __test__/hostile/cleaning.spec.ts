import { linkSync, mkdirSync, readdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TruncationStorage } from 'spillway'
import { runChild } from '../support/child'
import { isLong, onUnix } from '../support/only'
import { tempDir } from '../support/temp'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The name of an output: the time in it is no file's age, so any will do. */
const own = (at: number, time = '1700000000000') => `x_${time}_${at.toString(36).padStart(13, '0')}.txt`

describe('B14 a pass takes exactly what it should', () => {
  // A whole second, so that a time in milliseconds can be set exactly.
  const NOW = Math.floor(Date.now() / 1000) * 1000
  /** Kind of a file, its age in milliseconds, and true if it is removed after seven days. */
  const kinds: [what: string, age: number, goes: boolean, name?: (at: number) => string][] = [
    ['at the limit', 7 * DAY, false],
    ['a millisecond over it', 7 * DAY + 1, true],
    ['a millisecond under it', 7 * DAY - 1, false],
    ['just made', 0, false],
    ['from 1960', NOW + 10 * 365 * DAY, true],
    ['from 2200', NOW - 7_258_118_400_000, false],
    ['with the name of year 0', 8 * DAY, true, (at) => own(at, '0')],
    ['with a name from far ahead', 8 * DAY, true, (at) => own(at, '99999999999999')],
    ['with a name from far ahead, young', DAY, false, (at) => own(at, '99999999999999')],
    ['another name', 8 * DAY, false, (at) => `notes-${at}.txt`],
    ['nearly our name', 8 * DAY, false, (at) => `${own(at)}.bak`],
    ['our name in capitals', 8 * DAY, false, (at) => own(at).replace('000000', 'ABCDEF')],
    ['what a killed process left', 2 * HOUR, true, (at) => `.spillway_1_${at.toString(36).padStart(13, '0')}.tmp`],
    ['what a process is writing', HOUR / 2, false, (at) => `.spillway_1_${at.toString(36).padStart(13, '0')}.tmp`],
  ]
  const odd: [what: string, make: (path: string, precious: string) => void][] = [
    ['a link', (path, precious) => symlinkSync(precious, path)],
    ['a link to nothing', (path) => symlinkSync('nowhere', path)],
    ['a hard link', (path, precious) => linkSync(precious, path)],
    ['a folder', (path) => mkdirSync(path)],
  ]

  for (const pass of ['cleanup', 'sweep'] as const) {
    onUnix(`of 10,000 files of ${kinds.length + odd.length + 1} kinds: ${pass}`, () => {
      const dir = tempDir()
      const precious = join(tempDir(), 'precious')
      writeFileSync(precious, 'precious')
      utimesSync(precious, 1, 1)
      const expected = new Set<string>()
      for (let at = 0; at < 10_000; at += 1) {
        const [, age, goes, name = own] = kinds[at % kinds.length]!
        const path = join(dir, name(at))
        writeFileSync(path, '')
        // A date, because Node takes a negative number for the present.
        const time = new Date(NOW - age)
        utimesSync(path, time, time)
        if (!goes) expected.add(name(at))
      }
      for (const [at, [, make]] of odd.entries()) {
        make(join(dir, own(20_000 + at)), precious)
        expected.add(own(20_000 + at))
      }
      const pipe = own(30_000)
      expected.add(pipe)
      const told = runChild<{ counted: number; left: string[] }>(
        `require('node:child_process').execFileSync('mkfifo', [input.dir + '/' + input.pipe])
         const storage = new spillway.TruncationStorage(input.dir)
         Date.now = () => input.now
         const counted =
           input.pass === 'cleanup' ? await storage.cleanup(7) : (await storage.sweep({ maxStoreFiles: 1e9, now: input.now })).removedFiles
         answer({ counted, left: require('node:fs').readdirSync(input.dir) })`,
        { input: { dir, pipe, pass, now: NOW } },
      )
      expect(told.left.sort()).toEqual([...expected].sort())
      const outputs = kinds.flatMap(([what, , goes], kind) => (goes && !what.includes('killed') ? [kind] : []))
      const counted = Array.from({ length: 10_000 }, (_, at) => at % kinds.length).filter((kind) =>
        outputs.includes(kind),
      )
      expect(told.counted).toBe(counted.length)
      expect(readdirSync(join(precious, '..'))).toEqual(['precious'])
    })
  }
})

test('B16 going over 100,000 files takes seconds at most, and never holds the event loop', () => {
  const count = isLong ? 5_000_000 : 100_000
  const told = runChild<Record<'sweep' | 'cleanup', { files: number; ms: number; held: number }>>(
    `const fs = require('node:fs')
     const storage = new spillway.TruncationStorage({ storageDirs: [input.dir], maxStoreFiles: input.count / 2, maxStoreBytes: 1e12 })
     const then = Date.now() / 1000 - 2 * 3600
     for (let at = 0; at < input.count; at += 1) {
       const fd = fs.openSync(input.dir + '/x_1_' + at.toString(36).padStart(13, '0') + '.txt', 'wx', 0o600)
       fs.futimesSync(fd, then, then)
       fs.closeSync(fd)
     }
     const measured = async (work) => {
       let [held, last, running] = [0, performance.now(), true]
       const tick = () => {
         held = Math.max(held, performance.now() - last)
         last = performance.now()
         if (running) setImmediate(tick)
       }
       setImmediate(tick)
       const begin = performance.now()
       const files = await work()
       running = false
       return { files, ms: performance.now() - begin, held }
     }
     // So that nothing is measured that only happens once.
     await measured(() => storage.usage())
     answer({
       sweep: await measured(async () => (await storage.sweep()).removedFiles),
       cleanup: await measured(() => storage.cleanup(0.05)),
     })`,
    { input: { dir: tempDir(), count } },
  )
  for (const [pass, { files, ms, held }] of Object.entries(told)) {
    process.stdout.write(`B16 ${pass} of ${count} files: ${ms.toFixed(0)} ms, event loop held ${held.toFixed(1)} ms\n`)
    expect([pass, files]).toEqual([pass, count / 2])
    // Bars: 2 s and 5 ms. A machine that others use as well gets several times that; on the event loop it would be all of it.
    expect(ms).toBeLessThan((10_000 * count) / 100_000)
    expect(held).toBeLessThan(Math.max(25, ms / 4))
  }
}, 600_000)

describe('B17 the bound on bytes', () => {
  const COUNT = 10_000
  const MIB = 2 ** 20

  /** 10,000 files of 1 MiB that take no room, one every 3.6 seconds: 1,000 of the last hour. */
  function filled(now: number): string {
    const dir = tempDir()
    for (let at = 0; at < COUNT; at += 1) {
      const path = join(dir, own(at))
      writeFileSync(path, '')
      truncateSync(path, MIB)
      const time = (now - at * 3600 - 1800) / 1000
      utimesSync(path, time, time)
    }
    return dir
  }

  test('is kept, the oldest go, and the youngest hour stays under any bound', async () => {
    const now = Date.now()
    const dir = filled(now)
    const storage = new TruncationStorage({ storageDirs: [dir], maxStoreFiles: COUNT })
    const youngest = (count: number) => Array.from({ length: count }, (_, at) => own(at))
    const left = () => readdirSync(dir).sort()
    // The default is 4 GiB.
    expect((await storage.sweep({ now })).kept).toEqual({ files: 4096, bytes: 4096 * MIB })
    expect(left()).toEqual(youngest(4096).sort())
    expect((await storage.sweep({ now, maxStoreBytes: 2000 * MIB + 1 })).kept.bytes).toBe(2000 * MIB)
    expect((await storage.sweep({ now, maxStoreBytes: 10 * MIB })).kept.files).toBe(1000)
    expect(left()).toEqual(youngest(1000).sort())
  })
})
