import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SpillwayError, TruncationService } from 'spillway'
import * as ai from 'spillway/ai-sdk'
import * as langchain from 'spillway/langchain'
import * as agents from 'spillway/openai-agents'
import * as pi from 'spillway/pi'
import { createReadTool, createShellTool } from 'spillway/tools'
import { tempDir } from '../support/temp'
import type { Any } from './shapes'

const node = JSON.stringify(process.execPath)
const command = `${node} -e "for (let i = 0; i < 99; i++) console.log('row ' + i)"`

/** Tools over a folder with one file, and the service that their outputs are saved by. */
function kit() {
  const cwd = tempDir()
  writeFileSync(join(cwd, 'a.txt'), 'hello')
  const truncation = new TruncationService({ maxLines: 10, storageDir: tempDir(), availableTools: ['read_output'] })
  return { truncation, tools: [createShellTool({ cwd, service: truncation }), createReadTool({ cwd })] }
}

type CallTool = (name: string, args: object) => Promise<string>

/** Tools with the defaults of everything, in one line. */
const BARE: Record<string, (truncation: TruncationService) => CallTool> = {
  'AI SDK': (truncation) => {
    const model = { doGenerate() {}, doStream() {} }
    const tools = ai.hostTools([createShellTool()])
    return callingAi(ai.withSpillway({ model, tools, truncation, sessionId: 's', fold: false }))
  },
  'OpenAI Agents': (truncation) => {
    const model = { getResponse() {}, getStreamedResponse() {} }
    const tools = agents.hostTools([createShellTool()])
    return callingAgents(agents.withSpillway({ model, tools, truncation, sessionId: 's', fold: false }))
  },
  pi: (truncation) => {
    const initialState = { tools: pi.hostTools([createShellTool()]) }
    return callingPi(pi.withSpillway({ initialState, truncation, sessionId: 's', fold: false }))
  },
}

function callingAi(agent: Any): CallTool {
  return async (name, args) => {
    const tool = agent.tools[name]
    const output = await tool.execute(args, { toolCallId: name, messages: [] })
    return tool.toModelOutput ? (await tool.toModelOutput({ toolCallId: name, input: args, output })).value : output
  }
}

function callingAgents(agent: Any): CallTool {
  return (name, args) =>
    agent.tools.find((tool: Any) => tool.name === name).invoke({}, JSON.stringify(args), { toolCall: { callId: name } })
}

function callingPi(agent: Any): CallTool {
  return async (name, args) => {
    const toolCall = { id: name, name }
    await agent.beforeToolCall({ toolCall, args })
    const result = await agent.initialState.tools.find((tool: Any) => tool.name === name).execute(name, args)
    const changed = await agent.afterToolCall({ toolCall, args, result, isError: false })
    return (changed?.content ?? result.content)[0].text
  }
}

/** How each framework calls a tool, and what the model reads. */
const HOSTS: Record<string, (options: { sessionId: string }) => CallTool> = {
  'AI SDK': ({ sessionId }) => {
    const { truncation, tools } = kit()
    const model = { doGenerate() {}, doStream() {} }
    const agent = ai.withSpillway({
      model,
      tools: ai.hostTools(tools, { sessionId }),
      truncation,
      sessionId,
      fold: false,
    })
    return callingAi(agent)
  },
  'OpenAI Agents': ({ sessionId }) => {
    const { truncation, tools } = kit()
    const model = { getResponse() {}, getStreamedResponse() {} }
    const given = agents.hostTools(tools, { sessionId })
    const agent = agents.withSpillway({ model, tools: given, truncation, sessionId, fold: false })
    return callingAgents(agent)
  },
  pi: ({ sessionId }) => {
    const { truncation, tools } = kit()
    const initialState = { tools: pi.hostTools(tools, { sessionId }) }
    const agent = pi.withSpillway({ initialState, truncation, sessionId, fold: false })
    return callingPi(agent)
  },
}

describe.each(['AI SDK', 'OpenAI Agents', 'pi'])('ready-made tools without a service and a session in %s', (host) => {
  test('save where the tools beside them read, as the notice says', async () => {
    const call = BARE[host]!(
      new TruncationService({ storageDir: tempDir(), maxLines: 10, availableTools: ['read_output'] }),
    )
    const preview = await call('bash', { command })
    expect(preview.match(/read_output/g)).toHaveLength(1)
    const path = /(\/\S+\.txt)/.exec(preview)?.[1]
    expect(await call('read_output', { path, from_line: 50, line_count: 1 })).toContain('row 49')
  })
})

describe.each(Object.entries(HOSTS))('ready-made tools in %s', (_, host) => {
  test('run, save for their session, and are read back; a preview is cut once only', async () => {
    const call = host({ sessionId: 's' })
    expect(await call('read', { path: 'a.txt' })).toBe('     1\thello')
    const preview = await call('bash', { command })
    expect(preview.match(/read_output/g)).toHaveLength(1)
    const path = /(\/\S+\.txt)/.exec(preview)?.[1]
    expect(await call('read_output', { path, from_line: 50, line_count: 1 })).toContain('row 49')
  })
})

test.each([ai, agents, langchain, pi])('rejects values that are no tool', ({ hostTools }) => {
  expect(() => hostTools({} as Any)).toThrow(SpillwayError)
  expect(() => hostTools([{ name: 'x' }] as Any)).toThrow(/tools\[0\]/)
  expect(() => hostTools([], { session: 's' } as Any)).toThrow(/sessionId/)
})
