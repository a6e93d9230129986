import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { tool } from 'ai'
import { z } from 'zod'
import { mocked, resultsOf } from './mock.ts'
import { answer } from './recipe-ai-sdk.ts'
import { type Any, longText } from './support.ts'

const tools = { bash: tool({ inputSchema: z.object({ command: z.string() }), execute: async () => longText(5000) }) }
const call = { calls: [{ id: 'c1', name: 'bash', input: { command: 'make' } }] }
const go: Any[] = [{ role: 'user', content: 'go' }]

test('the recipe: tools and a model', async () => {
  const { model, prompts } = mocked(call, { text: 'done' })
  const result = await answer(model, tools, go, 'session')
  assert.equal(result.text, 'done')
  assert.equal((result.steps[0]!.toolResults[0] as Any).output, longText(5000))
  assert.match(resultsOf(prompts[1])[0].output.value, /Full output saved to/)
})

const approval = './recipe-ai-sdk-approval.ts'

test('the recipe: approvals', { skip: !existsSync('recipe-ai-sdk-approval.ts') && 'version 7 only' }, async () => {
  const { step } = await import(approval)
  const { model } = mocked(call, { text: 'done' })
  const result = await step(model, tools, go)
  assert.ok(result.content.some(({ type }: Any) => type === 'tool-approval-request'))
})
