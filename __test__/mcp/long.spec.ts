import { readFileSync, statSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { PermissionPolicy } from 'spillway'
import { startMcpProxy } from 'spillway/mcp'
import { describeUnless, isLong, onLinux, onUnix } from '../support/only'
import { filesIn } from '../support/temp'
import { Echo } from './echo'
import { Host, pathIn, textOf } from './host'

const MIB = 2 ** 20
/** Longer messages than 4 MiB do not stay in memory. */
const LONG = 4.2 * MIB

const ascii = (json: string) =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

describe('a message of any length', () => {
  onUnix('passes as it is', async () => {
    const echo = new Echo()
    const long = 'x'.repeat(LONG)
    const messages = [
      JSON.stringify({ jsonrpc: '2.0', method: 'x/long', params: { long, n: 1 } }),
      `{"jsonrpc":"2.0","method":"x/odd", "params": {"n": 1.0, "n": 12345678901234567890, "a": "${long}"}}`,
      `not json ${long}`,
      `"${long}`,
      '['.repeat(LONG),
      `{"jsonrpc":"2.0","method":"x/many","params":[${'{"a":[1,"b"]},'.repeat(340_000)}0]}`,
      `{${Array.from({ length: 230_000 }, (_, at) => `"key ${at}":${at}`).join()}}`,
    ]
    for (const message of messages) expect((await echo.send(message)) === message).toBe(true)
    await echo.close()
    expect(filesIn(echo.dir)).toEqual([])
  })

  onUnix(
    'is bounded if it is a result, and kept to the last byte',
    async () => {
      const unit = fc.oneof(
        fc.constantFrom('\n', '"', '\\', '\t', 'é', '你', '😀', '\ud83d', '\ude00', '\\u0041', '\0'),
      )
      const echo = new Echo()
      await fc.assert(
        fc.asyncProperty(
          fc.array(unit, { maxLength: 40 }),
          fc.boolean(),
          fc.integer({ min: 30_011, max: 200_003 }),
          async (units, isAscii, pieceBytes) => {
            const pattern = `${units.join('')}${'some text\n'.repeat(10)}`
            const text = pattern.repeat(Math.ceil(LONG / pattern.length))
            const result = {
              content: [
                { type: 'text', text },
                { type: 'image', mimeType: 'a/b', data: 'QUJD'.repeat(9000) },
              ],
            }
            const json = JSON.stringify({ result, jsonrpc: '2.0', id: 7 })
            const answer = await echo.answer('tools/call', () => (isAscii ? ascii(json) : json), pieceBytes)
            const { id, result: bounded } = JSON.parse(answer)
            expect([id, bounded.content[1]]).toEqual([7, result.content[1]])
            expect(bounded.content[0].text.length).toBeLessThan(60_000)
            expect((await echo.storage.read(pathIn(bounded))) === text).toBe(true)
          },
        ),
        { numRuns: isLong ? 300 : 3 },
      )
      await echo.close()
    },
    600_000,
  )

  onUnix(
    'is changed only where it must be',
    async () => {
      const echo = new Echo()
      const long = fc.integer({ min: 1, max: 500 }).map((length) => 'é"\\\n'.repeat(length))
      const value = fc.oneof({ weight: 3, arbitrary: fc.jsonValue() }, { weight: 1, arbitrary: long })
      await fc.assert(
        fc.asyncProperty(
          fc.array(value, { maxLength: 8 }),
          fc.integer({ min: 30_011, max: 90_001 }),
          async (values, bytes) => {
            const tool = { name: 'a', 'x-values': JSON.parse(JSON.stringify(values)) }
            const tools = [
              { ...tool, outputSchema: { long: 'x'.repeat(20_000) } },
              { name: 'b', more: 'y'.repeat(LONG) },
            ]
            const answer = await echo.answer('tools/list', (id) => JSON.stringify({ id, result: { tools } }), bytes)
            const { result } = JSON.parse(answer)
            // A member that no client shows has room for 64 KiB at most.
            expect(result.tools.slice(0, 2)).toEqual([tool, { name: 'b' }])
          },
        ),
        { numRuns: isLong ? 300 : 3 },
      )
      await echo.close()
    },
    600_000,
  )

  onUnix('is bounded with any content', async () => {
    const echo = new Echo()
    const many = `[${'1,'.repeat(2.1 * MIB)}1]`
    const results: [string, RegExp][] = [
      [`{"content":${many}}`, /^The tool call .*\n\n\[\n 1,\n 1,/],
      [
        `{"content":[{"type":"text","text":"short"}],"structuredContent":{"many":${many}}}`,
        /^The tool call .*\n\nshort\n/,
      ],
      [
        `{"content":[{"type":"chart","points":${many}}]}`,
        /^The tool call .*\n\n\{\n "type": "chart",\n "points": \[\n {2}1,/,
      ],
      [`{"toolResult":{"many":${many}}}`, /^The tool call .*\n\n\{\n "toolResult": \{\n {2}"many": \[\n {3}1,/],
      [
        `{"content":[${'{"type":"text","text":"piece"},'.repeat(145_000)}null]}`,
        /^The tool call .*\n\n\[\n \{"type": "text", "text": "piece"\},/,
      ],
      [`{"isError":true,"content":[{"type":"text","text":"${'line\\n'.repeat(0.7 * MIB)}"}]}`, /lines truncated/],
    ]
    for (const [result, start] of results) {
      const answer = JSON.parse(await echo.answer('tools/call', (id) => `{"result":${result},"id":${id}}`)).result
      expect(answer.content).toEqual([{ type: 'text', text: expect.stringMatching(start) }])
      expect(answer.content[0].text.length).toBeLessThan(60_000)
      expect(answer).not.toHaveProperty('structuredContent')
      expect(statSync(pathIn(answer)).size).toBeGreaterThan(3 * MIB)
      expect(answer.isError === true).toBe(result.startsWith('{"isError"'))
    }
    await echo.close()
  })

  onUnix('stays whole where nothing is bounded', async () => {
    const echo = new Echo({ truncation: { enabled: false, hardCeilingBytes: 2 ** 30 } })
    const message = `{"result":{"content":[{"type":"text","text":"${'x'.repeat(LONG)}"}]},"id":7}`
    expect((await echo.answer('tools/call', () => message)) === message).toBe(true)
    await echo.close()
  })
})

describe('a number that JavaScript would change', () => {
  const numbers = [
    '12345678901234567890',
    '-0.1000000000000000055',
    '1e400',
    '1.5E-400',
    '9007199254740993',
    '1.0',
    '7e0',
  ]
  const rows = `{"rows":[${numbers.join()}],"text":"not 12345678901234567890 \\" 1e400"}`

  onUnix('stays in what is changed beside it', async () => {
    const echo = new Echo({ structuredContent: 'keep' })
    const text = JSON.stringify('line\n'.repeat(5000))
    const result = `{"content":[{"type":"text","text":${text}}],"structuredContent":${rows}}`
    const answer = await echo.answer('tools/call', (id) => `{"id":${id},"result":${result}}`)
    for (const number of numbers.slice(0, 5)) expect(answer).toContain(`${number}`)
    expect(answer).toContain('"text":"not 12345678901234567890 \\" 1e400"')
    expect(JSON.parse(answer).result.structuredContent).toEqual(JSON.parse(rows))
    const tools = `[{"name":"a","outputSchema":{},"x":${rows}}]`
    const dropping = new Echo()
    const listed = await dropping.answer('tools/list', (id) => `{"id":${id},"result":{"tools":${tools}}}`)
    expect(listed).not.toContain('outputSchema')
    for (const number of numbers.slice(0, 5)) expect(listed).toContain(`${number}`)
    await Promise.all([echo.close(), dropping.close()])
  })

  onUnix('is kept in a structure that becomes text', async () => {
    const echo = new Echo()
    const many = `[${'9007199254740993,'.repeat(9000)}9007199254740993]`
    const result = `{"content":[],"structuredContent":${many}}`
    const answer = await echo.answer('tools/call', (id) => `{"id":${id},"result":${result}}`)
    expect(answer).toContain('9007199254740993')
    const kept = await echo.storage.read(pathIn(JSON.parse(answer).result))
    expect(kept.replace(/\s/g, '')).toBe(many)
    await echo.close()
  })
})

describeUnless(process.platform === 'win32' ? 'needs cat' : '', 'a result', () => {
  const text = 'line of text\n'.repeat(20_000)
  const result = JSON.stringify({ content: [{ type: 'text', text }] })
  const request = (id: string) => `{"id":${id},"method":"tools/call","params":{"name":"t"}}`

  test.each(['1732350000000000000', '9007199254740993', '0.5', '"x"', '-7'])(
    'is bounded with any id: %s',
    async (id) => {
      const echo = new Echo()
      await echo.send(request(id))
      const answer = await echo.send(`{"id":${id},"result":${result}}`)
      expect(answer.length).toBeLessThan(60_000)
      expect(answer).toContain(`"id":${id}`)
      // Once more, by a server that has lost count.
      expect((await echo.send(`{"id":${id},"result":${result}}`)).length).toBeLessThan(60_000)
      await echo.close()
    },
  )

  test('is bounded where the server makes a text of a number', async () => {
    const echo = new Echo()
    await echo.send(request('15'))
    expect((await echo.send(`{"id":"15","result":${result}}`)).length).toBeLessThan(60_000)
    await echo.close()
  })

  test('is bounded and saved whole, however deep it is nested', async () => {
    const echo = new Echo()
    const deep = `${'['.repeat(20_000)}{"__proto__":12345678901234567890,"text":"${'x'.repeat(MIB)}"}${']'.repeat(20_000)}`
    const result = `{"content":[],"structuredContent":{"deep":${deep},"rest":[1,{}]}}`
    const answer = await echo.answer('tools/call', (id) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`)
    expect(answer.length).toBeLessThan(60_000)
    expect(readFileSync(pathIn(JSON.parse(answer).result), 'utf8')).toBe(`{"deep":${deep},"rest":[1,{}]}`)
    await echo.close()
  })

  test.each([{ structuredContent: { text } }, { toolResult: text }, { content: text, isError: true }])(
    'without blocks is one block when it is too long',
    async (given) => {
      const echo = new Echo()
      const answer = JSON.parse(await echo.answer('tools/call', (id) => JSON.stringify({ id, result: given }))).result
      expect(answer.content).toEqual([{ type: 'text', text: expect.stringContaining('truncated') }])
      expect((await echo.storage.read(pathIn(answer))).length).toBeGreaterThan(text.length - 1)
      expect(answer.isError).toBe('isError' in given ? true : undefined)
      const short = '{"id":7,"result":{"toolResult":42}}'
      expect(await echo.answer('tools/call', () => short)).toBe(short)
      await echo.close()
    },
  )
})

describe('an error of the protocol', () => {
  const rows = Array.from({ length: 3000 }, (_, row) => `row ${row}`)

  test.each([
    ['message', { code: -1, message: rows.join('\n'), data: { small: 1 } }],
    ['data', { code: -1, message: 'no', data: { rows } }],
    ['message of any length', { code: -1, message: 'line\n'.repeat(MIB), data: { small: 1 } }],
    ['data of any length', { code: -1, message: 'no', data: { text: 'line\n'.repeat(MIB), rows } }],
    ['data of any number', { code: -1, message: 'no', data: Array.from({ length: MIB / 2 }, (_, at) => at) }],
  ])('has a bounded %s', async (_name, error) => {
    const echo = new Echo()
    const line = await echo.answer('tools/call', (id) => JSON.stringify({ jsonrpc: '2.0', id, error }))
    expect(line.length).toBeLessThan(70_000)
    const answer = JSON.parse(line).error
    expect(answer).toMatchObject({ code: -1, message: expect.stringContaining('truncated') })
    if (error.message === 'no') expect(answer.message).toMatch(/^no\n/)
    expect(answer.data).toEqual(Object(error.data).small === 1 ? error.data : undefined)
    const [, path] = /saved to: (.*)/.exec(answer.message)!
    const saved = await echo.storage.read(path!)
    expect(saved.startsWith(error.message)).toBe(true)
    if (answer.data === undefined) {
      expect(JSON.parse(saved.slice(error.message.length))).toEqual({ data: error.data })
    }
    await echo.close()
  })

  test('that is short passes as it is', async () => {
    const echo = new Echo()
    const short = '{"id":7,"error":{"code":-1,"message":"no","data":{"n":12345678901234567890}}}'
    expect(await echo.answer('tools/call', () => short)).toBe(short)
    await echo.close()
  })
})

test('a link with a description of any length keeps its place', async () => {
  const echo = new Echo()
  const link = { type: 'resource_link', uri: 'a:b', name: 'b' }
  const content = [{ type: 'text', text: 'first' }, { ...link, description: 'line\n'.repeat(MIB) }, link]
  const line = await echo.answer('tools/call', (id) => JSON.stringify({ id, result: { content } }))
  expect(line.length).toBeLessThan(60_000)
  const { result } = JSON.parse(line)
  expect(result.content.slice(1)).toEqual([link, link])
  expect(await echo.storage.read(pathIn(result))).toBe(`first\n${'line\n'.repeat(MIB)}`)
  await echo.close()
})

describe('several messages in one', () => {
  onUnix('are bounded one by one, at any length', async () => {
    const echo = new Echo()
    const text = 'line of text\n'.repeat(0.4 * MIB)
    const result = JSON.stringify({ content: [{ type: 'text', text }] })
    await echo.send(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 't' } }))
    const other = `{"method":"x","params":{"n":12345678901234567890,"long":"${'x'.repeat(20_000)}"}}`
    const first = await echo.send(`[${other},{"id":7,"result":${result}},{"id":8,"result":{}}]`)
    expect(first).toBe(other)
    const bounded = JSON.parse(await echo.next())
    expect(bounded.id).toBe(7)
    expect(bounded.result.content[0].text.length).toBeLessThan(60_000)
    expect(await echo.storage.read(pathIn(bounded.result))).toBe(text)
    expect(await echo.next()).toBe('{"id":8,"result":{}}')
    expect(await echo.send('[]')).toBe('[]')
    await echo.close()
  })
})

describe('over two pipes', () => {
  const bytes = isLong ? 500 * MIB : 16 * MIB

  onLinux(
    'memory does not depend on the length of a result',
    async () => {
      const host = new Host()
      await host.initialize()
      await host.call('big', { bytes: 5 * MIB })
      const before = peakOf(host.child.pid!)
      const result = await host.call('big', { bytes })
      expect(textOf(result).includes(' bytes truncated')).toBe(true)
      expect(result.content[1]).toMatchObject({ type: 'image', data: 'QUJD'.repeat(50_000) })
      expect(statSync(pathIn(result)).size).toBeGreaterThan(0.7 * bytes)
      expect(readFileSync(pathIn(result)).subarray(0, 90).toString()).toMatch(
        /^a line of "text" .* 你好 and 😀 in it\n/,
      )
      expect(peakOf(host.child.pid!) - before).toBeLessThan(128 * MIB)
      expect(await host.close()).toMatchObject({ code: 0, stderr: '' })
    },
    600_000,
  )

  onLinux('a long request arrives whole', async () => {
    const host = new Host()
    await host.initialize()
    const text = 'line of text\n'.repeat(0.4 * MIB)
    const result = await host.call('echo', { text })
    expect(readFileSync(pathIn(result), 'utf8') === text).toBe(true)
    await host.close()
  })
})

/** The most memory that a process had so far. */
function peakOf(pid: number): number {
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(kib) * 1024
}

test.each([
  ['options.command', { command: '' }],
  ['options.comand', { command: 'cat', comand: 1 }],
  ['options.args', { command: 'cat', args: [1] }],
  ['options.args[0]', { command: 'cat', args: ['a\0'] }],
  ['options.env.A', { command: 'cat', env: { A: null } }],
  ['options.cwd', { command: 'cat', cwd: 'a\0' }],
  ['options.truncation.storageDirs', { command: 'cat', truncation: { storageDirs: ['/tmp'] } }],
  ['options.storage', { command: 'cat', storage: {} }],
  ['options.structuredContent', { command: 'cat', structuredContent: 'no' }],
  ['options.permission', { command: 'cat', server: 's', permission: {} }],
  ['options.server', { command: 'cat', permission: new PermissionPolicy() }],
  ['maxLines', { command: 'cat', truncation: { maxLines: 0 } }],
])('a wrong %s of a proxy is named', (field, options) => {
  expect(() => startMcpProxy(options as never)).toThrow(expect.objectContaining({ name: 'SpillwayError', field }))
})

test('a server that cannot be started is an error of the end', async () => {
  const options = { command: '/no/such/server', input: new PassThrough(), output: new PassThrough() }
  await expect(startMcpProxy(options).ended).rejects.toMatchObject({ code: 'COMMAND', cause: { code: 'ENOENT' } })
})
