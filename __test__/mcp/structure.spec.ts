import { readFileSync } from 'node:fs'
import { TruncationService } from 'spillway'
import { guardMcpClient } from 'spillway/mcp'
import { describeUnless } from '../support/only'
import { tempDir } from '../support/temp'
import { Echo } from './echo'
import { pathIn } from './host'

const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n')
const rows = Array.from({ length: 40 }, (_, at) => ({ at, name: `row ${at}` }))
const json = JSON.stringify(rows, null, 2)

/** A server's texts and its structure, and the other fields of the structure, as the file has them after the texts. */
const CASES: [name: string, texts: string[], structure: unknown, besides?: unknown][] = [
  ['the text in a member', [lines], { content: lines }],
  ['the text in the member result', [lines], { result: lines }],
  ['the text, two levels down', [lines], { result: { output: lines } }],
  ['the text and null', [lines], { content: lines, error: null }],
  ['the text without its last line feed', [`${lines}\n`], { content: lines }],
  ['all texts', [lines, 'more'], { content: [lines, 'more'] }],
  ['all texts, joined', [lines, 'more'], { content: `${lines}\nmore` }],
  ['the JSON that the text is', [json], rows],
  ['the JSON that the text is, in a member', [json], { result: rows }],
  ['the JSON that the text is, with members in another order', [json], rows.map(({ at, name }) => ({ name, at }))],
  ['the JSON of each text', rows.map((row) => JSON.stringify(row)), { result: rows }],
  [
    'the numbers of each text',
    Array.from({ length: 40 }, (_, at) => `${at}`),
    { result: Array.from({ length: 40 }, (_, at) => at) },
  ],
  ['the text and a number', [lines], { content: lines, exitCode: 1 }, { exitCode: 1 }],
  ['the text and another', [lines], { stdout: lines, stderr: 'warning' }, { stderr: 'warning' }],
  ['something else', [lines], { rows: [1, 2] }, { rows: [1, 2] }],
  ['a part of the text', [lines], { content: 'line 1' }, { content: 'line 1' }],
]

test.each(CASES)('a structure with %s', async (...row) => {
  const [, texts, structuredContent, besides] = row
  const truncation = new TruncationService({ storageDirs: [tempDir()], global: { maxLines: 10 } })
  const content = texts.map((text) => ({ type: 'text', text }))
  const client = guardMcpClient(
    { callTool: async (_params: object) => ({ content, structuredContent }) },
    { truncation },
  )
  const result = await client.callTool({ name: 'x' })
  expect(result).not.toHaveProperty('structuredContent')
  const extra = besides === undefined ? [] : [JSON.stringify(besides, null, 2)]
  expect(readFileSync(pathIn(result as never), 'utf8')).toBe([...texts, ...extra].join('\n'))
})

describeUnless(process.platform === 'win32' ? 'needs cat' : '', 'in a message that is too long for memory', () => {
  const long = `${lines}\n"quoted", \\ and é\n`.repeat(15_000)
  const many = Array.from({ length: 150_000 }, (_, at) => ({ at, name: `row ${at}: é` }))
  const ascii = (text: string) =>
    text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const cases: Record<string, () => [text: string, structure: unknown, isBeside: boolean]> = {
    'the text': () => [long, { content: long }, false],
    'the JSON that the text is, laid out': () => [JSON.stringify(many, null, 2), { result: many }, false],
    'something else': () => [long, { content: `${long}.` }, true],
  }

  test.each(Object.keys(cases))('a structure with %s', async (name) => {
    const [text, structuredContent, isBeside] = cases[name]!()
    for (const write of [(value: unknown) => JSON.stringify(value), (value: unknown) => ascii(JSON.stringify(value))]) {
      const echo = new Echo()
      const result = { content: [{ type: 'text', text }], structuredContent }
      const answer = JSON.parse(await echo.answer('tools/call', (id) => write({ jsonrpc: '2.0', id, result }))).result
      expect(answer).not.toHaveProperty('structuredContent')
      const saved = await echo.storage.read(pathIn(answer))
      expect(saved === text).toBe(!isBeside)
      expect(saved.startsWith(text)).toBe(true)
      await echo.close()
    }
  })
})
