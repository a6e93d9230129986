/** A remote storage gives the same ranges and matches as one of files. */

import fc from 'fast-check'
import { type ReadRange, type SearchOptions, TruncationStorage } from 'spillway'
import { MemoryObjects, RemoteStorage } from 'spillway/remote'
import { tempDir } from '../support/temp'

const WINDOW = 2 ** 16
const context = { toolName: 'bash', sessionId: 's1' }
const remote = new RemoteStorage({ objects: new MemoryObjects(), windowBytes: WINDOW })
let files: TruncationStorage
beforeAll(() => {
  files = new TruncationStorage(tempDir())
})

/** Lines of very different lengths, with matches, bytes that are no characters, and every kind of end. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', 'needle', 'a needle here', 'é needle', 'x\r', 'plain text', '😀😀') },
  { weight: 2, arbitrary: fc.string({ maxLength: 200 }) },
  { weight: 2, arbitrary: fc.nat(2000).map((length) => 'word '.repeat(length)) },
  { weight: 1, arbitrary: fc.nat(20_000).map((length) => `${'é'.repeat(length)}needle${'y'.repeat(length)}`) },
)
const text = fc
  .array(fc.tuple(line, fc.integer({ min: 1, max: 40 })), { maxLength: 60 })
  .map((lines) => lines.flatMap(([each, times]) => Array(each.length > 5000 ? 1 : times).fill(each)).join('\n'))
const bytes = text.chain((whole) =>
  fc.constantFrom<Uint8Array>(
    Buffer.from(whole),
    Buffer.from(`${whole}\n`),
    Buffer.concat([Buffer.from(whole), Buffer.of(0xff, 0xe2, 0x82, 10, 0xf0)]),
  ),
)

async function inBoth(content: Uint8Array): Promise<[string, string]> {
  return [await files.saveBytes(content, context), await remote.saveBytes(content, context)]
}

test('texts come back as they were, lone surrogates too', async () => {
  const strings = fc.string({ unit: fc.oneof(fc.constantFrom('\ud800', '\udc00', 'é', '\n'), fc.string()) })
  await fc.assert(
    fc.asyncProperty(strings, async (content) => {
      expect(await remote.read(await remote.save(content, context))).toBe(content)
    }),
  )
})

test('bytes are read as from a file', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, async (content) => {
      const [file, object] = await inBoth(content)
      expect(await remote.read(object)).toBe(await files.read(file))
    }),
    { numRuns: 30 },
  )
})

test('ranges are those of a file, and so are the ranges after them', async () => {
  const number = fc.oneof(fc.nat(50), fc.nat(400_000))
  const range: fc.Arbitrary<ReadRange> = fc.oneof(
    fc.record({ fromByte: number, byteCount: number.map((count) => count + 1) }, { requiredKeys: ['fromByte'] }),
    fc.record(
      {
        fromLine: number.map((from) => from + 1),
        lineCount: number.map((count) => count + 1),
        maxBytes: fc.integer({ min: 4, max: 262_144 }),
      },
      { requiredKeys: ['fromLine'] },
    ),
  )
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(range, { minLength: 1, maxLength: 8 }), async (content, ranges) => {
      const [file, object] = await inBoth(content)
      for (const first of ranges) {
        let next: ReadRange | undefined = first
        for (let calls = 0; next !== undefined && calls < 3; calls += 1) {
          const expected = await files.readRange(file, next)
          expect(await remote.readRange(object, next)).toEqual(expected)
          next = expected.next
        }
      }
    }),
    { numRuns: 60 },
  )
})

const PATTERNS = ['needle', '^x$', '^$', '\\bword\\b', 'é', '.', 'nothing like it', 'needle$', '(?i)NEEDLE|😀']
const asked: fc.Arbitrary<SearchOptions> = fc.record(
  {
    context: fc.oneof(fc.nat(3), fc.record({ before: fc.nat(20), after: fc.nat(20) })),
    maxMatches: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 10_000 })),
    maxBytes: fc.oneof(fc.integer({ min: 1, max: 4000 }), fc.integer({ min: 4000, max: 4_194_304 })),
    ignoreCase: fc.boolean(),
    literal: fc.boolean(),
  },
  { requiredKeys: [] },
)

test('a search finds what one of a file finds, over all its pages', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom(...PATTERNS), asked, async (content, pattern, options) => {
      const [file, object] = await inBoth(content)
      let after: string | undefined
      for (let pages = 0; pages < 4; pages += 1) {
        const expected = await files.search(file, pattern, { ...options, after })
        expect(await remote.search(object, pattern, { ...options, after })).toEqual(expected)
        after = expected.next
        if (after === undefined) break
      }
    }),
    { numRuns: 150 },
  )
})

test('lines of several MiB are searched to their end', async () => {
  const filler = (length: number) => 'abcdefgh '.repeat(length / 9)
  const rows: [string, string, string[]][] = [
    [
      'a match far inside',
      `first\n${filler(5e6)} needle ${filler(5e6)}\nneedle after\nlast`,
      ['needle', '\\bneedle\\b'],
    ],
    ['a match at its end', `first\n${filler(6e6)}needle\nlast needle`, ['needle$', 'needle']],
    ['anchors that fit inside only', `x\n${filler(6e6)}\nabc\n`, ['^bcd', '^b', 'efg$', '^abc', 'gh $', '\\Bbc']],
    ['no break at its end', `${filler(4e6)}\n${filler(4e6)}needle`, ['needle', 'needle$', '^needle']],
  ]
  for (const [name, content, patterns] of rows) {
    const [file, object] = await inBoth(Buffer.from(content))
    for (const pattern of patterns) {
      for (const maxMatches of [1, 100]) {
        const options = { context: 2, maxMatches }
        const found = await remote.search(object, pattern, options)
        expect([name, pattern, found]).toEqual([name, pattern, await files.search(file, pattern, options)])
      }
    }
  }
})

test('the lines after a match in the first line of a window are whole', async () => {
  const window = `\n${'é'.repeat(32_700)}\n${'é needle\n'.repeat(40)}`
  const [file, object] = await inBoth(Buffer.from(window))
  for (let after = 0; after < 20; after += 1) {
    const options = { context: { before: 0, after } }
    expect(await remote.search(object, '^$', options)).toEqual(await files.search(file, '^$', options))
  }
})

test('wrong questions are refused in the same words', async () => {
  const [file, object] = await inBoth(Buffer.from('a\nb\n'))
  const error = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      ({ code, message }) => ({ code, message }),
    )
  for (const [pattern, options] of [
    ['(', {}],
    ['', {}],
    ['a', { after: 'x' }],
    ['a', { after: '9:9' }],
    ['a', { after: '3:1' }],
    ['a', { maxMatches: 0 }],
    ['a', { colour: 1 }],
  ] as [string, SearchOptions][]) {
    const refused = await error(files.search(file, pattern, options))
    expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await error(remote.search(object, pattern, options))).toEqual(refused)
  }
})
