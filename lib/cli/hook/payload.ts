/** Payloads of the agents' hooks, read into one shape. */

import { deepJsonOf } from '../../util/deep-json'
import { isArray } from '../../util/guards'
import { jsonOrSame } from '../../util/json'
import { isRecord } from '../../validation/validate'
import type { HookEvent, HookFacts } from '../agents/types'

/** Milliseconds after which a call continues unchanged. */
export const TIME_LIMIT_MS = 2000

export interface HookCall {
  event: HookEvent
  /** Name of the event, as the agent has it. */
  eventName: string
  tool: string
  args: Readonly<Record<string, unknown>>
  /** The result as the agent has it. */
  result: unknown
  toolCallId: string
  /** The agent's own session, if its name can be the name of a folder. */
  sessionId?: string
  /** The sub-agent that makes the call, under the same condition. */
  agentId?: string
  cwd?: string
  /** How long the call took, in ms. */
  durationMs?: number
  /** How the session started. */
  source?: string
}

/** Reads a payload. Fields that are missing or of another type are left empty: an unknown version must not stop the agent. */
export function readHookCall(facts: HookFacts, payload: unknown, named: string | undefined): HookCall {
  const given = isRecord(payload) ? payload : {}
  const eventName = named ?? fieldOf(given, 'hook_event_name', 'hookEventName') ?? ''
  const session = fieldOf(given, 'session_id', 'sessionId', 'conversation_id')
  const agentId = fieldOf(given, 'agent_id')
  const cwd = fieldOf(given, 'cwd') ?? firstOf(given.workspace_roots)
  const source = fieldOf(given, 'source')
  const durationMs = given.duration_ms
  return {
    event: (Object.hasOwn(facts.events, eventName) ? facts.events[eventName] : undefined) ?? 'other',
    eventName,
    tool: fieldOf(given, 'tool_name', 'toolName') ?? '',
    args: recordOf(given.tool_input ?? given.toolArgs),
    result: given.tool_response ?? given.toolResult ?? given.tool_output,
    toolCallId: fieldOf(given, 'tool_use_id', 'tool_call_id', 'toolCallId') ?? '',
    ...(isName(session) && { sessionId: session }),
    ...(isName(agentId) && { agentId }),
    ...(cwd !== undefined && { cwd }),
    ...(typeof durationMs === 'number' && durationMs >= 0 && { durationMs }),
    ...(source !== undefined && { source }),
  }
}

const isName = (name: string | undefined): name is string => name !== undefined && /^\w[\w-]{0,99}$/.test(name)

function fieldOf(given: Readonly<Record<string, unknown>>, ...names: string[]): string | undefined {
  return names.map((name) => given[name]).find((value) => typeof value === 'string') as string | undefined
}

function firstOf(list: unknown): string | undefined {
  const first = isArray(list) ? list[0] : undefined
  return typeof first === 'string' ? first : undefined
}

/** Arguments, which some agents give as JSON in a text. */
function recordOf(value: unknown): Record<string, unknown> {
  const read = jsonOrSame(value)
  return isRecord(read) ? read : {}
}

/** Shorter results fit any limit, and need no service. */
const SHORT = 4000

export const isLong = (result: unknown): boolean => (deepJsonOf(result)?.length ?? 0) > SHORT

/** All texts in a result, whichever its shape. */
export function allTexts(result: unknown): string[] {
  const texts: string[] = []
  const todo = [result]
  while (todo.length > 0) {
    const value = todo.pop()
    if (typeof value === 'string') texts.push(value)
    else if (isArray(value) || isRecord(value)) for (const inner of Object.values(value).reverse()) todo.push(inner)
  }
  return texts
}

/** The text of a result, and how the result is with another text. */
export interface EditableText {
  text: string
  with(text: string): unknown
}

/** Finds the text of a result; `undefined` where there is none, or where pictures would be lost. */
export function editableText(result: unknown): EditableText | undefined {
  if (typeof result === 'string') return { text: result, with: (text) => text }
  if (!isRecord(result)) return undefined
  if (typeof result.textResultForLlm === 'string') {
    return { text: result.textResultForLlm, with: (text) => ({ ...result, textResultForLlm: text }) }
  }
  const { content } = result
  if (!isArray(content) || content.length === 0) return undefined
  const texts = content.map((block) => (isRecord(block) && block.type === 'text' ? block.text : undefined))
  if (!texts.every((text): text is string => typeof text === 'string')) return undefined
  // Text that a server gives twice would come through uncut.
  const { structuredContent: _, ...others } = result
  return { text: texts.join('\n'), with: (text) => ({ ...others, content: [{ type: 'text', text }] }) }
}

/** Finds the text of a result of any agent: also that of a command with its error stream, and that of a list of blocks. */
export function findText(result: unknown): EditableText | undefined {
  if (isArray(result)) {
    const found = editableText({ content: result })
    return found && { text: found.text, with: (text) => [{ type: 'text', text }] }
  }
  const field = isRecord(result) && (['stdout', 'content'] as const).find((name) => typeof result[name] === 'string')
  if (!field) return editableText(result)
  return { text: result[field] as string, with: (text) => ({ ...result, [field]: text }) }
}

/** Bytes of JSON that a result may have beside its text. */
const MAX_OTHER_BYTES = 1000

/** Finds the text of a result that is nothing else. */
export function findOnlyText(result: unknown): EditableText | undefined {
  const found = findText(result)
  if (found === undefined || (deepJsonOf(found.with(''))?.length ?? 0) > MAX_OTHER_BYTES) return undefined
  const hasMore = isRecord(result) && (result.isImage === true || Boolean(result.stderr))
  return hasMore ? undefined : found
}
