/** The types of hooks, agents, tools and settings, as a host writes against them. Compiled, never run. */

import { guardTool, PermissionPolicy, type ToolControls } from 'spillway'
import {
  type AgentDefinition,
  HookRunner,
  type Hooks,
  loadAgents,
  loadTools,
  resolveModelSettings,
} from 'spillway/extensions'

const own: Hooks = {
  'chat.params': ({ agent }) => (agent === 'reviewer' ? { temperature: 0.1, topP: null } : undefined),
  'chat.system': [() => 'text', async () => ({ text: 'first', mode: 'prepend' })],
  'tool.before': ({ args }) => ({ mergeInput: { args } }),
  'tool.after': ({ isError }) => (isError ? { prepend: 'failed: ' } : null),
  'compaction.before': ({ instructions }) => ({ instructions: `${instructions} Be brief.` }),
  'compaction.after': (report) => console.log(report),
}

const wrongName: Hooks = {
  // @ts-expect-error no such hook
  'tool.during': () => undefined,
}
const wrongAnswer: Hooks = {
  // @ts-expect-error a temperature is a number
  'chat.params': () => ({ temperature: 'hot' }),
}
void [wrongName, wrongAnswer]

export async function hooks(): Promise<number> {
  const runner = new HookRunner({ builtIn: own, user: [own, {}], timeoutMs: 100, onProblem: ({ hook }) => void hook })
  const params = await runner.chatParams({ temperature: 1, own: 'kept' })
  const system: string = await runner.chatSystem('base', { sessionId: 's' })
  const tool = guardTool({ name: 'x', execute: (args: { a: number }) => args.a }, { hooks: runner })
  void guardTool({ name: 'x', execute: () => 1 }, { hooks: own })
  // @ts-expect-error its arguments are typed
  void tool.execute({ a: 'b' })
  return params.own.length + system.length
}

export async function refusals(controls: ToolControls): Promise<string> {
  const tool = { name: 'x', execute: (args: { a: number }) => args.a }
  const text: number | string = await guardTool(tool, { refusal: 'text' }).execute({ a: 1 })
  const mcp = await guardTool(tool, { refusal: 'mcp' }).execute({ a: 1 })
  if (typeof mcp !== 'number') mcp.content[0].text satisfies string
  for (const guarded of [guardTool(tool), guardTool(tool, { refusal: 'result' }), guardTool(tool, controls)]) {
    const result = await guarded.execute({ a: 1 })
    if (typeof result !== 'number') result.kind satisfies string
  }
  const named = guardTool<typeof tool>(tool, { refusal: 'text' })
  void named.execute({ a: 1 })
  // A tool without parameters is called as hosts do.
  const bare = guardTool({ name: 'x', execute: () => 1 })
  await bare.execute({})
  await bare.execute({}, { toolCallId: 'c' })
  // @ts-expect-error there is no such form
  void guardTool(tool, { refusal: 'json' })
  // @ts-expect-error there is no such control
  void guardTool(tool, { permision: 1 })
  return String(text)
}

export async function folders(dir: string): Promise<AgentDefinition | undefined> {
  const { agents, problems } = await loadAgents(dir)
  const { tools, paths } = await loadTools(dir, { enabled: true, controls: { permission: new PermissionPolicy() } })
  void [problems[0]?.line, Object.keys(paths), tools[0]?.name]
  const [agent] = agents
  const { systemPrompt, modelSettings } = resolveModelSettings({ defaultSystemPrompt: '', agent })
  // @ts-expect-error a default is needed
  void resolveModelSettings({ agent })
  void [systemPrompt.length, modelSettings.temperature]
  return agent
}
