import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, type AgentMessage, type AgentTool } from '@earendil-works/pi-agent-core'
import { createFauxCore, fauxAssistantMessage, fauxText, fauxToolCall } from '@earendil-works/pi-ai/providers/faux'
import { PermissionPolicy, ToolResultLedger } from 'spillway'
import { type AdapterEvent, agentHooks, extension, type PiControls } from 'spillway/pi'
import { Type } from 'typebox'
import { type Any, eagerPruner, longText, smallService, snapshot } from './support.ts'

const LONG = longText(300)

function setup(controls: PiControls, execute: (args: Any) => Any, ...calls: [string, object?][]) {
  const core = createFauxCore({})
  const sent: Any[][] = []
  const answer = (message: Any) => (context: Any) => {
    sent.push(structuredClone(context.messages))
    return message
  }
  core.setResponses([
    ...calls.map(([id, args = { command: 'make' }]) =>
      answer(fauxAssistantMessage(fauxToolCall('bash', args as Any, { id }), { stopReason: 'toolUse' })),
    ),
    answer(fauxAssistantMessage('done')),
  ])
  const bash: AgentTool = {
    name: 'bash',
    label: 'Bash',
    description: 'runs',
    parameters: Type.Object({ command: Type.String() }),
    execute: async (_id, args) => ({ content: [fauxText(await execute(args))], details: { exitCode: 0 } }),
  }
  const agent = new Agent({
    initialState: { model: core.getModel(), tools: [bash], systemPrompt: '' } as Any,
    streamFn: core.streamSimple as Any,
    ...agentHooks(controls),
  })
  return { agent, sent }
}

const resultsOf = (messages: AgentMessage[]): Any[] => messages.filter(({ role }: Any) => role === 'toolResult')
const textOf = (message: Any): string => message.content[0].text
const wholes = (messages: AgentMessage[]) => resultsOf(messages).filter((one) => textOf(one) === LONG).length

test('results and errors are bounded, and say where the whole is', async () => {
  const { service, files } = smallService()
  const ledger = new ToolResultLedger()
  let calls = 0
  const execute = () => {
    if (calls++ > 0) throw new Error(LONG)
    return LONG
  }
  const { agent } = setup({ truncation: service, ledger }, execute, ['c1'], ['c2'])
  await agent.prompt('go')
  const [first, second] = resultsOf(agent.state.messages)
  assert.ok(textOf(first).length < 3000, textOf(first))
  assert.equal(first.details.exitCode, 0)
  assert.equal(first.details.outputPath, ledger.get('c1')?.outputPath)
  assert.equal(second.isError, true)
  assert.ok(textOf(second).length < 3000)
  assert.deepEqual(files(), [LONG, LONG])
  assert.deepEqual(
    ['c1', 'c2'].map((id) => ledger.get(id)?.isError),
    [false, true],
  )
})

test('requests are pruned, and the messages of the agent are whole', async () => {
  const { agent, sent } = setup({ history: eagerPruner(1) }, () => LONG, ['a'], ['b'], ['c'])
  await agent.prompt('go')
  assert.deepEqual(sent.map(wholes), [0, 1, 1, 1])
  assert.equal(wholes(agent.state.messages), 3)
})

test('a call that is denied does not run', async () => {
  let ran = 0
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
  const { agent } = setup({ permission }, () => String(++ran), ['c1', { command: 'rm -rf x' }])
  await agent.prompt('go')
  assert.equal(ran, 0)
  const [only] = resultsOf(agent.state.messages)
  assert.equal(only.isError, true)
  assert.match(textOf(only), /denied and did not run/)
})

test('a hook changes what is called', async () => {
  const hooks = { 'tool.before': () => ({ input: { command: 'make test' } }) }
  const { agent } = setup({ hooks }, ({ command }) => `ran ${command}`, ['c1'])
  await agent.prompt('go')
  assert.equal(textOf(resultsOf(agent.state.messages)[0]), 'ran make test')
})

test('a pruner that fails costs no request', async () => {
  const events: AdapterEvent[] = []
  const history = {
    prune: () => {
      throw new Error('broken')
    },
  }
  const { agent, sent } = setup({ history, onEvent: (event) => events.push(event) }, () => LONG, ['a'])
  await agent.prompt('go')
  assert.equal(wholes(sent[1] as Any), 1)
  assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['error']))
})

test('the extension answers the events of the coding agent', async () => {
  const { service, files } = smallService()
  const handlers: Record<string, (event: Any) => Any> = {}
  const permission = new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:make', decision: 'allow' }] })
  extension({ truncation: service, permission, history: eagerPruner() })({
    on: (name, handler) => (handlers[name] = handler),
  })
  const call = { toolName: 'bash', toolCallId: 'c1', input: { command: 'make' } }
  assert.equal(await handlers.tool_call?.(call), undefined)
  const structuredContent = { rows: 1 }
  const edit = await handlers.tool_result?.({
    ...call,
    content: [{ type: 'text', text: LONG }],
    isError: false,
    structuredContent,
  })
  assert.ok(edit.content[0].text.length < 3000)
  assert.deepEqual([edit.isError, edit.structuredContent], [false, structuredContent])
  assert.deepEqual(files(), [LONG])
  const denied = await handlers.tool_call?.({ ...call, toolCallId: 'c2', input: { command: 'rm x' } })
  assert.equal(denied.block, true)
  const messages = [
    { role: 'user', content: 'go', timestamp: 1 },
    { role: 'assistant', content: [{ type: 'toolCall', id: 'x', name: 'bash', arguments: {} }], timestamp: 2 },
    {
      role: 'toolResult',
      toolCallId: 'x',
      toolName: 'bash',
      content: [{ type: 'text', text: LONG }],
      isError: false,
      timestamp: 3,
    },
    { role: 'assistant', content: [{ type: 'text', text: 'seen' }], timestamp: 4 },
    { role: 'user', content: 'more', timestamp: 5 },
  ]
  const before = snapshot(messages)
  const { messages: sent } = await handlers.context!({ messages })
  assert.equal(wholes(sent), 0)
  assert.equal(snapshot(messages), before)
})

test('rejects options for features of pi itself at once', () => {
  assert.throws(() => agentHooks({ recovery: {} } as Any), { code: 'INVALID_ARGUMENT', field: 'controls.recovery' })
})
