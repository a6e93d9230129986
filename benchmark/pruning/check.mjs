// Checks the promises of the pruner at every request of every recorded session.

import { createHash } from 'node:crypto'
import spillway from '../../index.js'

const OPTIONS = [{}, { maxLoss: 0.05 }, { policies: ['results', 'superseded', 'arguments'] }, { schedule: 'always' }]

/** @returns a sentence with what was checked; throws if a promise is broken */
export function checkPromises(sessions) {
  let requests = 0
  for (const { id, requests: made } of sessions) {
    const before = digest(made)
    for (const options of OPTIONS) {
      const twice = [replay(made, options, id), replay(made, options, id)]
      assert(twice[0] === twice[1], id, 'two runs gave other bytes')
      requests += made.length
    }
    assert(digest(made) === before, id, 'the stored history was changed')
  }
  return `Checked at ${requests.toLocaleString('en')} requests: the stored history stays as it is, every call keeps its result, what is left out stays left out with the same bytes, what the model has not seen stays, and two runs send the same bytes.`
}

function replay(requests, options, id) {
  const pruner = new spillway.HistoryPruner({
    ...options,
    onError: (error) => {
      throw error
    },
  })
  const hash = createHash('sha256')
  const placeholders = new Map()
  let now = Date.UTC(2026, 0, 1)
  for (const { messages, pause, time } of requests) {
    now = time ?? now + pause
    const sent = pruner.prune(messages, { now }).messages
    assert(sent.length === messages.length, id, 'a message was lost')
    const lastSeen = messages.findLastIndex(({ role }) => role === 'assistant')
    for (const [at, message] of sent.entries()) {
      const original = messages[at]
      assert(message.role === original.role, id, 'a message changed its role')
      assert(message.tool_call_id === original.tool_call_id, id, 'a result lost its call')
      assert(message === original || at <= lastSeen, id, 'something unseen was left out')
      if (message !== original) hash.update(JSON.stringify(message))
      const known = placeholders.get(original)
      assert(known === undefined || known === written(message), id, 'a placeholder changed')
      if (message !== original) placeholders.set(original, written(message))
    }
  }
  return hash.digest('hex')
}

const written = (message) => JSON.stringify([message.content, message.tool_calls])

function digest(requests) {
  return createHash('sha256').update(JSON.stringify(requests)).digest('hex')
}

function assert(holds, id, problem) {
  if (!holds) throw new Error(`${id}: ${problem}`)
}
