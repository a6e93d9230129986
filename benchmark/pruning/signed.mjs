// The same sessions with signed reasoning in every answer, as Anthropic keeps them, against a provider that refuses a block
// behind other messages than it was made behind.

import { createHash } from 'node:crypto'
import spillway from '../../index.js'
import { RequestMeter, tokensOfText } from './cost.mjs'

/** Reasoning in front of each answer: its text and its signature have 200 tokens each. */
const THINKING = 'I look at the result again and decide. '.repeat(21).slice(0, 800)
const SIGNATURE = 'c2lnbmF0dXJl'.repeat(67).slice(0, 800)

/** The options of the pruner; the provider drops blocks that do not fit where `drops` is set, and else refuses them. */
export const MODES = {
  "`thinking: 'keep-prefix'`": { thinking: 'keep-prefix' },
  "`thinking: 'remove'`": { thinking: 'remove' },
  "`thinking: 'provider-drops'`": { thinking: 'provider-drops', drops: true },
}

/**
 * Replays a session with signed reasoning. Returns the meter; throws if the provider refuses a request.
 * @param options those of the pruner, and `drops`; `undefined` sends everything
 */
export function replaySigned({ id, requests }, lifetime, options) {
  const meter = new RequestMeter(lifetime)
  const provider = new Provider(options?.drops === true)
  const prune = options === undefined ? (messages) => messages : prunedBy(options, lifetime)
  const dressed = new Map()
  let last = []
  let now = Date.UTC(2026, 0, 1)
  for (const { messages, pause, time } of requests) {
    now = time ?? now + pause
    // A host that has compacted keeps no reasoning of what it kept.
    if (last.some((message, at) => messages[at] !== message)) {
      for (const message of messages) dressed.set(message, anthropic(message))
    }
    last = messages
    const stored = messages.map((message) => {
      if (!dressed.has(message)) dressed.set(message, anthropic(message, provider.answer()))
      return dressed.get(message)
    })
    const sent = provider.accept(prune(stored, now), id)
    meter.request(sent.map(partOf), pause)
  }
  return meter
}

function prunedBy({ drops, ...options }, lifetime) {
  const pruner = new spillway.HistoryPruner({
    estimateTokens: tokensOfText,
    cacheLifetimeMs: lifetime,
    onError: (error) => {
      throw error
    },
    ...options,
  })
  return (messages, now) => pruner.prune(messages, { now }).messages
}

/** A message as Anthropic keeps it, with a signed block if it is an answer. */
function anthropic({ role, content, tool_calls: calls = [], tool_call_id: id }, signature) {
  if (role === 'tool') return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] }
  if (role !== 'assistant') return { role, content }
  const thinking = signature === undefined ? [] : [{ type: 'thinking', thinking: THINKING, signature }]
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  const uses = calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.function.name, input: inputOf(call) }))
  return { role, content: [...thinking, ...text, ...uses] }
}

function inputOf({ function: { arguments: text } }) {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}

const digests = new WeakMap()

/** A digest of a message without its reasoning. */
function digestOf(message) {
  if (!digests.has(message)) {
    const rest = Array.isArray(message.content)
      ? message.content.filter(({ type }) => type !== 'thinking')
      : message.content
    digests.set(
      message,
      createHash('sha256')
        .update(JSON.stringify([message.role, rest]))
        .digest('base64'),
    )
  }
  return digests.get(message)
}

const signatureIn = ({ content }) =>
  Array.isArray(content) ? content.find(({ type }) => type === 'thinking')?.signature : undefined

/** Signs what stands in front of each answer, and looks at it again with every later request. */
class Provider {
  made = new Map()
  state = { prefix: '', signed: [] }

  constructor(drops) {
    this.drops = drops
  }

  /** The signature of the answer to the last request. */
  answer() {
    const signature = `${this.made.size} ${SIGNATURE}`
    this.made.set(signature, this.state)
    return signature
  }

  /** The messages that the model reads. */
  accept(messages, id) {
    let prefix = ''
    const signed = []
    const read = messages.map((message) => {
      const signature = signatureIn(message)
      const known = signature === undefined ? undefined : this.made.get(signature)
      // Blocks may be missing from the start on, and nowhere else.
      const fits = known?.prefix === prefix && signed.every((one, at) => one === known.signed.at(at - signed.length))
      prefix = createHash('sha256').update(prefix).update(digestOf(message)).digest('base64')
      if (signature === undefined) return message
      if (fits) signed.push(signature)
      else if (!this.drops) throw new Error(`${id}: a signed block stands behind a message that has changed`)
      return fits ? message : withoutThinking(message)
    })
    this.state = { prefix, signed }
    return read
  }
}

const bare = new WeakMap()

function withoutThinking(message) {
  if (!bare.has(message)) {
    bare.set(message, { ...message, content: message.content.filter(({ type }) => type !== 'thinking') })
  }
  return bare.get(message)
}

const parts = new WeakMap()

function partOf(message) {
  if (!parts.has(message)) {
    const text = JSON.stringify(message)
    parts.set(message, { of: message, text, tokens: tokensOfText(text) })
  }
  return parts.get(message)
}
