/** `ContextManager.prepare` on a long session: the first request, and the request after one more exchange. */
import { compare } from '../measure.mjs'
import { makeRow } from '../report.mjs'

const MESSAGES = 5_000
const BYTES = 500
/** Messages that an agent adds between two requests: what the model said, and what was answered. */
const EXCHANGE = 2
/** Milliseconds that a request may wait for it the first time, and for each new message after. */
const [FIRST, NEXT] = [5, 0.5]

const SUMMARY = 'What was done so far, in a few words.'.repeat(10)

/** Windows in which nothing has to be done, everything old is summarised, and nothing can be. */
const WINDOWS = [
  { label: 'it fits', options: { contextWindow: 2_000_000 }, first: FIRST, next: NEXT },
  {
    label: 'a summary stands for the rest',
    options: { contextWindow: 200_000, compaction: { summarize: () => SUMMARY } },
    next: NEXT,
  },
  { label: 'over the window, and nobody summarises', options: { contextWindow: 200_000 } },
]

export const context = {
  name: 'context',
  title: '`ContextManager.prepare`, 5,000 messages of 500 bytes',

  async run({ subject, shortRounds: rounds }) {
    const rows = []
    for (const window of WINDOWS) {
      for (const [kind, write] of Object.entries({ 'with tools': exchange, 'without tools': talk })) {
        if (kind === 'without tools' && window.first === undefined) continue
        rows.push(...(await inWindow(subject, window, kind, write, rounds)))
      }
    }
    return rows
  },
}

async function inWindow({ ContextManager }, { label, options, first, next }, kind, write, rounds) {
  const open = () => new ContextManager({ ...options, onError: () => {} })
  const prepare = async ({ manager, messages }) => {
    const start = performance.now()
    const { report } = await manager.prepare(messages, { now: 0 })
    const elapsed = performance.now() - start
    if (report.tokensBefore < MESSAGES) throw new Error('the messages were not read')
    return elapsed
  }
  const begun = { manager: open(), messages: history(write) }
  await prepare(begun)
  const oneMore = () => {
    begun.messages = [...begun.messages, ...write(begun.messages.length)]
    return begun
  }
  const stringify = async ({ messages }) => {
    const start = performance.now()
    JSON.stringify(messages)
    return performance.now() - start
  }
  const limits = { rounds, batchMs: 1, warmUpMs: 400, maxCount: 1 }
  const fresh = () => ({ manager: open(), messages: history(write) })
  const firsts = await compare([side('ours', fresh, prepare), side('json', fresh, stringify)], limits)
  // Not warm for as long: the session grows with every call, and must not grow into another row's size.
  const nexts = await compare([side('ours', oneMore, prepare)], { ...limits, batchMs: 4, maxCount: 16, warmUpMs: 40 })
  const perMessage = nexts.ours.map((milliseconds) => milliseconds / EXCHANGE)
  const row = (work, ours, target, more) =>
    makeRow({ work: `${work}, ${kind}, ${label}`, ours, ...(target && { target, unit: 'ms' }), ...more })
  return [
    row('first call', firsts.ours, first, {
      yardstick: firsts.json,
      yardstickName: '`JSON.stringify` of the messages',
    }),
    row('next call, per new message', perMessage, next),
  ]
}

/** Work on a value that is made again for every call, before the clock starts. */
function side(name, make, call) {
  return {
    name,
    prepare: (count) => Array.from({ length: count }, make),
    async batch(_, prepared) {
      let elapsed = 0
      for (const one of prepared) elapsed += await call(one)
      return elapsed
    },
  }
}

function history(write) {
  const messages = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: 'Go on.' },
  ]
  while (messages.length < MESSAGES) messages.push(...write(messages.length))
  return messages
}

// Through a buffer, so that it is one flat string, as those are that come out of a file or a socket.
const text = (at) => Buffer.from(`line ${at} of what somebody said\n`.repeat(20).slice(0, BYTES)).toString()

function exchange(at) {
  const call = { id: `call_${at}`, type: 'function', function: { name: 'bash', arguments: `{"command":"ls ${at}"}` } }
  return [
    { role: 'assistant', content: text(at), tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: text(at + 1) },
  ]
}

function talk(at) {
  return [
    { role: 'user', content: text(at) },
    { role: 'assistant', content: text(at + 1) },
  ]
}
