/** OpenCode's messages as a chat that the pruner reads, and what it left out put back into them. */

import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'

interface ToolState {
  status?: unknown
  input?: unknown
  output?: unknown
}

interface ChatMessage {
  role: string
  content: string
  tool_calls?: object[]
  tool_call_id?: string
}

/** The sent form of each message: the same as long as the message is, so that the pruner knows it again. */
const known = new WeakMap<object, { made: ChatMessage[]; outputs: unknown[] }>()

/** The history in the form of OpenAI's chats: a call, then its result, part by part. */
export function chatOf(messages: readonly unknown[]): ChatMessage[] {
  return messages.flatMap((message) => (isRecord(message) ? chatOfOne(message) : []))
}

function chatOfOne(message: Record<string, unknown>): ChatMessage[] {
  const tools = toolsOf(message)
  const outputs = tools.map(({ state }) => state.output)
  const before = known.get(message)
  if (before?.outputs.length === outputs.length && before.outputs.every((output, at) => output === outputs[at])) {
    return before.made
  }
  const role = Object(message.info).role === 'user' ? 'user' : 'assistant'
  const texts = (isArray(message.parts) ? message.parts : []).map((part) => Object(part).text)
  const content = texts.filter((text) => typeof text === 'string').join('\n')
  const made: ChatMessage[] = [
    {
      role,
      content,
      ...(tools.length > 0 && {
        tool_calls: tools.map(({ callID, tool, state }) => ({
          id: callID,
          type: 'function',
          function: { name: tool, arguments: JSON.stringify(state.input ?? {}) },
        })),
      }),
    },
    ...tools.map(({ callID, state }) => ({ role: 'tool', tool_call_id: callID, content: state.output as string })),
  ]
  known.set(message, { made, outputs })
  return made
}

/** The calls that have ended well: of others OpenCode sends an error, or nothing. */
function toolsOf({ parts }: Record<string, unknown>): { callID: string; tool: string; state: ToolState }[] {
  return (isArray(parts) ? parts : []).filter((part): part is never => {
    const { type, callID, state } = Object(part) as Record<string, unknown>
    if (type !== 'tool' || typeof callID !== 'string' || !isRecord(state)) return false
    // Results that OpenCode has cleared by itself are sent as cleared.
    const { compacted } = Object(state.time) as { compacted?: unknown }
    return state.status === 'completed' && typeof state.output === 'string' && compacted === undefined
  })
}

/** The messages of which a result was left out, in copies, with their places. */
export function withOutputs(messages: readonly unknown[], chat: readonly unknown[]): [number, object][] {
  const shown = new Map<string, string>()
  for (const message of chat) {
    const { role, tool_call_id, content } = Object(message) as Partial<ChatMessage>
    if (role === 'tool' && typeof tool_call_id === 'string' && typeof content === 'string') {
      shown.set(tool_call_id, content)
    }
  }
  return messages.flatMap((message, at): [number, object][] => {
    if (!isRecord(message)) return []
    const changed = new Map(
      toolsOf(message)
        .filter(({ callID, state }) => shown.has(callID) && shown.get(callID) !== state.output)
        .map((part) => [part as object, shown.get(part.callID)]),
    )
    if (changed.size === 0) return []
    const parts = (message.parts as object[]).map((part) =>
      changed.has(part)
        ? { ...part, state: { ...(part as { state: object }).state, output: changed.get(part) } }
        : part,
    )
    return [[at, { ...message, parts }]]
  })
}
