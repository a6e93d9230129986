// Checks the promises of compaction at a request of a recorded session.

import { partOf } from './policies.mjs'

/** How many messages had to fit before the summary counts, and how often the promises were looked at. */
export class Promises {
  requests = 0
  whole = 0
  tooLarge = 0

  check({ id, window, messages, sent, report, before }) {
    this.requests++
    const problem = (text) => {
      throw new Error(`${id}, window ${window}, ${messages.length} messages: ${text}`)
    }
    const tokens = sent.reduce((total, message) => total + partOf(message).tokens, 0)
    // Tokens of one message are rounded up, and the manager counts what is beside a text.
    if (report.fits && report.tokensAfter > window) problem('it says that it fits, and it does not')
    if (report.fits && tokens > window) problem(`over the window: ${tokens}`)
    if (!report.fits) this.tooLarge++
    if (!pairsHold(messages, sent)) problem('a call and its result were parted')
    const newest = messages.findLast(({ role }) => role === 'user')
    if (newest !== undefined && !sent.includes(newest)) problem('what the user said last is not there')
    const turns = [...messages.keys()].filter((at) => messages[at].role === 'user' && messages[at - 1]?.role !== 'user')
    const start = Math.max(turns.at(-3) ?? 0, 0)
    const first = messages.findIndex(({ role }) => role !== 'system')
    const recent = messages.slice(Math.max(start, first))
    const size = [...messages.slice(0, Math.max(first, 0)), ...recent].reduce(
      (total, message) => total + spillwayTokens(message),
      0,
    )
    // A turn that did not fit when it was among the newest stays cut.
    if (size <= 0.8 * report.usable && before <= start) {
      this.whole++
      if (recent.some((message, at) => sent[sent.length - recent.length + at] !== message))
        problem('a recent turn was changed')
    }
  }
}

/** As the manager counts: four more for each message and each result. */
function spillwayTokens(message) {
  return partOf(message).tokens + 8
}

/** Returns true if results follow their calls as in the session, where some never had one. */
function pairsHold(messages, sent) {
  return alone(sent) <= alone(messages)
}

function alone(messages) {
  const open = new Set()
  let orphans = 0
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    for (const call of calls) open.add(call.id)
    if (role === 'tool' && !open.has(id)) orphans++
  }
  return orphans
}
