import { readFileSync } from 'node:fs'
import {
  MemoryStorage,
  type TruncatedResult,
  type TruncationConfig,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import { BaseTruncationStrategy, containsTruncationMarker, type SmartRule, SmartStrategy } from 'spillway/truncation'
import { cut, makeService } from '../support/outputs'
import { tempDir } from '../support/temp'

const ERROR = "src/app.c:12:7: error: use of undeclared identifier 'total'"

/** A build that fails in the middle. */
function build(lines = 8000, at = 3000): string {
  const all = Array.from({ length: lines }, (_, line) => `[${line}/${lines}] Building C object app.dir/file${line}.o`)
  all.splice(at, 0, ERROR, '    int sum = total;', '              ^~~~~')
  all.push('make: *** [Makefile:10: all] Error 1')
  return `${all.join('\n')}\n`
}

async function shorten(content: string, options: object = {}, toolName = 'bash'): Promise<Required<TruncatedResult>> {
  const service = new TruncationService({ storage: new MemoryStorage() })
  const result = await service.output(content, { toolName, options: { strategy: 'smart', ...options } })
  if (!result.truncated) throw new Error('nothing was cut')
  return result as Required<TruncatedResult>
}

describe('smart', () => {
  it('keeps the error in the middle, the start and the end, within both limits', async () => {
    const result = await shorten(build(), { maxLines: 60, maxBytes: 4096 })
    const lines = result.preview.split('\n')
    expect(lines).toContain(ERROR)
    expect(lines).toContain('              ^~~~~')
    expect(lines[0]).toBe('[0/8000] Building C object app.dir/file0.o')
    expect(lines.at(-1)).toBe('make: *** [Makefile:10: all] Error 1')
    expect(lines.length).toBeLessThanOrEqual(60)
    expect(Buffer.byteLength(result.preview)).toBeLessThanOrEqual(4096)
  })

  it('shows both ends and uses its budget, however long the output is', async () => {
    for (const maxBytes of [1024, 4096, 16_384, 51_200]) {
      for (const lines of [90, 150, 300, 600, 1100, 1500, 2500, 6000]) {
        const output = Array.from(
          { length: lines },
          (_, at) => `compiling ${(at * 7919) % 8009} of ${Math.sin(at).toString(36)}`,
        )
        if (output.join('\n').length <= maxBytes) continue
        const { preview } = await shorten(`${output.join('\n')}\n`, { maxLines: 10_000, maxBytes })
        const shown = preview.split('\n')
        expect({ maxBytes, lines, first: shown[0], last: shown.at(-1) }).toEqual({
          maxBytes,
          lines,
          first: output[0],
          last: output.at(-1),
        })
        expect(preview.length).toBeGreaterThan(0.85 * maxBytes)
      }
    }
  })

  it('shows warnings of each kind before many of one kind, with any names between quotes', async () => {
    const warning = (at: number, text: string) =>
      `main.f90:${at}:12:\n\n   ${at} |     if (part_${at} /= limit) then\n      |            1\nWarning: ${text}`
    const output = Array.from({ length: 90 }, (_, at) =>
      warning(
        at,
        at < 6
          ? 'Inequality comparison for REAL(8) at (1) [-Wcompare-reals]'
          : `Unused variable ‘${'klmnop'[at % 6]}${at * at}’ declared at (1) [-Wunused-variable]`,
      ),
    )
    const { preview } = await shorten(`${output.join('\n')}\n`, { maxLines: 100, maxBytes: 4096 })
    expect(preview).toContain('[-Wcompare-reals]')
    expect(preview).toContain('[-Wunused-variable]')
  })

  it('shows the source of a long function above its failure where there is room for it', async () => {
    const source = Array.from(
      { length: 50 },
      (_, at) => `        part_${at % 9} = self.take(request, ${(at * at) % 37})`,
    )
    const failure = [
      '    def send(self, request):',
      ...source,
      '>       raise ConnectionError(err, request=request)',
      'E       requests.exceptions.ConnectionError: Max retries exceeded with url: /port',
      '',
      '/usr/local/lib/python2.7/site-packages/requests/adapters.py:487: ConnectionError',
    ]
    const log = Array.from(
      { length: 8000 },
      (_, at) => `${(at * 7919) % 8009} ${['get', 'put'][at % 2]} /${(at * 104729) % 9973}/${at}`,
    )
    log.splice(3000, 0, '', ...failure, '')
    const { preview } = await shorten(log.join('\n'), { maxLines: 2000, maxBytes: 51_200 })
    expect(preview.split('\n')).toEqual(expect.arrayContaining(failure))
  })

  it.each(['smart', 'json', 'csv', 'diff'])(
    'shows codes for a terminal where there is nothing else: %s',
    async (strategy) => {
      for (const text of ['error: bad\x1b[2K'.repeat(30), '\x1b[0m'.repeat(60), `${'\x1b[0m\n'.repeat(60)}`]) {
        const { preview, keptBytes, removedBytes, totalBytes } = await shorten(text, { strategy, maxBytes: 100 })
        expect(preview).toContain('\x1b[')
        expect(keptBytes + removedBytes).toBe(totalBytes)
      }
    },
  )

  it('gives ranges with true line numbers, and says of every gap which lines it is', async () => {
    const text = build()
    const { preview, ranges, removedLines, keptLines, totalLines } = await shorten(text, {
      maxLines: 60,
      maxBytes: 4096,
    })
    const lines = text.split('\n')
    const found = ranges.find(({ fromLine, toLine }) => fromLine <= 3001 && 3001 <= toLine)
    expect(found).toBeDefined()
    expect(Buffer.from(text).subarray(found!.fromByte, found!.toByte).toString()).toContain(ERROR)
    expect(keptLines + removedLines).toBe(totalLines)
    let next = 1
    for (const line of preview.split('\n')) {
      const gap = /^\.\.\.(\d+) lines truncated: (\d+)-(\d+)(, all like line \d+)?\.\.\.$/.exec(line)
      if (gap) {
        expect(Number(gap[2])).toBe(next)
        expect(Number(gap[3]) - Number(gap[2]) + 1).toBe(Number(gap[1]))
        next = Number(gap[3]) + 1
      } else {
        expect(line).toBe(lines[next - 1])
        next += 1
      }
    }
    expect(next).toBe(totalLines + 1)
  })

  it('keeps the whole text within the limits where the notice is inside', async () => {
    const service = new TruncationService({
      strategy: 'smart',
      noticeInside: true,
      global: { maxLines: 30, maxBytes: 2000 },
      tools: { bash: { maxLines: 30 } },
      storage: new MemoryStorage(),
    })
    const result = await service.output(build(), { toolName: 'bash' })
    expect(result.content).toContain(ERROR)
    expect(Buffer.byteLength(result.content as string)).toBeLessThanOrEqual(2000)
    expect((result.content as string).split('\n').length).toBeLessThanOrEqual(30)
  })

  it('can be set per tool, and is the same for an output that is still coming', async () => {
    const tools = { build: { strategy: 'smart', maxLines: 40, maxBytes: 3000 } } as const
    const service = new TruncationService({ tools, storage: new MemoryStorage() })
    const text = build()
    const whole = (await service.output(text, { toolName: 'build' })) as TruncatedResult
    expect(whole.preview).toContain(ERROR)
    const other = (await service.output(text, { toolName: 'other' })) as TruncatedResult
    expect(other.preview).not.toContain(ERROR)
    const capture = service.capture({ toolName: 'build' })
    for (let at = 0; at < text.length; at += 7777) capture.write(text.slice(at, at + 7777))
    capture.end()
    const captured = (await capture.result) as TruncatedResult
    expect(captured.preview).toBe(whole.preview)
    expect(captured.ranges).toEqual(whole.ranges)
  })

  it('folds lines that differ in numbers only, and its gaps are recognised', async () => {
    const text = `start\n${Array.from({ length: 3000 }, (_, n) => `Fetching part ${n} of 3000`).join('\n')}\ndone\n`
    const { preview } = await shorten(text, { maxLines: 100 })
    expect(preview).toMatch(/lines truncated: \d+-\d+, all like line \d+/)
    expect(preview.split('\n').length).toBeLessThan(12)
    expect(containsTruncationMarker(preview)).toBe(true)
  })

  it('shows lines as a terminal would', async () => {
    const filler = 'working\n'.repeat(4000)
    const text = `${filler}\u001b[31m\u001b[1mFAIL\u001b[0m src/a.test.ts > adds\r\n10%\r50%\r100% failed: 3 errors\n${filler}`
    const { preview } = await shorten(text, { maxLines: 60 })
    expect(preview.split('\n')).toEqual(expect.arrayContaining(['FAIL src/a.test.ts > adds', '100% failed: 3 errors']))
    expect(preview).not.toContain('\u001b')
  })

  it('leans to the start for files and to the end for commands', async () => {
    const text = Array.from(
      { length: 9000 },
      (_, n) => `${'abcdefghij'[n % 10]} entry of ${(n * 7919) % 10007}x${n}`,
    ).join('\n')
    const first = ({ ranges }: Required<TruncatedResult>) => ranges[0]!.toLine
    expect(first(await shorten(text, { maxLines: 200, skip: false }, 'read'))).toBeGreaterThan(
      first(await shorten(text, { maxLines: 200 }, 'bash')),
    )
  })

  it('puts what it shows of parts where the first text was', async () => {
    const service = new TruncationService({ strategy: 'smart', storage: new MemoryStorage() })
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' }
    const parts = [{ type: 'text', text: build() }, image, { type: 'text', text: 'and more' }]
    const result = await service.output(parts, { toolName: 'bash', options: { maxLines: 40 } })
    const content = result.content as unknown as typeof parts
    expect((content[0] as { text: string }).text).toContain(ERROR)
    expect(content[1]).toBe(image)
  })

  describe('with a question', () => {
    const listing = (fact: string, at = 30_000) => {
      const lines = Array.from({ length: 40_000 }, (_, line) => `/usr/share/doc/package-${line}/copyright`)
      lines.splice(at, 0, 'a line before', fact, 'a line after')
      return lines.join('\n')
    }
    const ask = async (content: string, query: string | undefined, options: object = {}, toolName = 'bash') => {
      const service = new TruncationService({ strategy: 'smart', storage: new MemoryStorage() })
      const all = { maxLines: 100, maxBytes: 4096, skip: false, ...options }
      const result = await service.output(content, { toolName, query, options: all })
      return (result as Required<TruncatedResult>).preview
    }

    it.each([
      ['bash', 'Where is the header opensslv.h?', '/usr/include/openssl/opensslv.h'],
      ['read', 'Where is the airport ORD?', "ORD,Chicago O'Hare International,Chicago"],
      ['grep', '\u4e2d\u56fd\u79d1\u5b66\u9662\u5728\u54ea\u4e00\u884c', '14226:\u4e2d\u56fd\u79d1\u5b66\u9662 2 nt'],
      ['bash', 'which commit changed src/lib/Widget.tsx', ' lib/Widget.tsx | 12 +++---'],
      ['bash', 'default value of MAX_RETRIES please', 'export const MAX_RETRIES = 5'],
    ])('%s: %s', async (tool, query, fact) => {
      const text = listing(fact)
      const preview = await ask(text, query, {}, tool)
      expect(preview).toContain(`a line before\n${fact}\na line after`)
      expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(4096)
      expect(await ask(text, undefined, {}, tool)).not.toContain(fact)
    })

    it.each([
      'what is it?',
      'copyright of the documents in share',
      '',
      '   ',
      '\ud800',
      'no such words here: xylophone',
    ])('changes nothing when it distinguishes no line: %j', async (query) => {
      const text = listing('nothing special')
      expect(await ask(text, query)).toBe(await ask(text, undefined))
    })

    it('keeps the error, too', async () => {
      const text = `${listing('the answer is in total.c')}\n${build()}`
      const preview = await ask(text, 'what about total.c?')
      expect(preview).toContain('the answer is in total.c')
      expect(preview).toContain(ERROR)
    })

    it('gives the same preview for a stream', async () => {
      const text = listing('needle in a haystack')
      const service = new TruncationService({ strategy: 'smart', storage: new MemoryStorage() })
      const context = { toolName: 'bash', query: 'Is there a needle?', options: { maxLines: 100, maxBytes: 4096 } }
      const capture = service.capture(context)
      for (let at = 0; at < text.length; at += 9999) capture.write(text.slice(at, at + 9999))
      capture.end()
      const result = (await capture.result) as Required<TruncatedResult>
      expect(result.preview).toContain('needle in a haystack')
      expect(result.preview).toBe(((await service.output(text, context)) as Required<TruncatedResult>).preview)
    })

    it('reads a question of any length, and its lines may be long', async () => {
      const fact = `needle ${'x'.repeat(100_000)}`
      const query = `needle ${'word'.repeat(3000)} ${'many different words '.repeat(50_000)}`
      expect(await ask(listing(fact), query)).toContain('needle xxx')
    })

    it('is checked as the other fields of a context are', async () => {
      const service = new TruncationService()
      const wrong = { toolName: 'bash', query: 5 } as unknown as { toolName: string }
      await expect(service.output('x', wrong)).rejects.toThrow('context.query')
    })
  })

  it('is a strategy like the others', () => {
    const config: TruncationConfig = { maxLines: 40, maxBytes: 3000 } as TruncationConfig
    const strategy = new SmartStrategy()
    expect(strategy).toBeInstanceOf(BaseTruncationStrategy)
    expect(strategy.name).toBe('smart')
    expect(strategy.needsTruncation('short', config)).toBe(false)
    expect(strategy.needsTruncation(build(), config)).toBe(true)
    const { content, removedLines } = strategy.truncate(build(), config)
    expect(content).toContain(ERROR)
    expect(removedLines).toBeGreaterThan(7000)
    class Louder extends SmartStrategy {
      override truncate(text: string, with_: TruncationConfig) {
        return { ...super.truncate(text, with_), content: 'LOUD' }
      }
    }
    expect(new Louder().truncate(build(), config).content).toBe('LOUD')
  })

  it('numbers every line so that readRange finds the same text', async () => {
    const storage = new TruncationStorage(tempDir())
    const service = makeService({ strategy: 'smart', storage })
    const text = `${build(3000, 1000)}${'10%\r99%\rdone\r\n'.repeat(40)}${build(2000, 700)}`
    const { preview, outputPath, ranges } = cut(
      await service.output(text, { toolName: 'bash', options: { maxLines: 90, maxBytes: 6000 } }),
    )
    const raw = text.split('\n')
    let next = 1
    for (const line of preview.split('\n')) {
      const gap = /^\.\.\.\d+ lines truncated: (\d+)-(\d+)/.exec(line)
      if (gap) {
        next = Number(gap[2]) + 1
        continue
      }
      const read = await storage.readRange(outputPath, { fromLine: next, lineCount: 1 })
      expect([read.fromLine, read.text.replace(/\r?\n$/, '')]).toEqual([next, raw[next - 1]!.replace(/\r$/, '')])
      expect(raw[next - 1]).toContain(line)
      next += 1
    }
    for (const { fromByte, toByte, fromLine, toLine } of ranges) {
      const read = await storage.readRange(outputPath, { fromLine, lineCount: toLine - fromLine + 1 })
      expect(read.text.startsWith(text.slice(fromByte, toByte))).toBe(true)
    }
  })

  it('looks for what the caller names, and passes over what the caller calls good', async () => {
    const noise = Array.from({ length: 12_000 }, (_, n) => `step ${n} finished`)
    noise.splice(1500, 0, 'ALLOWANCE used up by tenant 17', 'limit 5, used 9')
    noise.splice(2500, 0, 'error: retry budget used (expected)')
    const text = noise.join('\n')
    const rules = [
      { words: ['allowance '], pattern: /^allowance used up by \w+/i, weight: 990, after: 1 },
      { words: ['(expected)'], weight: 0 },
    ]
    const options = { maxLines: 30, maxBytes: 2000 }
    for (const settings of [
      { strategy: 'smart' as const, smartRules: rules },
      { strategy: new SmartStrategy({ rules }) },
    ]) {
      const service = makeService(settings)
      const { preview } = cut(await service.output(text, { toolName: 'bash', options }))
      expect(preview).toContain('ALLOWANCE used up by tenant 17\nlimit 5, used 9')
      expect(preview).not.toContain('(expected)')
      const capture = service.capture({ toolName: 'bash', options })
      capture.end(text)
      expect(cut(await capture.result).preview).toBe(preview)
    }
    expect(new SmartStrategy({ rules }).truncate(text, options as TruncationConfig).content).toContain('ALLOWANCE')
    const plain = await shorten(text, options)
    expect([plain.preview.includes('ALLOWANCE'), plain.preview.includes('(expected)')]).toEqual([false, true])
  })

  it.each([
    [{ words: ['flaky'], weight: 1001 }, '[0].weight'],
    [{ words: ['flaky'] }, '[0].weight'],
    [{ words: [], weight: 5 }, '[0].words'],
    [{ words: ['a'], weight: 5 }, '[0].words[0]'],
    [{ words: ['flaky'], weight: 5, pattern: '(?=x)' }, '[0].pattern'],
    [{ words: ['flaky'], weight: 5, pattern: /(a)\1/ }, '[0].pattern'],
    [{ words: ['flaky'], weight: 5, before: -1 }, '[0].before'],
    [{ words: ['flaky'], weight: 5, afer: 1 }, '[0].afer'],
  ])('refuses the rule %j and names %s', (rule, field) => {
    const rules = [rule] as SmartRule[]
    for (const [make, name] of [
      [() => new SmartStrategy({ rules }), 'rules'],
      [() => new TruncationService({ smartRules: rules }), 'smartRules'],
    ] as const) {
      expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: `${name}${field}` }))
    }
  })

  it('describes binary data instead of showing it, and saves it whole', async () => {
    const service = makeService({ strategy: 'smart' })
    const bytes = Buffer.concat([
      Buffer.from('\u007fELF\u0002\u0001\u0001\0', 'latin1'),
      Buffer.alloc(60_000, 'a\n\u0080'),
    ])
    const { preview, outputPath, content, removedBytes } = cut(await service.output(bytes, { toolName: 'bash' }))
    expect(preview).toBe(`[binary data: ELF, ${bytes.length} bytes]`)
    expect([content.startsWith(preview), content.includes(outputPath), removedBytes]).toEqual([
      true,
      true,
      bytes.length,
    ])
    expect(readFileSync(outputPath).equals(bytes)).toBe(true)
    const capture = service.capture({ toolName: 'bash' })
    for (let at = 0; at < bytes.length; at += 1000) capture.write(bytes.subarray(at, at + 1000))
    capture.end()
    expect(cut(await capture.result).preview).toBe(preview)
  })

  it('refuses options that are none', () => {
    expect(() => new SmartStrategy({ rule: [] } as object)).toThrow(/Unknown option "rule"/)
    expect(() => new SmartStrategy({ rules: 'all' } as object)).toThrow(/"rules": .*received "all"/)
  })

  it('takes linear time for any pattern', () => {
    const rules = [{ words: ['aaaa'], pattern: '(a+)+$', weight: 900 }]
    const text = `${`${'a'.repeat(900)}b\n`.repeat(3000)}`
    const began = performance.now()
    new SmartStrategy({ rules }).truncate(text, { maxLines: 20, maxBytes: 2000 } as TruncationConfig)
    expect(performance.now() - began).toBeLessThan(3000)
  })

  it('shows part of a line that is too long for its share', async () => {
    const text = `${'x'.repeat(200_000)}\nError: it broke\n${'y'.repeat(200_000)}\n`
    const { preview, partialLines } = await shorten(text, { maxBytes: 2000 })
    expect(preview).toContain('Error: it broke')
    expect(partialLines?.map(({ line, totalBytes }) => [line, totalBytes])).toEqual(
      expect.arrayContaining([[1, 200_000]]),
    )
  })
})
