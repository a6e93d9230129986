// The policies that are compared. Each is made once per session, and is asked before every request what to send: parts
// with something that names them, and their tokens.

import spillway from '../../index.js'
import { tokensOf, tokensOfText } from './cost.mjs'
import { isResult } from './trajectories.mjs'

/** Tokens of the placeholder of the simple policies. */
const PLACEHOLDER = 12

const FIFTEEN_MINUTES = 15 * 60 * 1000

const whole = new WeakMap()

function wholePart(message) {
  if (!whole.has(message)) whole.set(message, { of: message, text: undefined, tokens: tokensOf(message) })
  return whole.get(message)
}

const masks = new WeakMap()

function maskedPart(message) {
  // A result that is no longer than its placeholder stays.
  if (tokensOf(message) <= PLACEHOLDER) return wholePart(message)
  if (!masks.has(message)) masks.set(message, { of: message, text: '', tokens: PLACEHOLDER })
  return masks.get(message)
}

/** Sends everything. */
export const nothing = () => (messages) => messages.map(wholePart)

/** Masks what `choose` names; what is masked stays so if it is sticky. */
function masking(choose, { sticky = true } = {}) {
  return (session) => {
    let masked = new Set()
    return (messages, context) => {
      const chosen = choose(messages, { ...context, session, masked })
      masked = sticky ? new Set([...masked, ...chosen]) : new Set(chosen)
      return messages.map((message) => (masked.has(message) ? maskedPart(message) : wholePart(message)))
    }
  }
}

const old = (messages, keep) => messages.filter(isResult).slice(0, -keep)

export const eachTurn = masking((messages) => old(messages, 5), { sticky: false })

export const fifteenMinutes = masking((messages, { now }) =>
  old(messages, 5).filter(({ timestamp }) => timestamp !== undefined && now - timestamp > FIFTEEN_MINUTES),
)

/**
 * `clear_tool_uses` as a provider documents it, with its defaults: a request of over 100,000 tokens is sent without all results but
 * the last 3, and what was cleared stays so.
 */
export const clearToolUses = masking((messages, { masked }) => {
  const size = (message) => (masked.has(message) ? PLACEHOLDER : tokensOf(message))
  const total = messages.reduce((sum, message) => sum + size(message), 0)
  return total > 100_000 ? old(messages, 3) : []
})

/** Masks in batches of `tokens`, and with `cold` also whenever the cache has expired anyway. */
export const batches = (least, { cold = false } = {}) =>
  masking((messages, context) => {
    const open = old(messages, 5).filter((message) => !context.masked.has(message) && tokensOf(message) > PLACEHOLDER)
    const freed = open.reduce((sum, message) => sum + tokensOf(message) - PLACEHOLDER, 0)
    return freed >= least || (cold && context.cold && freed > 0) ? open : []
  })

/** Spillway's pruner, with four characters to a token as everything here is counted. */
export const pruner =
  (options = {}) =>
  ({ lifetime }) => {
    const made = new spillway.HistoryPruner({
      estimateTokens: tokensOfText,
      cacheLifetimeMs: lifetime,
      onError: (error) => {
        throw error
      },
      ...options,
    })
    return partsOf(made)
  }

function partsOf(made) {
  return (messages, { now }) => {
    const sent = made.prune(messages, { now }).messages
    return sent.map((message, at) =>
      message === messages[at]
        ? wholePart(message)
        : { of: messages[at], text: written(message), tokens: tokensOf(message) },
    )
  }
}

const written = ({ content, tool_calls }) => JSON.stringify([content, tool_calls])
