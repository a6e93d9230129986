import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const textOf = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8')
const countIn = (value: unknown): number =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.values(value).reduce((sum: number, one) => sum + countIn(one), 0)
    : (value as unknown[]).length

/** The lists of a file, in the order in which a page counts them. */
const LISTS: [file: string, english: string[][], chinese: string[][]][] = [
  ['bypass', [['commands']], [['commands']]],
  ['denied', [['programs'], ['files'], ['harmless']], []],
  ['options', [['everyday', 'asked'], ['allowed'], ['outside']], [['everyday', 'asked'], ['allowed']]],
  ['programs', [['commands']], [['commands']]],
  ['everyday', [['commands'], ['others']], [['commands']]],
  ['destroyers', [['destroyers'], ['harmless']], [['destroyers'], ['harmless']]],
]

/** The numbers that a page says there are more of, in its sentences about a file of the tests. */
function figuresOf(page: string, file: string, more: RegExp): number[] {
  const about = page.split(`__test__/permission/${file}.json`).at(-1) ?? ''
  const [sentences = ''] = about.split(/\n(?![ ]{2})|__test__/)
  return Array.from(sentences.matchAll(more), ([, figure = '']) => Number(figure.replace(',', '')))
}

describe.each([
  ['docs/permission.md', /\bmore than ([\d,]+)/gi, 1],
  ['docs/zh-CN/permission.md', /([\d,]+) 多/g, 2],
] as const)('%s', (path, more, column) => {
  const page = textOf(path)
  test.each(LISTS.filter((row) => row[column].length > 0))(
    'says of %s how many there are at least',
    (file, ...lists) => {
      const data = JSON.parse(textOf(`__test__/permission/${file}.json`)) as Record<string, unknown>
      const counts = (lists[column - 1] ?? []).map((names) =>
        countIn(Object.fromEntries(names.map((name) => [name, data[name]]))),
      )
      const figures = figuresOf(page, file, more)
      expect(figures).toHaveLength(counts.length)
      for (const [at, figure] of figures.entries()) {
        expect(counts[at]).toBeGreaterThan(figure)
        expect(counts[at]).toBeLessThan(figure * 1.2)
      }
    },
  )
})
