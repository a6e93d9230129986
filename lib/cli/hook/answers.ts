/** Answers of a hook, in the words of each agent. */

import type { HookFacts } from '../agents/types'
import type { HookCall } from './payload'

/** Decision about a call before it runs. Nothing is ever allowed: the agent's own rules hold. */
export interface Before {
  decision?: 'ask' | 'deny'
  reason?: string
  /** The arguments it is to run with. */
  args?: Readonly<Record<string, unknown>>
}

type Dialect = HookFacts['dialect']
type Answer = Record<string, unknown>

const BEFORE: Readonly<Record<Dialect, (before: Before, call: HookCall) => Answer>> = {
  claude: permissionAnswer,
  qwen: permissionAnswer,
  // It refuses changed arguments without the word.
  codex: (before, call) => permissionAnswer(before, call, before.args === undefined ? undefined : 'allow'),
  gemini: ({ decision, reason, args }, { eventName }) => ({
    ...(decision !== undefined && { decision, reason }),
    ...(args !== undefined && { hookSpecificOutput: { hookEventName: eventName, tool_input: args } }),
  }),
  copilot: ({ decision, reason, args }) => ({
    ...(decision !== undefined && { permissionDecision: decision, permissionDecisionReason: reason }),
    ...(args !== undefined && { modifiedArgs: args }),
  }),
  cursor: ({ decision, reason }) =>
    decision === undefined ? {} : { permission: decision, user_message: reason, agent_message: reason },
}

function permissionAnswer({ decision, reason, args }: Before, { eventName }: HookCall, word?: 'allow'): Answer {
  const said = decision ?? word
  return {
    hookSpecificOutput: {
      hookEventName: eventName,
      ...(said !== undefined && { permissionDecision: said }),
      ...(decision !== undefined && { permissionDecisionReason: reason }),
      ...(args !== undefined && { updatedInput: args }),
    },
  }
}

/** Returns the answer before a call; `undefined` where there is nothing to say. */
export function beforeAnswer(dialect: Dialect, before: Before, call: HookCall): Answer | undefined {
  if (before.decision === undefined && before.args === undefined) return undefined
  return BEFORE[dialect](before, call)
}

/** Returns the answer that puts a result in place of another one. */
export function afterAnswer(dialect: Dialect, result: unknown, text: string): Answer | undefined {
  switch (dialect) {
    case 'codex':
      return { decision: 'block', reason: text }
    case 'copilot':
      return { modifiedResult: result }
    case 'cursor':
      return { updated_mcp_tool_output: result }
    default:
      return undefined
  }
}

/** Returns the answer that gives the model something to read at the start of a session. */
export function startAnswer(dialect: Dialect, text: string, { eventName }: HookCall): Answer {
  const plain = dialect === 'copilot' || dialect === 'cursor'
  return plain
    ? { [dialect === 'copilot' ? 'additionalContext' : 'additional_context']: text }
    : { hookSpecificOutput: { hookEventName: eventName, additionalContext: text } }
}

/** Returns the answer that tells the user something, if the agent shows one. */
export function tellAnswer(dialect: Dialect, text: string): Answer | undefined {
  return dialect === 'copilot' || dialect === 'cursor' ? undefined : { systemMessage: text }
}
