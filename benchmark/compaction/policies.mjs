// Ways of keeping a session inside of a window. Each is made once per session and window, and is asked before every
// request what to send: `{ parts, compacted, asked }`, the parts with something that names them and their tokens, and the
// tokens that a summariser had to read.

import spillway from '../../index.js'
import { tokensOf } from '../pruning/cost.mjs'
import { isResult } from '../pruning/trajectories.mjs'

const parts = new WeakMap()

export function partOf(message) {
  if (!parts.has(message)) parts.set(message, { of: message, text: undefined, tokens: tokensOf(message) })
  return parts.get(message)
}

const sum = (list) => list.reduce((total, one) => total + partOf(one).tokens, 0)

/** A summary that says a little about each of the newest messages that it stands for. */
export function summaryOf(messages, maxTokens = 400) {
  const lines = messages.map(({ role, content, tool_calls: calls = [] }) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
    return `${role}: ${text.slice(0, 80)} ${calls.map((call) => call.function.name).join(' ')}`
  })
  return (
    lines
      .slice(-20)
      .join('\n')
      .slice(0, Math.min(maxTokens, 400) * 4) || 'nothing'
  )
}

/** Sends everything, whatever the window. */
export const everything = () => async (messages) => ({ parts: messages.map(partOf), compacted: false, asked: 0 })

/** Spillway. */
export const manager =
  (more = {}) =>
  ({ window, lifetime }) => {
    let asked = 0
    const made = new spillway.ContextManager({
      contextWindow: window,
      estimateTokens: (text) => text.length / 4,
      language: 'en',
      pruning: { cacheLifetimeMs: lifetime },
      onError: (error) => {
        throw error
      },
      ...more,
      compaction: {
        summarize: ({ prompt, messages, maxTokens }) => {
          asked += prompt.length / 4
          return summaryOf(messages, maxTokens)
        },
        ...more.compaction,
      },
    })
    let folded = 0
    return async (messages, { now }) => {
      asked = 0
      const before = folded
      const { messages: sent, report } = await made.prepare(messages, { now })
      const compacted = report.compaction !== undefined && report.compaction.action !== 'none'
      if (compacted) folded = messages.length - sameAtEnd(messages, sent)
      return { parts: sent.map(partOf), compacted, asked, report, sent, before }
    }
  }

function sameAtEnd(a, b) {
  let same = 0
  while (same < a.length && same < b.length && a.at(-1 - same) === b.at(-1 - same)) same++
  return same
}

/** The request of a rule that keeps a summary and the newest messages. */
function rule({ isFull, cutOf, promptOf }) {
  return ({ window }) => {
    let from = 0
    let summary
    let last = []
    return async (messages) => {
      // The recorded agent compacted here: what was before is another history.
      if (from > 0 && messages[from - 1] !== last[from - 1]) [from, summary] = [0, undefined]
      let view = [...(summary ? [summary] : []), ...messages.slice(from)]
      let asked = 0
      let compacted = false
      if (isFull(sum(view), window)) {
        const cut = legal(messages, cutOf(messages, from), from)
        if (cut > from) {
          const old = messages.slice(from, cut)
          asked = promptOf(old) + (summary ? partOf(summary).tokens : 0)
          summary = { role: 'user', content: summaryOf(old) }
          from = cut
          view = [summary, ...messages.slice(from)]
          compacted = true
        }
      }
      last = messages
      return { parts: view.map(partOf), compacted, asked }
    }
  }
}

/** The last place up to this one where no call is parted from its result. */
function legal(messages, at, least) {
  let cut = at
  while (cut > least && (messages[cut] === undefined || isResult(messages[cut]))) cut--
  return cut
}

/** pi's published rule: above the window without 16,384 tokens, all but the newest 20,000 tokens; outputs of 2,000 characters. */
export const pi = rule({
  isFull: (tokens, window) => tokens > window - 16_384,
  cutOf: (messages) => {
    let kept = 0
    let at = messages.length
    while (at > 0 && kept < 20_000) kept += partOf(messages[--at]).tokens
    return at
  },
  promptOf: (old) =>
    old.reduce((total, one) => total + Math.min(partOf(one).tokens, isResult(one) ? 500 : Number.POSITIVE_INFINITY), 0),
})

/** LangChain's summarization middleware with its default of 20 kept messages, at 0.8 of the window; it reads 4,000 tokens. */
export const langchain = rule({
  isFull: (tokens, window) => tokens > 0.8 * window,
  cutOf: (messages) => Math.max(messages.length - 20, 0),
  promptOf: (old) => Math.min(sum(old), 4000),
})
