import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as ai from 'ai'
import { type GateEvent, PermissionGate, PermissionPolicy } from 'spillway'
import { approvalPolicy, contextMiddleware, guardTools } from 'spillway/ai-sdk'
import { z } from 'zod'
import { mocked, resultsOf, type Turn, VERSION } from './mock.ts'
import { type Any, snapshot } from './support.ts'

const { generateText, stepCountIs, tool, wrapLanguageModel } = ai
const policy = () => new PermissionPolicy({ rules: [{ domain: 'bash', pattern: 'shell:rm*', decision: 'deny' }] })
const skip = VERSION === 5 && 'version 5 has no approvals'

function setup(
  permission: Any,
  command: string,
  turns: Turn[] = [{ calls: [{ id: 'c1', name: 'bash', input: { command } }] }],
) {
  let ran = 0
  const bash = tool({ inputSchema: z.object({ command: z.string() }), execute: async () => `ran ${++ran}` })
  const controls = { permission, hostApproval: VERSION === 6 }
  const { model: base, prompts } = mocked(...turns, { text: 'done' })
  const model = wrapLanguageModel({ model: base as Any, middleware: contextMiddleware(controls) })
  const tools = guardTools({ bash }, controls)
  const toolApproval = VERSION >= 7 ? { toolApproval: approvalPolicy(controls) } : {}
  const run = (messages: Any[]) =>
    generateText({ model, tools, messages, stopWhen: stepCountIs(5), ...toolApproval } as Any)
  return { run, prompts, count: () => ran }
}

const answer = (result: Any, approved: boolean): Any[] => {
  const request = result.content.find(({ type }: Any) => type === 'tool-approval-request')
  return [
    { role: 'user', content: 'go' },
    ...result.response.messages,
    {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved, reason: 'because' }],
    },
  ]
}

for (const kind of ['policy', 'gate'] as const) {
  test(`${kind}: denied by a rule`, { skip }, async () => {
    const { run, prompts, count } = setup(kind === 'gate' ? new PermissionGate(policy()) : policy(), 'rm -rf x')
    await run([{ role: 'user', content: 'go' }])
    assert.equal(count(), 0)
    const [shown] = resultsOf(prompts[1])
    assert.ok(['execution-denied', 'error-text'].includes(shown.output.type), snapshot(shown))
  })

  test(`${kind}: asked, approved, and run once`, { skip }, async () => {
    const events: GateEvent[] = []
    const gate = new PermissionGate(policy(), { onEvent: (event) => events.push(event) })
    const { run, prompts, count } = setup(kind === 'gate' ? gate : policy(), 'make')
    const first = await run([{ role: 'user', content: 'go' }])
    assert.equal(count(), 0)
    const messages = answer(first, true)
    const before = snapshot(messages)
    const second: Any = await run(messages)
    assert.equal(second.text, 'done')
    assert.equal(count(), 1)
    assert.equal(resultsOf(prompts[1])[0].output.value, 'ran 1')
    assert.equal(snapshot(messages), before)
    if (kind === 'gate') {
      assert.deepEqual(
        events.map(({ type }) => type),
        ['asked', 'decided'],
      )
      assert.equal((events[1] as Any).decision.by, 'once')
    }
  })

  test(`${kind}: asked and rejected`, { skip }, async () => {
    const gate = new PermissionGate(policy())
    const { run, prompts, count } = setup(kind === 'gate' ? gate : policy(), 'make')
    const first = await run([{ role: 'user', content: 'go' }])
    await run(answer(first, false))
    assert.equal(count(), 0)
    assert.equal(resultsOf(prompts[1])[0].output.type, 'execution-denied')
    // The gate does not wait for what the host has settled.
    assert.deepEqual(gate.pending(), [])
  })

  test(`${kind}: approved after a restart`, { skip }, async () => {
    const gate = new PermissionGate(policy())
    const before = setup(kind === 'gate' ? gate : policy(), 'make')
    const first = await before.run([{ role: 'user', content: 'go' }])
    const restored = PermissionGate.fromJSON(JSON.parse(JSON.stringify(gate)), policy())
    const after = setup(kind === 'gate' ? restored : policy(), 'make', [])
    const messages = JSON.parse(JSON.stringify(answer(first, true)))
    await after.run(messages)
    assert.equal(after.count(), 1)
    assert.equal(before.count(), 0)
    assert.deepEqual(restored.pending(), [])
  })
}

test('without approvals of the host a gate waits for its answer', async () => {
  const gate = new PermissionGate(policy(), {
    onEvent: (event) => {
      if (event.type === 'asked') queueMicrotask(() => void gate.respond(event.request.id, 'once'))
    },
  })
  const bash = tool({ inputSchema: z.object({ command: z.string() }), execute: async () => 'ran' })
  const { model, prompts } = mocked(
    { calls: [{ id: 'c1', name: 'bash', input: { command: 'make' } }] },
    { text: 'done' },
  )
  await generateText({
    model,
    tools: guardTools({ bash }, { permission: gate }),
    prompt: 'go',
    stopWhen: stepCountIs(5),
  })
  assert.equal(resultsOf(prompts[1])[0].output.value, 'ran')
})
