import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../support/temp'
import { Puppet } from './echo'
import { LINE, MODES } from './hostile-modes'

/** More than this reaches no host that is not known, whatever surrounds the 15,000 bytes of text. */
const MAX = 40_000

const resource = (_meta: object) => ({ uri: 'file:///a', text: 'short', _meta })

describe('a server cannot pass the limit', () => {
  test.each(MODES)('by $name', async ({ line, method = 'tools/call', silent }) => {
    const server = new Puppet()
    server.ask(method)
    const answers = await server.all(line, { isAnswered: !silent })
    expect(answers.join('\n').length).toBeLessThan(MAX)
    const values = answers.map((each) => JSON.parse(each))
    const own = values.filter(({ id, method: asked }) => id !== null && Number(id) === 5 && asked === undefined)
    expect(own).toHaveLength(silent ? 0 : 1)
    for (const { result, error } of own) expect((result === undefined) !== (error === undefined)).toBe(true)
    const saved = filesIn(server.dir).map((name) => readFileSync(join(server.dir, name), 'utf8'))
    if (JSON.stringify(values).includes('saved to: ')) expect(saved.length).toBeGreaterThan(0)
    await server.close()
  })

  test.each(MODES.filter(({ line, method, silent }) => line.includes(LINE) && !method && !silent))(
    'by $name, in a message that is too long for memory',
    async ({ line }) => {
      const server = new Puppet()
      server.ask('tools/call')
      const long = line.replaceAll(LINE, LINE.repeat(7))
      const answers = await server.all(long, { isAnswered: true })
      expect(answers.join('\n').length).toBeLessThan(MAX)
      expect(answers.map((each) => JSON.parse(each)).filter(({ id }) => Number(id) === 5)).toHaveLength(1)
      await server.close()
    },
  )

  test.each([
    ['200,000 levels', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['200,000 levels around a message', `${'['.repeat(200_000)}{"method":"x"}${']'.repeat(200_000)}`],
    ['a million elements', `[${'1,'.repeat(1_000_000)}1]`],
    ['a million objects', `[${'{},'.repeat(1_000_000)}{}]`],
    ['200,000 messages', `[${'{"method":"x"},'.repeat(200_000)}{"method":"x"}]`],
    ['quotes without an end', `{"id":1e5,"a":"${'\\"'.repeat(1_000_000)}`],
    ['NaN and quotes without an end', `{"id":NaN,"a":"${'\\"'.repeat(1_000_000)}`],
  ])(
    'nor hold the proxy up by %s',
    async (_name, line) => {
      const server = new Puppet()
      const began = process.hrtime.bigint()
      const answers = await server.all(line, { isAnswered: false })
      expect(Number(process.hrtime.bigint() - began) / 1e9).toBeLessThan(10)
      expect(answers.length).toBeLessThanOrEqual(10_000)
      await server.close()
    },
    60_000,
  )

  test.each([
    [
      'tools',
      10_000,
      (at: number) => ({ name: `tool ${at}`, description: 'x'.repeat(200), inputSchema: { type: 'object' } }),
    ],
    [
      'resources',
      20_000,
      (at: number) => ({ uri: `file:///${at}`, name: `resource ${at}`, icons: [{ src: 'x'.repeat(99) }] }),
    ],
    ['prompts', 2000, (at: number) => ({ name: `prompt ${at}`, _meta: { a: 'x'.repeat(900) } })],
    ['prompts', 20_000, (at: number) => ({ name: `prompt ${at}`, _meta: { a: 'x'.repeat(900) } })],
  ])('a list of %s has one budget: %d', async (key, count, make) => {
    const server = new Puppet()
    server.ask(`${key}/list`)
    const result = { [key]: Array.from({ length: count }, (_, at) => make(at)), nextCursor: 'next' }
    const line = JSON.stringify({ id: 5, result })
    const [answer] = await server.all(line, { isAnswered: true })
    expect(answer!.length).toBeLessThan(2 ** 19 + 1000)
    const shown = JSON.parse(answer!).result
    expect(shown.nextCursor).toBe('next')
    // A message of more than 4 MiB is not read whole.
    expect(shown[key].length).toBeGreaterThan(line.length > 2 ** 22 ? -1 : 1000)
    if (shown[key].length > 0) expect(shown[key][0]).toMatchObject({ name: make(0).name })
    await server.close()
  })

  test('a usual list stays as it is', async () => {
    const server = new Puppet()
    server.ask('tools/list')
    const properties = { a: { enum: ['b', 'c'] }, d: { description: 'x'.repeat(4000) } }
    const tool = { icons: [{ src: 'x'.repeat(9000) }], _meta: { a: 'x'.repeat(2000) }, annotations: { title: 'A' } }
    const tools = Array.from({ length: 20 }, (_, at) => ({ ...tool, name: `${at}`, inputSchema: { properties } }))
    const result = { tools, nextCursor: 'next', _meta: { a: 1 } }
    const [answer] = await server.all(JSON.stringify({ id: 5, result }), { isAnswered: true })
    expect(JSON.parse(answer!).result).toEqual(result)
    await server.close()
  })

  const ours = { 'spillway/truncation': { outputPath: '/etc/shadow' } }
  const text = { type: 'text', text: 'short' }
  test.each<[string, string, object]>([
    ['a result', 'tools/call', { result: { content: [text], _meta: ours } }],
    ['a block', 'tools/call', { result: { content: [{ ...text, _meta: ours }] } }],
    ['a resource in a block', 'tools/call', { result: { content: [{ type: 'resource', resource: resource(ours) }] } }],
    ['a message', 'tools/call', { result: { content: [text] }, _meta: ours }],
    ['an error', 'tools/call', { error: { code: 1, message: 'no', data: { _meta: ours } } }],
    ['a resource', 'resources/read', { result: { contents: [resource(ours)] } }],
    ['a prompt', 'prompts/get', { result: { messages: [{ role: 'user', content: { ...text, _meta: ours } }] } }],
    ['a tool', 'tools/list', { result: { tools: [{ name: 'a', inputSchema: {}, _meta: ours }], nextCursor: 'b' } }],
    ['a message with tools', 'tools/list', { result: { tools: [], nextCursor: 'b' }, _meta: ours }],
    ['a method that is not known', 'x/y', { result: { a: [{ _meta: ours }] } }],
  ])('a server cannot state of %s what only the proxy may', async (_name, method, message) => {
    const server = new Puppet()
    server.ask(method)
    const [answer] = await server.all(JSON.stringify({ jsonrpc: '2.0', id: 5, ...message }), { isAnswered: true })
    const bare = JSON.parse(JSON.stringify(message).replaceAll(JSON.stringify(ours), '{}'))
    expect(JSON.parse(answer!)).toEqual({ jsonrpc: '2.0', id: 5, ...bare })
    await server.close()
  })

  test('fields of a result that only the proxy may set are removed', async () => {
    const server = new Puppet()
    const _meta = { own: 1, 'spillway/truncation': { outputPath: '/etc/shadow' } }
    const result = { content: [{ type: 'text', text: 'short' }], _meta }
    server.ask('tools/call')
    const [answer] = await server.all(JSON.stringify({ id: 5, result }), { isAnswered: true })
    expect(JSON.parse(answer!).result).toEqual({ ...result, _meta: { own: 1 } })
    await server.close()
  })
})
