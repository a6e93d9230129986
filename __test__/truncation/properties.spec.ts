import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  MemoryStorage,
  type RangeResult,
  type ReadRange,
  type TruncatedResult,
  type TruncationDirection,
  TruncationService,
  type TruncationServiceConfig,
  TruncationStorage,
} from 'spillway'
import {
  ByteBasedStrategy,
  type ContentPart,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  LineBasedStrategy,
} from 'spillway/truncation'
import { cutByHand, graphemeAt, isBlank, rawBytes, shownText, texts, wholeLines } from '../support/oracle'
import { bytesOf, countLines } from '../support/outputs'
import { tempDir } from '../support/temp'

/** Cases of the slow properties; the quick ones try several times as many. A whole proof takes 5000. */
const RUNS = Number(process.env.SPILLWAY_PROPERTY_RUNS ?? 500)

const NOTICE_BYTES = 512
const NOTICE_LINES = 8

const someText = texts.filter((text) => text !== '')
const maxLines = fc.integer({ min: 1, max: 12 })
const maxBytes = fc.integer({ min: 1, max: 120 })
const oneEnd = fc.constantFrom<TruncationDirection>('head', 'tail')
const anyEnd = fc.constantFrom<TruncationDirection>('head', 'tail', 'both')

type Limits = { maxLines: number; maxBytes: number; direction: TruncationDirection }

function serviceIn(dir: string, limits: Limits, options: TruncationServiceConfig = {}): TruncationService {
  return new TruncationService({ ...options, storageDirs: [dir], global: limits })
}

const allowed = (text: string, limits: Limits) =>
  countLines(text) <= limits.maxLines && bytesOf(text) <= limits.maxBytes

/** Invariants of every truncation. */
function checkCut(raw: Buffer, result: TruncatedResult, limits: Limits, decode: (bytes: Uint8Array) => string): void {
  const { content, preview, outputPath, ranges, partialLines = [] } = result as Required<TruncatedResult>
  expect(content.isWellFormed()).toBe(true)
  expect(content).toContain(preview)
  expect(countLines(preview)).toBeLessThanOrEqual(limits.maxLines)
  expect(bytesOf(preview)).toBeLessThanOrEqual(limits.maxBytes)

  // The file is the input, to the byte.
  expect(readFileSync(outputPath).equals(raw)).toBe(true)

  // Every stretch that is shown is a part of the input, in order, with its true line numbers.
  const stretches = ranges.map(({ fromByte, toByte }) => decode(raw.subarray(fromByte, toByte)))
  const breaksBefore = (byte: number) => raw.subarray(0, byte).filter((each) => each === 0x0a).length
  for (const [index, range] of ranges.entries()) {
    expect(range.fromByte).toBeGreaterThanOrEqual(index === 0 ? 0 : ranges[index - 1]!.toByte)
    expect(range.toByte).toBeGreaterThan(range.fromByte)
    expect(range.toByte).toBeLessThanOrEqual(raw.length)
    expect(range.fromLine).toBe(breaksBefore(range.fromByte) + 1)
    // A stretch that ends with a break may show the empty line after it as well: its own break is at the cut.
    const breaks = stretches[index]!.split('\n').length - 1
    const last = range.fromLine + breaks
    expect(stretches[index]!.endsWith('\n') ? [last - 1, last] : [last]).toContain(range.toLine)
  }
  if (limits.direction === 'both' && preview !== stretches.join('')) {
    // Two ends with a gap between them; an end that has no room is missing.
    const [first, last] = [ranges[0], ranges.at(-1)]
    if (first?.fromByte === 0) expect(preview.startsWith(stretches[0]!)).toBe(true)
    if (last && last !== first) expect(preview.endsWith(stretches.at(-1)!)).toBe(true)
    expect(ranges.length).toBeLessThanOrEqual(2)
  } else {
    expect(preview).toBe(stretches.join(''))
  }

  // The counts fit together and fit the input.
  const shownBytes = ranges.reduce((sum, { fromByte, toByte }) => sum + toByte - fromByte, 0)
  expect(result.keptBytes).toBe(shownBytes)
  expect(result.totalBytes).toBe(raw.length)
  expect(result.keptBytes! + result.removedBytes!).toBe(raw.length)
  const totalLines = countLines(raw.toString('latin1'))
  expect(result.totalLines).toBe(totalLines)
  expect(result.keptLines! + result.removedLines!).toBe(totalLines)
  const shownLines = new Set<number>()
  for (const { fromLine, toLine } of ranges) for (let line = fromLine; line <= toLine; line += 1) shownLines.add(line)
  expect(result.keptLines).toBe(shownLines.size)
  for (const { line, shownBytes: shown, totalBytes } of partialLines) {
    expect(shownLines.has(line)).toBe(true)
    expect(shown).toBeGreaterThan(0)
    expect(shown).toBeLessThan(totalBytes)
  }
}

/** The notice beside the preview has a known ceiling. */
function checkNotice({ content, preview, outputPath }: TruncatedResult): void {
  expect(bytesOf(content) - bytesOf(preview!)).toBeLessThanOrEqual(NOTICE_BYTES + bytesOf(outputPath))
  expect(countLines(content) - countLines(preview!)).toBeLessThanOrEqual(NOTICE_LINES)
}

test('the oracle cuts as a person would', () => {
  const limits = { maxLines: 2, maxBytes: 99 }
  expect(wholeLines('a\r\nb\nc', limits, 'head')).toBe('a\r\nb')
  expect(wholeLines('a\r\nb\nc\n', limits, 'tail')).toBe('b\nc')
  expect(wholeLines('aaa\nb', { ...limits, maxBytes: 4 }, 'head')).toBe('aaa')
  expect(wholeLines('aaa\nb', { ...limits, maxBytes: 4 }, 'tail')).toBe('b')
  expect(wholeLines('\n\na', limits, 'head')).toBe('\n')
  expect(shownText(rawBytes('a\ud800😀\udc00'))).toBe('a\ufffd😀\ufffd')
})

test('a text is truncated if and only if it passes a limit, and unchanged otherwise', async () => {
  const dir = tempDir()
  const strategies = fc.constantFrom('default', 'line', 'byte' as const)
  await fc.assert(
    fc.asyncProperty(texts, maxLines, maxBytes, anyEnd, strategies, async (text, lines, bytes, direction, strategy) => {
      const limits = { maxLines: lines, maxBytes: bytes, direction }
      const service = serviceIn(dir, limits, { strategy, hardCeilingBytes: 1_000_000 })
      const result = await service.output(text, { toolName: 'x' })
      const over = {
        default: countLines(text) > lines || bytesOf(text) > bytes,
        line: countLines(text) > lines,
        byte: bytesOf(text) > bytes,
      }
      expect(result.truncated).toBe(over[strategy])
      if (!result.truncated) expect(result).toStrictEqual({ content: text, truncated: false })
    }),
    { numRuns: RUNS },
  )
})

test('B26, from one end: whole lines as long as one fits, exactly as the plain rule says', async () => {
  const dir = tempDir()
  await fc.assert(
    fc.asyncProperty(someText, maxLines, maxBytes, oneEnd, async (text, lines, bytes, direction) => {
      const limits = { maxLines: lines, maxBytes: bytes, direction }
      const result = await serviceIn(dir, limits).output(text, { toolName: 'x' })
      if (!result.truncated) return
      checkCut(rawBytes(text), result, limits, shownText)
      checkNotice(result)
      const shown = text.toWellFormed()
      const expected = wholeLines(shown, limits, direction)
      if (!isBlank(expected)) {
        expect(result.preview).toBe(expected)
        expect(result.partialLines).toBeUndefined()
      } else if (result.preview === '') {
        expect(bytesOf(graphemeAt(shown, direction))).toBeGreaterThan(bytes)
      }
    }),
    { numRuns: RUNS },
  )
})

test('B26, at both ends: within the limits, gap and all, and something is shown where a character fits', async () => {
  const dir = tempDir()
  await fc.assert(
    fc.asyncProperty(someText, maxLines, maxBytes, async (text, lines, bytes) => {
      const limits = { maxLines: lines, maxBytes: bytes, direction: 'both' as const }
      const result = await serviceIn(dir, limits).output(text, { toolName: 'x' })
      if (!result.truncated) return
      checkCut(rawBytes(text), result, limits, shownText)
      checkNotice(result)
      if (result.keptBytes === 0) {
        expect(bytesOf(graphemeAt(text.toWellFormed(), 'head'))).toBeGreaterThan(bytes)
      }
    }),
    { numRuns: RUNS },
  )
})

test('a line that is cut inside is cut between characters as people see them', async () => {
  const dir = tempDir()
  const character = fc.constantFrom('a', '你', '😀', '👨‍👩‍👧‍👦', '🇩🇪', 'e\u0301\u0302', '👍🏽', '\ud800')
  const line = fc.array(character, { minLength: 2, maxLength: 60 }).map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(line, maxBytes, oneEnd, async (text, bytes, direction) => {
      const limits = { maxLines: 5, maxBytes: bytes, direction }
      const result = await serviceIn(dir, limits).output(text, { toolName: 'x' })
      if (!result.truncated) return
      const shown = text.toWellFormed()
      const ends = new Set([0, shown.length])
      for (const { index } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(shown)) ends.add(index)
      const preview = result.preview!
      expect(direction === 'head' ? shown.startsWith(preview) : shown.endsWith(preview)).toBe(true)
      expect(ends.has(direction === 'head' ? preview.length : shown.length - preview.length)).toBe(true)
      // One more character would not have fitted.
      const next = [...ends].sort((a, b) => a - b)
      const more =
        direction === 'head'
          ? shown.slice(
              0,
              next.find((end) => end > preview.length),
            )
          : shown.slice(next.findLast((end) => end < shown.length - preview.length))
      expect(bytesOf(more)).toBeGreaterThan(bytes)
    }),
    { numRuns: RUNS },
  )
})

test('B26: with the notice inside, the whole text keeps the limits', async () => {
  const dir = tempDir()
  const options = fc.record({
    language: fc.constantFrom<'en' | 'zh-CN'>('en', 'zh-CN'),
    availableTools: fc.constantFrom<string[]>([], ['grep', 'read'], ['task', 'rg', 'view']),
  })
  const roomy = fc.oneof(maxBytes, fc.integer({ min: 150, max: 900 }))
  const long = fc.tuple(someText, fc.integer({ min: 1, max: 20 })).map(([text, times]) => text.repeat(times))
  await fc.assert(
    fc.asyncProperty(
      long,
      fc.integer({ min: 1, max: 25 }),
      roomy,
      anyEnd,
      options,
      async (text, lines, bytes, direction, more) => {
        const limits = { maxLines: lines, maxBytes: bytes, direction }
        const result = await serviceIn(dir, limits, { ...more, noticeInside: true }).output(text, { toolName: 'x' })
        if (!result.truncated) return
        expect(allowed(result.content, limits)).toBe(true)
        expect(result.content).not.toBe('')
        checkCut(rawBytes(text), result, limits, shownText)
      },
    ),
    { numRuns: RUNS },
  )
})

test('B26 and B27: bytes that are no text are saved to the byte, and shown within the limits', async () => {
  const dir = tempDir()
  const chunk = fc.oneof(
    { weight: 3, arbitrary: texts.map((text) => Buffer.from(text.toWellFormed())) },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom([0xff], [0xc0, 0xaf], [0xe4, 0xbd], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98])
        .map((bytes) => Buffer.from(bytes)),
    },
    { weight: 2, arbitrary: fc.constant(Buffer.from('\n')) },
  )
  const input = fc.array(chunk, { minLength: 1, maxLength: 8 }).map((all) => Buffer.concat(all))
  await fc.assert(
    fc.asyncProperty(input, maxLines, maxBytes, oneEnd, async (bytes, lines, limit, direction) => {
      const limits = { maxLines: lines, maxBytes: limit, direction }
      const text = bytes.toString('utf8')
      const result = await serviceIn(dir, limits).output(new Uint8Array(bytes), { toolName: 'x' })
      expect(result.truncated).toBe(!allowed(text, limits))
      if (!result.truncated) {
        expect(result.content).toBe(text)
        return
      }
      checkCut(bytes, result, limits, (part) => Buffer.from(part).toString('utf8'))
      checkNotice(result)
      const expected = wholeLines(text, limits, direction)
      if (!isBlank(expected)) expect(result.preview).toBe(expected)
    }),
    { numRuns: RUNS },
  )
})

test('B27: what was saved is read back as the same string', async () => {
  const storage = new TruncationStorage(tempDir())
  const any = fc.oneof(
    texts,
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((units) => String.fromCharCode(...units)),
  )
  await fc.assert(
    fc.asyncProperty(any, fc.option(texts, { nil: undefined }), async (text, sessionId) => {
      const path = await storage.save(text, { toolName: text, sessionId })
      expect(storage.owns(path)).toBe(true)
      expect(await storage.read(path)).toBe(text)
      expect(readFileSync(path).equals(rawBytes(text))).toBe(true)
    }),
    { numRuns: 5 * RUNS },
  )
})

test('B27: bytes come back as they were, in ranges of any length', async () => {
  const storages = [new TruncationStorage(tempDir()), new MemoryStorage()]
  const hard = fc.constantFrom(0x0a, 0x0d, 0x61, 0xed, 0xa0, 0x80, 0xe4, 0xbd, 0xf0, 0x9f, 0x98, 0xff)
  const input = fc.array(fc.oneof(hard, fc.nat(255)), { maxLength: 60 }).map((bytes) => Uint8Array.from(bytes))
  await fc.assert(
    fc.asyncProperty(input, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (bytes, byteCount, inMemory) => {
      const storage = storages[inMemory ? 1 : 0]!
      const path = await storage.saveBytes(bytes, { toolName: 'x' })
      if (!inMemory) expect(readFileSync(path).equals(bytes)).toBe(true)
      let [text, end] = ['', 0]
      let next: ReadRange | undefined = { fromByte: 0, byteCount }
      while (next) {
        const piece: RangeResult = await storage.readRange(path, next)
        expect(piece.fromByte).toBe(end)
        text += piece.text
        end += piece.byteCount
        next = piece.next
      }
      expect(end).toBe(bytes.length)
      expect(text).toBe(shownText(bytes))
    }),
    { numRuns: RUNS },
  )
})

const strategies = [
  { strategy: new DefaultTruncationStrategy(), limitsOf: (limits: Limits) => limits },
  {
    strategy: new LineBasedStrategy(),
    limitsOf: (limits: Limits) => ({ ...limits, maxBytes: Number.POSITIVE_INFINITY }),
  },
  {
    strategy: new ByteBasedStrategy(),
    limitsOf: (limits: Limits) => ({ ...limits, maxLines: Number.POSITIVE_INFINITY }),
  },
]

test.each(strategies)('B28: the strategy $strategy.name cuts as the rule by hand does', ({ strategy, limitsOf }) => {
  let compared = 0
  fc.assert(
    fc.property(texts, maxLines, maxBytes, oneEnd, (text, lines, bytes, direction) => {
      const limits = { maxLines: lines, maxBytes: bytes, direction }
      const effective = limitsOf(limits)
      const config = { ...DEFAULT_TRUNCATION_CONFIG, ...limits }
      const result = strategy.truncate(text, config)
      expect(strategy.needsTruncation(text, config)).toBe(!allowed(text, effective))
      if (allowed(text, effective)) {
        expect(result).toEqual({ content: text, removedLines: 0, removedBytes: 0 })
        return
      }
      const shown = text.toWellFormed()
      const expected = cutByHand(shown, effective, direction)
      if (expected === undefined) return
      compared += 1
      expect(result.content).toBe(expected)
      expect(result.removedBytes).toBe(bytesOf(shown) - bytesOf(expected))
    }),
    { numRuns: 40 * RUNS },
  )
  expect(compared).toBeGreaterThan(RUNS)
})

test('a text in parts is shown as the same text in one', async () => {
  const dir = tempDir()
  const image = { type: 'image', data: 'abc' }
  const part = fc.oneof(
    { weight: 3, arbitrary: texts.map((text): ContentPart => ({ type: 'text', text })) },
    { weight: 1, arbitrary: fc.constant<ContentPart>(image) },
  )
  const parts = fc.array(part, { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(parts, maxLines, maxBytes, anyEnd, async (given, lines, bytes, direction) => {
      const limits = { maxLines: lines, maxBytes: bytes, direction }
      const service = serviceIn(dir, limits)
      const whole = given.flatMap((each) => (each.type === 'text' ? [each.text as string] : [])).join('\n')
      const inParts = await service.output(given, { toolName: 'x' })
      const inOne = await service.output(whole, { toolName: 'x' })
      expect(inParts.truncated).toBe(inOne.truncated)
      if (!inParts.truncated || !inOne.truncated) {
        expect(inParts.content).toBe(given)
        return
      }
      const media = inParts.content.filter(({ type }) => type !== 'text')
      expect(media).toHaveLength(given.filter(({ type }) => type !== 'text').length)
      expect(media.every((each) => each === image)).toBe(true)
      const shown = inParts.content.flatMap((each) => (each.type === 'text' ? [each.text as string] : []))
      expect(shown.every((text) => text.isWellFormed())).toBe(true)
      // Breaks between parts are no part of them; apart from these, the words are the same and in the same order.
      const flat = (text: string, path: string) => text.replaceAll(path, 'PATH').replace(/[\r\n]/g, '')
      expect(flat(shown.join(''), inParts.outputPath)).toBe(flat(inOne.content, inOne.outputPath))
      expect(inParts.preview).toBe(inOne.preview)
    }),
    { numRuns: RUNS },
  )
})
