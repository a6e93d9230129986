/**
 * Chat messages as OpenAI's chat completions have them, and as most agents keep them:
 * `{ role: 'tool', content, tool_call_id, name?, timestamp?, messageStatus?, outputPath?, metadata? }` for a result, and
 * `{ role: 'assistant', content, tool_calls: [{ id, function: { name, arguments } }] }` for calls.
 */

import type { MessageRole } from '../view'
import { contentWithText, type PartRules, readContent, textParts, withoutMedia } from './blocks'
import type { CallReading, Reading } from './define'
import type { Edit } from './edit'
import { elements, get, isObject, isRecord, nonEmpty, outputPathOf, timeOf, watched } from './read'

/** What a message that is a summary is called where messages have names. */
export const SUMMARY_NAME = 'session_summary'

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Part types that other formats have and chat completions do not. */
const FOREIGN =
  /^(tool-[a-z-]+|tool_(use|result)|toolCall|function_?[cC]all|thinking|redacted_thinking|reasoning|(in|out)put_text|input_image|input_file|server_tool_use)$/

const parts: PartRules = textParts(['text'], (part, type) => {
  const refusal = type === 'refusal' ? watched(part, 'refusal') : undefined
  return typeof refusal === 'string' ? [['refusal'], refusal] : 'media'
})

export function chatRole(message: object): MessageRole | undefined {
  const role = get(message, 'role')
  return typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
}

/** Whether the content is none that another format has. */
export function hasChatContent(message: object): boolean {
  const content = get(message, 'content')
  if (typeof content === 'string' || content === null || content === undefined) return !('parts' in message)
  return Array.isArray(content) && !elements(content).some((part) => FOREIGN.test(String(get(part, 'type'))))
}

/** Whether this answers or makes calls as chat completions do. */
export function speaksOfCalls(message: object): boolean {
  const isResult = get(message, 'role') === 'tool' && nonEmpty(get(message, 'tool_call_id')) !== undefined
  return isResult || isCall(message)
}

/** Whether this makes calls as chat completions do. */
export function isCall(message: object): boolean {
  return elements(get(message, 'tool_calls')).some((call) => isObject(get(call, 'function')))
}

export function readChatMessage(message: object): Reading {
  const role = chatRole(message) ?? 'other'
  const time = timeOf(get(message, 'timestamp'))
  const content = watched(message, 'content')
  const { text, media } = readContent(content, parts)
  const noMedia = withoutMedia(['content'], content, parts)
  if (role !== 'tool') return { role, text, media, time, calls: readCalls(message), withoutMedia: noMedia }
  const status = get(message, 'messageStatus')
  const result = {
    callId: nonEmpty(get(message, 'tool_call_id')),
    toolName: nonEmpty(get(message, 'name')),
    text,
    media,
    isError: typeof status === 'string' ? status === 'error' : undefined,
    outputPath: outputPathOf(message),
    edits: (other: string): Edit[] => [[['content'], contentWithText(content, other, parts)]],
    withoutMedia: noMedia,
  }
  return { role, time, results: [result] }
}

/** A summary. `name` is a field that providers take, and says what the message is. */
export function chatSummary(text: string): object {
  return { role: 'system', name: SUMMARY_NAME, content: text }
}

/** The result of a call that has none. Only agents say more than the text. */
export function missingChatResult(call: CallReading, text: string): Record<string, unknown> {
  // Before there were lists of calls, functions had names and nothing else.
  if (call.id === undefined) return { role: 'function', name: call.name ?? '', content: text }
  return { role: 'tool', tool_call_id: call.id, content: text }
}

function readCalls(message: object): CallReading[] {
  const list = elements(watched(message, 'tool_calls'))
  const calls: CallReading[] = []
  for (let at = 0; at < list.length; at++) {
    const call = list[at]
    if (isRecord(call)) calls.push(readCall(call, at))
  }
  const old = watched(message, 'function_call')
  if (isRecord(old)) calls.push(callIn(old, undefined, ['function_call'], 'arguments'))
  return calls
}

/** A call with its function inside, or flat. */
function readCall(call: object, at: number): CallReading {
  const id = nonEmpty(get(call, 'id'))
  const inner = get(call, 'function')
  if (isRecord(inner)) return callIn(inner, id, ['tool_calls', at, 'function'], 'arguments')
  const custom = get(call, 'custom')
  if (isRecord(custom)) return callIn(custom, id, ['tool_calls', at, 'custom'], 'input')
  return callIn(call, id, ['tool_calls', at], 'arguments')
}

function callIn(
  holder: object,
  id: string | undefined,
  path: readonly PropertyKey[],
  argsKey: 'arguments' | 'input',
): CallReading {
  const args = watched(holder, argsKey)
  const reading: CallReading = { id, name: nonEmpty(get(holder, 'name')), args: args ?? '' }
  // The input of a custom tool is a text by the tool's own rules.
  if (argsKey === 'arguments') {
    reading.edits = (other) => [[[...path, argsKey], isRecord(args) ? other : JSON.stringify(other)]]
  }
  return reading
}
