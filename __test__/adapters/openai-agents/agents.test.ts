import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Agent,
  type AgentInputItem,
  type MCPServer,
  MemorySession,
  OpenAIResponsesModel,
  Runner,
  RunState,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import { assistantMessage, functionCall, modelError, modelStream, ScriptedModel } from '@openai/agents/testing'
import { type GateEvent, PermissionGate, PermissionPolicy, ToolResultLedger } from 'spillway'
import {
  type AdapterEvent,
  guardFunctionTool,
  guardMcpServer,
  guardModel,
  pruneFilter,
  storeUnpruned,
} from 'spillway/openai-agents'
import { z } from 'zod'
import { type Any, eagerPruner, longText, smallService, snapshot } from './support.ts'

setTracingDisabled(true)

const LONG = longText(300)
const looking = (execute: (input: Any) => Any, more: object = {}) =>
  tool({ name: 'look', description: 'looks', parameters: z.object({ path: z.string() }), execute, ...more })
const call = (callId: string, name = 'look', args: Record<string, unknown> = { path: callId }) => [
  functionCall(name, args, { callId }),
]
const done = [assistantMessage('done')]
const resultsOf = (items: Any): Any[] => items.filter(({ type }: Any) => type === 'function_call_result')
const textOf = (item: Any): string =>
  typeof item.output === 'string' ? item.output : (item.output.text ?? snapshot(item.output))
const wholes = (items: Any) => resultsOf(items).filter((item) => textOf(item).includes(LONG)).length
const overflow = () =>
  Object.assign(new Error('400 Your input exceeds the context window of this model.'), {
    status: 400,
    code: 'context_length_exceeded',
  })

/** Returns a history of `results` results. */
const history = (results: number): AgentInputItem[] => [
  { role: 'user', content: 'go' },
  ...Array.from({ length: results }, (_, at): AgentInputItem[] => [
    { type: 'function_call', callId: `h${at}`, name: 'look', arguments: '{"path":"x"}', status: 'completed' },
    {
      type: 'function_call_result',
      callId: `h${at}`,
      name: 'look',
      status: 'completed',
      output: { type: 'text', text: LONG },
    },
  ]).flat(),
  { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'seen' }] },
  { role: 'user', content: 'and now?' },
]

test('results and errors are bounded, and the whole is kept', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const controls = { truncation: service, ledger }
  const text = guardFunctionTool(
    looking(async () => LONG),
    controls,
  )
  const broken = guardFunctionTool(
    looking(() => Promise.reject(new Error(LONG)), {
      name: 'broken',
      errorFunction: (_: unknown, error: Error) => error.message,
    }),
    controls,
  )
  const plain = guardFunctionTool(
    looking(() => Promise.reject(new Error('no')), { name: 'plain' }),
    controls,
  )
  const object = guardFunctionTool(
    looking(async () => ({ a: 1 }), { name: 'object' }),
    controls,
  )
  const part = guardFunctionTool(
    looking(async () => ({ type: 'text', text: LONG }), { name: 'part' }),
    controls,
  )
  const model = new ScriptedModel([
    [...call('c1'), ...call('c2', 'broken'), ...call('c3', 'object'), ...call('c4', 'part'), ...call('c5', 'plain')],
    done,
  ])
  const agent = new Agent({ name: 'a', model, tools: [text, broken, object, part, plain] })
  await new Runner().run(agent, 'go')
  const shown = resultsOf(model.lastCall?.request.input)
  assert.equal(shown.length, 5)
  for (const at of [0, 1, 3]) {
    assert.ok(textOf(shown[at]).length < 3000, textOf(shown[at]))
    assert.match(textOf(shown[at]), /look_|broken_|part_/)
  }
  assert.deepEqual(shown[2].output, { type: 'text', text: '{"a":1}' })
  assert.match(textOf(shown[4]), /^An error occurred/)
  assert.deepEqual(files(), [LONG, LONG, LONG])
  assert.equal(ledger.get('c1')?.isError, false)
  // The SDK itself does not mark it.
  assert.equal(ledger.get('c5')?.isError, true)
})

test('requests are pruned, and everything that is stored is whole', async () => {
  const session = new MemorySession()
  const base = new ScriptedModel([call('a'), call('b'), call('c'), done, done])
  const model = guardModel(base, { history: eagerPruner(1) })
  const agent = new Agent({ name: 'a', model, tools: [looking(async () => LONG)] })
  const runner = new Runner()
  const result = await runner.run(agent, 'go', { session })
  await runner.run(agent, 'again', { session })
  assert.deepEqual(
    base.calls.map(({ request }) => wholes(request.input)),
    [0, 1, 1, 1, 1],
  )
  assert.equal(resultsOf(base.lastCall?.request.input).length, 3)
  assert.equal(wholes(await session.getItems()), 3)
  assert.equal(wholes(result.history), 3)
})

test('a history that comes as input together with a session is stored whole', async () => {
  const session = new MemorySession()
  const base = new ScriptedModel([done])
  const agent = new Agent({ name: 'a', model: guardModel(base, { history: eagerPruner() }) })
  const runner = new Runner({
    sessionInputCallback: (old: AgentInputItem[], fresh: AgentInputItem[]) => [...old, ...fresh],
  } as Any)
  await runner.run(agent, history(3), { session, sessionInputCallback: (old, fresh) => [...old, ...fresh] })
  assert.equal(wholes(base.lastCall?.request.input), 0)
  assert.equal(wholes(await session.getItems()), 3)
})

test('where the provider keeps the conversation, nothing of what is new is left out', async () => {
  const base = new ScriptedModel([call('a'), done])
  const agent = new Agent({
    name: 'a',
    model: guardModel(base, { history: eagerPruner() }),
    tools: [looking(async () => LONG)],
  })
  await new Runner().run(agent, 'go', { conversationId: 'conv_1' })
  assert.equal(wholes(base.lastCall?.request.input), 1)
})

for (const stream of [false, true]) {
  const run = async (agent: Agent, input: AgentInputItem[]): Promise<Any> => {
    if (!stream) return (await new Runner().run(agent, input)).finalOutput
    const result = await new Runner().run(agent, input, { stream: true })
    for await (const _ of result) {
      // Read to its end.
    }
    await result.completed
    return result.finalOutput
  }
  const kind = stream ? 'stream' : 'response'

  test(`${kind}: retries a request that was too long, shortened`, async () => {
    const input = history(40)
    const before = snapshot(input)
    const events: AdapterEvent[] = []
    const base = new ScriptedModel([modelError(overflow()), done])
    const model = guardModel(base, { onEvent: (event) => events.push(event) })
    const agent = new Agent({ name: 'a', model })
    assert.equal(await run(agent, input), 'done')
    assert.equal(base.calls.length, 2)
    assert.ok(snapshot(base.lastCall?.request.input).length < snapshot(base.firstCall?.request.input).length)
    assert.equal(resultsOf(base.lastCall?.request.input).length, 40)
    assert.equal(snapshot(input), before)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['recovered'],
    )
  })

  test(`${kind}: an overflow that stays is retried three times, and comes through unchanged`, async () => {
    const error = overflow()
    const base = new ScriptedModel(Array.from({ length: 4 }, () => modelError(error)))
    const agent = new Agent({ name: 'a', model: guardModel(base, {}) })
    await assert.rejects(run(agent, history(40)), (thrown) => thrown === error)
    assert.equal(base.calls.length, 4)
  })

  test(`${kind}: a pruner that fails costs no request`, async () => {
    const events: AdapterEvent[] = []
    const broken = {
      prune: () => {
        throw new Error('broken')
      },
    }
    const base = new ScriptedModel([done])
    const model = guardModel(base, { history: broken, onEvent: (event) => events.push(event) })
    assert.equal(await run(new Agent({ name: 'a', model }), history(2)), 'done')
    assert.equal(wholes(base.lastCall?.request.input), 2)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['error'],
    )
  })
}

test('stream: the model of OpenAI, whose stream says that the request was too long', async () => {
  const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' }
  const response = { id: 'r1', output: [], usage: null }
  const message = { type: 'message', id: 'm1', role: 'assistant', status: 'completed' }
  const output = [{ ...message, content: [{ type: 'output_text', text: 'done', annotations: [] }] }]
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const begin = [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.in_progress', response: { ...response, status: 'in_progress' } },
  ]
  const failed = [...begin, { type: 'response.failed', response: { ...response, status: 'failed', error } }]
  const answered = [
    ...begin,
    { type: 'response.completed', response: { ...response, status: 'completed', output, usage } },
  ]
  const other = [...begin, { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } }]
  const run = async (...streams: object[][]) => {
    const inputs: string[] = []
    const create = ({ input }: Any) => {
      inputs.push(snapshot(input))
      const events = streams.shift() ?? []
      const stream = (async function* () {
        yield* events
      })()
      const answer: Any = Promise.resolve(stream)
      answer.withResponse = async () => ({ data: stream, response: new Response(), request_id: null })
      return answer
    }
    const client: Any = { responses: { create }, baseURL: 'https://api.openai.com/v1' }
    const model = guardModel(new OpenAIResponsesModel(client, 'some-model'), { onEvent: () => {} })
    const result = await new Runner().run(new Agent({ name: 'a', model }), history(40), { stream: true })
    const seen: string[] = []
    for await (const event of result as Any) {
      if (event.type === 'raw_model_stream_event') seen.push(event.data.event?.type ?? event.data.type)
    }
    await result.completed
    return { inputs, seen, said: result.finalOutput }
  }
  const { inputs, seen, said } = await run(failed, answered)
  assert.equal(said, 'done')
  assert.equal(inputs.length, 2)
  assert.ok((inputs[1] as string).length < (inputs[0] as string).length)
  assert.ok(!seen.includes('response.failed'))
  await assert.rejects(run(failed, failed, failed, failed), /response\.failed/)
  await assert.rejects(run(other), /response\.failed/)
})

test('stream: an error in the middle of an answer comes through', async () => {
  const events = async function* () {
    yield { type: 'response_started' } as Any
    yield { type: 'output_text_delta', delta: 'half' } as Any
    throw overflow()
  }
  const base = new ScriptedModel([modelStream(events()), done])
  const seen: Any[] = []
  const read = async () => {
    for await (const event of guardModel(base, {}).getStreamedResponse({ input: history(3) } as Any)) seen.push(event)
  }
  await assert.rejects(read(), { code: 'context_length_exceeded' })
  assert.deepEqual(
    seen.map(({ type }) => type),
    ['response_started', 'output_text_delta'],
  )
  assert.equal(base.calls.length, 1)
})

test('the filter: results of the run and of the session are pruned, and stored whole', async () => {
  const stored = new MemorySession()
  const session = storeUnpruned(stored)
  const base = new ScriptedModel([call('a'), call('b'), call('c'), done, done])
  const agent = new Agent({ name: 'a', model: base, tools: [looking(async () => LONG)] })
  const asked: unknown[] = []
  const sessionOf = ({ context }: { context?: unknown }) => {
    asked.push((context as Any)?.chat)
    return undefined
  }
  const runner = new Runner({ callModelInputFilter: pruneFilter({ history: eagerPruner(1), session, sessionOf }) })
  await runner.run(agent, 'go', { session, context: { chat: 7 } })
  await runner.run(agent, 'again', { session })
  assert.deepEqual(
    base.calls.map(({ request }) => wholes(request.input)),
    [0, 1, 1, 1, 1],
  )
  assert.equal(wholes(await stored.getItems()), 3)
  assert.equal(asked[0], 7)
})

test('the filter: a run that would store what is pruned is refused', async () => {
  const stored = new MemorySession()
  const session = storeUnpruned(stored)
  const base = new ScriptedModel([done])
  const agent = new Agent({ name: 'a', model: base })
  const runner = new Runner({ callModelInputFilter: pruneFilter({ history: eagerPruner(), session }) })
  const options = {
    session,
    sessionInputCallback: (old: AgentInputItem[], fresh: AgentInputItem[]) => [...old, ...fresh],
  }
  await assert.rejects(runner.run(agent, history(2), options), /would store them pruned/)
  assert.equal(base.calls.length, 0)
  assert.equal(wholes(await stored.getItems()), resultsOf(await stored.getItems()).length)
  assert.throws(() => pruneFilter({ session: new MemorySession() }), {
    code: 'INVALID_ARGUMENT',
    field: 'options.session',
  })
})

test('the filter: without a session the history may come as input', async () => {
  const base = new ScriptedModel([done])
  const runner = new Runner({ callModelInputFilter: pruneFilter({ history: eagerPruner(), session: null }) })
  const input = history(3)
  const result = await runner.run(new Agent({ name: 'a', model: base }), input)
  assert.equal(wholes(base.lastCall?.request.input), 0)
  assert.equal(wholes(input), 3)
  assert.equal(wholes(result.history), 3)
})

const policy = () => new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
const shell = (permission: Any, count: { ran: number }) =>
  guardFunctionTool(
    tool({
      name: 'bash',
      description: 'runs',
      parameters: z.object({ command: z.string() }),
      execute: async () => `ran ${++count.ran}`,
    }),
    { permission },
  )
const make = call('c1', 'bash', { command: 'make' })

for (const kind of ['policy', 'gate'] as const) {
  const permission = (events: GateEvent[] = []) =>
    kind === 'policy' ? policy() : new PermissionGate(policy(), { onEvent: (event) => events.push(event) })

  test(`${kind}: asked, approved in another process, run once`, async () => {
    const count = { ran: 0 }
    const first = permission()
    const agent = new Agent({ name: 'a', model: new ScriptedModel([make]), tools: [shell(first, count)] })
    const result = await new Runner().run(agent, 'go')
    assert.equal(result.interruptions?.length, 1)
    const state = result.state.toString()
    const gate = JSON.stringify(first)

    const events: GateEvent[] = []
    const second =
      kind === 'policy'
        ? policy()
        : PermissionGate.fromJSON(JSON.parse(gate), policy(), { onEvent: (event) => events.push(event) })
    const model = new ScriptedModel([done])
    const later = new Agent({
      name: 'a',
      model: guardModel(model, { permission: second }),
      tools: [shell(second, count)],
    })
    const restored = await RunState.fromString(later, state)
    restored.approve((restored.getInterruptions() as Any)[0])
    const end = await new Runner().run(later, restored)
    assert.equal(end.finalOutput, 'done')
    assert.equal(count.ran, 1)
    assert.equal(textOf(resultsOf(model.lastCall?.request.input)[0]), 'ran 1')
    if (second instanceof PermissionGate) {
      assert.deepEqual(second.pending(), [])
      assert.equal(events.filter(({ type }) => type === 'decided').length, 1)
    }
  })

  test(`${kind}: rejected`, async () => {
    const count = { ran: 0 }
    const asked = permission()
    const model = new ScriptedModel([make, done])
    const agent = new Agent({
      name: 'a',
      model: guardModel(model, { permission: asked }),
      tools: [shell(asked, count)],
    })
    const result = await new Runner().run(agent, 'go')
    result.state.reject((result.interruptions as Any)[0])
    await new Runner().run(agent, result.state)
    assert.equal(count.ran, 0)
    if (asked instanceof PermissionGate) assert.deepEqual(asked.pending(), [])
  })

  test(`${kind}: denied by a rule, although the user always approves`, async () => {
    const count = { ran: 0 }
    const asked = permission()
    const model = new ScriptedModel([
      make,
      call('c2', 'bash', { command: 'make all' }),
      call('c3', 'bash', { command: 'rm -rf x' }),
      done,
    ])
    const agent = new Agent({ name: 'a', model, tools: [shell(asked, count)] })
    const result = await new Runner().run(agent, 'go')
    result.state.approve((result.interruptions as Any)[0], { alwaysApprove: true })
    const end = await new Runner().run(agent, result.state)
    assert.equal(end.finalOutput, 'done')
    assert.equal(count.ran, 2)
    const [, , third] = resultsOf(model.lastCall?.request.input)
    assert.match(textOf(third), /denied and did not run/)
  })
}

test('tools of MCP servers', async () => {
  const { service, files } = smallService()
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
  class Server {
    readonly #name = 'files'
    cacheToolsList = false
    get name() {
      return this.#name
    }
    async connect() {}
    async close() {}
    async invalidateToolsCache() {}
    async listTools() {
      return [
        { name: 'look', inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false } },
      ] as Any
    }
    async callTool() {
      return [{ type: 'text', text: LONG }, image] as Any
    }
  }
  const model = new ScriptedModel([call('c1', 'look', {}), done])
  const server: MCPServer = guardMcpServer(new Server(), { truncation: service })
  await new Runner().run(new Agent({ name: 'a', model, mcpServers: [server] }), 'go')
  const [shown] = resultsOf(model.lastCall?.request.input)
  assert.ok(snapshot(shown).length < 4000)
  assert.match(snapshot(shown), /image/)
  assert.deepEqual(files(), [LONG])
})

test('a tool of an MCP server whose structure is what the model reads', async () => {
  const { service, files } = smallService()
  const structuredContent = { rows: LONG.split('\n') }
  const content = [{ type: 'text', text: 'see the rows' }]
  const inputSchema = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const raw: Any = {
    name: 'files',
    cacheToolsList: false,
    useStructuredContent: true,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => [{ name: 'look', inputSchema }],
    callTool: async () => content,
    callToolResult: async () => ({ content, structuredContent }),
  }
  const model = new ScriptedModel([call('c1', 'look', {}), done])
  const server: MCPServer = guardMcpServer(raw, { truncation: service })
  await new Runner().run(new Agent({ name: 'a', model, mcpServers: [server] }), 'go')
  const [shown] = resultsOf(model.lastCall?.request.input)
  assert.ok(snapshot(shown).length < 4000)
  assert.match(snapshot(shown), /Full output saved to/)
  assert.equal(files().length, 1)
  assert.ok(files()[0]?.includes(`"${structuredContent.rows.at(-1)}"`))
})

test('rejects tools that cannot be guarded at once, and leaves tools of the provider as they are', () => {
  const hosted = { type: 'hosted_tool' as const, name: 'web_search' }
  assert.equal(guardFunctionTool(hosted, {}), hosted)
  assert.throws(() => guardFunctionTool({ type: 'shell' }, {}), { code: 'INVALID_ARGUMENT', field: 'tool' })
  assert.throws(() => guardModel({} as Any, {}), { field: 'model' })
  assert.throws(
    () =>
      guardFunctionTool(
        looking(() => ''),
        { histroy: 1 } as Any,
      ),
    { field: 'controls.histroy' },
  )
})
