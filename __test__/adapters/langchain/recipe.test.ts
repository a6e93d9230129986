import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command, MemorySaver } from '@langchain/langgraph'
import { AIMessage, fakeModel, HumanMessage, ToolMessage, tool } from 'langchain'
import { z } from 'zod'
import { agentOf } from './recipe-langchain.ts'
import { type Any, longText } from './support.ts'

test('the recipe: an agent with everything', async () => {
  const model = fakeModel()
    .respondWithTools([{ id: 'c1', name: 'bash', args: { command: 'make' } }])
    .respond(new AIMessage('done'))
  const bash = tool(async () => longText(5000), {
    name: 'bash',
    description: 'runs',
    schema: z.object({ command: z.string() }),
  })
  const agent = agentOf({ model, tools: [bash] }, new MemorySaver())
  const config = { configurable: { thread_id: 't' } }
  const first: Any = await agent.invoke({ messages: [new HumanMessage('go')] }, config)
  assert.ok(first.__interrupt__)
  const { messages }: Any = await agent.invoke(
    new Command({ resume: { decisions: [{ type: 'approve' }] } }) as Any,
    config,
  )
  assert.equal(messages.at(-1).content, 'done')
  const result = messages.find((one: Any) => ToolMessage.isInstance(one))
  assert.match(String(result.content), /Full output saved to/)
  assert.ok(result.artifact.outputPath)
})
