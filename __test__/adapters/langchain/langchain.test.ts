import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContextOverflowError } from '@langchain/core/errors'
import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  humanInTheLoopMiddleware,
  ToolMessage,
  tool,
} from 'langchain'
import {
  DoomLoopDetector,
  type GateEvent,
  PermissionGate,
  PermissionPolicy,
  ToolResultLedger,
  TruncationService,
  TruncationStorage,
} from 'spillway'
import {
  type AdapterEvent,
  contextControl,
  hostTools,
  type LangChainControls,
  needsApproval,
  outputTools,
  withSpillway,
} from 'spillway/langchain'
import { createShellTool } from 'spillway/tools'
import { z } from 'zod'
import { type Any, eagerPruner, longText, smallService, snapshot, tempDir } from './support.ts'

const LONG = longText(300)
const looking = (execute: (input: Any, config: Any) => Any, name = 'look', more: object = {}) =>
  tool(execute, {
    name,
    description: 'looks',
    schema: z.object({ path: z.string().optional(), command: z.string().optional() }),
    ...more,
  }) as Any
const call = (id: string, name = 'look', args: Record<string, unknown> = { path: id }) => [{ id, name, args }]
const toolsOf = (messages: BaseMessage[]) => messages.filter((one) => ToolMessage.isInstance(one)) as ToolMessage[]
const wholes = (messages: BaseMessage[]) => toolsOf(messages).filter(({ content }) => content === LONG).length
const go = { messages: [new HumanMessage('go')] }

/** A thread of its own. */
let threads = 0
const thread = () => ({ configurable: { thread_id: `thread ${++threads}` } })

/** Returns a history of `results` results that the model has seen. */
const history = (results: number): BaseMessage[] => [
  new HumanMessage('go'),
  ...Array.from({ length: results }, (_, at) => [
    new AIMessage({ content: '', tool_calls: [{ id: `h${at}`, name: 'look', args: { path: 'x' } }] }),
    new ToolMessage({ content: LONG, tool_call_id: `h${at}`, name: 'look' }),
  ]).flat(),
  new AIMessage('seen'),
  new HumanMessage('and now?'),
]

test('results and errors are bounded; the artifact says where the whole is', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  const model = fakeModel()
    .respondWithTools([...call('c1'), ...call('c2', 'broken'), ...call('c3', 'short'), ...call('c4', 'own')])
    .respond(new AIMessage('done'))
  const tools = [
    looking(async () => LONG),
    looking(() => Promise.reject(new Error(LONG)), 'broken'),
    looking(async () => 'short', 'short'),
    looking(async () => [LONG, { rows: 3 }], 'own', { responseFormat: 'content_and_artifact' }),
  ]
  const agent = createAgent({ model, tools, middleware: [contextControl({ truncation: service, ledger })] })
  const { messages } = await agent.invoke(go)
  const [first, broken, short, own] = toolsOf(messages) as Any[]
  assert.ok(String(first.content).length < 3000)
  assert.equal(first.artifact.outputPath, ledger.get('c1')?.outputPath)
  assert.equal(first.status, 'success')
  assert.equal(broken.status, 'error')
  assert.ok(String(broken.content).length < 3000)
  assert.ok(String(broken.content).includes('line 300 of some length'))
  assert.equal(broken.artifact.outputPath, ledger.get('c2')?.outputPath)
  assert.ok(broken.artifact.removedLines > 0)
  assert.deepEqual([short.content, short.artifact], ['short', undefined])
  assert.ok(String(own.content).length < 3000)
  assert.equal(own.artifact.rows, 3)
  assert.ok(own.artifact.outputPath)
  assert.deepEqual(files(), [LONG, LONG, LONG])
  assert.deepEqual(
    ['c1', 'c2', 'c3'].map((id) => ledger.get(id)?.isError),
    [false, true, false],
  )
  // No model ever sees an artifact.
  const sent = model.calls[1]?.messages as BaseMessage[]
  assert.equal(toolsOf(sent).length, 4)
})

test('a saved output is read and searched by tools, of its own thread only', async () => {
  const dir = tempDir()
  const storage = new TruncationStorage(dir)
  const truncation = new TruncationService({ storage, global: { maxLines: 3 } })
  const long = Array.from({ length: 900 }, (_, at) => `row ${at + 1}`).join('\n')
  const ask = (id: string, name: string, args: object) => (messages: BaseMessage[]) => {
    const [, path] = /saved to: (\S+)/.exec(String(toolsOf(messages)[0]?.content)) ?? []
    return new AIMessage({ content: '', tool_calls: [{ id, name, args: { path, ...args } }] })
  }
  const model = fakeModel()
    .respondWithTools(call('c1'))
    .respond(ask('c2', 'read_output', { from_line: 100, line_count: 400 }) as Any)
    .respond(ask('c3', 'search_output', { pattern: 'row 77$' }) as Any)
    .respond(new AIMessage('done'))
  const tools = [looking(async () => long), ...outputTools(truncation)]
  const agent = createAgent({ model, tools, middleware: [contextControl({ truncation })] })
  const { messages } = await agent.invoke(go, thread())
  const [first, read, found] = toolsOf(messages)
  assert.match(String(read?.content), /row 100\nrow 101\n[\s\S]*row 499/)
  assert.match(String(found?.content), /row 77/)
  const [, path] = /saved to: (\S+)/.exec(String(first?.content)) ?? []
  const [reading] = outputTools(storage)
  assert.match(await reading.invoke({ path }, thread()), /^Error: /)
})

test('a ready-made tool saves where the output tools beside it read, in each session', async () => {
  for (const sessionId of [undefined, 'session']) {
    for (const config of [{}, thread()]) {
      const shell = createShellTool({ cwd: tempDir() })
      const truncation = new TruncationService({ storageDirs: [tempDir()], global: { maxLines: 20 } })
      const read = (messages: BaseMessage[]) => {
        const [path] = /\/\S+\.txt/.exec(String(messages.at(-1)?.content)) ?? []
        return new AIMessage({
          content: '',
          tool_calls: call('c2', 'read_output', { path, from_line: 500, line_count: 1 }),
        })
      }
      const model = fakeModel()
        .respondWithTools(call('c1', 'bash', { command: 'seq 1 9000' }))
        .respond(read as Any)
        .respond(new AIMessage('done'))
      const parts = withSpillway({
        model,
        tools: hostTools([shell]),
        truncation,
        ...(sessionId && { sessionId }),
      } as Any)
      const { messages } = await createAgent(parts as Any).invoke(go as Any, config)
      assert.match(String(toolsOf(messages as BaseMessage[])[1]?.content), /^500$/m)
    }
  }
})

test('wrong arguments come back to the model', async () => {
  const strict = tool(async () => 'ok', {
    name: 'strict',
    description: 'x',
    schema: z.object({ path: z.number() }),
  }) as Any
  const model = fakeModel().respondWithTools(call('c1', 'strict')).respond(new AIMessage('done'))
  const { messages } = await createAgent({ model, tools: [strict], middleware: [contextControl({})] }).invoke(go)
  assert.equal(toolsOf(messages)[0]?.status, 'error')
})

test('requests are pruned; state and checkpoint are those of a run without us', async () => {
  const run = async (controls: LangChainControls | undefined) => {
    const model = fakeModel()
    for (const id of ['a', 'b', 'c']) model.respond(new AIMessage({ content: '', tool_calls: call(id) }))
    model.respond(new AIMessage({ content: 'done', id: 'last' }))
    const agent = createAgent({
      model,
      tools: [looking(async () => LONG)],
      checkpointer: new MemorySaver(),
      middleware: controls === undefined ? [] : [contextControl(controls)],
    })
    const config = thread()
    await agent.invoke(go, config)
    const state = await (agent as Any).getState(config)
    const plain = state.values.messages.map(({ content, tool_call_id, name, status, artifact, tool_calls }: Any) => ({
      content,
      tool_call_id,
      name,
      status,
      artifact,
      tool_calls,
    }))
    return { sent: model.calls.map(({ messages }) => messages), stored: snapshot(plain) }
  }
  const bare = await run(undefined)
  const sessions: unknown[] = []
  const pruned = await run({
    history: (sessionId) => {
      sessions.push(sessionId)
      return eagerPruner(1)
    },
  })
  assert.deepEqual(bare.sent.map(wholes), [0, 1, 2, 3])
  assert.deepEqual(pruned.sent.map(wholes), [0, 1, 1, 1])
  assert.ok(pruned.stored === bare.stored)
  assert.match(String(sessions[0]), /^thread \d+$/)
  assert.equal(sessions.length, 1)
  const [stub] = toolsOf(pruned.sent[3] as BaseMessage[])
  assert.deepEqual([stub?.tool_call_id, stub?.name, stub?.status], ['a', 'look', 'success'])
})

const raw413 = () =>
  Object.assign(new Error('413 request_too_large: Request exceeds the maximum size'), { status: 413 })

for (const [name, error] of [
  [
    'ContextOverflowError',
    () => ContextOverflowError.fromError(new Error('prompt is too long: 213462 tokens > 200000 maximum')),
  ],
  ['a raw 413', raw413],
] as const) {
  test(`${name}: retries a request that was too long, shortened, and stores nothing of that`, async () => {
    const events: AdapterEvent[] = []
    const model = fakeModel().respond(error()).respond(new AIMessage('done')).respond(new AIMessage('done'))
    const middleware = [contextControl({ onEvent: (event) => events.push(event) })]
    const agent = createAgent({
      model,
      tools: [looking(async () => LONG)],
      checkpointer: new MemorySaver(),
      middleware,
    })
    const config = thread()
    const { messages } = await agent.invoke({ messages: history(40) }, config)
    assert.equal(messages.at(-1)?.content, 'done')
    assert.equal(model.callCount, 2)
    assert.equal(wholes(messages), 40)
    const sizes = model.calls.map(({ messages: sent }) => snapshot(sent.map(({ content }) => content)).length)
    assert.ok((sizes[1] as number) < (sizes[0] as number) * 0.97, String(sizes))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['recovered'],
    )
    // The next request of the thread is shorter at once.
    await agent.invoke({ messages: [new HumanMessage('more')] }, config)
    assert.equal(model.callCount, 3)
    assert.ok(wholes(model.calls[2]?.messages as BaseMessage[]) < 40)
  })

  test(`${name}: one that stays is retried three times, and comes through`, async () => {
    const thrown = error()
    const model = fakeModel().alwaysThrow(thrown)
    const agent = createAgent({ model, tools: [], middleware: [contextControl({})] })
    await assert.rejects(
      agent.invoke({ messages: history(40) }),
      (seen: Any) => seen === thrown || seen.cause === thrown,
    )
    assert.equal(model.callCount, 4)
  })
}

// Anthropic's package has it in the one, and of a stream in the other.
for (const where of ['response_metadata', 'additional_kwargs']) {
  test(`retries a request that left no room for its answer, shortened: ${where}`, async () => {
    const full = new AIMessage({ content: [], [where]: { stop_reason: 'model_context_window_exceeded' } })
    const model = fakeModel().respond(full).respond(new AIMessage('done'))
    const agent = createAgent({ model, tools: [], middleware: [contextControl({ onEvent: () => {} })] })
    const { messages } = await agent.invoke({ messages: history(40) })
    assert.equal(messages.at(-1)?.content, 'done')
    assert.equal(model.callCount, 2)
    assert.ok(wholes(model.calls[1]?.messages as BaseMessage[]) < 40)
  })
}

test('a pruner that fails costs no request', async () => {
  const events: AdapterEvent[] = []
  const broken = { prepare: async () => Promise.reject(new Error('broken')) }
  const model = fakeModel().respond(new AIMessage('done'))
  const middleware = [contextControl({ history: broken, onEvent: (event) => events.push(event) })]
  await createAgent({ model, tools: [], middleware }).invoke({ messages: history(3) })
  assert.equal(wholes(model.calls[0]?.messages as BaseMessage[]), 3)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['error'],
  )
})

test('commands and interrupts go through, and nothing is noted of a call that was interrupted', async () => {
  const ledger = new ToolResultLedger()
  const controls = { ledger, doomLoop: new DoomLoopDetector(), truncation: smallService().service }
  const command = looking(
    async (_: unknown, config: Any) =>
      new Command({
        update: { messages: [new ToolMessage({ content: LONG, tool_call_id: config.toolCall.id, name: 'command' })] },
      }),
    'command',
  )
  const asking = looking(async () => `the user says ${interrupt('well?')}`, 'asking')
  const model = fakeModel()
    .respondWithTools(call('c1', 'command'))
    .respondWithTools(call('c2', 'asking'))
    .respond(new AIMessage('done'))
  const agent = createAgent({
    model,
    tools: [command, asking],
    checkpointer: new MemorySaver(),
    middleware: [contextControl(controls)],
  })
  const config = thread()
  const first: Any = await agent.invoke(go, config)
  assert.equal(first.__interrupt__[0].value, 'well?')
  assert.equal(wholes(first.messages), 1)
  assert.equal(ledger.get('c2'), undefined)
  const second = await agent.invoke(new Command({ resume: 'yes' }) as Any, config)
  assert.equal(toolsOf(second.messages).at(-1)?.content, 'the user says yes')
  assert.equal(ledger.get('c2')?.isError, false)
})

const policy = () => new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })

for (const kind of ['policy', 'gate'] as const) {
  const setup = (command: string, events: GateEvent[] = []) => {
    const permission =
      kind === 'policy' ? policy() : new PermissionGate(policy(), { onEvent: (event) => events.push(event) })
    let ran = 0
    const controls = { permission }
    const human = humanInTheLoopMiddleware({
      interruptOn: { bash: { allowedDecisions: ['approve', 'reject'], when: needsApproval(controls) } },
    })
    const model = fakeModel()
      .respondWithTools(call('c1', 'bash', { command }))
      .respond(new AIMessage('done'))
    const bash = looking(async () => `ran ${++ran}`, 'bash')
    const agent = createAgent({
      model,
      tools: [bash],
      checkpointer: new MemorySaver(),
      middleware: [human, contextControl(controls)],
    })
    return { agent, permission, config: thread(), count: () => ran }
  }

  test(`${kind}: asked, approved, run once, decided once`, async () => {
    const events: GateEvent[] = []
    const { agent, config, count, permission } = setup('make', events)
    const first: Any = await agent.invoke(go, config)
    assert.ok(first.__interrupt__)
    assert.equal(count(), 0)
    const { messages } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: 'approve' }] } }) as Any,
      config,
    )
    assert.equal(messages.at(-1)?.content, 'done')
    assert.equal(count(), 1)
    if (permission instanceof PermissionGate) {
      assert.deepEqual(
        events.map(({ type }) => type),
        ['asked', 'decided'],
      )
      assert.deepEqual(permission.pending(), [])
    }
  })

  test(`${kind}: rejected`, async () => {
    const { agent, config, count, permission } = setup('make')
    await agent.invoke(go, config)
    await agent.invoke(new Command({ resume: { decisions: [{ type: 'reject', message: 'no' }] } }) as Any, config)
    assert.equal(count(), 0)
    if (permission instanceof PermissionGate) assert.deepEqual(permission.pending(), [])
  })

  test(`${kind}: denied by a rule, without asking anybody`, async () => {
    const { agent, config, count } = setup('rm -rf x')
    const { messages } = await agent.invoke(go, config)
    assert.equal(count(), 0)
    assert.equal(toolsOf(messages)[0]?.status, 'error')
    assert.match(String(toolsOf(messages)[0]?.content), /denied and did not run/)
  })
}

test('wrong controls are an error at once', () => {
  assert.throws(() => contextControl({ histroy: 1 } as Any), { code: 'INVALID_ARGUMENT', field: 'controls.histroy' })
  assert.throws(() => contextControl({ recovery: { retries: -1 } }), { field: 'controls.recovery.retries' })
})
