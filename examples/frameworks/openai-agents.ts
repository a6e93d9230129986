// OpenAI Agents SDK. OPENAI_API_KEY=… node openai-agents.ts "Why did the build fail?"
import { readFile } from 'node:fs/promises'
import { Agent, type Model, OpenAIProvider, Runner, tool } from '@openai/agents'
import { withSpillway } from 'spillway/openai-agents'

const buildLog = tool({
  name: 'build_log',
  description: 'Returns the log of the last build.',
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
  strict: false,
  execute: () => readFile('build.log', 'utf8'),
})

export async function answer(model: Model, prompt: string): Promise<string> {
  const parts = withSpillway({ model, tools: [buildLog], contextWindow: 400_000 })
  const result = await new Runner().run(new Agent({ name: 'builder', ...parts }), prompt)
  return result.finalOutput ?? ''
}

if (process.argv[2]) console.log(await answer(await new OpenAIProvider().getModel('gpt-5.6'), process.argv[2]))
