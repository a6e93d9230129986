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
 * `clear_tool_uses` as a provider documents it: a request above the trigger is sent without all results but the newest, if that
 * frees enough, and what was cleared stays so.
 */
export const clearToolUses = ({ trigger, keep, clear_at_least: least }) =>
  masking((messages, { masked }) => {
    const size = (message) => (masked.has(message) ? PLACEHOLDER : tokensOf(message))
    const total = messages.reduce((sum, message) => sum + size(message), 0)
    if (total <= trigger.value) return []
    const cleared = old(messages, keep.value)
    const freed = cleared.reduce((sum, message) => sum + Math.max(size(message) - PLACEHOLDER, 0), 0)
    return freed >= least.value ? cleared : []
  })

/** The provider's own defaults. */
export const PROVIDER_DEFAULTS = {
  trigger: { type: 'input_tokens', value: 100_000 },
  keep: { type: 'tool_uses', value: 3 },
  clear_at_least: { type: 'input_tokens', value: 0 },
}

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
  // A pruner gives the same copy again and again.
  const copies = new WeakMap()
  return (messages, { now }) => {
    const sent = made.prune(messages, { now }).messages
    return sent.map((message, at) => {
      if (message === messages[at]) return wholePart(message)
      if (!copies.has(message)) {
        copies.set(message, { of: messages[at], text: written(message), tokens: tokensOf(message) })
      }
      return copies.get(message)
    })
  }
}

const written = ({ content, tool_calls }) => JSON.stringify([content, tool_calls])
