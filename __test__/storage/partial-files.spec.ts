import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  createOutputTools,
  MemoryStorage,
  runCommand,
  type TruncatedResult,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'
import { startChild } from '../support/child'
import { cut, makeListening, makeService, numbered, thrown } from '../support/outputs'
import { age, filesIn, tempDir } from '../support/temp'

const tool = { toolName: 'mytool' }
const PARTIAL_NAME = /^mytool_\d{13}_[a-z0-9]{13}\.partial\.txt$/
const text = numbered(5000)
const size = Buffer.byteLength(text)

/** Head and tail as the file has them, checked against the original. */
function checkParts(held: Buffer, original: Buffer, { savedPart }: Pick<TruncatedResult, 'savedPart'>): void {
  const { headBytes, tailBytes, omittedBytes } = savedPart!
  expect(headBytes + tailBytes + omittedBytes).toBe(original.length)
  expect(held.subarray(0, headBytes).equals(original.subarray(0, headBytes))).toBe(true)
  expect(held.subarray(held.length - tailBytes).equals(original.subarray(original.length - tailBytes))).toBe(true)
  const between = held.subarray(headBytes, held.length - tailBytes).toString('utf8')
  expect(between).toMatch(new RegExp(`^\\n?\\.\\.\\.${omittedBytes} bytes truncated\\.\\.\\.\\n$`))
}

async function captured(service: TruncationService, chunks: Iterable<string | Uint8Array>): Promise<TruncatedResult> {
  const capture = service.capture(tool)
  await pipeline(chunks, capture)
  return cut(await capture.result)
}

function chunksOf(bytes: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) =>
    bytes.subarray(at * length, (at + 1) * length),
  )
}

describe('an output over the bound of a file', () => {
  test('is saved by its first and last part, and everything says so', async () => {
    const dir = tempDir()
    const { service, events } = makeListening({ maxFileBytes: 10_000, storageDirs: [dir] })
    const result = cut(await service.output(text, tool))
    expect(basename(result.outputPath)).toMatch(PARTIAL_NAME)
    const held = readFileSync(result.outputPath)
    expect(held.length).toBeLessThanOrEqual(10_000)
    expect(held.length).toBeGreaterThan(9900)
    checkParts(held, Buffer.from(text), result)
    expect(held.toString()).toMatch(
      /^line 1\n[\s\S]*\nline \d+\n\.\.\.\d+ bytes truncated\.\.\.\nline \d+\n[\s\S]*line 5000$/,
    )
    expect(events.at(-1)).toMatchObject({ type: 'truncated', savedPart: result.savedPart })
    const { headBytes, tailBytes } = result.savedPart
    expect(result.hint).toContain(
      `First ${headBytes} and last ${tailBytes} of its ${size} bytes saved to: ${result.outputPath}`,
    )
    expect(result.content).not.toContain('Full output')

    const storage = new TruncationStorage(dir)
    expect(containsTruncationMarker(await storage.read(result.outputPath))).toBe(true)
    expect(await storage.readRange(result.outputPath, { fromLine: 1, lineCount: 1 })).toMatchObject({
      incomplete: true,
    })
    expect(await storage.search(result.outputPath, 'line 5000')).toMatchObject({ incomplete: true, matches: [{}] })
    const whole = await storage.save('x', tool)
    expect(await storage.readRange(whole, { fromLine: 1 })).not.toHaveProperty('incomplete')
    expect(await storage.search(whole, 'x')).not.toHaveProperty('incomplete')
    const [read, search] = createOutputTools(storage)
    const answers = await Promise.all([
      read.execute({ path: result.outputPath }),
      search.execute({ path: result.outputPath, pattern: 'line 1$' }),
    ])
    for (const { output } of answers) expect(output).toContain('only the start and the end of the output were kept')
  })

  test('is counted, swept and removed like any other', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage({ storageDirs: [dir], maxFileBytes: 4096 })
    const paths = [await storage.save(text, tool), await storage.save(text, { ...tool, sessionId: 's' })]
    expect(paths.map((path) => storage.owns(path))).toEqual([true, true])
    expect((await storage.usage()).files).toBe(2)
    expect(await storage.deleteSession('s')).toBe(1)
    age(paths[0]!, 24 * 8)
    expect((await storage.sweep()).removed).toMatchObject([{ path: paths[0], reason: 'age' }])
    expect(filesIn(dir)).toEqual([])
  })

  test('says so in Chinese, in one line, and to a notice of the caller’s', async () => {
    const chinese = cut(await makeService({ maxFileBytes: 4096, language: 'zh-CN' }).output(text, tool))
    const { headBytes, tailBytes } = chinese.savedPart
    expect(chinese.hint).toContain(`其 ${size} 字节的前 ${headBytes}、后 ${tailBytes} 字节已保存到：`)
    const tight = { maxFileBytes: 4096, noticeInside: true, global: { maxBytes: 200 } }
    const line = cut(await makeService(tight).output(text, tool))
    expect(line.content).toContain('its first and last part saved to')
    let seen: unknown
    const formatNotice = (info: { savedPart?: unknown }) => {
      seen = info.savedPart
      return 'mine'
    }
    const result = cut(await makeService({ maxFileBytes: 4096, formatNotice }).output(text, tool))
    expect(seen).toEqual(result.savedPart)
  })

  test('keeps the notice within its limits', async () => {
    const availableTools = ['Grep', 'Read', 'Task']
    for (const profile of [undefined, 'opencode', 'takumi', 'moryflow'] as const) {
      const service = makeService({ maxFileBytes: 4096, availableTools, ...(profile && { profile }) })
      const result = cut(await service.output(text, { ...tool, failed: true }))
      const notice = result.content.replace(result.preview, '')
      expect(notice.trim().split('\n').length).toBeLessThanOrEqual(8)
      expect(Buffer.byteLength(notice) - result.outputPath.length).toBeLessThanOrEqual(512)
    }
  })

  test.each(['a', 'é', '你', '😀', '\ud800', 'x\n', 'ab你😀\r\n'])('is cut between characters: %p', async (unit) => {
    for (const maxFileBytes of [4096, 4097, 4098, 4099, 5001]) {
      const content = unit.repeat(20_000)
      const storage = new TruncationStorage({ storageDirs: [tempDir()], maxFileBytes })
      const held = await storage.read(await storage.save(content, tool))
      const [head, tail] = held.split(/\n?\.\.\.\d+ bytes truncated\.\.\.\n/)
      expect([content.startsWith(head!), content.endsWith(tail!)]).toEqual([true, true])
      const memory = new MemoryStorage({ maxFileBytes })
      expect(await memory.read(await memory.save(content, tool))).toBe(held)
    }
  })

  test('is the same however it is split', async () => {
    for (const maxFileBytes of [4096, 65_537, size - 1]) {
      const service = makeService({ maxFileBytes })
      const whole = cut(await service.output(text, tool))
      for (const length of [1000, 4096, 9999, size]) {
        const split = await captured(service, chunksOf(Buffer.from(text), length))
        expect(readFileSync(split.outputPath).equals(readFileSync(whole.outputPath))).toBe(true)
        expect(split.savedPart).toEqual(whole.savedPart)
      }
    }
  })

  test('leaves one file of the requested size for 10 MB', async () => {
    const dir = tempDir()
    const big = Buffer.from('0123456789abcdef你\n'.repeat(500_000))
    const service = makeService({ maxFileBytes: 1_000_000, storageDirs: [dir] })
    for (const result of [cut(await service.output(big, tool)), await captured(service, chunksOf(big, 77_777))]) {
      checkParts(readFileSync(result.outputPath), big, result)
      expect(statSync(result.outputPath).size).toBeGreaterThan(999_000)
      expect(statSync(result.outputPath).size).toBeLessThanOrEqual(1_000_000)
    }
    expect(filesIn(dir).length).toBe(2)
  })

  test('is read by its start while it comes in', async () => {
    const capture = makeService({ maxFileBytes: 10_000, global: { maxLines: 3 } }).capture(tool)
    capture.write(text.slice(0, 9000))
    expect(await capture.readRange({ fromByte: 0 })).toMatchObject({ text: text.slice(0, 9000) })
    capture.write(text.slice(9000))
    const start = await capture.readRange({ fromByte: 0 })
    expect(start).toMatchObject({ text: text.slice(0, 5000), incomplete: true })
    capture.end()
    const result = cut(await capture.result)
    const whole = await capture.readRange({ fromByte: 0 })
    expect(whole).toMatchObject({ text: readFileSync(result.outputPath, 'utf8'), incomplete: true })
  })

  test('leaves one file for a command, too', async () => {
    const service = makeService({ maxFileBytes: 4096, global: { maxLines: 3 } })
    const script = "console.log('x'.repeat(1e5))"
    const { output } = await runCommand(process.execPath, ['-e', script], { service })
    const result = cut(output)
    checkParts(readFileSync(result.outputPath), Buffer.from(`${'x'.repeat(1e5)}\n`), result)
  })

  test('leaves nothing that can be seen before it is whole', async () => {
    const dir = tempDir()
    const child = startChild(
      `const service = new spillway.TruncationService({ maxFileBytes: 8192, storageDirs: [input.dir] })
       const capture = service.capture({ toolName: 'x' })
       for (let i = 0; i < 100; i += 1) await new Promise((done) => capture.write('x'.repeat(1e5), done))
       answer('written')
       setInterval(() => {}, 1000)`,
      { input: { dir } },
    )
    await new Promise((resolve) => child.stdout!.once('data', resolve))
    expect(filesIn(dir)).toEqual([])
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    expect(filesIn(dir)).toEqual([])
  })

  test('is redacted before it is cut', async () => {
    const secret = 'hunter2-hunter2'
    const content = Buffer.from(`${secret}\n`.repeat(10_000))
    for (const options of [
      { storageDirs: [tempDir()], maxFileBytes: 5000 },
      { storage: new MemoryStorage({ maxFileBytes: 5000 }) },
    ]) {
      const service = new TruncationService({ ...options, redact: { values: [secret] } })
      const storage = options.storage ?? new TruncationStorage(options)
      const result = cut(await service.output(content, tool))
      const held = await storage.read(result.outputPath)
      expect(held.includes('hunter')).toBe(false)
      expect(result.redactions).toBe(10_000)
    }
  })
})

describe('an output within the bound', () => {
  test.each([
    ['in a file', () => new TruncationStorage({ storageDirs: [tempDir()], maxFileBytes: size })],
    ['in memory', () => new MemoryStorage({ maxFileBytes: size })],
  ])('is whole %s', async (_, makeStorage) => {
    const storage = makeStorage()
    const { service, events } = makeListening({ storage })
    for (const result of [
      cut(await service.output(text, tool)),
      await captured(service, [text.slice(0, 7), text.slice(7)]),
    ]) {
      expect(await storage.read(result.outputPath)).toBe(text)
      expect(result).not.toHaveProperty('savedPart')
      expect(result.outputPath).not.toContain('partial')
      expect(result.hint).toContain('Full output saved to')
    }
    expect(events.at(-1)).not.toHaveProperty('savedPart')
  })
})

describe('a storage in memory', () => {
  test('says the same of what it keeps a part of', async () => {
    const memory = new MemoryStorage({ maxFileBytes: 4096 })
    const service = makeService({ storage: memory })
    const disk = makeService({ maxFileBytes: 4096 })
    for (const content of [text, Buffer.from(text)]) {
      const [here, there] = [cut(await service.output(content, tool)), cut(await disk.output(content, tool))]
      expect(await memory.read(here.outputPath)).toBe(readFileSync(there.outputPath, 'utf8'))
      expect(here.savedPart).toEqual(there.savedPart)
      expect(here.hint).toBe(there.hint.replace(there.outputPath, here.outputPath))
      expect(basename(here.outputPath)).toMatch(PARTIAL_NAME)
      expect(await memory.readRange(here.outputPath, { fromLine: 1 })).toMatchObject({ incomplete: true })
      expect(await memory.search(here.outputPath, 'line')).toMatchObject({ incomplete: true })
    }
    expect((await captured(service, [text])).savedPart).toBeDefined()
  })
})

test.each([0, 4095, 4096.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '5000', null])(
  'a bound of %p is refused',
  (maxFileBytes) => {
    const options = { maxFileBytes: maxFileBytes as number }
    for (const make of [
      () => new TruncationService(options),
      () => new TruncationStorage(options),
      () => new MemoryStorage(options),
    ]) {
      expect(thrown(make)).toMatchObject({
        code: 'INVALID_CONFIG',
        field: 'maxFileBytes',
        message: expect.stringContaining('a whole number of at least 4096'),
      })
    }
  },
)
