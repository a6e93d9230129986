import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { tool } from 'ai'
import { z } from 'zod'
import { mocked, resultsOf } from './mock.ts'
import { agentOf } from './recipe-ai-sdk.ts'
import { answer } from './recipe-ai-sdk-parts.ts'
import { type Any, longText } from './support.ts'

const tools = { bash: tool({ inputSchema: z.object({ command: z.string() }), execute: async () => longText(5000) }) }
const call = { calls: [{ id: 'c1', name: 'bash', input: { command: 'make' } }] }
const go: Any[] = [{ role: 'user', content: 'go' }]

for (const [name, run] of Object.entries({
  'in one call': (model: Any, session: string) => agentOf(model, tools, session)(go),
  'part by part': (model: Any, session: string) => answer(model, tools, go, session),
})) {
  test(`the recipe: tools and a model, ${name}`, async () => {
    const { model, prompts } = mocked(call, { text: 'done' })
    const result: Any = await run(model, name)
    assert.equal(result.text, 'done')
    assert.equal(result.steps[0]!.toolResults[0].output, longText(5000))
    assert.match(resultsOf(prompts[1])[0].output.value, /Full output saved to/)
  })
}

const approval = './recipe-ai-sdk-approval.ts'

test('the recipe: approvals', { skip: !existsSync('recipe-ai-sdk-approval.ts') && 'version 7 only' }, async () => {
  const recipe = await import(approval)
  const { model } = mocked(call, { text: 'done' })
  const result = await recipe.agentOf(model, tools, 'asking')(go)
  assert.ok(result.content.some(({ type }: Any) => type === 'tool-approval-request'))
})
