import fc from 'fast-check'
import { estimateTokens, SpillwayError, type TruncationConfig, TruncationService } from 'spillway'
import { loadTokenCounter, TokenCalibration } from 'spillway/tokens'
import { tempDir } from '../support/temp'

const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 100)
const upper = (text: string) => estimateTokens(text, { mode: 'upper' })

describe('an estimate', () => {
  // Counts of o200k_base.
  test.each([
    ['prose', 'The quick brown fox jumps over the lazy dog. '.repeat(20), 201],
    ['code', 'function add(a, b) {\n  return a + b\n}\n'.repeat(20), 300],
    ['hexadecimal digits', 'd41d8cd98f00b204e9800998ecf8427e\n'.repeat(10), 210],
    ['digits', '0123456789'.repeat(30), 100],
    ['white space', `${' '.repeat(40)}\n`.repeat(20), 40],
    ['Chinese', '人工智能正在改变世界，我们需要适应。'.repeat(10), 130],
    ['Russian', 'Быстрая коричневая лиса прыгает через собаку. '.repeat(10), 130],
  ])('counts %s', (_kind, text, tokens) => {
    const typical = estimateTokens(text)
    expect(typical).toBeGreaterThan(tokens * 0.6)
    expect(typical).toBeLessThan(tokens * 1.9)
    expect(upper(text)).toBeGreaterThanOrEqual(tokens)
  })

  // Counts of the tokenizer with the highest count, for a character of a long run.
  test.each([
    ['Syriac', 0x0710, 0x072f, 2],
    ['Thaana', 0x0780, 0x07a5, 2],
    ["N'Ko", 0x07ca, 0x07ea, 2],
    ['combining marks', 0x0300, 0x036f, 2],
    ['phonetic letters', 0x0250, 0x02af, 1.98],
    ['seldom Latin letters', 0x0100, 0x024f, 1.9],
    ['bytes read as letters', 0x0080, 0x00ff, 1.48],
    ['kana of half width', 0xff66, 0xff9d, 2],
    ['letters of full width', 0xff01, 0xff5e, 1.77],
    ['symbols for private use', 0xe000, 0xf8ff, 2.99],
    ['Arabic forms', 0xfb50, 0xfdfb, 2.99],
    ['marks for what was not readable', 0xfffd, 0xfffd, 0.25],
  ])(
    'at most, of a run of %s, is not below what a tokenizer counts by more than a twentieth',
    (_kind, from, to, each) => {
      const count = to - from + 1
      const text = Array.from({ length: 1500 }, (_, at) => String.fromCharCode(from + ((at * 7919) % count))).join('')
      expect(upper(text)).toBeGreaterThan(1500 * each * 0.95)
      expect(estimateTokens(text)).toBeGreaterThan(1500 * each * 0.3)
    },
  )

  // Counts of the tokenizer with the highest count.
  const lines = (count: number, line: (at: number) => string) => Array.from({ length: count }, (_, at) => line(at))
  test.each([
    ['a spinner', lines(100, (at) => `\r${'|/-\\'[at % 4]}`).join(''), 200],
    ['percents', lines(50, (at) => `\r ${at}% [==>   ]`).join(''), 450],
    ['a bar', lines(50, (at) => `\r[${'#'.repeat(at)}${'.'.repeat(50 - at)}] ${2 * at}%`).join(''), 485],
    ['empty columns', lines(60, (at) => `${at}\t\t\t${at * 3}\t\t\t\t\tx${at}\t\t\t`).join('\n'), 599],
    ['deep indentation', lines(60, (at) => `${'\t'.repeat(at % 20)}}`).join('\n'), 185],
  ])('at most, of %s, is not below what a tokenizer counts', (_kind, text, tokens) => {
    expect(upper(text)).toBeGreaterThanOrEqual(tokens)
    expect(upper(text)).toBeLessThan(tokens * 1.3)
  })

  test('counts a line end of two characters about as one', () => {
    const [lf, crlf] = ['\n', '\r\n'].map((end) => estimateTokens(lines(60, (at) => `line ${at} of a file`).join(end)))
    expect((crlf as number) / (lf as number)).toBeLessThan(1.1)
  })

  test('is 0 for an empty text, and never falls as a text grows', () => {
    expect(estimateTokens('')).toBe(0)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(estimateTokens(a + b)).toBeGreaterThanOrEqual(estimateTokens(a))
        expect(upper(a)).toBeGreaterThanOrEqual(estimateTokens(a))
        expect(upper(`${a}\n${b}`)).toBeLessThanOrEqual(upper(`${a}\n`) + upper(b))
      }),
      { numRuns: 5 * RUNS },
    )
  })

  test('does not depend on how V8 keeps the text, nor on lone surrogates', () => {
    const text = 'caf\u00e9 au lait, 12.50 \u00a3'
    const wide = `${text}\u4f60`.slice(0, -1)
    expect(estimateTokens(wide)).toBe(estimateTokens(text))
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0xd700, max: 0xe010 }), { maxLength: 40 }), (codes) => {
        const text = String.fromCharCode(...codes)
        expect(upper(text)).toBe(upper(text.toWellFormed()))
      }),
      { numRuns: RUNS },
    )
  })

  test.each([
    [4000, 1000],
    [20_000, 5000],
    [0, 0],
    [2, 1],
    [1, 0],
  ])('as OpenCode: %i characters are %i tokens', (length, tokens) => {
    expect(estimateTokens('x'.repeat(length), { profile: 'opencode' })).toBe(tokens)
  })

  test.each([
    ['hello', 2],
    ['你好', 2],
    ['你好你好', 4],
    ['A😀你好B', 3],
    ['𠮷', 1],
    ['', 0],
  ])('as OpenClaw: %s is %i tokens', (text, tokens) => {
    expect(estimateTokens(text, { profile: 'openclaw' })).toBe(tokens)
  })

  test.each([
    [undefined, {}, 'text'],
    [5, {}, 'text'],
    ['a', null, 'options'],
    ['a', { mode: 'exact' }, 'options.mode'],
    ['a', { profile: 'gpt' }, 'options.profile'],
    ['a', { calibration: {} }, 'options.calibration'],
    ['a', { modes: 'upper' }, 'options.modes'],
  ])('rejects %p with %p', (text, options, field) => {
    const wrong = () => estimateTokens(text as string, options as object)
    expect(wrong).toThrow(SpillwayError)
    expect(wrong).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  })
})

describe('calibration', () => {
  test('learns, and forgets no more than it must', () => {
    const calibration = new TokenCalibration()
    expect(calibration.factor).toBe(1)
    const text = 'some words of a prompt '.repeat(100)
    const estimated = estimateTokens(text)
    calibration.add({ estimated, actual: estimated * 1.5 }).add({ estimated, actual: estimated * 1.5 })
    expect(estimateTokens(text, { calibration })).toBe(Math.ceil(estimated * calibration.factor))
    expect(calibration.factor).toBeCloseTo(1.5)
    calibration.add({ estimated: 1, actual: 1e9 })
    expect(calibration.factor).toBeCloseTo(1.5)
    const copy = new TokenCalibration(JSON.parse(JSON.stringify(calibration)))
    expect(copy.factor).toBe(calibration.factor)
    for (let request = 0; request < 40; request++) calibration.add({ estimated: 100, actual: 80 })
    expect(calibration.factor).toBeCloseTo(0.8)
    expect(calibration.toJSON()).toHaveLength(32)
  })

  test('stays within its bounds', () => {
    expect(new TokenCalibration([{ estimated: 1, actual: 1e9 }]).factor).toBe(8)
    expect(new TokenCalibration([{ estimated: 1e9, actual: 1 }]).factor).toBe(1 / 8)
  })

  test.each([
    [() => new TokenCalibration({} as []), 'usage'],
    [() => new TokenCalibration([{ estimated: 1, actual: 0 }]), 'usage[0].actual'],
    [() => new TokenCalibration().add({ estimated: Number.NaN, actual: 1 }), 'usage.estimated'],
    [() => new TokenCalibration().add(null as never), 'usage'],
  ])('%p is refused', (wrong, field) => {
    expect(wrong).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }))
  })
})

describe('a counter', () => {
  jest.mock('gpt-tokenizer', () => ({ encode: (text: string) => text.split(' ') }), { virtual: true })
  jest.mock('gpt-tokenizer/encoding/cl100k_base', () => ({ countTokens: (text: string) => text.length }), {
    virtual: true,
  })
  jest.mock(
    'js-tiktoken',
    () => ({
      getEncoding(name: string) {
        if (name !== 'o200k_base') throw new Error(`Unknown encoding ${name}`)
        return { encode: (text: string, special: [], refused: []) => [...text, ...special, ...refused] }
      },
    }),
    { virtual: true },
  )

  test('is loaded when it is asked for', async () => {
    expect((await loadTokenCounter('gpt-tokenizer'))('a b c')).toBe(3)
    expect((await loadTokenCounter('gpt-tokenizer', { encoding: 'cl100k_base' }))('a b')).toBe(3)
    expect((await loadTokenCounter('js-tiktoken'))('abcd')).toBe(4)
  })

  test('that is not there says how to get it', async () => {
    await expect(loadTokenCounter('tiktoken')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'name',
      message: expect.stringContaining('npm install tiktoken'),
    })
    await expect(loadTokenCounter('js-tiktoken', { encoding: 'nope' })).rejects.toMatchObject({ field: 'name' })
    await expect(loadTokenCounter('left-pad' as 'tiktoken')).rejects.toMatchObject({
      message: expect.stringContaining("one of 'gpt-tokenizer'"),
    })
    await expect(loadTokenCounter('tiktoken', { encoding: '../x' })).rejects.toMatchObject({
      field: 'options.encoding',
    })
  })
})

describe('maxTokens', () => {
  const service = (global: Partial<TruncationConfig>, options: object = {}) =>
    new TruncationService({ storageDirs: [tempDir()], global, ...options })

  test('is a limit like the others', async () => {
    const text = 'word and more words\n'.repeat(500)
    const result = await service({ maxTokens: 100 }).output(text, { toolName: 'x' })
    if (!result.truncated) throw new Error('not truncated')
    expect(result.limitedBy).toBe('tokens')
    expect(result.content).toMatch(/\n\n\.\.\.\d+ tokens truncated\.\.\.\n\n/)
    const { preview = '' } = result
    expect(upper(preview)).toBeLessThanOrEqual(100)
    expect(upper(preview)).toBeGreaterThan(80)
    expect(text.startsWith(preview)).toBe(true)
  })

  test('holds on every layer', async () => {
    const text = 'word and more words\n'.repeat(500)
    const limited = async (made: TruncationService, options?: { maxTokens: number }) => {
      const result = await made.output(text, options ? { toolName: 'x', options } : { toolName: 'x' })
      return result.truncated ? upper(result.preview ?? '') : Number.POSITIVE_INFINITY
    }
    expect(await limited(service({}))).toBe(Number.POSITIVE_INFINITY)
    expect(await limited(service({}), { maxTokens: 50 })).toBeLessThanOrEqual(50)
    expect(await limited(service({ maxTokens: 500 }, { tools: { x: { maxTokens: 60 } } }))).toBeLessThanOrEqual(60)
    const updated = service({ maxTokens: 500 })
    updated.updateConfig({ maxTokens: 70 })
    expect(await limited(updated)).toBeLessThanOrEqual(70)
    expect(updated.effectiveConfig({ toolName: 'x' }).config.maxTokens).toBe(70)
    expect(service({}).effectiveConfig({ toolName: 'x' }).config).not.toHaveProperty('maxTokens')
    for (const maxTokens of [0, 1.5, '5', null]) {
      expect(() => service({ maxTokens } as object)).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', field: 'global.maxTokens' }),
      )
    }
  })

  test('is what stopped the cut, with every strategy', async () => {
    const table = ['id,name', ...Array.from({ length: 300 }, (_, id) => `${id},word ${id % 7}`)].join('\n')
    const list = JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, name: `word ${id}` })))
    for (const strategy of ['default', 'auto', 'line', 'byte', 'smart', 'json', 'diff', 'csv'] as const) {
      for (const text of [table, list]) {
        const result = await service({ maxTokens: 200 }, { strategy }).output(text, { toolName: 'x' })
        expect([strategy, result]).toEqual([strategy, expect.objectContaining({ limitedBy: 'tokens' })])
        const byBytes = await service({ maxTokens: 10_000, maxBytes: 300 }, { strategy }).output(text, {
          toolName: 'x',
        })
        if (strategy !== 'line')
          expect([strategy, byBytes]).toEqual([strategy, expect.objectContaining({ limitedBy: 'bytes' })])
      }
    }
  })

  test('a Chinese notice counts 词元', async () => {
    const text = '一行文字\n'.repeat(500)
    const { content } = await service({ maxTokens: 100 }, { language: 'zh-CN' }).output(text, { toolName: 'x' })
    expect(content).toMatch(/\.\.\.已截断 \d+ 词元\.\.\./)
  })

  const piece = fc.oneof(
    fc.constantFrom('word ', '\n', '你好，', '👨‍👩‍👧', '\r\n', '==========', '\ud800'),
    fc.string({ maxLength: 60 }),
    fc.stringMatching(/^[0-9a-f]{8,40}$/),
  )

  test('is never passed, and a capture gives what output gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 60 }),
        fc.integer({ min: 1, max: 150 }),
        fc.constantFrom('head' as const, 'tail' as const, 'both' as const),
        fc.boolean(),
        async (pieces, maxTokens, direction, noticeInside) => {
          const made = service({ maxTokens, direction, maxLines: 30, maxBytes: 800 }, { noticeInside })
          const text = pieces.join('')
          const result = await made.output(text, { toolName: 'x' })
          const bounded = (result.truncated && !noticeInside ? result.preview : result.content) ?? ''
          expect(upper(bounded)).toBeLessThanOrEqual(maxTokens)
          if (!result.truncated) expect(result.content).toBe(text)
          else if (upper(text) <= maxTokens) expect(result.limitedBy).not.toBe('tokens')

          const capture = made.capture({ toolName: 'x' })
          for (const piece of pieces) capture.write(piece)
          capture.end()
          const captured = await capture.result
          expect(captured.truncated).toBe(result.truncated)
          if (captured.truncated && result.truncated) {
            // A notice names the file, whose name is random and costs more or less.
            if (noticeInside) return
            expect(captured.preview).toBe(result.preview)
            expect(captured.limitedBy).toBe(result.limitedBy)
          } else expect(captured.content).toBe(result.content)
        },
      ),
      { numRuns: RUNS },
    )
  })
})
