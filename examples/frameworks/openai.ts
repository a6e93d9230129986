// The package of OpenAI alone. OPENAI_API_KEY=… node openai.ts "Why did the build fail?"
import OpenAI from 'openai'
import { ContextManager } from 'spillway'
import { run, tools } from './tools.ts'

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam

const client = new OpenAI()
const manager = new ContextManager<Message>({ contextWindow: 400_000 })
const declared = tools.map(({ name, description, inputSchema: parameters }) => {
  return { type: 'function' as const, function: { name, description, parameters } }
})

export async function answer(prompt: string): Promise<string> {
  const history: Message[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const { messages } = await manager.prepare(history)
    const { choices } = await client.chat.completions.create({ model: 'gpt-5.6', tools: declared, messages })
    const message = choices[0]?.message
    if (!message?.tool_calls?.length) return message?.content ?? ''
    history.push(message)
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue
      const content = await run(call.function.name, JSON.parse(call.function.arguments))
      history.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
}

if (process.argv[2]) console.log(await answer(process.argv[2]))
