// The sessions, with a script in the place of a model: it asks for one command after another, and then it is done.

import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const node = JSON.stringify(process.execPath)

/** The folder that commands run in: the same for every worker, because a question is about a call in a folder. */
export const WORK_FOLDER = FOLDER

/** Commands of each session. `seq` may run; about everything else a person is asked. */
export const TASKS = {
  release: ['seq 1 200000', `${node} deploy.mjs`],
  search: ['seq 1 90000'],
  report: ['seq 1 80000'],
}

/** The policy that every worker has. */
export const RULES = [{ domain: 'bash', pattern: 'seq *', decision: 'allow' }]

/** The model's next message: a call, or the last words. Its ids follow from the history, so that a repeated call is the same call. */
export function nextMessage(sessionId, messages) {
  const results = messages.filter(({ role }) => role === 'tool').length
  const command = TASKS[sessionId][results]
  if (command === undefined) return { role: 'assistant', content: 'All of it is done.' }
  const call = { name: 'bash', arguments: JSON.stringify({ command }) }
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `${sessionId}-${results}`, type: 'function', function: call }],
  }
}
