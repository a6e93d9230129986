import { linkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type ReadRange, TruncationStorage } from 'spillway'
import { runChild } from '../support/child'
import { onUnix } from '../support/only'
import { countLines, numbered, rejection } from '../support/outputs'
import { age, tempDir } from '../support/temp'

const tool = { toolName: 'x' }
const MAX = 256 * 1024

async function saved(text: string | Uint8Array): Promise<{ storage: TruncationStorage; path: string }> {
  const storage = new TruncationStorage(tempDir())
  const path = typeof text === 'string' ? await storage.save(text, tool) : await storage.saveBytes(text, tool)
  return { storage, path }
}

/** All that `next` leads to, from a first range on. */
async function follow(storage: TruncationStorage, path: string, first: ReadRange) {
  const pieces = [await storage.readRange(path, first)]
  for (;;) {
    const { next } = pieces.at(-1)!
    if (next === undefined) return pieces
    pieces.push(await storage.readRange(path, next))
  }
}

const joined = (pieces: { text: string }[]) => pieces.map(({ text }) => text).join('')

describe('by line', () => {
  test('lines count from 1 and keep their breaks', async () => {
    const { storage, path } = await saved('one\r\ntwo\n\nfour')
    expect(await storage.readRange(path, { fromLine: 2, lineCount: 2 })).toEqual({
      text: 'two\n\n',
      fromLine: 2,
      lineCount: 2,
      fromByte: 5,
      byteCount: 5,
      totalBytes: 14,
      next: { fromLine: 4, lineCount: 2 },
      partial: false,
    })
    expect(await storage.readRange(path, { fromLine: 4 })).toEqual({
      text: 'four',
      fromLine: 4,
      lineCount: 1,
      fromByte: 10,
      byteCount: 4,
      totalBytes: 14,
      partial: false,
    })
  })

  test('after the end there is no text and no next offset', async () => {
    const { storage, path } = await saved('one\ntwo\n')
    for (const fromLine of [3, 4, 2 ** 40]) {
      const { text, lineCount, next } = await storage.readRange(path, { fromLine, lineCount: 5 })
      expect([text, lineCount, next]).toEqual(['', 0, undefined])
    }
  })

  test('an empty output has no line', async () => {
    const { storage, path } = await saved('')
    const { text, lineCount, totalBytes, next, partial } = await storage.readRange(path, { lineCount: 1 })
    expect([text, lineCount, totalBytes, next, partial]).toEqual(['', 0, 0, undefined, false])
  })

  test('more lines than one call gives come as whole lines and go on', async () => {
    const text = numbered(50_000)
    const { storage, path } = await saved(text)
    const pieces = await follow(storage, path, { fromLine: 1 })
    expect(joined(pieces)).toBe(text)
    expect(pieces.length).toBeGreaterThan(2)
    for (const piece of pieces) {
      expect(piece.byteCount).toBeLessThanOrEqual(MAX)
      expect(piece.partial).toBe(false)
      expect(piece.text.startsWith(`line ${piece.fromLine}\n`)).toBe(true)
      expect(countLines(piece.text)).toBe(piece.lineCount)
    }
  })

  test('a line that is longer than a call gives comes in parts that say so', async () => {
    const text = `first\n${'你😀'.repeat(100_000)}\nlast`
    const { storage, path } = await saved(text)
    const pieces = await follow(storage, path, { fromLine: 1, lineCount: 10 })
    expect(joined(pieces)).toBe(text)
    expect(pieces.map(({ fromLine, partial }) => [fromLine, partial])).toEqual([
      [1, false],
      [2, true],
      [2, true],
      [2, true],
    ])
    expect(pieces[1]!.next).toEqual({ fromLine: 2, lineCount: 10, fromByte: expect.any(Number) })
    for (const { text } of pieces) expect(text.isWellFormed()).toBe(true)
  })

  test('any ranges of lines are those of a split', async () => {
    const line = fc.array(fc.constantFrom('a', 'é', '你', '😀', '\r', ' ')).map((units) => units.join(''))
    const property = fc.asyncProperty(
      fc.array(line, { maxLength: 30 }),
      fc.boolean(),
      fc.nat(35),
      fc.integer({ min: 1, max: 10 }),
      async (lines, ends, from, lineCount) => {
        const text = lines.join('\n') + (ends ? '\n' : '')
        const { storage, path } = await saved(text)
        const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
        const got = await storage.readRange(path, { fromLine: from + 1, lineCount })
        const expected = all.slice(from, from + lineCount)
        expect([got.text, got.lineCount]).toEqual([expected.join(''), expected.length])
        expect(got.next !== undefined).toBe(from + lineCount < all.length)
        expect(joined(await follow(storage, path, { fromLine: 1, lineCount }))).toBe(text)
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  test('does not read a file that another program changed by an old index', async () => {
    const { storage, path } = await saved(numbered(400_000))
    expect((await storage.readRange(path, { fromLine: 399_999, lineCount: 1 })).text).toBe('line 399999\n')
    writeFileSync(path, numbered(300_000, 7))
    expect((await storage.readRange(path, { fromLine: 299_999, lineCount: 1 })).text).toBe('line 300005\n')
  })
})

describe('by byte', () => {
  test('a character belongs to the range that its first byte is in', async () => {
    const { storage, path } = await saved('a😀é')
    const read = async (fromByte: number, byteCount: number) => {
      const { text, fromByte: from, byteCount: count } = await storage.readRange(path, { fromByte, byteCount })
      return [text, from, count]
    }
    expect(await read(0, 2)).toEqual(['a😀', 0, 5])
    expect(await read(2, 2)).toEqual(['', 5, 0])
    expect(await read(2, 4)).toEqual(['é', 5, 2])
    expect(await read(100, 4)).toEqual(['', 7, 0])
  })

  test('says what is cut', async () => {
    const { storage, path } = await saved('one\ntwo\n')
    const partial = async (fromByte: number, byteCount: number) =>
      (await storage.readRange(path, { fromByte, byteCount })).partial
    expect(await partial(0, 4)).toBe(false)
    expect(await partial(4, 4)).toBe(false)
    expect(await partial(0, 3)).toBe(true)
    expect(await partial(1, 3)).toBe(true)
  })

  test('any bytes come back as the text that they are, however they are tiled', async () => {
    const unit = fc.constantFrom(0x61, 0x0a, 0xe4, 0xbd, 0xa0, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xc3)
    const property = fc.asyncProperty(
      fc.array(unit, { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (bytes, byteCount) => {
        const { storage, path } = await saved(Uint8Array.from(bytes))
        const whole = await storage.read(path)
        expect(joined(await follow(storage, path, { fromByte: 0, byteCount }))).toBe(whole)
        let tiles = ''
        for (let fromByte = 0; fromByte < bytes.length; fromByte += byteCount) {
          tiles += (await storage.readRange(path, { fromByte, byteCount })).text
        }
        expect(tiles).toBe(whole)
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  test('lone surrogates are marks, one for each', async () => {
    const { storage, path } = await saved('a\ud800b')
    expect((await storage.readRange(path, { fromByte: 0 })).text).toBe('a\ufffdb')
    expect((await storage.readRange(path, { fromByte: 2, byteCount: 9 })).text).toBe('b')
  })

  test('no call gives more than 262,144 bytes', async () => {
    const { storage, path } = await saved('😀'.repeat(200_000))
    for (const fromByte of [0, 1, 2, 3]) {
      const { byteCount, text } = await storage.readRange(path, { fromByte, byteCount: 10 ** 9 })
      expect(byteCount).toBeGreaterThan(MAX - 4)
      expect(byteCount).toBeLessThanOrEqual(MAX)
      expect(text.isWellFormed() && !text.includes('\ufffd')).toBe(true)
    }
  })
})

describe('refusals', () => {
  test.each([
    [undefined, 'range'],
    [{}, 'range'],
    [{ fromLine: 1, byteCount: 1 }, 'range'],
    [{ fromLine: 1, maxBytes: 3 }, 'range.maxBytes'],
    [{ fromLine: 1, maxBytes: 262_145 }, 'range.maxBytes'],
    [{ fromByte: 0, maxBytes: 9 }, 'range'],
    [{ fromLine: 0 }, 'range.fromLine'],
    [{ fromLine: 1.5 }, 'range.fromLine'],
    [{ fromLine: '1' }, 'range.fromLine'],
    [{ lineCount: 0 }, 'range.lineCount'],
    [{ lineCount: 1, fromByte: 5 }, 'range.fromLine'],
    [{ fromByte: -1 }, 'range.fromByte'],
    [{ byteCount: Number.POSITIVE_INFINITY }, 'range.byteCount'],
    [{ from: 1 }, 'range.from'],
    [{ fromLine: 1, signal: {} }, 'range.signal'],
  ])('rejects the range %j', async (range, field) => {
    const { storage, path } = await saved('text')
    expect(await rejection(storage.readRange(path, range as ReadRange))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    })
  })

  test('rejects paths outside the store and swept files', async () => {
    const { storage, path } = await saved('text')
    for (const other of ['/etc/passwd', join(storage.getStorageDir(), 'notes.txt'), `${path}/../x`]) {
      expect(await rejection(storage.readRange(other, { fromLine: 1 }))).toMatchObject({ code: 'STORAGE_NOT_OWNED' })
    }
    age(path, 24 * 8)
    await storage.cleanup(7)
    expect(await rejection(storage.readRange(path, { fromLine: 1 }))).toMatchObject({ code: 'STORAGE_NOT_FOUND' })
  })

  onUnix('of links', async () => {
    const dir = tempDir()
    const secret = join(tempDir(), 'secret')
    writeFileSync(secret, 'secret')
    const [soft, hard] = [join(dir, 'x_1_aaaaaaaaaaaaa.txt'), join(dir, 'x_1_bbbbbbbbbbbbb.txt')]
    symlinkSync(secret, soft)
    linkSync(secret, hard)
    const storage = new TruncationStorage(dir)
    for (const path of [soft, hard]) {
      expect(await rejection(storage.readRange(path, { fromLine: 1 }))).toMatchObject({
        code: expect.stringMatching(/^STORAGE_(NOT_OWNED|READ)$/),
      })
    }
  })

  test('rejects with the reason of an aborted signal', async () => {
    const { storage, path } = await saved('x'.repeat(100_000_000))
    const reason = new Error('enough')
    expect(await rejection(storage.readRange(path, { fromLine: 1, signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    const reading = storage.readRange(path, { fromLine: 2, signal: controller.signal })
    setImmediate(() => controller.abort(reason))
    expect(await rejection(reading)).toBe(reason)
  })
})

describe('a large file', () => {
  test('is read and searched anywhere in little memory', () => {
    const dir = tempDir()
    const answer = runChild<{ last: string; second: number; grown: number; found: number; lines: number }>(
      `const fs = require('node:fs')
       const storage = new spillway.TruncationStorage(input)
       const path = await storage.save('', { toolName: 'x' })
       const block = Buffer.from('0123456789 0123456789 0123456789 012345678\\n'.repeat(1 << 14))
       const fd = fs.openSync(path, 'a')
       const blocks = Math.ceil(200e6 / block.length)
       for (let i = 0; i < blocks; i += 1) fs.writeSync(fd, block)
       fs.writeSync(fd, 'the last line')
       fs.closeSync(fd)
       const lines = blocks * (1 << 14) + 1
       await storage.readRange(path, { fromLine: 1 })
       await storage.search(path, 'nothing like it', { maxMatches: 1, after: '1:' + (fs.statSync(path).size - 13) })
       const before = process.memoryUsage().rss
       const { text: last } = await storage.readRange(path, { fromLine: lines })
       const began = performance.now()
       await storage.readRange(path, { fromLine: lines >> 1, lineCount: 100 })
       const second = performance.now() - began
       const found = await storage.search(path, 'last l[a-z]+e')
       answer({ last, second, grown: process.memoryUsage().rss - before, found: found.matches[0].line, lines })`,
      { input: dir },
    )
    expect(answer.last).toBe('the last line')
    expect(answer.found).toBe(answer.lines)
    // A generous bound for a loaded machine; alone it takes less than a millisecond.
    expect(answer.second).toBeLessThan(50)
    expect(answer.grown).toBeLessThan(16 * 1024 * 1024)
    rmSync(dir, { recursive: true })
  })
})
