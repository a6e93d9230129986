/**
 * Outputs of many tools, each with the lines that say what went wrong among thousands of others, in `formats/`:
 * `=== name`, then what comes before the fault, the fault, what comes after it and the end, with `---` between them. The lines
 * before and after are repeated with a number in the place of `{n}`; the lines to keep are marked by `>> `.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStorage, TruncationService } from 'spillway'

const MARK = /^>> /gm

interface Format {
  name: string
  text: string
  wanted: string[]
}

function repeated(lines: string, from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => lines.replaceAll('{n}', String(from + index))).join('')
}

function read(file: string): Format[] {
  const [, ...parts] = readFileSync(join(__dirname, 'formats', file), 'utf8').split(/^=== /m)
  return parts.map((part) => {
    const [, name = '', body = ''] = /^(.*)\n([\s\S]*)$/.exec(part) ?? []
    const [before = '', fault = '', after = '', end = ''] = body.split(/^---\n/m)
    const marked = `${fault}${end}`
    return {
      name,
      text: [repeated(before, 0, 1000), fault, repeated(after, 1000, 3500), end].join('').replace(MARK, ''),
      wanted: marked
        .split('\n')
        .filter((line) => line.startsWith('>> '))
        .map((line) => line.slice(3)),
    }
  })
}

describe.each(['builds.txt', 'operations.txt', 'tests.txt'])('%s', (file) => {
  it.each(read(file).map((format) => [format.name, format] as const))('%s', async (_, { text, wanted }) => {
    const service = new TruncationService({ storage: new MemoryStorage() })
    const options = { strategy: 'smart' as const, maxLines: 100, maxBytes: 4096 }
    const result = await service.output(text, { toolName: 'bash', options })
    if (!result.truncated) throw new Error('nothing was cut')
    expect(wanted.length).toBeGreaterThan(0)
    expect(result.preview?.split('\n')).toEqual(expect.arrayContaining(wanted))
  })
})
