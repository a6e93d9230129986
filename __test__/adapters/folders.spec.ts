import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PermissionCall, PermissionPolicy, type ToolControls } from 'spillway'
import * as ai from 'spillway/ai-sdk'
import * as claude from 'spillway/claude-agent-sdk'
import * as langchain from 'spillway/langchain'
import { guardMcpClient, guardMcpTool } from 'spillway/mcp'
import * as agents from 'spillway/openai-agents'
import * as opencode from 'spillway/opencode'
import * as pi from 'spillway/pi'
import { createReadTool } from 'spillway/tools'
import { tempDir } from '../support/temp'
import type { Any } from './shapes'

/** The folders that a call may name: the host's, the tool's own, and that of the adapter's options. */
interface Folders {
  host?: string
  tool?: string
  adapter?: string
}

type Controls = { permission: NonNullable<ToolControls['permission']>; workingDirectory?: string }

const args = { path: 'x.txt' }

/** A policy that says in which folders it judged. */
function recording() {
  const seen: (string | undefined)[] = []
  const policy = new PermissionPolicy({ rules: [{ domain: 'read', pattern: '*', decision: 'allow' }] })
  const evaluate = (call: PermissionCall) => {
    seen.push(call.cwd)
    return policy.evaluate({ ...call, headless: false })
  }
  return { seen, permission: { evaluate } }
}

/** A tool of each framework, called with everything that it is judged by. `host` names the folder of the call, where there is one. */
const CALLS: Record<string, (controls: Controls, folders: Folders) => Promise<unknown>> = {
  'AI SDK': async (controls, { tool: workingDirectory }) => {
    const given = { read: { execute: () => 'x', ...(workingDirectory && { workingDirectory }) } }
    const tools: Any = ai.guardTools(given, { ...controls, hostApproval: true })
    await tools.read.needsApproval(args, { toolCallId: 'c' })
    const toolCall = { toolCallId: 'c', toolName: 'read', input: args }
    await ai.approvalPolicy(controls)({ toolCall, tools })
    return tools.read.execute(args, { toolCallId: 'c', messages: [] })
  },
  'OpenAI Agents': async (controls, { tool: workingDirectory }) => {
    const given = {
      type: 'function',
      name: 'read',
      invoke: async () => 'x',
      ...(workingDirectory && { workingDirectory }),
    }
    const tool: Any = agents.guardFunctionTool(given, controls)
    await tool.needsApproval({}, args, 'c')
    return tool.invoke({}, JSON.stringify(args), { toolCall: { callId: 'c' } })
  },
  LangChain: async (controls, { tool: workingDirectory }) => {
    const tool = { name: 'read', ...(workingDirectory && { workingDirectory }) }
    const { middleware, needsApproval } = langchain.withSpillway({
      model: 'm',
      tools: [tool],
      truncation: false,
      ...controls,
    })
    const request = { toolCall: { id: 'c', name: 'read', args }, runtime: {} }
    await needsApproval?.(request)
    return middleware[0].wrapToolCall({ ...request, tool }, async () => 'x')
  },
  'pi agent': (controls, { tool: workingDirectory }) => {
    const tools = [{ name: 'read', ...(workingDirectory && { workingDirectory }) }]
    const call = { toolCall: { id: 'c', name: 'read' }, args, context: { tools } }
    return pi.agentHooks(controls).beforeToolCall(call)
  },
  'pi agent whose tools are given at once': (controls, { tool: workingDirectory }) => {
    const tools = [{ name: 'read', ...(workingDirectory && { workingDirectory }) }]
    const agent = pi.withSpillway({ initialState: { tools }, truncation: false, ...controls })
    return agent.beforeToolCall({ toolCall: { id: 'c', name: 'read' }, args })
  },
  'pi extension': async (controls, { host: cwd }) => {
    const handlers: Record<string, Any> = {}
    pi.extension(controls)({ on: (event, handler) => (handlers[event] = handler) })
    return handlers.tool_call({ toolName: 'read', toolCallId: 'c', input: args }, { cwd })
  },
  'Claude Agent SDK': async (controls, { host: cwd }) => {
    const { hooks, canUseTool } = claude.claudeOptions(controls, async () => ({ behavior: 'allow' }))
    const input = { session_id: 's', cwd, tool_name: 'read', tool_input: args, tool_use_id: 'c' }
    const options = { signal: new AbortController().signal }
    await hooks.PreToolUse[0]?.hooks[0]?.(input, 'c', options)
    return canUseTool?.('read', args, { toolUseID: 'c', ...options })
  },
  OpenCode: async (controls, { host: directory }) => {
    const hooks = await opencode.plugin(controls)({ ...(directory && { directory }) })
    return hooks['tool.execute.before']({ tool: 'read', sessionID: 's', callID: 'c' }, { args: { ...args } })
  },
  'OpenCode that names a repository only': async (controls, { host: worktree }) => {
    const hooks = await opencode.plugin(controls)({ ...(worktree && { worktree }) })
    return hooks['tool.execute.before']({ tool: 'read', sessionID: 's', callID: 'c' }, { args: { ...args } })
  },
  'client of MCP': (controls) => {
    const client = { callTool: async (_: object) => ({ content: [] }) }
    return guardMcpClient(client, { server: 'files', ...controls }).callTool({ name: 'read', arguments: args })
  },
  'tool of MCP': (controls) => guardMcpTool('read', (_: object, __: object) => ({ content: [] }), controls)(args, {}),
}

/** Which folders a framework has for a call, weakest last. */
const NAMES: Record<string, (keyof Folders)[]> = {
  'AI SDK': ['tool', 'adapter'],
  'OpenAI Agents': ['tool', 'adapter'],
  LangChain: ['tool', 'adapter'],
  'pi agent': ['tool', 'adapter'],
  'pi agent whose tools are given at once': ['tool', 'adapter'],
  'pi extension': ['host', 'adapter'],
  'Claude Agent SDK': ['host', 'adapter'],
  OpenCode: ['host', 'adapter'],
  'OpenCode that names a repository only': ['host', 'adapter'],
  'client of MCP': ['adapter'],
  'tool of MCP': ['adapter'],
}

const CASES = Object.entries(NAMES).flatMap(([framework, names]) =>
  names.map((strongest, at) => [framework, strongest, names.slice(at)] as const),
)

describe('paths are judged in the folder of the call', () => {
  test.each(CASES)('%s: the folder of the %s', async (framework, strongest, named) => {
    const folders = Object.fromEntries(named.map((name) => [name, `/folder/of/${name}`])) as Folders
    const { seen, permission } = recording()
    const { adapter } = folders
    await CALLS[framework]?.({ permission, ...(adapter && { workingDirectory: adapter }) }, folders)
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen)).toEqual(new Set([`/folder/of/${strongest}`]))
  })

  test.each(Object.keys(CALLS))('%s: without any, in that of the policy', async (framework) => {
    const { seen, permission } = recording()
    await CALLS[framework]?.({ permission }, {})
    expect(new Set(seen)).toEqual(new Set([undefined]))
  })

  test.each([
    ['AI SDK', ai.guardTools, {}],
    ['pi', pi.agentHooks, undefined],
    ['MCP', (controls: Any) => guardMcpTool('t', () => ({}), controls), undefined],
  ])('%s: an option that names no folder is refused', (_, make: Any, tools) => {
    const controls = { workingDirectory: 5 }
    expect(() => (tools === undefined ? make(controls) : make(tools, controls))).toThrow(/"controls.workingDirectory"/)
  })
})

describe('a ready-made tool outside of the folder that the policy allows', () => {
  /** A policy for one folder, and a tool that works in another one. */
  function kit() {
    const [vault, cwd] = [tempDir(), tempDir()]
    for (const folder of [vault, cwd]) writeFileSync(join(folder, 'x.txt'), folder)
    const rules = [{ domain: 'read', pattern: 'vault:**', decision: 'allow' }] as const
    return { vault, cwd, permission: new PermissionPolicy({ vault, rules, headless: true }) }
  }

  test('is refused in the AI SDK', async () => {
    const { cwd, vault, permission } = kit()
    const call = (folder: string) => {
      const tools: Any = ai.guardTools(ai.hostTools([createReadTool({ cwd: folder })]), { permission })
      return tools.read.execute(args, { toolCallId: 'c', messages: [] })
    }
    expect(await call(vault)).toContain(vault)
    await expect(call(cwd)).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining(cwd) })
  })

  test('is refused in the Agents SDK', async () => {
    const { cwd, vault, permission } = kit()
    const call = (folder: string) => {
      const [tool] = agents.hostTools([createReadTool({ cwd: folder })])
      return (agents.guardFunctionTool(tool, { permission }) as Any).invoke({}, JSON.stringify(args))
    }
    expect(await call(vault)).toContain(vault)
    expect(await call(cwd)).toMatch(/denied/)
  })

  test('works in the folder of the session as a tool of an extension of pi, where its calls are judged', async () => {
    const { vault, permission } = kit()
    const inner = join(vault, 'inner')
    mkdirSync(inner)
    writeFileSync(join(inner, 'x.txt'), inner)
    const [tool] = pi.hostTools([createReadTool({ cwd: tempDir() })])
    const handlers: Record<string, Any> = {}
    pi.extension({ permission })({ on: (event, handler) => (handlers[event] = handler) })
    const context = { cwd: inner }
    expect(await handlers.tool_call({ toolName: 'read', toolCallId: 'c', input: args }, context)).toBeUndefined()
    const { content } = await tool.execute('c', args, undefined, undefined, context)
    expect(content[0].text).toContain(inner)
  })
})
