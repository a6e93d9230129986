import { linkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type SearchOptions, type SearchResult, TruncationStorage } from 'spillway'
import { onUnix } from '../support/only'
import { bytesOf, countLines, numbered, rejection } from '../support/outputs'
import { age, tempDir } from '../support/temp'

const tool = { toolName: 'x' }

async function saved(text: string | Uint8Array): Promise<{ storage: TruncationStorage; path: string }> {
  const storage = new TruncationStorage(tempDir())
  const path = typeof text === 'string' ? await storage.save(text, tool) : await storage.saveBytes(text, tool)
  return { storage, path }
}

/** All matches, however many calls they take. */
async function searchAll(storage: TruncationStorage, path: string, pattern: string, options: SearchOptions = {}) {
  const pages: SearchResult[] = []
  let after: string | undefined
  do {
    const page = await storage.search(path, pattern, { ...options, after })
    expect(page.truncated).toBe(page.next !== undefined)
    pages.push(page)
    after = page.next
  } while (after !== undefined)
  return {
    matches: pages.flatMap(({ matches }) => matches),
    linesSearched: pages.reduce((sum, page) => sum + page.linesSearched, 0),
    pages: pages.length,
  }
}

describe('a match', () => {
  test('has its line, its place and its neighbours', async () => {
    const { storage, path } = await saved('one\r\ntwo\r\nan error: x\r\nfour\r\nfive')
    expect(await storage.search(path, 'error: .$', { context: { before: 1, after: 5 } })).toEqual({
      matches: [
        { line: 3, text: 'an error: x', before: ['two'], after: ['four', 'five'], byte: 'one..two..an '.length },
      ],
      truncated: false,
      linesSearched: 5,
    })
    const { matches } = await storage.search(path, 'ERROR', { ignoreCase: true, context: 1 })
    expect(matches[0]).toMatchObject({ line: 3, before: ['two'], after: ['four'] })
  })

  test('is one line, however often the pattern is in it', async () => {
    const { storage, path } = await saved('aaa\nbab\n')
    const { matches } = await storage.search(path, 'a')
    expect(matches.map(({ line, byte }) => [line, byte])).toEqual([
      [1, 0],
      [2, 5],
    ])
  })

  test('in a long line is shown with the text around it, cut between characters', async () => {
    const { storage, path } = await saved(`${'你'.repeat(500_000)} needle ${'😀'.repeat(500_000)}\nnext`)
    const { matches } = await storage.search(path, 'needle', { context: 1 })
    expect(matches).toHaveLength(1)
    const { text, byte, partial, after } = matches[0]!
    expect(text).toMatch(/^…你+ needle 😀+…$/u)
    expect(bytesOf(text)).toBeLessThan(1100)
    expect([byte, partial]).toEqual([1_500_001, true])
    // The end of such a line is too far away to show what comes after it.
    expect(after).toEqual([])
  })

  test('in what is not UTF-8 is shown well-formed', async () => {
    const { storage, path } = await saved(Uint8Array.from([0xff, 0x61, 0xfe, 0x0a, 0x62]))
    const { matches } = await storage.search(path, 'a', { context: 1 })
    expect(matches[0]).toMatchObject({ text: '\ufffda\ufffd', after: ['b'] })
  })
})

describe('limits', () => {
  test('by matches: the cursor continues with the next line', async () => {
    const { storage, path } = await saved(numbered(1000))
    const first = await storage.search(path, '7', { maxMatches: 3 })
    expect(first.matches.map(({ line }) => line)).toEqual([7, 17, 27])
    expect(first).toMatchObject({ truncated: true, linesSearched: 27 })
    const { matches, linesSearched, pages } = await searchAll(storage, path, '7', { maxMatches: 3 })
    expect([matches.length, linesSearched, pages]).toEqual([271, 1000, 91])
  })

  test('by bytes: what does not fit comes with the next call', async () => {
    const { storage, path } = await saved(numbered(500))
    for (const maxBytes of [1, 20, 200]) {
      const page = await storage.search(path, '9', { maxBytes, context: 1 })
      const size = page.matches.flatMap(({ text, before, after }) => [text, ...before, ...after]).join('')
      expect(bytesOf(size)).toBeLessThanOrEqual(Math.max(maxBytes, 20))
      const { matches } = await searchAll(storage, path, '9', { maxBytes, context: 1 })
      expect(matches.length).toBe(95)
    }
  })

  test('a hundred matches and 64 KiB unless it is said', async () => {
    const { storage, path } = await saved(`${'x'.repeat(900)}\n`.repeat(300))
    const page = await storage.search(path, 'x')
    expect(page.matches.length).toBe(Math.floor(65_536 / 900))
    expect((await storage.search(path, 'x', { maxBytes: 2 ** 22 })).matches.length).toBe(100)
  })

  test('the last line ends a search that stops there', async () => {
    const { storage, path } = await saved('a\na\n')
    expect(await storage.search(path, 'a', { maxMatches: 2 })).toMatchObject({ truncated: false, linesSearched: 2 })
  })
})

describe('patterns', () => {
  test('are literal if asked', async () => {
    const { storage, path } = await saved('a.b\naxb\nA.B')
    const lines = async (options: SearchOptions) =>
      (await storage.search(path, 'a.b', options)).matches.map(({ line }) => line)
    expect(await lines({})).toEqual([1, 2])
    expect(await lines({ literal: true })).toEqual([1])
    expect(await lines({ literal: true, ignoreCase: true })).toEqual([1, 3])
  })

  test.each([
    '',
    '(',
    'a{2,1}',
    '\\1',
    '(?=a)',
    'a\\nb',
    'a\nb',
    '(\\w{200}){200}',
    '('.repeat(600),
    'x'.repeat(1025),
    5,
  ])('that cannot be searched for are refused (%#)', async (pattern) => {
    const { storage, path } = await saved('text')
    const error = await rejection(storage.search(path, pattern as string))
    expect(error).toMatchObject({ name: 'SpillwayError', code: 'INVALID_ARGUMENT', field: 'pattern' })
    expect((error as Error).message.length).toBeLessThan(200)
  })

  test('find what a loop over the lines finds', async () => {
    const patterns = [
      'a',
      'a+b',
      '^a',
      'b$',
      '^$',
      'a\\s*b',
      '[^a]',
      'x*',
      '\\bab\\b',
      '\\ba$|^b',
      'b\\B',
      '[ab]{2}',
      '^.{3}$',
    ]
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '\r\n', '你')).map((units) => units.join(''))
    const property = fc.asyncProperty(
      text,
      fc.constantFrom(...patterns),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 2 }),
      async (content, pattern, maxMatches, context) => {
        const { storage, path } = await saved(content)
        const lines = content.split(/\r?\n/).slice(0, countLines(content))
        // Word characters are Unicode's there and ASCII's here.
        const expression = new RegExp(
          pattern
            .replaceAll('\\b', '(?:(?<=[a-z你])(?![a-z你])|(?<![a-z你])(?=[a-z你]))')
            .replaceAll('\\B', '(?:(?<=[a-z你])(?=[a-z你])|(?<![a-z你])(?![a-z你]))'),
          'u',
        )
        const expected = lines.flatMap((line, at) =>
          expression.test(line)
            ? [
                {
                  line: at + 1,
                  text: line,
                  before: lines.slice(Math.max(0, at - context), at),
                  after: lines.slice(at + 1, at + 1 + context),
                },
              ]
            : [],
        )
        const { matches, linesSearched } = await searchAll(storage, path, pattern, { maxMatches, context })
        expect(matches.map(({ byte: _, ...match }) => match)).toEqual(expected)
        expect(linesSearched).toBe(lines.length)
      },
    )
    await fc.assert(property, { numRuns: 200 })
  })

  test('with any syntax find the lines that the engine of the language finds', async () => {
    const quantifiers = ['?', '*', '+', '??', '*?', '+?', '{2}', '{0,2}', '{1,}']
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom('a', 'b', 'ab', '[^a]', '.', '^', '$', '\\b', '\\B'),
        fc.tuple(tie('pattern'), fc.constantFrom(...quantifiers)).map(([part, quantifier]) => `(${part})${quantifier}`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([first, second]) => `(${first}|${second})`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([first, second]) => `${first}${second}`),
      ),
    }))
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n'), { maxLength: 60 }).map((units) => units.join(''))
    // Most shapes are in every line somewhere, and few are all of it.
    const whole = pattern.map((pattern) => `^(${pattern})$`)
    const property = fc.asyncProperty(text, fc.oneof(pattern, whole), async (content, pattern) => {
      const { storage, path } = await saved(content)
      const lines = content.split('\n').slice(0, countLines(content))
      const expression = new RegExp(pattern)
      const expected = lines.flatMap((line, at) => (expression.test(line) ? [at + 1] : []))
      const { matches } = await searchAll(storage, path, pattern, { maxMatches: 100 })
      expect(matches.map(({ line }) => line)).toEqual(expected)
    })
    await fc.assert(property, { numRuns: 500 })
  })

  test('that would explode elsewhere take as long as any other', async () => {
    const { storage, path } = await saved('a'.repeat(1_000_000))
    const began = Date.now()
    for (const pattern of ['(a*)*b', '(a|a)+$b', '(a+a+)+b']) {
      expect((await storage.search(path, pattern)).matches).toEqual([])
    }
    expect(Date.now() - began).toBeLessThan(10_000)
  })
})

describe('refusals', () => {
  test.each([
    [{ maxMatches: 0 }, 'options.maxMatches'],
    [{ maxMatches: 10_001 }, 'options.maxMatches'],
    [{ maxBytes: Number.NaN }, 'options.maxBytes'],
    [{ context: -1 }, 'options.context'],
    [{ context: { before: 101 } }, 'options.context.before'],
    [{ context: { lines: 1 } }, 'options.context.lines'],
    [{ ignoreCase: 'yes' }, 'options.ignoreCase'],
    [{ after: 5 }, 'options.after'],
    [{ after: 'x' }, 'options.after'],
    [{ after: '1:99999' }, 'options.after'],
    [{ regex: true }, 'options.regex'],
    [null, 'options'],
  ])('rejects the options %j', async (options, field) => {
    const { storage, path } = await saved('text')
    expect(await rejection(storage.search(path, 'x', options as SearchOptions))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    })
  })

  test('rejects paths outside the store and swept files', async () => {
    const { storage, path } = await saved('root')
    expect(await rejection(storage.search('/etc/passwd', 'root'))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    age(path, 24 * 8)
    await storage.cleanup(7)
    expect(await rejection(storage.search(path, 'root'))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
  })

  onUnix('of links', async () => {
    const dir = tempDir()
    writeFileSync(join(dir, 'secret'), 'secret')
    const hard = join(dir, 'x_1_bbbbbbbbbbbbb.txt')
    linkSync(join(dir, 'secret'), hard)
    expect(await rejection(new TruncationStorage(dir).search(hard, 'secret'))).toMatchObject({
      code: 'STORAGE_NOT_OWNED',
    })
  })

  test('rejects with the reason of an aborted signal', async () => {
    const { storage, path } = await saved('x'.repeat(100_000_000))
    const reason = new Error('enough')
    expect(await rejection(storage.search(path, 'y', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    const searching = storage.search(path, 'y', { signal: controller.signal })
    setImmediate(() => controller.abort(reason))
    expect(await rejection(searching)).toBe(reason)
  })
})
