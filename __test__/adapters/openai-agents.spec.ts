import { PermissionGate, PermissionPolicy, ToolResultLedger } from 'spillway'
import { guardFunctionTool, guardMcpServer, guardModel, pruneFilter, storeUnpruned } from 'spillway/openai-agents'
import { type Any, eagerPruner, frozen, LONG, overflowError, smallService } from './shapes'

const functionTool = (invoke: (context: Any, input: string) => Any, more: object = {}): Any => ({
  type: 'function',
  name: 'bash',
  invoke: async (context: Any, input: string) => invoke(context, input),
  ...more,
})
const details = (callId: string) => ({ toolCall: { callId } })
const history: Any[] = [
  { role: 'user', content: 'go' },
  { type: 'function_call', callId: 'h1', name: 'look', arguments: '{}', status: 'completed' },
  {
    type: 'function_call_result',
    callId: 'h1',
    name: 'look',
    status: 'completed',
    output: { type: 'text', text: LONG },
  },
  { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'seen' }] },
  { role: 'user', content: 'more' },
]
const isWhole = (items: Any[]) => JSON.stringify(items).includes('line 150 of')

test('texts are bounded in the shape that they had, and the arguments stay the text that the model wrote', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const inputs: string[] = []
  const results: Any[] = [
    LONG,
    { type: 'text', text: LONG, providerData: { a: 1 } },
    [{ type: 'text', text: LONG }],
    { a: 1 },
  ]
  const tool = guardFunctionTool(
    functionTool((_, input) => {
      inputs.push(input)
      return results.shift()
    }),
    { truncation: service, ledger },
  )
  const input = '{"command" : "make"}'
  const shown: Any[] = []
  for (const id of ['1', '2', '3', '4']) shown.push(await tool.invoke({}, input, details(id)))
  expect(shown[0].length).toBeLessThan(3000)
  expect(shown[1].text.length).toBeLessThan(3000)
  expect(shown[1].providerData).toEqual({ a: 1 })
  expect(shown[2][0].text.length).toBeLessThan(3000)
  expect(shown[3]).toEqual({ a: 1 })
  expect(new Set(inputs)).toEqual(new Set([input]))
  expect(files()).toHaveLength(3)
  expect(ledger.get('1')?.outputPath).toBeDefined()
})

test('a picture or a file of any length stays one', async () => {
  const { service, files } = smallService()
  const parts: Any[] = [
    { type: 'image', image: `data:image/png;base64,${'QUJD'.repeat(30_000)}` },
    { type: 'file', file: { data: 'QUJD'.repeat(30_000), mediaType: 'application/pdf', filename: 'a.pdf' } },
  ]
  const results = [...parts]
  const tool = guardFunctionTool(
    functionTool(() => results.shift()),
    { truncation: service },
  )
  for (const [at, part] of parts.entries()) expect(await tool.invoke({}, '{}', details(`${at}`))).toBe(part)
  expect(files()).toHaveLength(0)
})

test('a refused call is a text, and arguments that are no JSON reach the tool', async () => {
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
  const tool = guardFunctionTool(
    functionTool(() => 'ran'),
    { permission },
  )
  expect(await tool.invoke({}, '{"command":"rm x"}', details('1'))).toMatch(/denied and did not run/)
  const bare = guardFunctionTool(
    functionTool((_, input) => input),
    {},
  )
  expect(await bare.invoke({}, '{broken', details('2'))).toBe('{broken')
})

test('"always" of the user holds, unless a rule denies', async () => {
  const gate = new PermissionGate(
    new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] }),
  )
  const tool = guardFunctionTool(
    functionTool(() => 'ran'),
    { permission: gate },
  )
  const context = { isToolApproved: () => true }
  expect(await tool.invoke(context, '{"command":"make"}', details('1'))).toBe('ran')
  expect(await tool.invoke(context, '{"command":"rm x"}', details('2'))).toMatch(/denied/)
  expect(gate.pending()).toHaveLength(0)
})

test('consent to a call is none to another under its id', async () => {
  const tool = guardFunctionTool(
    functionTool(() => 'ran'),
    { permission: new PermissionPolicy() },
  )
  const context = { isToolApproved: ({ callId }: Any) => callId === '1' }
  for (const command of ['make', 'ninja', 'make']) {
    // The SDK asks whether the user is to be asked, and finds that this id has consent.
    expect(await tool.needsApproval(context, { command }, '1')).toBe(true)
    const answer = await tool.invoke(context, JSON.stringify({ command }), details('1'))
    expect(answer).toMatch(command === 'make' ? /^ran$/ : /denied/)
  }
})

test('a session stores what was pruned as it was, and a filter refuses a session that would not', async () => {
  const items: Any[] = [...history]
  class Session {
    #items = items
    async getItems() {
      return [...this.#items]
    }
    async addItems(added: Any[]) {
      this.#items.push(...added)
    }
  }
  const session = storeUnpruned(new Session())
  expect(storeUnpruned(session)).toBe(session)
  const filter = pruneFilter({ history: eagerPruner(), session })
  const input = frozen(await session.getItems())
  const { input: sent } = await filter({ modelData: { input } })
  expect([isWhole(sent), isWhole(input)]).toEqual([false, true])
  // The SDK hands over what the filter made of an item.
  await session.addItems([sent[2]])
  expect(items.at(-1)).toBe(input[2])
  await session.getItems()
  const foreign = { ...history[2], callId: 'other' }
  await expect(filter({ modelData: { input: [...input, foreign] } })).rejects.toThrow(/would store them pruned/)
  expect(() => pruneFilter({ session: new Session() })).toThrow(/storeUnpruned/)
})

test('a stream is started again before its answer, and never after', async () => {
  // The error that the SDK throws behind an event of the provider does not say why.
  const failed = { type: 'response.failed', response: { error: { code: 'context_length_exceeded' } } }
  const runs: Any[][] = [
    [{ type: 'response_started' }, overflowError()],
    [{ type: 'response_started' }, { type: 'model', event: failed }, new Error('it failed')],
    [{ type: 'output_text_delta' }, overflowError()],
  ]
  const inputs: Any[] = []
  const many = Array.from({ length: 40 }, (_, at) =>
    history.slice(1, 3).map((item) => ({ ...item, callId: `h${at}` })),
  ).flat()
  const model: Any = guardModel(
    {
      getResponse: async () => ({}),
      async *getStreamedResponse({ input }: Any) {
        inputs.push(input)
        for (const event of runs.shift() ?? []) {
          if (event instanceof Error) throw event
          yield event
        }
      },
    },
    { onEvent: () => {}, recovery: { retries: 2 } },
  )
  const seen: Any[] = []
  const read = async () => {
    for await (const event of model.getStreamedResponse({ input: frozen([...many, ...history]) })) seen.push(event.type)
  }
  await expect(read()).rejects.toThrow(/too long/)
  expect(seen).toEqual(['output_text_delta'])
  expect(inputs).toHaveLength(3)
  expect(JSON.stringify(inputs[1]).length).toBeLessThan(JSON.stringify(inputs[0]).length)
})

test('judges tools of an MCP server as those of the server, under any name', async () => {
  const ran: string[] = []
  const server = { name: 'files', callTool: async (tool: string) => [{ type: 'text', text: String(ran.push(tool)) }] }
  const rule = (pattern: string, decision: 'allow' | 'deny') => ({ domain: 'mcp' as const, pattern, decision })
  const permission = new PermissionPolicy({
    vault: '/tmp',
    rules: [rule('mcp:files/**', 'allow'), rule('mcp:files/write', 'deny')],
  })
  const guarded = guardMcpServer(server, { permission })
  for (const tool of ['read', 'look', 'write']) await Promise.resolve(guarded.callTool(tool)).catch(() => {})
  expect(ran).toEqual(['read', 'look'])
  const nameless = { callTool: server.callTool }
  expect(() => guardMcpServer(nameless, { permission })).toThrow(expect.objectContaining({ field: 'server.name' }))
  expect(() => guardMcpServer(nameless, {})).not.toThrow()
})

test('the structure of a result of an MCP server is bounded where the model reads it', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const structuredContent = { rows: LONG.split('\n') }
  const text = { type: 'text', text: JSON.stringify(structuredContent) }
  const answer = frozen({ content: [text], structuredContent, _meta: { own: 1 } })
  const short = frozen({ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } })
  const results: Any[] = []
  const serverOf = (useStructuredContent: boolean): Any =>
    guardMcpServer(
      { name: 'files', useStructuredContent, callTool: async () => [], callToolResult: async () => results.shift() },
      { truncation: service, ledger },
    )
  results.push(answer, short)
  const read = serverOf(true)
  const shown = await read.callToolResult('look', {})
  expect(shown).not.toHaveProperty('structuredContent')
  expect(shown.content[0].text.length).toBeLessThan(3000)
  expect(shown._meta).toMatchObject({ own: 1, 'spillway/truncation': { outputPath: expect.any(String) } })
  expect(await read.callToolResult('look', {})).toBe(short)
  // Else it is for the application.
  results.push(answer)
  const kept = await serverOf(false).callToolResult('look', {})
  expect(kept.structuredContent).toEqual(structuredContent)
  expect(kept.content[0].text.length).toBeLessThan(3000)
  expect(files().map((each) => JSON.parse(each))).toEqual([structuredContent, structuredContent])
})

test('guards frozen tools like others', async () => {
  const { service } = smallService()
  const controls = { truncation: service }
  const invoke = async () => LONG
  const tool: Any = guardFunctionTool(
    frozen({ type: 'function', name: 'look', invoke, needsApproval: async () => false }),
    controls,
  )
  expect((await tool.invoke({}, '{}', details('1'))).length).toBeLessThan(3000)
  const callTool = async () => [{ type: 'text', text: LONG }]
  const listTools = async () => ['look']
  const server: Any = guardMcpServer(frozen({ name: 'files', callTool, listTools }), controls)
  expect((await server.callTool('look', {}))[0].text.length).toBeLessThan(3000)
  expect([server.name, await server.listTools(), Object.keys(server)]).toEqual([
    'files',
    ['look'],
    ['name', 'callTool', 'listTools'],
  ])
  const getResponse = async ({ input }: Any) => ({ output: input })
  const model: Any = guardModel(frozen({ getResponse, getStreamedResponse: async function* () {} }), controls)
  expect(await model.getResponse({ input: [1] })).toEqual({ output: [1] })
  const session: Any = storeUnpruned(frozen({ getItems: async () => history, addItems: async () => {} }))
  expect(await session.getItems()).toBe(history)
})
