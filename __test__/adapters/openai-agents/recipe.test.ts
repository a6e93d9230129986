import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, MemorySession, Runner, setTracingDisabled, tool } from '@openai/agents'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { z } from 'zod'
import { agentOf, turn } from './recipe-openai-agents.ts'
import * as filtered from './recipe-openai-agents-filter.ts'
import { longText } from './support.ts'

setTracingDisabled(true)
const bash = () =>
  tool({
    name: 'bash',
    description: 'runs',
    parameters: z.object({ command: z.string() }),
    execute: async () => longText(5000),
  })
const call = () => [functionCall('bash', { command: 'make' }, { callId: 'c1' })]
const done = [assistantMessage('done')]

test('the recipe: an agent that asks', async () => {
  const agent = agentOf(new ScriptedModel([call(), done]), [bash() as never], 'session')
  const session = new MemorySession()
  const result = await turn(agent, 'go', session)
  assert.equal(result.interruptions?.length, 1)
  for (const one of result.interruptions ?? []) result.state.approve(one)
  const end = await new Runner().run(agent, result.state, { session })
  assert.equal(end.finalOutput, 'done')
  assert.match(JSON.stringify(await session.getItems()), /Full output saved to/)
})

test('the recipe: a filter and a session', async () => {
  const model = new ScriptedModel([call(), done, done])
  const agent = new Agent({ name: 'a', model, tools: [bash()] })
  assert.equal((await filtered.turn(agent, 'go')).finalOutput, 'done')
  assert.equal((await filtered.turn(agent, 'more')).finalOutput, 'done')
  assert.ok(JSON.stringify(model.lastCall?.request.input).includes('line 5000'))
})
