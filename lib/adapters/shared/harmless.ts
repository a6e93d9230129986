/**
 * Tools of the hosts that touch nothing but the host's own state: lists of tasks, plans, output of what runs, questions that the
 * host itself puts to the user.
 */

import type { GateCall, PermissionCall } from 'spillway'
import type { AdapterControls } from './types'

/**
 * By host. Sub-agents (`Task`, `task`) are not among them: they call tools of their own. Neither are `AskUserQuestion` and
 * `ExitPlanMode` of the Claude Agent SDK: the decision about the call carries the user's answer.
 */
export const HARMLESS_TOOLS = {
  claude: [
    ...['TodoWrite', 'TodoRead', 'TaskCreate', 'TaskGet', 'TaskUpdate', 'TaskList', 'TaskOutput', 'TaskStop'],
    ...['EnterPlanMode', 'BashOutput', 'AgentOutput', 'KillShell', 'KillBash', 'StructuredOutput'],
    ...['Skill', 'ToolSearch', 'ListMcpResources', 'ListMcpResourcesTool'],
  ],
  opencode: ['todowrite', 'todoread', 'question', 'skill', 'plan_enter', 'plan_exit', 'invalid'],
  pi: ['todo', 'question', 'questionnaire'],
  langchain: ['write_todos', 'read_todos'],
  /** Tools that we give a host ourselves: they read nothing but saved outputs. */
  spillway: ['read_output', 'search_output'],
  /** The same in the Claude Agent SDK, which knows them by their server. */
  claudeOutputs: ['mcp__spillway__read_output', 'mcp__spillway__search_output'],
} as const satisfies Record<string, readonly string[]>

type Permission = NonNullable<AdapterControls['permission']>
type Host = keyof typeof HARMLESS_TOOLS

/** The same one for the same permission: questions are kept by it. */
const known = new WeakMap<object, Map<Host, Permission>>()

/** The permission that one of these was made of. */
const givenFor = new WeakMap<object, Permission>()

/** The permission as the caller gave it. */
export function givenPermission(permission: Permission): Permission {
  const given = givenFor.get(permission)
  return given === undefined ? permission : givenPermission(given)
}

/** The controls with a permission that allows the host's harmless tools, unless a rule for `tool:NAME` says otherwise. */
export function withHarmlessTools<C extends Pick<AdapterControls, 'permission'>>(controls: C, host: Host): C {
  const { permission } = controls
  if (permission === undefined) return controls
  const all = known.get(permission) ?? new Map<Host, Permission>()
  known.set(permission, all)
  const own = all.get(host) ?? marking(permission, new Set(HARMLESS_TOOLS[host]))
  all.set(host, own)
  givenFor.set(own, permission)
  return { ...controls, permission: own }
}

function marking(permission: Permission, harmless: ReadonlySet<string>): Permission {
  const marked = <C extends PermissionCall>(call: C): C =>
    harmless.has(call.tool) ? { ...call, touchesNothing: true } : call
  if (!('request' in permission)) return { evaluate: (call) => permission.evaluate(marked(call)) }
  const { pending, respond } = permission as { pending?: () => unknown; respond?: (...answer: unknown[]) => unknown }
  return {
    request: (call: GateCall) => permission.request(marked(call)),
    ...(typeof pending === 'function' && { pending: () => pending.call(permission) }),
    ...(typeof respond === 'function' && { respond: (...answer: unknown[]) => respond.apply(permission, answer) }),
  } as Permission
}
