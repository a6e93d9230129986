// LangChain 1. ANTHROPIC_API_KEY=… node langchain.ts "Why did the build fail?" (needs @langchain/anthropic)
import { readFile } from 'node:fs/promises'
import { createAgent, HumanMessage, initChatModel, tool } from 'langchain'
import { withSpillway } from 'spillway/langchain'

const buildLog = tool(() => readFile('build.log', 'utf8'), {
  name: 'build_log',
  description: 'Returns the log of the last build.',
  schema: { type: 'object', properties: {} },
})

type Model = Exclude<Parameters<typeof createAgent>[0]['model'], string>

export async function answer(model: Model, prompt: string): Promise<string> {
  const agent = createAgent(withSpillway({ model, tools: [buildLog], contextWindow: 200_000 }))
  const { messages } = await agent.invoke({ messages: [new HumanMessage(prompt)] })
  return String(messages.at(-1)?.content)
}

if (process.argv[2]) console.log(await answer(await initChatModel('anthropic:claude-opus-5-5'), process.argv[2]))
