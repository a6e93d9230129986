// The package of Anthropic alone. ANTHROPIC_API_KEY=… node anthropic.ts "Why did the build fail?"
import Anthropic from '@anthropic-ai/sdk'
import { ContextManager } from 'spillway'
import { run, tools } from './tools.ts'

const client = new Anthropic()
const manager = new ContextManager<Anthropic.MessageParam>({ contextWindow: 200_000 })
const declared = tools.map(({ name, description, inputSchema }) => ({
  name,
  description,
  input_schema: inputSchema as Anthropic.Tool.InputSchema,
}))

export async function answer(prompt: string): Promise<string> {
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const { messages } = await manager.prepare(history)
    const request = { model: 'claude-opus-5-5', max_tokens: 4096, tools: declared, messages }
    const { content } = await client.messages.create(request)
    history.push({ role: 'assistant', content })
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const results = calls.map(async ({ id, name, input }) => {
      return { type: 'tool_result' as const, tool_use_id: id, content: await run(name, input) }
    })
    history.push({ role: 'user', content: await Promise.all(results) })
  }
}

if (process.argv[2]) console.log(await answer(process.argv[2]))
