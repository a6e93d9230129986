/** The requests that an agent made in a session, as its log tells them. */

import { deepJsonOf } from '../util/deep-json'
import type { LoggedMessage } from './types'

/** A message in the shape of chat completions, which every tool for histories knows. */
export interface ChatMessage {
  role: LoggedMessage['role']
  content: string
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
  name?: string
  messageStatus?: 'error'
  timestamp?: number
}

/** A request: what was in view, and when. */
export interface LoggedRequest {
  /** The messages in view. The next request changes the very array. */
  messages: ChatMessage[]
  /** The answer of the model. */
  answer: ChatMessage
  /** Milliseconds since the request before; 0 where the log has no times. */
  pause: number
  time?: number
}

const sources = new WeakMap<ChatMessage, LoggedMessage>()

/** The message of the log that a message of a request was made of. */
export function sourceOf(message: ChatMessage): LoggedMessage {
  return sources.get(message) as LoggedMessage
}

/**
 * The requests of a session: one before each message of the model. A compaction replaces what was in view by its summary
 * and the messages that it kept.
 */
export function* requestsOf(messages: Iterable<LoggedMessage>): Generator<LoggedRequest> {
  let view: ChatMessage[] = []
  let last: number | undefined
  for (const logged of messages) {
    const message = chatMessage(logged)
    sources.set(message, logged)
    if (logged.boundary === 'compaction') {
      const kept = logged.kept ?? 0
      view = [message, ...(kept > 0 ? view.slice(-kept) : [])]
      continue
    }
    if (logged.role === 'assistant' && view.length > 0) {
      const time = logged.timestamp
      const pause = time !== undefined && last !== undefined ? time - last : 0
      last = time ?? last
      yield { messages: view, answer: message, pause, time: last }
    }
    view.push(message)
  }
}

function chatMessage({
  role,
  content,
  toolCalls,
  toolCallId,
  toolName,
  isError,
  timestamp,
}: LoggedMessage): ChatMessage {
  const message: ChatMessage = { role, content }
  if (toolCalls !== undefined && toolCalls.length > 0) {
    message.tool_calls = toolCalls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : (deepJsonOf(args ?? {}) ?? '') },
    }))
  }
  if (toolCallId !== undefined) message.tool_call_id = toolCallId
  if (toolName !== undefined) message.name = toolName
  if (isError) message.messageStatus = 'error'
  if (timestamp !== undefined) message.timestamp = timestamp
  return message
}

/** UTF-16 units of a token: a log does not say which tokenizer its provider has. */
const UNITS_PER_TOKEN = 4

/** Tokens of a text, not rounded. */
export const tokensOfText = (text: string): number => text.length / UNITS_PER_TOKEN

/** Tokens of a message: its text, and the names and arguments of its calls. */
export function tokensOf({ content, tool_calls: calls = [] }: ChatMessage): number {
  const units = calls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, 0)
  return Math.ceil((content.length + units) / UNITS_PER_TOKEN)
}
