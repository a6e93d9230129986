import { readFileSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { MemoryStorage, type TruncationDirection, TruncationStorage } from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'
import { runChild } from '../support/child'
import { isLong, mounted, withMemory } from '../support/only'
import { bytesOf, countLines, cut, makeService, memoryStorage, numbered, rejection, thrown } from '../support/outputs'
import { age, filesIn, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const DIRECTIONS: TruncationDirection[] = ['head', 'tail', 'both']
const MIB = 1 << 20

/** The file that a cut names. */
const fileOf = ({ outputPath }: { outputPath: string }) => readFileSync(outputPath)

describe('D3 #25 few and many newlines', () => {
  const rows: [what: string, text: string, lines: number][] = [
    ['nothing', '', 0],
    ['one newline', '\n', 1],
    ['no final newline', 'a\nb', 2],
    ['a final newline', 'a\nb\n', 2],
    ['only newlines', '\n'.repeat(5), 5],
  ]
  test.each(rows)('%s', async (_what, text, lines) => {
    expect(await makeService().output(text, tool)).toEqual({ content: text, truncated: false })
    const padded = text + 'x'.repeat(100)
    const result = cut(await makeService({ global: { maxBytes: 50 } }).output(padded, tool))
    expect([result.totalLines, result.totalBytes]).toEqual([
      lines + (text === '' || text.endsWith('\n') ? 1 : 0),
      bytesOf(padded),
    ])
    expect(fileOf(result).toString()).toBe(padded)
  })

  test('100 MiB of them', async () => {
    const newlines = Buffer.alloc(100 * MIB, '\n')
    const result = cut(await makeService().output(newlines, tool))
    expect(result).toMatchObject({
      preview: '\n'.repeat(1999),
      totalLines: 100 * MIB,
      totalBytes: 100 * MIB,
      keptLines: 2000,
      removedLines: 100 * MIB - 2000,
    })
    expect(fileOf(result).equals(newlines)).toBe(true)
  })
})

describe('D3 #26 one line', () => {
  test.each(DIRECTIONS)('is cut inside at a whole character, at 100 MiB: %s', async (direction) => {
    const dir = tempDir()
    const line = Buffer.alloc(100 * MIB - 1, '你')
    const result = cut(await makeService({ storageDirs: [dir], global: { direction } }).output(line, tool))
    expect([result.preview.isWellFormed(), result.preview.includes('\ufffd')]).toEqual([true, false])
    expect([result.preview[0], result.preview.at(-1), result.partialLines.length]).toEqual(['你', '你', 1])
    expect(bytesOf(result.preview)).toBeGreaterThan(51_100)
    expect(bytesOf(result.preview)).toBeLessThanOrEqual(51_200)
    expect(statSync(result.outputPath).size).toBe(line.length)
  })

  withMemory(4 * 1024 * MIB)('as long as V8 holds is cut and saved', () => {
    const length = 2 ** 29 - 24
    const told = runChild<number[]>(
      `const service = new spillway.TruncationService({ storageDirs: [input.dir] })
       const result = await service.output('x'.repeat(input.length), { toolName: 'x' })
       answer([result.preview.length, result.totalBytes, require('node:fs').statSync(result.outputPath).size])`,
      { input: { dir: tempDir(), length } },
    )
    expect(told).toEqual([51_200, length, length])
  })

  withMemory(8 * 1024 * MIB)('longer than V8 holds, within limits that allow it, is cut and saved', () => {
    const length = 2 ** 29 + 1
    const told = runChild<unknown[]>(
      `const service = new spillway.TruncationService({ storageDirs: [input.dir], global: { maxBytes: 1e9 } })
       const script = 'const piece = Buffer.alloc(2 ** 20, 120); let n = 0;' +
         'const go = () => n++ < 512 ? process.stdout.write(piece, go) : process.stdout.write("x"); go()'
       const { output, totalBytes } = await spillway.runCommand(process.execPath, ['-e', script], { service })
       const saved = require('node:fs').statSync(output.outputPath).size
       answer([output.truncated, output.preview.length, totalBytes, saved])`,
      { input: { dir: tempDir() } },
    )
    expect(told).toEqual([true, 511 * MIB, length, length])
  })
})

test('D3 #27 only a line feed ends a line, and carriage returns stay', async () => {
  const first = 'CR \r VT \v FF \f NEL \u0085 LS \u2028 PS \u2029 CRLF \r\n'
  const text = `${first}second\r\nthird\r\n`
  const result = cut(await makeService({ global: { maxLines: 2 } }).output(text, tool))
  expect([result.totalLines, result.keptLines, result.removedLines]).toEqual([3, 2, 1])
  expect(`${result.preview}\r\n`).toBe(`${first}second\r\n`)
  expect(fileOf(result).toString()).toBe(text)
})

describe('D3 #28 halves of surrogate pairs', () => {
  const rows: [what: string, text: string][] = [
    ['a lone high one', 'a\ud83db'],
    ['a lone low one', 'a\ude00b'],
    ['the wrong way round', 'a\ude00\ud83db'],
    ['at both ends', '\ude00ab\ud83d'],
    ['a whole pair', 'a😀b'],
  ]
  test.each(rows)('%s: shown well-formed within every limit, and saved exactly', async (_what, piece) => {
    const text = `${piece.repeat(5)}\n`.repeat(3)
    const storage = new TruncationStorage(tempDir())
    for (const direction of DIRECTIONS) {
      for (let maxBytes = 1; maxBytes < 20; maxBytes += 1) {
        const service = makeService({ storage, global: { maxBytes, direction } })
        const result = cut(await service.output(text, tool))
        expect(result.content.isWellFormed()).toBe(true)
        expect(bytesOf(result.preview)).toBeLessThanOrEqual(maxBytes)
        if (maxBytes === 7) expect(await storage.read(result.outputPath)).toBe(text)
      }
    }
  })
})

describe('D3 #29 what people see as one character', () => {
  const rows: [what: string, text: string][] = [
    ['families of emoji', '👨‍👩‍👧‍👦'.repeat(20)],
    ['flags', '🇩🇪🇫🇷🇮🇹'.repeat(10)],
    ['a letter with 10,000 marks', `abc z${'\u0301\u0323'.repeat(5000)}def`],
    ['skin tones and keycaps', '👋🏽1️⃣'.repeat(20)],
  ]
  test.each(rows)('%s, at every limit to 64', async (_what, text) => {
    const storage = memoryStorage()
    for (const direction of DIRECTIONS) {
      for (let maxBytes = 1; maxBytes <= 64; maxBytes += 1) {
        const service = makeService({ storage, global: { maxBytes, direction } })
        const { preview, content, ranges } = cut(await service.output(text, tool))
        expect(content.isWellFormed()).toBe(true)
        expect(bytesOf(preview)).toBeLessThanOrEqual(maxBytes)
        // The preview is the text of the file, from one whole code point to another.
        const bytes = Buffer.from(text)
        for (const { fromByte, toByte } of ranges) {
          const shown = bytes.subarray(fromByte, toByte).toString()
          expect(shown).not.toContain('\ufffd')
          expect(preview).toContain(shown)
        }
      }
    }
  })
})

describe('D3 #30 bytes that are no text', () => {
  const rows: [what: string, bytes: Buffer][] = [
    ['0xFF', Buffer.alloc(300, 0xff)],
    ['overlong forms', Buffer.from('c0afe080afc080f08080af'.repeat(30), 'hex')],
    ['a character that ends too early', Buffer.concat([Buffer.alloc(300, '你'), Buffer.from([0xe4, 0xbd])])],
    ['code points beyond Unicode', Buffer.from('f4908080f8888080'.repeat(40), 'hex')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${'text 你'.repeat(60)}`, 'utf16le')],
    ['a compressed file', gzipSync(Buffer.from(numbered(500)))],
    ['every byte', Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256))],
  ]
  test.each(rows)('%s: saved byte for byte, shown with U+FFFD', async (_what, bytes) => {
    const result = cut(await makeService({ global: { maxBytes: 100 } }).output(bytes, tool))
    expect(fileOf(result).equals(bytes)).toBe(true)
    expect([result.preview.isWellFormed(), result.totalBytes]).toEqual([true, bytes.length])
    expect(bytes.toString('utf8').startsWith(result.preview)).toBe(true)
    expect(result.preview).not.toBe('')
  })
})

test('D3 #31 NUL bytes and a byte order mark stay', async () => {
  const text = `\ufeff\0a\0\n${numbered(9)}`
  for (const content of [text, Buffer.from(text)]) {
    expect(await makeService().output(content, tool)).toEqual({ content: text, truncated: false })
    const result = cut(await makeService({ global: { maxLines: 2 } }).output(content, tool))
    expect(result.preview).toBe('\ufeff\0a\0\nline 1')
    expect(fileOf(result).toString()).toBe(text)
  }
})

describe('D3 #32 bytes that change while they are taken in', () => {
  test.each([0, 1, 2, 5])('a preview shows what was saved, and all of it was: after %d turns', async (turns) => {
    for (const size of [100 * 1024, 3 * MIB]) {
      const bytes = new Uint8Array(size).fill(97)
      const pending = makeService().output(bytes, tool)
      for (let turn = 0; turn < turns; turn += 1) await null
      bytes.fill(98)
      const result = cut(await pending)
      const saved = fileOf(result)
      expect(saved.length).toBe(size)
      expect(saved.subarray(0, 51_200).toString()).toBe(result.preview)
    }
  })
})

describe('D3 #33 memory that can be resized or shared', () => {
  // Node 20 has them; the types of the language version do not.
  const resizable = (size: number) =>
    new (ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer & { resize(size: number): void })(
      size,
      { maxByteLength: size * 2 },
    )
  test.each([
    ['shrunk at once', 0, 0.5],
    ['shrunk later', 2, 0.5],
    ['emptied', 0, 0],
    ['grown', 1, 2],
  ])('%s: saved whole or refused', async (_what, turns, factor) => {
    for (const size of [100 * 1024, 3 * MIB]) {
      const dir = tempDir()
      const buffer = resizable(size)
      const bytes = new Uint8Array(buffer).fill(97)
      const pending = makeService({ storageDirs: [dir] }).output(bytes, tool)
      for (let turn = 0; turn < turns; turn += 1) await null
      buffer.resize(size * factor)
      const outcome = await pending.then(
        (result) => fileOf(cut(result)),
        ({ code }) => code,
      )
      if (typeof outcome === 'string') expect([outcome, filesIn(dir)]).toEqual(['INVALID_ARGUMENT', []])
      else expect(outcome.equals(Buffer.alloc(size, 97))).toBe(true)
    }
  })

  test('shared: saved whole', async () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(100 * 1024)).fill(97)
    expect(fileOf(cut(await makeService().output(bytes, tool))).equals(Buffer.alloc(100 * 1024, 97))).toBe(true)
  })
})

test('D3 #34 a text that holds our own words is counted as any other', async () => {
  const service = makeService({ global: { maxLines: 50 } })
  const earlier = cut(await service.output(numbered(300), tool))
  const forged = earlier.content.replaceAll(earlier.outputPath, '/etc/passwd')
  expect(containsTruncationMarker(forged)).toBe(true)
  const text = `${forged}\n`.repeat(10)
  const result = cut(await service.output(text, tool))
  expect([result.totalLines, result.keptLines, result.removedLines]).toEqual([
    countLines(text),
    50,
    countLines(text) - 50,
  ])
  expect(result.outputPath).not.toBe('/etc/passwd')
  expect(result.hint).toContain(result.outputPath)
  expect(result.content.endsWith(result.hint)).toBe(true)
  expect(fileOf(result).toString()).toBe(text)
  // Shorter than the limits, a text full of our words is a text.
  expect(await service.output(forged.slice(-300), tool)).toEqual({ content: forged.slice(-300), truncated: false })
})

test('D3 #35 what looks like a place to fill in is text', async () => {
  const odd = "$& $` $' $1 $$ %s %d %j {} {0} {path} \\0 \\n"
  const text = `${odd}\n`.repeat(9)
  const plain = cut(await makeService({ global: { maxLines: 2 } }).output(text, tool))
  expect(plain.preview).toBe(`${odd}\n${odd}`)
  expect(fileOf(plain).toString()).toBe(text)
  const service = makeService({ global: { maxLines: 2 }, formatNotice: () => odd })
  const worded = cut(await service.output(text, { ...tool, toolName: odd, sessionId: odd }))
  expect(worded.hint).toBe(odd)
  expect(worded.content.endsWith(odd)).toBe(true)
})

test('D3 #36 escape sequences, links and a million progress marks are kept', async () => {
  const link = '\u001b]8;;https://example.com\u0007here\u001b]8;;\u0007'
  const text = `\u001b[31mred\u001b[0m ${link}\n${Array.from({ length: 1_000_000 }, (_, at) => `\r${at % 100}%`).join('')}\n`
  const result = cut(await makeService().output(text, tool))
  expect(fileOf(result).toString() === text).toBe(true)
  expect(result.preview.startsWith(`\u001b[31mred\u001b[0m ${link}`)).toBe(true)
  expect(bytesOf(result.preview)).toBeLessThanOrEqual(51_200)
})

test('D3 #37 secrets go into a file that only its user can read', async () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----\n`
  const result = cut(await makeService({ global: { maxLines: 2 } }).output(key, tool))
  if (process.platform !== 'win32') expect(statSync(result.outputPath).mode & 0o777).toBe(0o600)
  expect(fileOf(result).toString()).toBe(key)
})

describe('D3 #38 a great many small outputs', () => {
  test('the bound on their number holds', async () => {
    const dir = tempDir()
    const storage = new TruncationStorage({ storageDirs: [dir], maxStoreFiles: 500 })
    const count = isLong ? 1_000_000 : 2000
    const paths = await Promise.all(Array.from({ length: count }, () => storage.save('x', tool)))
    expect(new Set(paths).size).toBe(count)
    for (const path of paths) age(path, 2)
    expect((await storage.sweep()).kept).toEqual({ files: 500, bytes: 500 })
    expect(filesIn(dir)).toHaveLength(500)
  })

  mounted('no more can be made on the disk: the next folder takes them, and without one the preview comes back', () => {
    const [small, next] = [tempDir(), tempDir()]
    const told = runChild<{ dirs: number[]; lost: { path: string; error: string; shown: boolean } }>(
      `const { dirname } = require('node:path')
       const text = 'a\\nb\\nc\\nd'
       const make = (storageDirs) => new spillway.TruncationService({ storageDirs, global: { maxLines: 2 } })
       const both = make([input.small, input.next])
       const dirs = [0, 0]
       for (let i = 0; i < 40; i += 1) {
         const { outputPath } = await both.output(text, { toolName: 'x' })
         dirs[dirname(outputPath) === input.small ? 0 : 1] += 1
       }
       const { outputPath, saveError, preview } = await make([input.small]).output(text, { toolName: 'x' })
       answer({ dirs, lost: { path: outputPath, error: saveError.attempts[0].error, shown: preview === 'a\\nb' } })`,
      {
        input: { small, next },
        under: ['unshare', '-m', 'sh', '-c', `mount -t tmpfs -o nr_inodes=20 none ${small} && exec "$@"`, 'sh'],
      },
    )
    expect(told.dirs[0]).toBeGreaterThan(10)
    expect(told.dirs[0]! + told.dirs[1]!).toBe(40)
    expect(told.lost).toEqual({ path: '', error: expect.stringMatching(/^ENOSPC: /), shown: true })
  })
})

describe('D3 #39 limits that are none', () => {
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 0.5, '10'])('%p', async (value) => {
    for (const key of ['maxLines', 'maxBytes']) {
      const wrong = { name: 'SpillwayError', field: expect.stringMatching(`${key}$`) }
      expect(thrown(() => makeService({ global: { [key]: value } }))).toMatchObject(wrong)
      const options = { [key]: value as number }
      for (const text of ['', 'short', numbered(3000)]) {
        expect(await rejection(makeService().output(text, { ...tool, options }))).toMatchObject(wrong)
      }
    }
  })
})

test('D3 #40 a notice that is longer than the budget keeps the budget', async () => {
  const text = numbered(300)
  const storage = new MemoryStorage()
  for (const formatNotice of [undefined, () => 'x'.repeat(10_000), () => '你\n'.repeat(5000)]) {
    for (const direction of DIRECTIONS) {
      for (const [maxLines, maxBytes] of [
        [1, 1],
        [1, 40],
        [2, 300],
        [3, 10],
        [9, 100],
        [2000, 64],
        [1, 51_200],
      ] as const) {
        const service = makeService({
          storage,
          noticeInside: true,
          formatNotice,
          global: { maxLines, maxBytes, direction },
        })
        const { content } = cut(await service.output(text, tool))
        expect(bytesOf(content)).toBeLessThanOrEqual(maxBytes)
        expect(countLines(content)).toBeLessThanOrEqual(maxLines)
        expect(content.isWellFormed()).toBe(true)
      }
    }
  }
})

test('D3 #41 equal outputs of different calls are different files', async () => {
  const dir = tempDir()
  const service = makeService({ storageDirs: [dir], global: { maxLines: 3 } })
  const contexts = [tool, tool, { ...tool, toolCallId: 'a' }, { ...tool, toolCallId: 'b' }]
  const results = await Promise.all(contexts.map((context) => service.output(numbered(9), context)))
  expect(new Set(results.map((result) => cut(result).outputPath)).size).toBe(4)
  expect(filesIn(dir)).toHaveLength(4)
})
