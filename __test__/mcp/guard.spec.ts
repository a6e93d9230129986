import { readFileSync } from 'node:fs'
import { DoomLoopDetector, PermissionPolicy, SpillwayError, ToolResultLedger, TruncationService } from 'spillway'
import { guardMcpClient, guardMcpTool } from 'spillway/mcp'
import { tempDir } from '../support/temp'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const makeService = () => new TruncationService({ storageDirs: [tempDir()], global: { maxLines: 10 } })

/** A client like that of the SDK, with a field that no proxy sees. */
class Client {
  #calls: unknown[][] = []
  onclose: (() => void) | undefined
  constructor(private readonly answer: (name: string) => unknown) {}
  // biome-ignore lint/suspicious/noExplicitAny: as the SDK's own answer, which is a union of everything
  async callTool(params: { name: string; arguments?: object }, ...rest: unknown[]): Promise<any> {
    this.#calls.push([params, ...rest])
    return this.answer(params.name)
  }
  getServerVersion() {
    return { name: 'git', version: '1' }
  }
  calls() {
    return this.#calls
  }
}

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner)
  return value
}

describe('a guarded client', () => {
  test('shows what a terminal would, if the service does', async () => {
    const result = { ...text('1%\r2%\n'), structuredContent: { a: 1 } }
    const service = new TruncationService({ storageDirs: [tempDir()], global: { terminal: true } })
    const client = guardMcpClient(new Client(() => result), { truncation: service, structuredContent: 'keep' })
    expect(await client.callTool({ name: 'bar' })).toEqual({ ...text('2%\n'), structuredContent: { a: 1 } })
  })

  test('bounds texts, and leaves the rest of the client as it is', async () => {
    const image = { type: 'image', data: 'QUJD', mimeType: 'image/png' }
    const result = deepFreeze({
      content: [
        { type: 'text', text: lines(8) },
        image,
        { type: 'resource', resource: { uri: 'a:b', text: lines(8) } },
      ],
      structuredContent: { a: 1 },
      _meta: { own: true },
    })
    const raw = new Client((name) => (name === 'long' ? result : text('short')))
    const client = guardMcpClient(raw, { truncation: makeService() })
    const options = { signal: new AbortController().signal }
    const short = { name: 'short' }
    expect(await client.callTool(short, undefined, options)).toEqual(text('short'))
    expect(client.calls()).toEqual([[short, undefined, options]])
    const long = await client.callTool({ name: 'long', arguments: { x: 1 } })
    expect(long.content[0].text).toBe(lines(8))
    expect(long.content[1]).toBe(image)
    expect(long.content[2].resource).toMatchObject({ uri: 'a:b', text: expect.stringContaining('line 2\n\n...') })
    expect(long).not.toHaveProperty('structuredContent')
    const { own, 'spillway/truncation': facts } = long._meta
    expect([own, facts.removedLines]).toEqual([true, 9])
    expect(readFileSync(facts.outputPath, 'utf8')).toBe(`${lines(8)}\n${lines(8)}\n{\n  "a": 1\n}`)
    expect(facts.outputPath).toContain('mcp__git__long')
    client.onclose = () => {}
    expect(raw.onclose).toBe(client.onclose)
    expect(client).toBeInstanceOf(Client)
  })

  test('may be frozen', async () => {
    const callTool = async (_params: { name: string }) => text(lines(40))
    const client = guardMcpClient(deepFreeze({ callTool, version: '1' }), { truncation: makeService() })
    expect((await client.callTool({ name: 'long' })).content[0]!.text).toContain('truncated')
    expect([client.version, Object.keys(client)]).toEqual(['1', ['callTool', 'version']])
  })

  test('gives a result with blocks for any answer of the client', async () => {
    for (const given of [
      { structuredContent: { a: lines(9000) } },
      { toolResult: lines(9000) },
      { content: lines(9000) },
    ]) {
      const client = guardMcpClient(new Client(() => given), { truncation: makeService() })
      const { content } = await client.callTool({ name: 'x' })
      expect(content).toEqual([{ type: 'text', text: expect.stringContaining('truncated') }])
    }
    const short = { structuredContent: { a: 1 } }
    expect(await guardMcpClient(new Client(() => short), { truncation: makeService() }).callTool({ name: 'x' })).toBe(
      short,
    )
  })

  test('bounds the long description of a link, and keeps the link', async () => {
    const link = { type: 'resource_link', uri: 'a:b', name: 'b', _meta: { own: true } }
    const described = { ...link, description: lines(200) }
    const short = deepFreeze({ content: [{ ...link, description: 'short' }, text('a').content[0], described] })
    const whole = deepFreeze({ content: [text(lines(8)).content[0], described, { ...link, description: 'short' }] })
    const callTool = (given: unknown, truncation: TruncationService) =>
      guardMcpClient(new Client(() => given), { truncation }).callTool({ name: 'x' })
    const roomy = new TruncationService({ storageDirs: [tempDir()] })
    expect(await callTool(short, roomy)).toBe(short)
    const { content, _meta } = await callTool(whole, makeService())
    expect(content.map(({ type }: { type: string }) => type)).toEqual([
      'text',
      'resource_link',
      'text',
      'resource_link',
    ])
    expect(content[1]).toEqual(link)
    expect(content[2].text).toMatch(/^line 1\nline 2\n\n[\s\S]*truncated/)
    expect(content[3]).toEqual({ ...link, description: 'short' })
    const { outputPath } = _meta['spillway/truncation']
    expect(readFileSync(outputPath, 'utf8')).toBe(`${lines(8)}\n${lines(200)}`)
  })

  test.each([
    [
      'an error',
      Object.assign(new Error('no'), { code: -1, data: { rows: Array.from({ length: 3000 }, (_, row) => row) } }),
    ],
    ['an object', { code: -1, message: 'no', data: lines(9000) }],
  ])('throws %s without what is too long beside its message', async (_name, thrown) => {
    const client = guardMcpClient(new Client(() => Promise.reject(thrown)), { truncation: makeService() })
    const error = await client.callTool({ name: 'x' }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: -1, message: expect.stringMatching(/^no\n[\s\S]*truncated/) })
    expect(error).not.toHaveProperty('data')
    expect(error instanceof Error).toBe(thrown instanceof Error)
    const [, path] = /saved to: (.*)/.exec((error as Error).message)!
    expect(readFileSync(path!, 'utf8')).toMatch(/^no\n[\s\S]*(2999|line 9000)/)
    const roomy = guardMcpClient(new Client(() => Promise.reject(thrown)), {})
    await expect(roomy.callTool({ name: 'x' })).rejects.toBe(thrown)
  })

  test.each([
    ['an error', Object.assign(new Error(lines(9000)), { code: -1 })],
    ['an object', { code: -1, message: lines(9000) }],
  ])('throws %s with a bounded message', async (_name, thrown) => {
    const throwing = new Client(() => {
      throw thrown
    })
    const client = guardMcpClient(throwing, { truncation: makeService() })
    const error = await client.callTool({ name: 'x' }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: -1, message: expect.stringContaining('truncated') })
    expect(error instanceof Error).toBe(thrown instanceof Error)
  })

  test('refuses with a result, and throws what the client throws', async () => {
    const problem = Object.assign(new Error(`-32000: ${lines(5000)}`), { code: -32000 })
    const raw = new Client(() => {
      throw problem
    })
    const policy = new PermissionPolicy({ mcpServers: ['git'] })
    const client = guardMcpClient(raw, { truncation: makeService(), permission: policy, server: 'git' })
    const thrown = await client.callTool({ name: 'push' }).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: -32000, cause: problem, message: expect.stringContaining('lines truncated') })
    expect((thrown as Error).message.length).toBeLessThan(1000)
    const other = guardMcpClient(raw, { permission: policy, server: 'other' })
    expect(await other.callTool({ name: 'push' })).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^The call of mcp__other__push was denied/) }],
    })
    expect(raw.calls()).toHaveLength(1)
    const short = guardMcpClient(new Client(() => Promise.reject(new TypeError('short'))), {})
    await expect(short.callTool({ name: 'x' })).rejects.toThrow(TypeError)
  })

  test('has all controls of a guarded tool, in their order', async () => {
    const seen: unknown[] = []
    const ledger = new ToolResultLedger()
    const client = guardMcpClient(new Client(() => ({ ...text(lines(30)), isError: true })), {
      truncation: makeService(),
      doomLoop: new DoomLoopDetector({ sameToolThreshold: 2 }),
      ledger,
      hooks: {
        'tool.before': () => ({ mergeInput: { merged: true } }),
        'tool.after': ({ result }) => void seen.push((result as ReturnType<typeof text>).content[0]!.text.length),
        'tool.final': ({ result }) => void seen.push((result as ReturnType<typeof text>).content[0]!.text.length),
      },
    })
    const first = await client.callTool({ name: 'a' })
    expect(first).toMatchObject({ isError: true, _meta: { 'spillway/truncation': { removedLines: 27 } } })
    expect(seen).toEqual([lines(30).length, first.content[0].text.length])
    expect(client.calls()).toEqual([[{ name: 'a', arguments: { merged: true } }]])
    let refused: { content: { text: string }[] } | undefined
    for (let call = 0; call < 8 && refused === undefined; call += 1) {
      const result = await client.callTool({ name: 'a' })
      if (!result._meta) refused = result
    }
    expect(refused!.content[0]!.text).toMatch(/mcp__git__a/)
  })
})

describe('a guarded tool', () => {
  test('bounds what its handler gives or throws, and keeps what its schema promises', async () => {
    const structuredContent = { rows: [1, 2, 3] }
    const handler = guardMcpTool(
      'query',
      async ({ count }: { count: number }, _extra: object) => {
        if (count < 0) throw new Error(lines(100))
        return { ...text(lines(count)), structuredContent }
      },
      { truncation: makeService() },
    )
    expect(await handler({ count: 3 }, {})).toEqual({ ...text(lines(3)), structuredContent })
    const long = await handler({ count: 30 }, {})
    expect(long).toMatchObject({
      structuredContent,
      content: [{ text: expect.stringContaining('20 lines truncated') }],
    })
    const failed: unknown = await handler({ count: -1 }, {})
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^line 1\n[\s\S]*line 100\n\nThe tool call failed/) }],
    })
  })

  test('without arguments gets the facts of the request, and is notified of its end', async () => {
    const gone = new AbortController()
    const extra = { mcpReq: { signal: gone.signal } }
    const seen: unknown[] = []
    const handler = guardMcpTool('now', (...given: unknown[]) => {
      seen.push(given)
      return text('12:00')
    })
    expect(await handler(extra)).toEqual(text('12:00'))
    expect(seen).toEqual([[extra]])
    gone.abort()
    expect(await handler(extra)).toMatchObject({ isError: true })
    expect(seen).toHaveLength(1)
  })
})

test.each([
  ['client', () => guardMcpClient({} as never)],
  ['controls.server', () => guardMcpClient(new Client(() => 1), { server: '' })],
  ['controls.structuredContent', () => guardMcpClient(new Client(() => 1), { structuredContent: 'no' as never })],
  ['controls.server', () => guardMcpClient(new Client(() => 1), { permission: new PermissionPolicy() })],
  ['controls.refusal', () => guardMcpClient(new Client(() => 1), { refusal: 'text' } as never)],
  ['controls.permision', () => guardMcpTool('a', () => 1, { permision: 1 } as never)],
  ['name', () => guardMcpTool('', () => 1)],
  ['handler', () => guardMcpTool('a', 1 as never)],
])('a wrong %s is named', (field, make) => {
  expect(make).toThrow(SpillwayError)
  expect(make).toThrow(expect.objectContaining({ field, code: 'INVALID_ARGUMENT' }))
})

test('a path of a saved output that only the server says is removed', async () => {
  const facts = { truncated: true, outputPath: '/etc/shadow' }
  const answer = { content: [{ type: 'text', text: 'small' }], _meta: { own: 1, 'spillway/truncation': facts } }
  const client = guardMcpClient(new Client(() => answer))
  const tool = guardMcpTool('x', async (_args: object, _extra: object) => answer)
  const clean = { ...answer, _meta: { own: 1 } }
  expect([await client.callTool({ name: 'x' }), await tool({}, {})]).toEqual([clean, clean])
})
