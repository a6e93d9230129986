import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import fc from 'fast-check'
import {
  type ITruncationStorage,
  runCommand,
  SpillwayError,
  type TruncationContext,
  type TruncationDirection,
  type TruncationResult,
  type TruncationService,
  type TruncationServiceConfig,
  type TruncationStrategy,
} from 'spillway'
import type { Capture } from 'spillway/truncation'
import { runChild } from '../support/child'
import {
  bytesOf,
  cut,
  makeListening,
  makeService,
  memoryStorage,
  numbered,
  rejection,
  thrown,
  turn,
} from '../support/outputs'
import { age, filesIn, tempDir } from '../support/temp'

const tool: TruncationContext = { toolName: 'mytool' }
const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 500)

type Chunk = string | Uint8Array

/** Writes the chunks one after the other and gives back the result. */
function captured(
  service: TruncationService,
  chunks: readonly Chunk[],
  context: TruncationContext = tool,
): Promise<TruncationResult> {
  const capture = service.capture(context)
  for (const chunk of chunks) capture.write(chunk)
  capture.end()
  return capture.result
}

/** The whole as `output()` would get it. */
function whole(chunks: readonly Chunk[]): string | Uint8Array {
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)))
}

/** A result without what differs from call to call: the name of the file, of which a small budget may show a part. */
function comparable(result: TruncationResult): unknown {
  if (!result.truncated) return result
  const folder = JSON.stringify(dirname(result.outputPath)).slice(1, -1)
  const text = JSON.stringify(result)
  const masked = text.split(folder).map((piece) => piece.replace(/^[\\/]+[\w.-]*/, (name) => '#'.repeat(name.length)))
  return JSON.parse(masked.join('{dir}'))
}

/** A value in pieces that end at these places. */
function pieces<T extends { length: number; slice: (from: number, to: number) => T }>(all: T, ends: number[]): T[] {
  const sorted = [...ends.map((end) => end % (all.length + 1)), all.length].sort((a, b) => a - b)
  return sorted.map((end, index) => all.slice(index === 0 ? 0 : sorted[index - 1]!, end))
}

const words = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 14 }) },
  { weight: 3, arbitrary: fc.constantFrom('你好', 'é', '😀', '👨‍👩‍👧‍👦', '\ufeff', '\u0000') },
  { weight: 5, arbitrary: fc.constantFrom('\n', '\r\n', '\r', '\n\n') },
  { weight: 1, arbitrary: fc.constantFrom('\ud800', '\udc00', '\ud83d') },
)
const texts = fc.array(words, { maxLength: 40 }).map((all) => all.join(''))
const bytes = fc.oneof(
  texts.map((text) => new Uint8Array(Buffer.from(text))),
  fc.uint8Array({ maxLength: 120 }),
)
const ends = fc.array(fc.nat(1000), { maxLength: 8 })
const globals = fc.record({
  maxLines: fc.integer({ min: 1, max: 12 }),
  maxBytes: fc.integer({ min: 1, max: 120 }),
  direction: fc.constantFrom<TruncationDirection>('head', 'tail', 'both'),
})
const options: fc.Arbitrary<TruncationServiceConfig> = fc.record({
  global: globals,
  strategy: fc.constantFrom('default' as const, 'line' as const, 'byte' as const),
  noticeInside: fc.boolean(),
  profile: fc.constantFrom(undefined, 'opencode' as const),
})
const contexts = fc.constantFrom<TruncationContext>(
  tool,
  { toolName: 'bash' },
  { toolName: 'read' },
  { toolName: 'x', failed: true },
  { toolName: 'x', handled: true },
)

describe('the result is that of output() for the whole', () => {
  async function check(given: TruncationServiceConfig, chunks: Chunk[], context: TruncationContext): Promise<void> {
    const service = makeService({ ...given, storageDirs: [dir] })
    const content = whole(chunks)
    const [expected, actual] = await Promise.all([service.output(content, context), captured(service, chunks, context)])
    expect(comparable(actual)).toStrictEqual(comparable(expected as TruncationResult))
    if (actual.truncated && expected.truncated) {
      const file = readFileSync(actual.outputPath)
      // Jest would compare byte by byte.
      expect(file.equals(readFileSync(expected.outputPath))).toBe(true)
      if (typeof content !== 'string') expect(file.equals(content)).toBe(true)
    }
  }
  let dir: string
  beforeEach(() => {
    dir = tempDir()
  })

  test('text, split anywhere', () =>
    fc.assert(
      fc.asyncProperty(options, texts, ends, contexts, (given, text, at, context) =>
        check(given, pieces(text, at), context),
      ),
      { numRuns: RUNS },
    ))

  test('bytes, split anywhere', () =>
    fc.assert(
      fc.asyncProperty(options, bytes, ends, contexts, (given, all, at, context) =>
        check(given, pieces(all, at), context),
      ),
      { numRuns: RUNS },
    ))

  test('text and bytes in turn', () =>
    fc.assert(
      fc.asyncProperty(options, texts, ends, contexts, (given, text, at, context) => {
        const characters = [...text.toWellFormed()]
        const chunks = pieces(characters, at).map((piece, index) =>
          index % 2 === 0 ? piece.join('') : new Uint8Array(Buffer.from(piece.join(''))),
        )
        return check(given, chunks, context)
      }),
      { numRuns: RUNS },
    ))

  test('long ones, in pieces of every size', async () => {
    const text = `${numbered(60_000)}\n${'你好😀 '.repeat(20_000)}`
    const all = Buffer.from(text)
    for (const size of [1000, 65_536, 300_000, all.length]) {
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
        all.subarray(i * size, (i + 1) * size),
      )
      await check({}, chunks, tool)
      await check(
        { global: { direction: 'both' } },
        pieces(
          text,
          chunks.map((_, i) => i * size),
        ),
        tool,
      )
    }
  })

  test('a string that is written in another encoding is its bytes', async () => {
    const capture = makeService().capture(tool)
    capture.write('e4bda0', 'hex')
    capture.end('5aW9', 'base64')
    expect(await capture.result).toStrictEqual({ content: '你好', truncated: false })
  })
})

describe('limits', () => {
  test('within them there is no file, and the very text comes back', async () => {
    const dir = tempDir()
    const service = makeService({ storageDirs: [dir] })
    const text = `${numbered(1999)}\nhalf a pair: \ud83d`
    expect(await captured(service, pieces(text, [5, 700, 701]))).toStrictEqual({ content: text, truncated: false })
    expect(await captured(service, [])).toStrictEqual({ content: '', truncated: false })
    expect(filesIn(dir)).toEqual([])
  })

  test('a tool that is to be left alone is, up to the ceiling', async () => {
    const service = makeService({ global: { enabled: false, maxBytes: 100 } })
    const below = numbered(60).slice(0, 400)
    expect(await captured(service, [below])).toStrictEqual({ content: below, truncated: false })
    const above = cut(await captured(service, [numbered(60), '\n', numbered(60)]))
    expect(above).toMatchObject({ ceilingReached: true, totalLines: 120 })
    expect(readFileSync(above.outputPath, 'utf8')).toBe(`${numbered(60)}\n${numbered(60)}`)
  })

  test('200 MB do not fill the memory, and are all in the file', () => {
    const answer = runChild<{ grown: number; size: number; peak: string }>(
      `
      const { statSync, rmSync } = require('node:fs')
      const service = new spillway.TruncationService({ storageDirs: [input.dir] })
      const once = require('node:events').once
      const fill = async (megabytes) => {
        const capture = service.capture({ toolName: 'bash' })
        for (let i = 0; i < megabytes * 16; i += 1) {
          const chunk = Buffer.alloc(65536, 'a line of some text, and then the next one\\n')
          if (!capture.write(chunk)) await once(capture, 'drain')
        }
        capture.end()
        return capture.result
      }
      rmSync((await fill(8)).outputPath)
      const before = process.memoryUsage.rss()
      let peak = 0
      const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 5)
      const result = await fill(200)
      clearInterval(timer)
      answer({ grown: peak - before, size: statSync(result.outputPath).size })`,
      { input: { dir: tempDir() } },
    )
    expect(answer.size).toBe(200 * 2 ** 20)
    expect(answer.grown).toBeLessThan(64 * 2 ** 20)
  })

  test('a fast writer gets backpressure, and `drain` when there is room', async () => {
    const service = makeService()
    const capture = service.capture(tool)
    const chunk = Buffer.alloc(2 ** 18, 'x')
    let writes = 1
    while (capture.write(chunk)) writes += 1
    expect(writes).toBeLessThan(20)
    await new Promise((resolve) => capture.once('drain', resolve))
    expect(capture.writableLength).toBe(0)
    capture.end()
    expect(cut(await capture.result).totalBytes).toBe(writes * chunk.length)
  })
})

describe('giving up', () => {
  test.each([
    ['within limits', ['short']],
    ['over a limit', [numbered(3000), numbered(3000)]],
    ['with much under way', Array.from({ length: 40 }, () => 'y'.repeat(2 ** 17))],
  ])('leaves no file: %s', async (_what, chunks) => {
    const { service, events, dir } = listening()
    const capture = service.capture(tool)
    for (const chunk of chunks) capture.write(chunk)
    capture.destroy()
    const error = await rejection(capture.result)
    expect(error).toBeInstanceOf(SpillwayError)
    expect(error).toMatchObject({ code: 'ABORTED' })
    expect(filesIn(dir)).toEqual([])
    expect(events).toEqual([])
  })

  test('by a signal, before and during, rejects with its reason', async () => {
    const { service, dir } = listening()
    const reason = new Error('enough')
    expect(await rejection(service.capture({ ...tool, signal: AbortSignal.abort(reason) }).result)).toBe(reason)
    const controller = new AbortController()
    const capture = service.capture({ ...tool, signal: controller.signal })
    capture.write(numbered(5000))
    await turn()
    controller.abort(reason)
    expect(await rejection(capture.result)).toBe(reason)
    await turn()
    expect(filesIn(dir)).toEqual([])
    expect(capture.destroyed).toBe(true)
  })

  test('a source that fails in a pipeline takes the capture with it', async () => {
    const { service, dir } = listening()
    const capture = service.capture(tool)
    async function* source() {
      yield numbered(5000)
      throw new Error('the source broke')
    }
    expect(await rejection(pipeline(source, capture))).toMatchObject({ message: 'the source broke' })
    expect(await rejection(capture.result)).toMatchObject({ message: 'the source broke' })
    expect(filesIn(dir)).toEqual([])
  })

  test.each(['destroy', 'signal'])('keeps what came, if asked: by %s', async (how) => {
    const { service, events } = listening()
    const controller = new AbortController()
    const capture = service.capture({ ...tool, signal: controller.signal }, { onAbort: 'keep' })
    const chunks = Array.from({ length: 30 }, (_, i) => `${numbered(10_000, i * 10_000)}\n`)
    for (const chunk of chunks) capture.write(chunk)
    if (how === 'destroy') capture.destroy()
    else controller.abort(new Error('enough'))
    const result = cut(await capture.result)
    expect(readFileSync(result.outputPath, 'utf8')).toBe(chunks.join(''))
    expect(events.map(({ type }) => type)).toEqual(['truncated'])
    const short = service.capture(tool, { onAbort: 'keep' })
    short.write('said before')
    short.destroy()
    expect(await short.result).toStrictEqual({ content: 'said before', truncated: false })
  })

  test.each(['destroy', 'signal'])('keeps what came, if asked: by %s after the end was said', async (how) => {
    const controller = new AbortController()
    const capture = makeService().capture({ ...tool, signal: controller.signal }, { onAbort: 'keep' })
    const chunks = Array.from({ length: 30 }, (_, i) => `${numbered(10_000, i * 10_000)}\n`)
    for (const chunk of chunks) capture.write(chunk)
    capture.end()
    if (how === 'destroy') capture.destroy()
    else controller.abort(new Error('enough'))
    expect(readFileSync(cut(await capture.result).outputPath, 'utf8')).toBe(chunks.join(''))
  })

  test('leaves nothing to look at', async () => {
    const capture = makeService().capture(tool)
    capture.write('text')
    capture.destroy()
    const aborted = { code: 'ABORTED', message: 'the capture was destroyed before its end' }
    expect(await rejection(capture.peek())).toMatchObject(aborted)
    expect(await rejection(capture.readRange({ fromLine: 1 }))).toMatchObject(aborted)
  })

  test('comes too late after the end', async () => {
    const { service, dir } = listening()
    const controller = new AbortController()
    const result = await captured(service, [numbered(5000)], { ...tool, signal: controller.signal })
    controller.abort()
    await turn()
    expect(filesIn(dir)).toHaveLength(1)
    expect(result.truncated).toBe(true)
  })
})

function listening() {
  const dir = tempDir()
  return { ...makeListening({ storageDirs: [dir] }), dir }
}

describe('events', () => {
  test('are those of output()', async () => {
    const text = numbered(3000)
    for (const content of ['short', text]) {
      const [ours, theirs] = [listening(), listening()]
      const result = await captured(ours.service, pieces(content, [3, 900]), { ...tool, toolCallId: 'c1' })
      await theirs.service.output(content, { ...tool, toolCallId: 'c1' })
      const bare = ({ events, dir }: typeof ours) =>
        events.map(({ timestamp: _, outputPath, truncatedSize, ...event }) => ({
          ...event,
          inDir: outputPath?.startsWith(dir),
        }))
      expect(bare(ours)).toEqual(bare(theirs))
      if (result.truncated) expect(ours.events[0]!.outputPath).toBe(result.outputPath)
    }
  })

  test('a folder that fails is an error event and a saveError, and the preview is there', async () => {
    const { service, events } = makeListening({ storageDirs: ['/dev/null/x'] })
    const result = cut(await captured(service, [numbered(3000), '\nmore']))
    expect([result.outputPath, result.totalLines]).toEqual(['', 3001])
    expect(result.saveError.code).toBe('STORAGE_WRITE')
    expect(events.map(({ type }) => type)).toEqual(['error', 'truncated'])
  })
})

describe('a strategy of the caller', () => {
  const strategy = {
    name: 'shout',
    needsTruncation: (text: string) => text.length > 10,
    truncate: (text: string) => ({ content: text.slice(0, 5).toUpperCase() }),
  }

  test('gets the whole text', async () => {
    const service = makeService({ strategy })
    const text = `hello ${'😀'.repeat(20)}`
    const result = cut(await captured(service, pieces(text, [7, 9, 12])))
    expect(result.preview).toBe('HELLO')
    expect(readFileSync(result.outputPath, 'utf8')).toBe(text)
    expect(await captured(service, [Buffer.from('so '), 'short'])).toStrictEqual({
      content: 'so short',
      truncated: false,
    })
  })

  test('is given what output() would give it of a call that failed', async () => {
    const directions: unknown[] = []
    const asked: TruncationStrategy = {
      ...strategy,
      needsTruncation: (_text, { direction }) => directions.push(direction) > 0,
    }
    const service = makeService({ strategy: asked })
    await service.output('some long text', { ...tool, failed: true })
    const capture = service.capture({ ...tool, failed: true })
    capture.end('some long text')
    await capture.result
    const { output } = await runCommand(
      process.execPath,
      ['-e', 'console.log("some long text"); process.exitCode = 1'],
      {
        ...tool,
        service,
      },
    )
    expect(directions).toEqual(['tail', 'tail', 'tail'])
    expect(output.content).toContain('failed')
  })

  test.each([
    ['write', (capture: Capture, done: (error: unknown) => void) => capture.write('stray', done)],
    ['write in an encoding', (capture: Capture, done: (error: unknown) => void) => capture.write('AA', 'hex', done)],
    ['second end', (capture: Capture, done: (error: unknown) => void) => capture.end('stray', done)],
  ])('fails a stray %s after the end, and not the result', async (_, write) => {
    const errors: unknown[] = []
    const capture = makeService().capture({ toolName: 'bash' })
    capture.on('error', (error) => errors.push(error))
    capture.write('all of ')
    capture.end('it')
    const told = await new Promise((resolve) => write(capture, resolve))
    expect(told).toMatchObject({ code: 'ERR_STREAM_WRITE_AFTER_END' })
    expect((await capture.result).content).toBe('all of it')
    expect(errors).toEqual([told])
  })

  test('ends twice without harm', async () => {
    const capture = makeService().capture({ toolName: 'bash' })
    capture.end('all of it')
    capture.end()
    expect((await capture.result).content).toBe('all of it')
  })

  test('ignores an abort after the end', async () => {
    const controller = new AbortController()
    const needsTruncation = () => {
      controller.abort()
      return true
    }
    const service = makeService({ strategy: { ...strategy, needsTruncation } })
    const capture = service.capture({ ...tool, signal: controller.signal })
    capture.end('hello there, world')
    expect(cut(await capture.result).preview).toBe('HELLO')
  })

  test('does not make peek() longer than a preview', async () => {
    const service = makeService({ strategy, global: { maxLines: 2 } })
    const capture = service.capture(tool)
    capture.write('a\nb')
    expect(await capture.peek()).toEqual({ text: 'a\nb', truncated: false, totalBytes: 3, totalLines: 2 })
    capture.write('\nc\n')
    expect(await capture.peek()).toEqual({ text: 'a\nb', truncated: true, totalBytes: 6, totalLines: 3 })
    capture.write(Buffer.from('d'))
    expect(await capture.peek()).toMatchObject({ totalBytes: 7, totalLines: 4 })
    capture.destroy()
  })

  test('is not asked about what is too long to hold, and that is said', async () => {
    const { service, events } = makeListening({ strategy })
    const capture = service.capture(tool, { customStrategyBytes: 1000 })
    for (let i = 0; i < 3; i += 1) capture.write(`${numbered(1500, 1 + i * 1500)}\n`)
    expect(await capture.peek()).toMatchObject({ truncated: true })
    capture.end()
    const result = cut(await capture.result)
    expect(result).toMatchObject({ strategyBypassed: true, keptLines: 2000, totalLines: 4500 })
    expect(readFileSync(result.outputPath, 'utf8')).toBe(`${numbered(4500)}\n`)
    expect(events.map(({ type, errorCode }) => [type, errorCode])).toEqual([
      ['error', 'STRATEGY'],
      ['truncated', undefined],
    ])
    expect(events[0]!.truncatedSize).toBe(bytesOf(result.content))
  })
})

describe('a storage of the caller', () => {
  const text = `${numbered(3000)}\ud800`

  test('gets the very string, and the very bytes', async () => {
    const strings = memoryStorage()
    const result = cut(await captured(makeService({ storage: strings }), pieces(text, [9, 4000])))
    expect(strings.saved.get(result.outputPath)).toBe(text)
    expect(result.content).toContain(result.outputPath)

    const storage = Object.assign(memoryStorage(), {
      saveBytes: async (content: Uint8Array) => `${content.length} bytes`,
    })
    const content = Buffer.alloc(60_000, 0xff)
    expect(cut(await captured(makeService({ storage }), [content])).outputPath).toBe('60000 bytes')
  })

  test('gets a stream if it takes one', async () => {
    const seen: Buffer[] = []
    const storage: ITruncationStorage = {
      ...memoryStorage(),
      saveStream: async (source, context) => {
        for await (const piece of source) seen.push(Buffer.from(piece))
        return `stream:${context.toolName}`
      },
    }
    const all = Buffer.from(numbered(200_000))
    const result = cut(await captured(makeService({ storage }), pieces(all, [5, 70_000])))
    expect(result.outputPath).toBe('stream:mytool')
    expect(Buffer.concat(seen).equals(all)).toBe(true)
  })

  test('gets the same output of one call twice at once, and nothing of it stays with us', async () => {
    const dir = tempDir()
    const told = runChild<{ paths: string[]; errors: unknown[]; descriptors: number[] }>(
      `const { existsSync, readdirSync } = require('node:fs')
       const descriptors = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)
       let [count, wake, calls] = [0, undefined, []]
       const both = new Promise((resolve) => { wake = resolve })
       const storage = {
         save: async () => '', read: async () => '', cleanup: async () => 0, getStorageDir: () => '',
         saveStream: async (source) => {
           const own = (count += 1)
           // Both outputs are with us before either is handed over, and the second is read when the first is done.
           if (own === 2) wake()
           if (own <= 2) await both
           if (own === 2) await Promise.race(calls)
           let bytes = 0
           for await (const piece of source) bytes += piece.length
           return 'bytes ' + bytes
         },
       }
       const service = new spillway.TruncationService({ storage, global: { maxLines: 2 } })
       const capture = async (context) => {
         const capture = service.capture({ toolName: 'x', ...context })
         capture.end('a\\nb\\nc\\n')
         return capture.result
       }
       const call = { sessionId: 's', toolCallId: 'c' }
       calls = [capture(call), capture(call)]
       const results = await Promise.all(calls)
       await capture({})
       const before = descriptors()
       for (let i = 0; i < 20; i += 1) await capture({ sessionId: 's' + i, toolCallId: 'c' })
       answer({
         paths: results.map(({ outputPath }) => outputPath),
         errors: results.map(({ saveError }) => saveError ?? null),
         descriptors: [before, descriptors()],
       })`,
      { env: { TMPDIR: dir, TEMP: dir, TMP: dir } },
    )
    expect(told.errors).toEqual([null, null])
    expect(told.paths).toEqual(['bytes 6', 'bytes 6'])
    expect(told.descriptors[1]).toBe(told.descriptors[0])
    expect(filesIn(dir)).toEqual([])
    expect(readdirSync(dir, { recursive: true }).filter((name) => /-[0-9a-f]{12}/.test(String(name)))).toEqual([])
  })

  test('gets what passes through a folder of its own, where nothing of a dead process stays for long', () => {
    const [dir, home] = [tempDir(), tempDir()]
    const output = numbered(3000)
    const capture = (leave: boolean, env: NodeJS.ProcessEnv) =>
      runChild<string>(
        `const service = new spillway.TruncationService({ storage: {
           save: async (content) => {
             if (!input.leave) return 'units ' + content.length
             answer('left')
             process.exit(0)
           },
           read: async () => '', cleanup: async () => 0,
           getStorageDir: () => '',
         } })
         const capture = service.capture({ toolName: 'x' })
         capture.end(input.output)
         answer((await capture.result).outputPath)`,
        { input: { leave, output }, env: { HOME: home, TMPDIR: dir, TEMP: dir, TMP: dir, ...env } },
      )
    expect(capture(true, {})).toBe('left')
    const [left] = filesIn(dir)
    expect(left).toContain(join('passage', 'x_'))
    expect(readFileSync(join(dir, left!), 'utf8')).toBe(output)
    age(join(dir, left!), 25)
    expect(capture(false, {})).toBe(`units ${output.length}`)
    expect(filesIn(dir)).toEqual([])
    const nowhere = join(home, 'file')
    writeFileSync(nowhere, '')
    expect(capture(false, { TMPDIR: nowhere, TEMP: nowhere, TMP: nowhere })).toBe(`units ${output.length}`)
    expect(filesIn(home)).toEqual(['file'])
  })

  test('that fails loses the rest, not the preview', async () => {
    const storage = memoryStorage(() => Promise.reject(new Error('full')))
    const { service, events } = makeListening({ storage: [storage] })
    const result = cut(await captured(service, [text]))
    expect(result.saveError.message).toBe('full')
    expect(result.outputPath).toBe('')
    expect(result.content).toContain('could not be saved and was not kept (full)')
    expect(result.keptLines).toBe(2000)
    expect(events.map(({ type }) => type)).toEqual(['error', 'truncated'])
  })

  test('formatNotice writes the notice', async () => {
    const service = makeService({ formatNotice: ({ totalLines, outputPath }) => `${totalLines} at ${outputPath}` })
    const result = cut(await captured(service, [numbered(2500), numbered(2500)]))
    expect(result.content.endsWith(`4999 at ${result.outputPath}`)).toBe(true)
  })
})

describe('while it runs', () => {
  test('peek() shows what there is', async () => {
    const capture = makeService().capture({ toolName: 'bash' })
    capture.write('one\ntw')
    expect(await capture.peek()).toEqual({ text: 'one\ntw', truncated: false, totalBytes: 6, totalLines: 2 })
    capture.write(`o\n${numbered(600)}`)
    const later = await capture.peek()
    expect(later).toMatchObject({ truncated: true, totalLines: 602 })
    expect(later.text).toBe(numbered(500, 101))
    capture.end()
    expect(cut(await capture.result).totalLines).toBe(602)
  })

  test('peek() keeps every limit', async () => {
    const service = makeService()
    const inTokens = service.capture({ ...tool, options: { maxTokens: 10 } })
    inTokens.write('word '.repeat(100))
    expect(await inTokens.peek()).toMatchObject({ truncated: true, totalBytes: 500 })
    // Each of them is shown as three bytes.
    const inBytes = service.capture({ ...tool, options: { maxBytes: 300 } })
    inBytes.write(new Uint8Array(200).fill(0xff))
    const { text, truncated } = await inBytes.peek()
    expect([truncated, Buffer.byteLength(text) <= 300]).toEqual([true, true])
    for (const capture of [inTokens, inBytes]) {
      capture.end()
      expect((await capture.result).truncated).toBe(true)
    }
  })

  test('a corked one shows what it has passed on', async () => {
    const capture = makeService().capture(tool)
    capture.write('before')
    expect((await capture.peek()).text).toBe('before')
    capture.cork()
    capture.write(', after')
    expect((await capture.peek()).text).toBe('before')
    capture.uncork()
    expect((await capture.peek()).text).toBe('before, after')
  })

  test('readRange() and the end may meet', async () => {
    const service = makeService()
    for (const text of [numbered(100), numbered(100_000)]) {
      for (let turns = 0; turns < 40; turns += 1) {
        const capture = service.capture(tool)
        capture.write(text)
        const asked = [capture.readRange({ fromLine: 2, lineCount: 1 })]
        for (let each = 0; each < turns % 8; each += 1) await turn()
        asked.push(capture.readRange({ fromLine: 2, lineCount: 1 }))
        capture.end()
        asked.push(capture.readRange({ fromLine: 2, lineCount: 1 }))
        expect((await Promise.all(asked)).map((range) => range.text)).toEqual(Array(3).fill('line 2\n'))
      }
    }
  })

  test('readRange() reads everything so far, held or saved, and the whole at the end', async () => {
    const service = makeService()
    const capture = service.capture({ toolName: 'bash' })
    capture.write('one\ntw')
    const first = await capture.readRange({ fromLine: 2 })
    expect(first).toMatchObject({ text: 'tw', fromLine: 2, fromByte: 4, totalBytes: 6, partial: false })
    // The rest of a character is still to come.
    capture.write(Buffer.from('o\né😀').subarray(0, 6))
    expect((await capture.readRange({ fromByte: 7 })).text).toBe('\né')
    capture.write(Buffer.from('😀').subarray(2))
    const text = `two\né😀${numbered(200_000)}`
    capture.write(numbered(200_000))
    for (const line of [2, 150_000, 199_999]) {
      const { text: found } = await capture.readRange({ fromLine: line, lineCount: 1 })
      expect(found).toBe(line === 2 ? 'two\n' : `line ${line - 2}\n`)
    }
    const end = await capture.readRange({ fromLine: 200_003 })
    expect([end.text, end.next]).toEqual(['', undefined])
    capture.write('\nlast')
    const last = await capture.readRange({ fromLine: 200_003 })
    expect(last.text).toBe('last')
    capture.end()
    expect(await capture.readRange({ fromLine: 200_003 })).toEqual(last)
    expect(readFileSync(cut(await capture.result).outputPath, 'utf8')).toBe(`one\n${text}\nlast`)
  })

  test('readRange() follows what comes, piece by piece', async () => {
    const capture = makeService().capture(tool)
    let read = ''
    for (let piece = 0; piece < 50; piece += 1) {
      capture.write(`${numbered(100, piece * 100)} 你😀\n`)
      const { text } = await capture.readRange({ fromByte: Buffer.byteLength(read) })
      read += text
    }
    capture.end()
    await capture.result
    expect(read).toBe(await (await capture.readRange({ fromByte: 0 })).text)
    expect(read.split('\n')).toHaveLength(5001)
  })

  test.each([
    ['that fits', 'short', {}],
    ['for a strategy of the caller', 'short', { strategy: undefined }],
    ['that a storage of the caller keeps', numbered(3000), { storage: memoryStorage() }],
  ])('readRange() of an output %s continues after its end', async (_, text, options) => {
    const strategy = { name: 'own', needsTruncation: () => false, truncate: (content: string) => ({ content }) }
    const capture = makeService('strategy' in options ? { strategy } : options).capture(tool)
    capture.write(text)
    const before = await capture.readRange({ fromByte: 1, byteCount: 3 })
    expect(before.text).toBe(text.slice(1, 4))
    capture.end()
    expect(await capture.readRange({ fromByte: 1, byteCount: 3 })).toEqual(before)
  })

  test('readRange() says what is wrong', async () => {
    const file = join(tempDir(), 'file')
    writeFileSync(file, '')
    const lost = makeService({ storageDirs: [file] }).capture(tool)
    lost.write(numbered(3000))
    const notKept = { code: 'STORAGE_NOT_FOUND', message: expect.stringContaining('ENOTDIR') }
    expect(await rejection(lost.readRange({ fromByte: 0 }))).toMatchObject(notKept)
    lost.end()
    expect(await rejection(lost.readRange({ fromByte: 0 }))).toMatchObject(notKept)
    const capture = makeService().capture(tool)
    expect(await rejection(capture.readRange({ fromLine: 0 }))).toMatchObject({ field: 'range.fromLine' })
    capture.destroy()
    expect(await rejection(capture.readRange({ fromByte: 0 }))).toMatchObject({ code: 'ABORTED' })
  })

  test.each(['abort', 'destroy'] as const)('drops writes after %s where the rest is kept', async (how) => {
    const controller = new AbortController()
    const context = { ...tool, signal: controller.signal, options: { maxLines: 5 } }
    const capture = makeService().capture(context, { onAbort: 'keep' })
    for (let line = 0; line < 100; line += 1) capture.write(`line ${line}\n`)
    if (how === 'abort') controller.abort()
    else capture.destroy()
    const later = [capture.write('one more\n'), await new Promise((resolve) => capture.write('and more\n', resolve))]
    capture.destroy()
    const result = cut(await capture.result)
    expect([later, result.totalLines]).toEqual([[false, undefined], 100])
    expect(readFileSync(result.outputPath, 'utf8').split('\n')).toHaveLength(101)
  })

  test('faked timers stop nothing', async () => {
    jest.useFakeTimers()
    try {
      expect((await captured(makeService(), [numbered(3000)])).truncated).toBe(true)
    } finally {
      jest.useRealTimers()
    }
  })

  test('closing the service lets it come to its end', async () => {
    const service = makeService()
    const capture = service.capture(tool)
    capture.write('be')
    await service.close()
    capture.end('fore')
    expect(await capture.result).toStrictEqual({ content: 'before', truncated: false })
    expect(thrown(() => service.capture(tool))).toMatchObject({ code: 'CLOSED' })
  })

  test('wrong arguments are named', () => {
    const service = makeService()
    expect(thrown(() => service.capture({} as TruncationContext))).toMatchObject({ field: 'context.toolName' })
    expect(thrown(() => service.capture(tool, { onAbort: 'x' as 'keep' }))).toMatchObject({ field: 'options.onAbort' })
    expect(thrown(() => service.capture(tool, { customStrategyBytes: 0 }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'options.customStrategyBytes',
    })
  })
})
