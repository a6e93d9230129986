import fc from 'fast-check'
import type { TruncationConfig } from 'spillway'
import { BaseTruncationStrategy, CsvStrategy } from 'spillway/truncation'
import { cut, makeService } from '../support/outputs'

/** Parses a text by RFC 4180. Blank lines do not count. */
function parse(text: string, delimiter = ','): string[][] {
  const rows: string[][] = []
  const field = new RegExp(`("(?:[^"]|"")*"|[^${delimiter}\\r\\n]*)(${delimiter}|\\r?\\n|$)`, 'gy')
  let row: string[] = []
  for (const [, value = '', end = ''] of text.matchAll(field)) {
    if (end === '' && value === '' && row.length === 0) break
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value)
    if (end === delimiter) continue
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
    if (end === '') break
  }
  return rows
}

const ROWS = Array.from({ length: 5000 }, (_, id) => [
  `${id}`,
  `row ${id}`,
  id === 3210 ? 'failed' : 'ok',
  id === 1234 ? '99999' : `${10 + (id % 7)}`,
])
const HEADER = ['id', 'name', 'status', 'ms']
const TABLE = [HEADER, ...ROWS].map((row) => `${row.join(',')}\n`).join('')

describe('csv', () => {
  it('keeps the header, both ends and rows that differ, and says which lines are shown', async () => {
    const service = makeService({ strategy: 'csv', global: { maxBytes: 2500 } })
    const result = cut(await service.output(TABLE, { toolName: 'bash' }))
    const rows = parse(result.preview)
    expect(rows[0]).toEqual(HEADER)
    expect(rows).toEqual(expect.arrayContaining([ROWS[0], ROWS[1234], ROWS[3210], ROWS[4999]]))
    expect(Buffer.byteLength(result.preview)).toBeLessThanOrEqual(2500)
    expect(Buffer.byteLength(result.preview)).toBeGreaterThan(2300)
    expect(result.hint).toContain(`Shown: the header and ${rows.length - 1} of 5000 rows, lines 1-`)
    expect(result.hint).toMatch(/, 1236, 3212, \d+-5001\./)
    const shown = result.ranges.map(({ fromByte, toByte }) => TABLE.slice(fromByte, toByte)).join('\n')
    expect(shown).toBe(result.preview)
    const lines = TABLE.split('\n')
    const numbered = result.ranges
      .map(({ fromLine, toLine }) => lines.slice(fromLine - 1, toLine).join('\n'))
      .join('\n')
    expect(numbered).toBe(result.preview)
    expect(result.keptLines).toBe(rows.length)
  })

  it('is the same for an output that is still coming, and with the notice inside keeps the limits as a whole', async () => {
    const service = makeService({ tools: { query: { strategy: 'csv' } }, noticeInside: true, global: { maxLines: 50 } })
    const whole = cut(await service.output(TABLE, { toolName: 'query' }))
    expect(whole.content.split('\n').length).toBeLessThanOrEqual(50)
    expect(parse(whole.preview).every((row) => row.length === 4)).toBe(true)
    const capture = service.capture({ toolName: 'query' })
    for (let at = 0; at < TABLE.length; at += 777) capture.write(Buffer.from(TABLE.slice(at, at + 777)))
    capture.end()
    expect(cut(await capture.result).preview).toBe(whole.preview)
    expect(service.effectiveConfig({ toolName: 'query' }).config.strategy).toBe('csv')
  })

  it.each([
    ['tabs', '\t', (row: string[]) => row.join('\t')],
    ['semicolons', ';', (row: string[]) => row.map((cell) => `${cell},5`).join(';')],
    ['quotes and breaks', ',', (row: string[]) => row.map((cell) => `"${cell}, ""x""\nand more"`).join(',')],
  ])('reads %s', async (_, delimiter, write) => {
    const text = [HEADER, ...ROWS].map((row) => `${write(row)}\r\n`).join('')
    const service = makeService({ strategy: 'csv', global: { maxLines: 100, maxBytes: 4000 } })
    const { preview } = cut(await service.output(text, { toolName: 'bash' }))
    const [shown, whole] = [parse(preview, delimiter), parse(text, delimiter).map((row) => row.join('\0'))]
    expect(shown.length).toBeGreaterThan(10)
    expect(shown[0]!.join('\0')).toBe(whole[0])
    for (const row of shown) {
      expect(row).toHaveLength(4)
      expect(whole).toContain(row.join('\0'))
    }
  })

  it('shows a text that is no table as smart does', async () => {
    const text = `${'It rains, and nobody knows why.\nReally.\n'.repeat(3000)}error: no, it broke\n`
    const service = makeService()
    const [csv, smart] = await Promise.all(
      (['csv', 'smart'] as const).map(async (strategy) =>
        cut(await service.output(text, { toolName: 'bash', options: { strategy, maxLines: 40 } })),
      ),
    )
    expect(csv!.preview).toBe(smart!.preview)
    expect(csv!.preview).toContain('error: no, it broke')
  })

  it('keeps its limits and every row whole, for any table', () => {
    const strategy = new CsvStrategy()
    const cell = fc
      .array(fc.constantFrom('a', '1', ',', '"', '\n', ' ', 'é', '😀', 'error'), { maxLength: 8 })
      .map((parts) => parts.join(''))
      .map((text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
    const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 8, maxLength: 80 })
    fc.assert(
      fc.property(
        table,
        fc.integer({ min: 20, max: 400 }),
        fc.integer({ min: 2, max: 40 }),
        (rows, maxBytes, maxLines) => {
          const text = `a,b,c\n${rows.map((row) => `${row.join(',')}\n`).join('')}`
          const { content } = strategy.truncate(text, { maxLines, maxBytes } as TruncationConfig)
          const whole = parse(text).map((row) => row.join('\0'))
          return (
            content === text ||
            (Buffer.byteLength(content) <= maxBytes &&
              content.split('\n').length <= maxLines &&
              parse(content).every((row, at) => row.length === 3 && whole.indexOf(row.join('\0')) >= Math.min(at, 1)))
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('is a strategy like the others', () => {
    const strategy = new CsvStrategy()
    expect(strategy).toBeInstanceOf(BaseTruncationStrategy)
    expect(strategy.name).toBe('csv')
    const config = { maxLines: 5, maxBytes: 500 } as TruncationConfig
    expect(strategy.needsTruncation('a,b\n', config)).toBe(false)
    const { content, removedLines } = strategy.truncate(TABLE, config)
    expect([content.split('\n').length, removedLines]).toEqual([5, 4996])
  })
})
