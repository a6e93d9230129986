import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFauxCore, fauxAssistantMessage, fauxText, fauxToolCall } from '@earendil-works/pi-ai/providers/faux'
import { Type } from 'typebox'
import { agentOf } from './recipe-pi.ts'
import extension from './recipe-pi-extension.ts'
import { type Any, longText } from './support.ts'

test('the recipe: an agent of pi', async () => {
  const core = createFauxCore({})
  core.setResponses([
    fauxAssistantMessage(fauxToolCall('bash', {}, { id: 'c1' }), { stopReason: 'toolUse' }),
    fauxAssistantMessage('done'),
  ])
  const bash = {
    name: 'bash',
    label: 'Bash',
    description: 'runs',
    parameters: Type.Object({}),
    execute: async () => ({ content: [fauxText(longText(5000))], details: {} }),
  }
  const agent = agentOf(
    {
      streamFn: core.streamSimple as Any,
      initialState: { model: core.getModel(), tools: [bash], systemPrompt: '' } as Any,
    },
    'session',
  )
  await agent.prompt('go')
  const result = agent.state.messages.find(({ role }: Any) => role === 'toolResult') as Any
  assert.match(result.content[0].text, /Full output saved to/)
})

test('the extension of the recipe registers what pi calls', () => {
  const events: string[] = []
  extension({ on: (event: string) => events.push(event) } as never)
  assert.deepEqual(events, ['tool_call', 'tool_result', 'context', 'provider_stream_event'])
})
