// Recorded sessions, as the requests that an agent made: each with the messages in view, its time and the
// pause before it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { requestsOf } from './cost.mjs'

/**
 * Every session of a folder of `*.jsonl.gz` in the neutral form `{ role, content, toolCalls?, toolCallId?, … }`. `shape` gives
 * the messages of a session as they enter the context.
 */
export function sessions(folder, shape = (messages) => messages) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl.gz'))
  return files
    .sort()
    .map((name) => ({ id: name.replace('.jsonl.gz', ''), ...replayable(shape(messagesIn(join(folder, name)))) }))
    .filter(({ requests }) => requests.length > 0)
}

function messagesIn(path) {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

/** The requests of a session, each with the messages that were in view. */
function replayable(messages) {
  const requests = Array.from(requestsOf(messages), (request) => ({ ...request, messages: request.messages.slice() }))
  return { requests, timed: messages.some(({ timestamp }) => timestamp !== undefined) }
}

export const isResult = ({ role }) => role === 'tool'
