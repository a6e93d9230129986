import { readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import {
  createTruncation,
  type ITruncationStorage,
  MemoryStorage,
  runCommand,
  type TruncatedResult,
  TruncationService,
  type TruncationServiceConfig,
  TruncationStorage,
} from 'spillway'
import type { RedactionOptions } from 'spillway/truncation'
import { cut, makeListening, makeService, numbered, rejection, thrown } from '../support/outputs'
import { filesIn, overrideDefaultDir, tempDir } from '../support/temp'

const tool = { toolName: 'mytool' }
const SECRET = 'hunter2-hunter2'
const STARS = '*'.repeat(SECRET.length)
const redact: RedactionOptions = { values: [SECRET] }
const filler = numbered(5000)
/** Known by its shape; put together so that no scanner takes it for one that was leaked here. */
const githubToken = `gh${'p'}_${'0123456789abcdefABCD'.repeat(2)}`

const saved = (result: { outputPath: string }) => readFileSync(result.outputPath, 'utf8')

/** A storage of the caller's that keeps what it is handed. */
function keeper(methods: ('saveBytes' | 'saveStream')[]): { storage: ITruncationStorage; given: unknown[] } {
  const given: unknown[] = []
  const keep = async (content: unknown) => {
    given.push(content)
    return `kept:${given.length}`
  }
  const storage: ITruncationStorage = {
    save: keep,
    read: async () => '',
    cleanup: async () => 0,
    getStorageDir: () => 'kept:',
    ...(methods.includes('saveBytes') && { saveBytes: keep }),
    ...(methods.includes('saveStream') && {
      saveStream: async (source: AsyncIterable<Uint8Array>) => {
        const pieces: Buffer[] = []
        for await (const piece of source) pieces.push(Buffer.from(piece))
        return keep(Buffer.concat(pieces))
      },
    }),
  }
  return { storage, given }
}

/** A text in pieces of random length, in bytes so that characters are split too. */
function pieces(text: string, seed: number): Uint8Array[] {
  const bytes = Buffer.from(text)
  const parts: Uint8Array[] = []
  let state = seed
  for (let at = 0; at < bytes.length; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    const length = 1 + (state % (seed % 2 === 0 ? 7 : 100_000))
    parts.push(bytes.subarray(at, at + length))
    at += length
  }
  return parts
}

async function captured(service: TruncationService, chunks: Iterable<string | Uint8Array>): Promise<TruncatedResult> {
  const capture = service.capture(tool)
  await pipeline(chunks, capture)
  return cut(await capture.result)
}

/** The fields of a result that do not name a file. */
function withoutPath({ outputPath, content, hint, ...rest }: TruncatedResult): object {
  const same = (text = '') => text.replaceAll(outputPath, 'PATH')
  return { ...rest, content: same(content), hint: same(hint) }
}

describe('a saved output', () => {
  test('has stars for secrets, and what the model reads does not', async () => {
    const { service, events } = makeListening({ redact })
    const text = `first ${SECRET}\n${filler}\nlast ${SECRET}`
    const result = cut(await service.output(text, tool))
    expect(result.preview.startsWith(`first ${SECRET}\n`)).toBe(true)
    expect(saved(result)).toBe(text.replaceAll(SECRET, STARS))
    expect(result.redactions).toBe(2)
    expect(events.at(-1)).toMatchObject({ type: 'truncated', redactions: 2 })
    expect(result.totalBytes).toBe(Buffer.byteLength(saved(result)))
  })

  test('says how many were redacted only if something was to be', async () => {
    expect(cut(await makeService({ redact }).output(filler, tool)).redactions).toBe(0)
    for (const options of [{}, { redact: {} }, { redact: { values: [], patterns: [], known: false } }]) {
      const { service, events } = makeListening(options)
      expect(cut(await service.output(filler, tool))).not.toHaveProperty('redactions')
      expect(events.at(-1)).not.toHaveProperty('redactions')
    }
  })

  test('keeps its lines, sizes and offsets', async () => {
    const service = makeService({ redact: { patterns: [/<<.*?>>/s, 'id=(?<secret>\\d+)'] } })
    const text = `<<é\r\n\n你>> id=42 😀\n${filler}`
    const result = cut(await service.output(text, tool))
    expect(saved(result)).toBe(`****\r\n\n***** id=** 😀\n${filler}`)
    const storage = new TruncationStorage(result.outputPath.slice(0, result.outputPath.lastIndexOf('/')))
    const { toByte } = result.ranges[0]!
    const next = await storage.readRange(result.outputPath, { fromByte: toByte, byteCount: 6 })
    expect(next.text).toBe(text.slice(-filler.length).slice(filler.indexOf(next.text)).slice(0, next.text.length))
    expect((await storage.search(result.outputPath, '😀')).matches[0]).toMatchObject({ line: 3 })
  })

  test.each<[string, RedactionOptions, string]>([
    ['a pattern', { patterns: ['hunter\\d-\\w+'] }, `x ${SECRET} y`],
    ['a RegExp with flags', { patterns: [/^HUNTER.*$/im] }, `x\n${SECRET}\ny`],
    ['a value', { values: [SECRET] }, `x${SECRET}y`],
    ['values that overlap', { values: ['hunter2-h', '-hunter2'] }, `x${SECRET}y`],
  ])('is redacted by %s', async (_, rules, text) => {
    const result = cut(await makeService({ redact: rules }).output(`${filler}\n${text}`, tool))
    expect(saved(result)).toBe(`${filler}\n${text.replace(SECRET, STARS)}`)
    expect(result.redactions).toBe(1)
  })

  test('is redacted by the shape of well-known secrets', async () => {
    const service = makeService({ redact: { known: true } })
    const key = ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE ${'KEY'}-----`).join('\nMIIEvQIBADAN\n')
    const text = `${filler}\ntoken ${githubToken}\n${key}\nAuthorization: Bearer 0123456789abcdef0123\nsk-learn`
    const result = cut(await service.output(text, tool))
    const starred = (secret: string) => secret.replaceAll(/[^\n]/g, '*')
    const bearer = '0123456789abcdef0123'
    const expected = [githubToken, key, bearer].reduce((all, each) => all.replace(each, starred(each)), text)
    expect(saved(result)).toBe(expected)
    expect(result.redactions).toBe(3)
  })

  test('is redacted wherever a slice, a window or a character ends', async () => {
    const service = makeService({ redact })
    for (const [unit, edges] of [
      ['.', [196_608, 262_144, 524_288]],
      ['你', [65_536, 87_381, 262_144]],
    ] as const) {
      const marks = edges.flatMap((edge) => [edge - 20, edge + 20])
      let text = ''
      for (const mark of marks) text += unit.repeat(mark - text.length) + SECRET
      text += unit.repeat(400_000)
      const result = cut(await service.output(text, tool))
      expect(saved(result) === text.replaceAll(SECRET, STARS)).toBe(true)
      expect(result.redactions).toBe(marks.length)
    }
    for (let at = 262_144 - SECRET.length - 1; at <= 262_145; at += 1) {
      const text = `${'.'.repeat(at)}${SECRET}${'.'.repeat(300_000)}`
      expect(saved(cut(await service.output(text, tool))) === text.replace(SECRET, STARS)).toBe(true)
    }
  })

  test('is the same for 10 MB in one piece and in many', async () => {
    const line = `some text with 你 and 😀 and ${SECRET}, and id=12345 at the end of it\n`
    const text = line.repeat(10_000_000 / Buffer.byteLength(line))
    const service = makeService({ redact: { ...redact, patterns: [/id=\d+/], known: true } })
    const whole = cut(await service.output(text, tool))
    const expected = text.replaceAll(SECRET, STARS).replaceAll('id=12345', '*'.repeat(8))
    expect(saved(whole) === expected).toBe(true)
    expect(whole.redactions).toBe(2 * (text.split('\n').length - 1))
    const split = await captured(service, pieces(text, 4711))
    expect(saved(split) === expected).toBe(true)
    expect(withoutPath(split)).toEqual(withoutPath(whole))
  })

  test('has a match of the longest length, and at least so much of a longer one', async () => {
    const service = makeService({ redact: { patterns: ['a+b'] } })
    const result = cut(await service.output(`${'-'.repeat(150_000)}${'a'.repeat(65_535)}b!`, tool))
    expect(saved(result)).toBe(`${'-'.repeat(150_000)}${'*'.repeat(65_536)}!`)
    const greedy = makeService({ redact: { patterns: ['a{5,}'] } })
    const longer = saved(cut(await greedy.output(`-${'a'.repeat(900_000)}`, tool)))
    expect(longer.slice(1, 65_537)).toBe('*'.repeat(65_536))
    expect(longer.length).toBe(900_001)
  })
})

describe('every way of saving', () => {
  const text = `first ${SECRET}\n${filler}\na\ud800b ${SECRET}`
  const clean = text.replaceAll(SECRET, STARS)
  const bytes = Buffer.concat([
    Buffer.from(`first ${SECRET}\n${filler}\n`),
    Buffer.from([0xff, 0]),
    Buffer.from(SECRET),
  ])
  const cleanBytes = Buffer.concat([
    Buffer.from(`first ${STARS}\n${filler}\n`),
    Buffer.from([0xff, 0]),
    Buffer.from(STARS),
  ])

  test('by a storage of ours', async () => {
    const storage = new TruncationStorage({ storageDirs: [tempDir()], redact })
    expect(await storage.read(await storage.save(text, tool))).toBe(clean)
    expect(readFileSync(await storage.saveBytes(bytes, tool)).equals(cleanBytes)).toBe(true)
    expect(await storage.read(await storage.save('', tool))).toBe('')
  })

  test('by a storage in memory', async () => {
    const storage = new MemoryStorage({ redact })
    const path = await storage.save(text, tool)
    expect(await storage.read(path)).toBe(clean)
    expect((await storage.search(path, SECRET)).matches).toEqual([])
    const bytesPath = await storage.saveBytes(bytes, tool)
    const { text: end } = await storage.readRange(bytesPath, { fromByte: bytes.length - SECRET.length })
    expect(end).toBe(STARS)
  })

  test.each([
    ['in files', () => ({ redact, storage: new TruncationStorage(tempDir()) })],
    ['in memory', () => ({ redact, storage: new MemoryStorage() })],
    ['by the rules of a storage', () => ({ storage: new TruncationStorage({ storageDirs: [tempDir()], redact }) })],
    ['by the rules of a storage in memory', () => ({ storage: new MemoryStorage({ redact }) })],
  ])('by a service %s', async (_, makeOptions) => {
    const options = makeOptions()
    const service = new TruncationService(options)
    const { storage } = options
    for (const result of [
      cut(await service.output(text, tool)),
      await captured(service, [text.slice(0, 9), text.slice(9)]),
    ]) {
      expect(await storage.read(result.outputPath)).toBe(clean)
      expect(result.redactions).toBe(2)
    }
    const parts = cut(
      await service.output(
        [
          { type: 'text', text: filler },
          { type: 'text', text: SECRET },
        ],
        tool,
      ),
    )
    expect(await storage.read(parts.outputPath)).toBe(`${filler}\n${STARS}`)
    const raw = cut(await service.output(bytes, tool))
    expect(await storage.read(raw.outputPath)).toBe(cleanBytes.toString('utf8'))
  })

  test('by the rules of a service and of its storage', async () => {
    for (const storage of [
      new TruncationStorage({ storageDirs: [tempDir()], redact: { values: ['line 7'] } }),
      new MemoryStorage({ redact: { values: ['line 7'] } }),
    ]) {
      const service = new TruncationService({ storage, redact })
      const result = cut(await service.output(`${numbered(2500)}\n${SECRET}`, tool))
      expect(await storage.read(result.outputPath)).toBe(
        `${numbered(2500)}\n${SECRET}`.replaceAll(/line 7|hunter2-hunter2/g, (found) => '*'.repeat(found.length)),
      )
      expect(result.redactions).toBe(1 + numbered(2500).split('line 7').length - 1)
    }
  })

  test('by a storage of the caller’s, which gets text as text and bytes as bytes', async () => {
    overrideDefaultDir(tempDir())
    const { storage, given } = keeper(['saveBytes'])
    const service = new TruncationService({ storage, redact })
    expect(cut(await service.output(text, tool)).redactions).toBe(2)
    expect(given.pop()).toBe(clean)
    await service.output(bytes, tool)
    expect(Buffer.from(given.pop() as Uint8Array).equals(cleanBytes)).toBe(true)
    expect((await captured(service, [text.slice(0, 9), text.slice(9)])).redactions).toBe(2)
    expect(given.pop()).toBe(clean)
    await captured(service, [bytes])
    expect(Buffer.from(given.pop() as Uint8Array).equals(cleanBytes)).toBe(true)
    expect(given).toEqual([])
  })

  test('by a storage of the caller’s that takes only text, or a stream', async () => {
    const plain = keeper([])
    await new TruncationService({ storage: plain.storage, redact }).output(bytes, tool)
    expect(plain.given).toEqual([cleanBytes.toString('utf8')])
    const streaming = keeper(['saveStream'])
    await captured(new TruncationService({ storage: streaming.storage, redact }), pieces(bytes.toString('latin1'), 2))
    expect((streaming.given[0] as Buffer).includes(SECRET)).toBe(false)
    expect((streaming.given[0] as Buffer).length).toBe(Buffer.byteLength(bytes.toString('latin1')))
  })

  test('by a strategy of the caller’s', async () => {
    const strategy = {
      name: 'mine',
      needsTruncation: () => true,
      truncate: (content: string) => ({ content: content.slice(0, 20) }),
    }
    for (const storage of [new TruncationStorage(tempDir()), new MemoryStorage()]) {
      const service = makeService({ redact, strategy, storage })
      const result = cut(await service.output(text, tool))
      expect(result.content).toContain(SECRET.slice(0, 14))
      expect(await storage.read(result.outputPath)).toBe(clean)
    }
  })

  test('by a command', async () => {
    const service = makeService({ redact, global: { maxLines: 3 } })
    const script = `for (let i = 0; i < 50; i++) console.log(i, ${JSON.stringify(SECRET)})`
    const { output } = await runCommand(process.execPath, ['-e', script], { service })
    const result = cut(output)
    expect(result.redactions).toBe(50)
    expect(saved(result)).toBe(Array.from({ length: 50 }, (_, i) => `${i} ${STARS}\n`).join(''))
  })

  test('by a capture that is read while it comes in', async () => {
    const service = makeService({ redact, global: { maxLines: 3 } })
    const capture = service.capture(tool)
    const lines = `it is ${SECRET}\n`
    for (const count of [1, 10, 20_000]) {
      capture.write(lines.repeat(count))
      const { totalBytes } = await capture.readRange({ fromLine: 1 })
      const { text: end } = await capture.readRange({ fromByte: totalBytes - lines.length, byteCount: lines.length })
      expect(end).toBe(`it is ${STARS}\n`)
    }
    capture.end()
    const { totalBytes } = cut(await capture.result)
    expect((await capture.readRange({ fromLine: 20_011 })).text).toBe(`it is ${STARS}\n`)
    expect((await capture.readRange({ fromLine: 1 })).totalBytes).toBe(totalBytes)
  })

  test('by a capture that needs no cut, or waits for a strategy of the caller’s', async () => {
    const strategy = { name: 'mine', needsTruncation: () => false, truncate: (content: string) => ({ content }) }
    for (const service of [makeService({ redact }), makeService({ redact, strategy })]) {
      const capture = service.capture(tool)
      capture.write(SECRET)
      expect((await capture.readRange({ fromLine: 1 })).text).toBe(STARS)
      capture.end()
      expect(await capture.result).toEqual({ content: SECRET, truncated: false })
      expect((await capture.readRange({ fromLine: 1 })).text).toBe(STARS)
    }
  })

  test('once for the same content of the same call', async () => {
    const dir = tempDir()
    const service = makeService({ redact, maxFileBytes: 4096, storageDirs: [dir] })
    const call = { ...tool, toolCallId: '1' }
    const [first, second] = [cut(await service.output(text, call)), cut(await service.output(text, call))]
    expect(second.outputPath).toBe(first.outputPath)
    expect(second.savedPart).toEqual(first.savedPart)
    expect(filesIn(dir).length).toBe(1)
  })

  test('through the settings of a user', async () => {
    const dir = tempDir()
    const { service } = createTruncation({ storageDir: dir, redact, maxLines: 2 })
    expect(saved(cut(await service.output(`a\nb\n${SECRET}`, tool)))).toBe(`a\nb\n${STARS}`)
  })

  test('leaves nothing when it is aborted or fails', async () => {
    const dir = tempDir()
    const service = makeService({ redact, storageDirs: [dir] })
    const capture = service.capture(tool)
    capture.write(filler)
    capture.destroy()
    await rejection(capture.result)
    expect(filesIn(dir)).toEqual([])
    const { storage } = keeper([])
    storage.save = async () => {
      throw new Error('no room')
    }
    const lost = cut(await new TruncationService({ storage: [storage], redact }).output(text, tool))
    expect([lost.outputPath, lost.redactions, lost.saveError.message]).toEqual(['', undefined, 'no room'])
  })
})

describe('however an output is split', () => {
  test.each([1, 2, 3, 5])('the result is that of the whole: %p', async (seed) => {
    const service = makeService({ redact: { ...redact, patterns: [/\bb\w*é\b/, /(?:ab)+$/m] } })
    const words = ['abab', 'bré', 'é', SECRET, '你', '😀', '\n', ' ', 'x'.repeat(3000)]
    let state = seed * 7919
    const text = Array.from({ length: 4000 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return words[Math.floor(state / 65_536) % words.length]
    }).join('')
    const whole = cut(await service.output(text, tool))
    const split = await captured(service, pieces(text, seed))
    expect(saved(split) === saved(whole)).toBe(true)
    expect(withoutPath(split)).toEqual(withoutPath(whole))
    expect(saved(whole).includes(SECRET)).toBe(false)
    const oracle = text.replaceAll(
      /hunter2-hunter2|(?<![\p{L}\p{N}_])b[\p{L}\p{N}_]*é(?![\p{L}\p{N}_])|(?:ab)+$/gmu,
      (found) => '*'.repeat(Buffer.byteLength(found)),
    )
    expect(saved(whole) === oracle).toBe(true)
  })
})

describe('rules that are refused', () => {
  test.each<[unknown, string]>([
    [true, 'redact'],
    [null, 'redact'],
    [{ pattern: ['x'] }, 'redact.pattern'],
    [{ known: 'yes' }, 'redact.known'],
    [{ patterns: 'x' }, 'redact.patterns'],
    [{ patterns: ['a', /b/, '(?=c)'] }, 'redact.patterns[2]'],
    [{ patterns: [/(a)\1/] }, 'redact.patterns[0]'],
    [{ patterns: [''] }, 'redact.patterns[0]'],
    [{ patterns: ['x*'] }, 'redact.patterns[0]'],
    [{ patterns: ['x'.repeat(4097)] }, 'redact.patterns[0]'],
    [{ patterns: ['(\\w{200}){200}'] }, 'redact.patterns[0]'],
    [{ patterns: Array(101).fill('x') }, 'redact.patterns'],
    [{ patterns: [{ source: 'x', flags: '', $type: 'RegExp' }] }, 'redact.patterns[0]'],
    [{ values: [SECRET, 'abc'] }, 'redact.values[1]'],
    [{ values: [5] }, 'redact.values[0]'],
    [{ values: ['x'.repeat(65_537)] }, 'redact.values[0]'],
  ])('%p', (rules, field) => {
    const options = { redact: rules as RedactionOptions }
    for (const make of [
      () => new TruncationService(options),
      () => new TruncationStorage(options),
      () => new MemoryStorage(options),
    ]) {
      expect(thrown(make)).toMatchObject({ code: 'INVALID_CONFIG', field })
    }
  })

  test('are not quoted where they could be secrets', () => {
    const { message } = thrown(() => makeService({ redact: { values: ['abc'] } })) as Error
    expect(message).toBe('Invalid option "redact.values[0]": expected 4 to 65536 bytes, received 3')
  })

  test('belong to the service as a whole', () => {
    const options = { tools: { bash: { redact } } } as unknown as TruncationServiceConfig
    expect(thrown(() => makeService(options))).toMatchObject({ field: 'tools.bash.redact' })
  })
})
