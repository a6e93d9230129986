import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  createTruncationMiddleware,
  MemoryStorage,
  runCommand,
  type TruncationOptions,
  type TruncationResult,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { loadConfig } from 'spillway/config'
import { tempDir } from '../support/temp'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 150)
const tool = { toolName: 'mytool' }

/** Two bars that are drawn again and again, with a line that comes out above them now and then. */
function bars(frames: number): string {
  let text = 'start\na\nb\n'
  for (let frame = 1; frame <= frames; frame += 1) {
    if (frame % 50 === 0) text += `\x1b[2A\x1b[Jdone with ${frame}\n\n\n`
    text += `\x1b[2A\x1b[2Ka \x1b[32m${frame}\x1b[0m/${frames}\n\x1b[2K\rb ${frame}/${frames}\r\n`
  }
  return `${text}end\n`
}

function serviceOf(options: object = {}): TruncationService {
  return new TruncationService({ storageDirs: [tempDir()], global: { terminal: true, ...options } })
}

describe('terminal', () => {
  it('leaves an output as it came unless it is asked for', async () => {
    const drawn = '10%\r100%\x1b[0m\n'
    const service = new TruncationService({ storage: new MemoryStorage() })
    expect(await service.output(drawn, tool)).toEqual({ content: drawn, truncated: false })
    const on = await service.output(drawn, { ...tool, options: { terminal: true } })
    expect(on).toEqual({ content: '100%\n', truncated: false })
  })

  it.each(['a\ud800', '\x01\x02', '\0'])('describes binary data of any length and source: %j', async (text) => {
    const service = serviceOf()
    const capture = service.capture(tool)
    capture.end(text)
    const [one, other] = [await service.output(text, tool), await capture.result]
    expect(one).toMatchObject({ truncated: true, preview: `[binary data, ${Buffer.byteLength(text)} bytes]` })
    expect(other).toMatchObject({ truncated: true, preview: (one as { preview: string }).preview })
  })

  it('gives clean text back as the very string', async () => {
    const text = 'one\n\ttwo  \n你好 👩‍👩‍👧\n'
    expect(await serviceOf().output(text, tool)).toEqual({ content: text, truncated: false })
    const parts = [{ type: 'text', text }, { type: 'image' }]
    expect((await serviceOf().output(parts, tool)).content).toBe(parts)
  })

  it('measures what is shown, and keeps what came of an output that is too long only as it came', async () => {
    const text = `${Array.from({ length: 9000 }, (_, index) => `\r${index}/9000`).join('')}\nready\n`
    const service = serviceOf({ maxBytes: 1000 })
    const result = await service.output(text, tool)
    expect(result).toMatchObject({ content: '8999/9000\nready\n', truncated: false })
    if (result.truncated) throw new Error('all of it is shown')
    expect(readFileSync(result.raw!.outputPath, 'utf8')).toBe(text)
  })

  it.each(['default', 'auto', 'line', 'byte', 'smart', 'json'] as const)(
    'shows lines of %s that readRange finds under their numbers',
    async (strategy) => {
      const text = bars(2000)
      const storage = new TruncationStorage(tempDir())
      const service = new TruncationService({ storage, availableTools: ['read'] })
      for (const direction of ['head', 'tail', 'both'] as const) {
        const options: TruncationOptions = { terminal: true, strategy, direction, maxLines: 12, maxBytes: 300 }
        const result = await service.output(text, { ...tool, options })
        if (!result.truncated) throw new Error('nothing was cut')
        expect(readFileSync(result.outputPath, 'utf8')).toBe(text)
        const gap = /^\.\.\.\d+ (lines|bytes) truncated/
        const shown = result.preview!.split('\n').filter((line) => !gap.test(line))
        const numbers = result.ranges!.flatMap(({ fromLine, toLine }) =>
          Array.from({ length: toLine - fromLine + 1 }, (_, index) => fromLine + index),
        )
        expect(numbers).toHaveLength(shown.length)
        for (const [index, line] of shown.entries()) {
          const raw = await storage.readRange(result.outputPath, { fromLine: numbers[index]!, lineCount: 1 })
          // A line that is cut inside is a part of it.
          const visible = raw.text.replaceAll(/\p{Cc}\[[0-9]*[A-Za-z]|\p{Cc}/gu, '')
          expect(visible).toContain(line.replace(/…$/, ''))
        }
        const next = /from line (\d+) to read on/.exec(result.hint!)?.[1]
        const rest = await storage.readRange(result.outputPath, { fromLine: Number(next), lineCount: 3 })
        expect(rest.lineCount).toBe(3)
        expect(result.keptLines! + result.removedLines!).toBe(result.totalLines)
        expect(result.keptBytes! + result.removedBytes!).toBe(result.totalBytes)
        expect(result.totalBytes).toBe(Buffer.byteLength(text))
      }
    },
  )

  it('gives from a stream what it gives for the whole, however that is split', async () => {
    const piece = fc.constantFrom(
      'a',
      '你好',
      '\n',
      '\r\n',
      '\r',
      '\b',
      '\x1b[K',
      '\x1b[2A',
      '\x1b[31m',
      'x'.repeat(40),
      '\x1b]0;t\x07',
    )
    const cases = fc.record({
      text: fc.array(piece, { maxLength: 120 }).map((all) => all.join('')),
      cuts: fc.array(fc.nat(400), { maxLength: 6 }),
      strategy: fc.constantFrom('default' as const, 'auto' as const, 'smart' as const, 'line' as const),
      direction: fc.constantFrom('head' as const, 'tail' as const, 'both' as const),
      asBytes: fc.boolean(),
    })
    const service = serviceOf({ maxLines: 5, maxBytes: 120 })
    const comparable = (result: TruncationResult): string => {
      const { outputPath } = (result.truncated ? result : result.raw) ?? {}
      const saved = outputPath && readFileSync(outputPath, 'utf8')
      return JSON.stringify({ ...result, saved }).replaceAll(/mytool_\d+_\w+/g, 'file')
    }
    const property = fc.asyncProperty(cases, async ({ text, cuts, strategy, direction, asBytes }) => {
      const context = { ...tool, options: { strategy, direction } }
      const content = asBytes ? Buffer.from(text) : text
      const capture = service.capture(context)
      let from = 0
      for (const to of [...cuts.sort((a, b) => a - b), content.length]) {
        capture.write(content.slice(from, to))
        from = Math.max(from, to)
      }
      capture.end()
      expect(comparable(await capture.result)).toBe(comparable(await service.output(content, context)))
    })
    await fc.assert(property, { numRuns: RUNS })
  })

  it('can be read and peeked at while it comes in', async () => {
    const capture = serviceOf({ maxBytes: 200 }).capture(tool)
    capture.write(`${'x'.repeat(150)}\r\x1b[K10%`)
    expect((await capture.peek()).text).toBe('10%')
    capture.write(`${'\r20%'.repeat(100)}\nnow`)
    const { text, truncated, totalLines } = await capture.peek()
    expect([text, truncated, totalLines]).toEqual(['20%\nnow', false, 2])
    capture.end()
    const result = await capture.result
    expect(result.content).toBe('20%\nnow')
    const raw = await capture.readRange({ fromLine: 2, lineCount: 1 })
    expect(raw.text).toBe('now')
  })

  it('describes short binary data', async () => {
    const service = serviceOf()
    for (const content of [Buffer.from('\x7fELF\x02\x01\x01\0\0\0'), '\x7fELF\x02\x01\x01\0\0\0', '\ufffd'.repeat(9)]) {
      const { content: shown, truncated } = await service.output(content, tool)
      expect(truncated).toBe(true)
      expect(shown).toMatch(/^\[binary data/)
    }
  })

  it('cleans what a command prints', async () => {
    const script = "printf 'wait 1\\rwait 2\\r\\033[2K\\033[1mready\\033[0m\\r\\n'"
    const { output } = await runCommand('sh', ['-c', script], { service: serviceOf(), truncation: { terminal: true } })
    expect(output).toEqual({ content: 'ready\n', truncated: false })
  })

  it('reaches the model through middleware and parts, and a storage of the caller’s gets what came', async () => {
    const storage = new MemoryStorage()
    const service = new TruncationService({ storage, global: { terminal: true, maxBytes: 100 } })
    const middleware = createTruncationMiddleware({ service })
    const short = await middleware('bash', { output: '1%\r2%\n' }, tool)
    expect(short).toEqual({ output: '2%\n', metadata: { truncated: false } })
    const drawn = `${'1%\r'.repeat(100)}\x1b[Kok\n`
    const long = await middleware('bash', { output: drawn }, tool)
    expect(long.output).toBe('ok\n')
    expect(await storage.read((long as { metadata?: { truncationPath: string } }).metadata!.truncationPath)).toBe(drawn)
    const parts = [{ type: 'text', text: 'a\rb' }, { type: 'image' }, { type: 'text', text: 'c' }]
    expect((await service.output(parts, tool)).content).toEqual([{ type: 'text', text: 'b\nc' }, { type: 'image' }])
  })

  it('leaves alone what is to be left alone', async () => {
    const drawn = 'a\rb\n'
    const service = serviceOf()
    expect((await service.output(drawn, { toolName: 'read' })).content).toBe(drawn)
    expect((await service.output(drawn, { ...tool, options: { skip: true } })).content).toBe(drawn)
  })

  it('is a setting of every layer, and wrong values are named', async () => {
    const service = new TruncationService({ storage: new MemoryStorage(), tools: { bash: { terminal: true } } })
    expect((await service.output('a\rb', { toolName: 'shell' })).content).toBe('b')
    expect((await service.output('a\rb', tool)).content).toBe('a\rb')
    service.updateConfig({ terminal: true })
    expect((await service.output('a\rb', tool)).content).toBe('b')
    expect(service.effectiveConfig(tool)).toMatchObject({ config: { terminal: true }, sources: { terminal: 'global' } })
    const wrong = { ...tool, options: { terminal: 'auto' as unknown as boolean } }
    await expect(service.output('a', wrong)).rejects.toThrow(
      'Invalid option "terminal": expected true or false, received "auto"',
    )
    const { options, problems } = loadConfig({ inline: { agents: { runtime: { truncation: { terminal: true } } } } })
    expect(problems).toEqual([])
    expect(options.truncation).toMatchObject({ terminal: true })
  })
})
