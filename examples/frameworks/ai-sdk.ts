// AI SDK 5, 6 and 7. AI_GATEWAY_API_KEY=… node ai-sdk.ts "Why did the build fail?"
import { readFile } from 'node:fs/promises'
import { gateway, generateText, jsonSchema, type LanguageModel, type ModelMessage, stepCountIs, tool } from 'ai'
import { withSpillway } from 'spillway/ai-sdk'

const build_log = tool({
  description: 'Returns the log of the last build.',
  inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
  execute: () => readFile('build.log', 'utf8'),
})

export async function answer(model: Exclude<LanguageModel, string>, prompt: string): Promise<string> {
  const agent = withSpillway({ model, tools: { build_log }, contextWindow: 200_000 })
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }]
  const { text } = await generateText({ ...agent, messages, stopWhen: stepCountIs(20) })
  return text
}

if (process.argv[2]) console.log(await answer(gateway('anthropic/claude-opus-5-5'), process.argv[2]))
