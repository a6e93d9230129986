// pi's agent core. ANTHROPIC_API_KEY=… node pi.ts "Why did the build fail?"
import { readFile } from 'node:fs/promises'
import { Agent, type AgentOptions, type AgentTool } from '@earendil-works/pi-agent-core'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { withSpillway } from 'spillway/pi'

const buildLog: AgentTool = {
  name: 'build_log',
  label: 'Build log',
  description: 'Returns the log of the last build.',
  parameters: { type: 'object', properties: {} },
  execute: async () => ({ content: [{ type: 'text', text: await readFile('build.log', 'utf8') }], details: {} }),
}

export async function answer({ initialState, ...options }: AgentOptions, prompt: string): Promise<string> {
  const parts = withSpillway({ initialState: { ...initialState, tools: [buildLog] }, sessionId: 'builds' })
  const agent = new Agent({ ...options, ...parts })
  await agent.prompt(prompt)
  const last = agent.state.messages.at(-1)
  if (last?.role !== 'assistant') return ''
  return last.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

if (process.argv[2]) {
  const models = builtinModels()
  const model = models.getModel('anthropic', 'claude-opus-4-5')
  if (!model) throw new Error('pi does not know the model')
  const streamFn = models.streamSimple.bind(models)
  console.log(await answer({ initialState: { model }, streamFn }, process.argv[2]))
}
