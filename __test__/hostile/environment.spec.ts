import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TruncationEvent, TruncationService } from 'spillway'
import { endChild, runChild, startChild } from '../support/child'
import { asRoot, isLong, notHere, onLinux, onUnix, traced } from '../support/only'
import { cut, makeService, numbered, turn } from '../support/outputs'
import { filesIn, OUTPUT_NAME, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const ROOT = join(__dirname, '..', '..')
const MIB = 2 ** 20

/** Only whole files under final names. */
function expectWhole(dir: string, size: number): void {
  for (const name of filesIn(dir)) {
    expect(basename(name)).toMatch(OUTPUT_NAME)
    expect([name, statSync(join(dir, name)).size]).toEqual([name, size])
  }
}

/** Saves without end, eight at a time. */
const SAVING = `
  const storage = new spillway.TruncationStorage(input.dir)
  const text = '0123456789abcde\\n'.repeat(input.size / 16)
  const saved = () => storage.save(text, { toolName: 'x', sessionId: 's' })
  for (let i = 0; i < 8; i += 1) (async () => { for (;;) { await saved(); require('node:fs').writeSync(1, '.') } })()`

describe('D9 #92 a process that ends while it saves', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    onUnix(`by ${signal} leaves only whole files`, async () => {
      const [dir, size] = [tempDir(), MIB]
      for (let run = 0; run < 3; run += 1) {
        const child = startChild(SAVING, { input: { dir, size } })
        await once(child.stdout!, 'data')
        for (let more = 0; more < run; more += 1) await once(child.stdout!, 'data')
        child.kill(signal)
        expect(await once(child, 'close')).toEqual([null, signal])
      }
      expect(filesIn(dir).length).toBeGreaterThan(0)
      expectWhole(dir, size)
    })
  }

  test.each([
    ['in a then', `saved().then(() => process.exit(7))`],
    ['at once', `setImmediate(() => process.exit(7))`],
    ['by an exception', `saved().then(() => { throw new Error('planted') }); process.exitCode = 7`],
  ])('by process.exit %s leaves only whole files', (_what, end) => {
    const [dir, size] = [tempDir(), MIB]
    const { status, signal } = endChild(`${SAVING}\n${end}`, { input: { dir, size }, timeoutMs: 20_000 })
    expect({ signal, ended: status === 7 || status === 1 }).toEqual({ signal: null, ended: true })
    expectWhole(dir, size)
  })
})

describe('D9 #93 B39 many copies', () => {
  test('200 workers that are ended while they save crash nothing and leave only whole files', () => {
    const [dir, size, count] = [tempDir(), MIB / 2, isLong ? 2000 : 200]
    const { status, signal, stdout } = endChild(
      `const { Worker } = require('node:worker_threads')
       const { once } = require('node:events')
       const script = \`
         const { workerData, parentPort } = require('node:worker_threads')
         const spillway = require(workerData.entry)
         const storage = new spillway.TruncationStorage(workerData.dir)
         const text = '0123456789abcde\\\\n'.repeat(workerData.size / 16)
         for (let i = 0; i < 4; i += 1) storage.save(text, { toolName: 'x', sessionId: 's' + i })
         parentPort.postMessage('saving')\`
       let left = input.count
       const run = async () => {
         while (left-- > 0) {
           const worker = new Worker(script, { eval: true, workerData: input })
           await once(worker, 'message')
           await worker.terminate()
         }
       }
       await Promise.all([run(), run(), run()])
       const path = await new spillway.TruncationStorage(input.dir).save('afterwards', { toolName: 'x' })
       answer(await new spillway.TruncationStorage(input.dir).read(path))
       require('node:fs').unlinkSync(path)`,
      { input: { dir, size, count, entry: join(ROOT, 'index.js') } },
    )
    expect({ status, signal, stdout }).toEqual({ status: 0, signal: null, stdout: '"afterwards"' })
    expectWhole(dir, size)
  })

  onUnix('two copies of the binary in one process save side by side', () => {
    const [dir, copy] = [tempDir(), tempDir()]
    for (const name of readdirSync(ROOT)) {
      if (/^(dist|index\.js|binding\.js|package\.json|spillway\..*\.node)$/.test(name)) {
        cpSync(join(ROOT, name), join(copy, name), { recursive: true })
      }
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const texts = runChild<string[]>(
      `const other = require(input.copy)
       const [one, two] = [spillway, other].map((each) => new each.TruncationStorage(input.dir))
       const paths = await Promise.all([one.save('one', { toolName: 'x' }), two.save('two', { toolName: 'x' })])
       answer([await two.read(paths[0]), await one.read(paths[1]), String(one.constructor !== two.constructor)])`,
      { input: { dir, copy } },
    )
    expect(texts).toEqual(['one', 'two', 'true'])
  })
})

test('D9 #94 10,000 outputs that wait in line take no memory of their own', () => {
  const { grown, saved } = runChild<{ grown: number; saved: number }>(
    `const service = new spillway.TruncationService({ storageDirs: [input], global: { maxLines: 10 } })
     const text = '0123456789abcde\\n'.repeat(6400)
     const one = () => service.output(text, { toolName: 'x' })
     for (let i = 0; i < 100; i += 1) await one()
     const peak = () => process.resourceUsage().maxRSS / 1024
     const before = peak()
     const results = await Promise.all(Array.from({ length: 10_000 }, one))
     answer({ grown: peak() - before, saved: new Set(results.map(({ outputPath }) => outputPath)).size })`,
    { input: tempDir() },
  )
  expect(saved).toBe(10_000)
  // In MiB. Copied when they are handed in, the texts alone would be 1,000.
  expect(grown).toBeLessThan(250)
})

describe('D9 #95 without what the system limits', () => {
  /** The result of one output, with what failed. */
  const OUTPUT = `
    const service = new spillway.TruncationService({ storageDirs: [input], global: { maxLines: 2 } })
    const text = 'a\\nb\\n' + 'x'.repeat(100_000)
    const told = async () => {
      const { preview, outputPath, saveError } = await service.output(text, { toolName: 'x' })
      return { preview, saved: outputPath !== '', error: saveError?.attempts[0].error.split(':')[0] }
    }`
  const lost = (error: string) => ({ preview: 'a\nb', saved: false, error })
  const kept = { preview: 'a\nb', saved: true }

  onLinux('descriptors: the preview comes back, and it goes on when there are some', () => {
    const told = runChild<object[]>(
      `${OUTPUT}
       const { openSync, closeSync } = require('node:fs')
       const all = [await told()]
       const held = []
       // A sweep that began with the first output may still give descriptors back.
       let without = { saved: true }
       for (let tries = 0; tries < 100 && without.saved; tries += 1) {
         try { for (;;) held.push(openSync('/dev/null')) } catch {}
         without = await told()
       }
       all.push(without)
       for (const fd of held) closeSync(fd)
       all.push(await told())
       answer(all)`,
      { input: tempDir(), under: ['sh', '-c', 'ulimit -n 80; exec "$@"', 'sh'] },
    )
    expect(told).toEqual([kept, lost('EMFILE'), kept])
  })

  onLinux('room for a file: the preview comes back', () => {
    const told = runChild<object>(`${OUTPUT}; answer(await told())`, {
      input: tempDir(),
      under: ['sh', '-c', 'ulimit -f 16; exec "$@"', 'sh'],
    })
    expect(told).toEqual(lost('EFBIG'))
  })

  asRoot('threads: none are made but those of the host’s pool', () => {
    const dir = tempDir()
    const threads = runChild<number[]>(
      `${OUTPUT}
       const count = () => Number(/Threads:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/self/status', 'utf8'))[1])
       await require('node:fs/promises').readFile('/dev/null')
       const before = count()
       await Promise.all(Array.from({ length: 50 }, told))
       answer([before, count()])`,
      { input: dir },
    )
    expect(threads[1]).toBe(threads[0])
  })

  notHere('memory', 'a failed allocation ends Node itself before it reaches us; D9 #94 and B32 bound what we take')
})

describe('D9 #96 a callback that misbehaves', () => {
  let warned: jest.SpyInstance
  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warned.mockRestore())

  test('throws: the output is saved all the same, and the error is noted', async () => {
    const service = makeService({
      global: { maxLines: 3 },
      onEvent: () => {
        throw new Error('my fault')
      },
    })
    expect(readFileSync(cut(await service.output(numbered(9), tool)).outputPath, 'utf8')).toBe(numbered(9))
    expect(warned).toHaveBeenCalledTimes(1)
  })

  test('answers late: no call waits for it', async () => {
    const service = makeService({
      global: { maxLines: 3 },
      onEvent: () => new Promise(() => {}) as unknown as undefined,
    })
    expect(cut(await service.output(numbered(9), tool)).outputPath).not.toBe('')
  })

  test('calls back a thousand times, each from within the one before', async () => {
    let depth = 0
    let last: Promise<unknown> = Promise.resolve()
    const made: { service?: TruncationService } = {}
    const onEvent = ({ type }: TruncationEvent) => {
      if (type !== 'truncated' || depth === 1000) return
      depth += 1
      last = made.service!.output(numbered(9), tool)
    }
    const dir = tempDir()
    made.service = makeService({ storageDirs: [dir], global: { maxLines: 3 }, onEvent })
    await made.service.output(numbered(9), tool)
    while (depth < 1000) await turn()
    await last
    expect(filesIn(dir)).toHaveLength(1001)
  })

  test('calls back at once and without end: the call it came from still answers', () => {
    // In a process of its own, because it fills the stack.
    const told = runChild(
      `const service = new spillway.TruncationService({
         onEvent: () => {
           service.output('short', input).catch(() => {})
         },
       })
       answer(await service.output('short', input))`,
      { input: tool },
    )
    expect(told).toEqual({ content: 'short', truncated: false })
  })
})

describe('D9 #97 a kernel that lacks a call', () => {
  const SAVE = `
    const storage = new spillway.TruncationStorage(input)
    const paths = []
    for (const sessionId of [undefined, 's']) paths.push(await storage.save('text', { toolName: 'x', sessionId }))
    const read = await Promise.all(paths.map((path) => storage.read(path)))
    answer([...read, (await storage.sweep()).kept.files])`
  const rows: [what: string, calls: string, works: boolean][] = [
    ['openat2', 'openat2:error=ENOSYS', true],
    ['openat2, forbidden by a sandbox', 'openat2:error=EPERM', true],
    ['files without a name', 'access,faccessat,faccessat2:error=ENOENT', true],
    ['links', 'linkat:error=EPERM access,faccessat,faccessat2:error=ENOENT', true],
    [
      'links and exclusive renames',
      'linkat:error=EPERM renameat2:error=EINVAL access,faccessat,faccessat2:error=ENOENT',
      true,
    ],
    [
      'every way to give a file its name',
      'linkat,renameat,rename:error=EPERM renameat2:error=EINVAL access,faccessat,faccessat2:error=ENOENT',
      false,
    ],
  ]
  for (const [what, calls, works] of rows) {
    traced(`${what}: ${works ? 'another way is taken' : 'the save fails, and nothing is left'}`, () => {
      const dir = tempDir()
      const injected = calls.split(' ').flatMap((each) => ['-e', `inject=${each}`])
      const names = calls.split(' ').flatMap((each) => each.split(':')[0]!)
      const ended = endChild(SAVE, {
        input: dir,
        under: ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${names.join(',')}`, ...injected],
      })
      if (works) expect(ended).toMatchObject({ status: 0, stdout: '["text","text",2]' })
      else expect(ended.stderr).toContain('STORAGE_WRITE')
      expect(filesIn(dir)).toHaveLength(works ? 2 : 0)
    })
  }
})

describe('D9 #98 calls that a signal interrupts', () => {
  const CALLS = [
    'openat',
    'openat2',
    'mkdirat',
    'fchmod',
    'fchmodat',
    'newfstatat',
    'write',
    'linkat',
    'fsync',
    'read',
    'unlinkat',
  ]

  for (const call of CALLS) {
    traced(`${call}: every other one fails, is made again, and nobody notices`, () => {
      const [dir, log] = [join(tempDir(), 'out'), join(tempDir(), 'log')]
      const told = runChild<unknown[]>(
        `const fs = require('node:fs')
         // Only the thread that works for us is traced: Node's own calls are Node's affair.
         await fs.promises.readFile('/dev/null')
         const nameOf = (thread) => fs.readFileSync('/proc/self/task/' + thread + '/comm', 'utf8')
         const threads = fs.readdirSync('/proc/self/task')
         const worker = threads.find((thread) => nameOf(thread).startsWith('libuv-worker')) ?? threads.at(-1)
         const tracer = require('node:child_process').spawn(
           'strace', ['-qq', '-p', worker, '-o', input.log, '-e', 'trace=fdatasync,' + input.call, '-e', 'inject=' + input.call + ':error=EINTR:when=1+2'])
         // Calls before the first one in the log may not be seen.
         const mark = await fs.promises.open(input.log, 'a')
         while (!fs.readFileSync(input.log, 'utf8').includes('fdatasync')) await mark.datasync()
         await mark.close()
         const storage = new spillway.TruncationStorage({ storageDirs: [input.dir], durability: 'full' })
         const path = await storage.save('x'.repeat(200_000), { toolName: 'x', sessionId: 's' })
         const text = await storage.read(path)
         const removed = await storage.deleteSession('s')
         tracer.kill()
         await require('node:events').once(tracer, 'close')
         answer([text.length, removed, require('node:path').dirname(require('node:path').dirname(path))])`,
        { input: { dir, log, call }, env: { UV_THREADPOOL_SIZE: '1' } },
      )
      expect(told).toEqual([200_000, 1, dir])
      expect(readFileSync(log, 'utf8')).toContain('INJECTED')
    })
  }
})
