// Recorded sessions, as the requests that an agent made: each with the messages in view, its time and the
// pause before it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/**
 * Every session of a folder of `*.jsonl.gz` in the neutral form `{ role, content, toolCalls?, toolCallId?, … }`. `shape` gives
 * the messages of a session as they enter the context.
 */
export function sessions(folder, shape = (messages) => messages) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz'))
  return files
    .sort()
    .map((name) => ({ id: name.replace('.jsonl.gz', ''), ...requestsOf(shape(messagesIn(join(folder, name)))) }))
    .filter(({ requests }) => requests.length > 0)
}

function messagesIn(path) {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

/**
 * The requests of a session: one before each message of the model. A compaction replaces what was in view by its summary
 * and the messages that it kept.
 */
function requestsOf(messages) {
  const requests = []
  let view = []
  let last
  for (const neutral of messages) {
    const message = chatMessage(neutral)
    if (neutral.boundary === 'compaction') {
      view = [message, ...(neutral.kept > 0 ? view.slice(-neutral.kept) : [])]
      continue
    }
    if (neutral.role === 'assistant' && view.length > 0) {
      const time = neutral.timestamp
      const pause = time !== undefined && last !== undefined ? time - last : 0
      last = time ?? last
      requests.push({ messages: view.slice(), pause, time: last })
    }
    view.push(message)
  }
  return { requests, timed: messages.some(({ timestamp }) => timestamp !== undefined) }
}

/** A neutral message in the shape of chat completions, which is what most agents keep. */
function chatMessage({ role, content, toolCalls, toolCallId, toolName, isError, timestamp }) {
  const message = { role, content }
  if (toolCalls?.length > 0) {
    message.tool_calls = toolCalls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
    }))
  }
  if (toolCallId !== undefined) message.tool_call_id = toolCallId
  if (toolName !== undefined) message.name = toolName
  if (isError) message.messageStatus = 'error'
  if (timestamp !== undefined) message.timestamp = timestamp
  return message
}

/** Tokens of a message: four characters each, as the reference figures count them. */
export function tokensOf({ content, tool_calls: calls = [] }) {
  const texts = [content ?? '', ...calls.flatMap((call) => [call.function.name, call.function.arguments])]
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4)
}

export const isResult = ({ role }) => role === 'tool'
