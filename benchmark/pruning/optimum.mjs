// The cheapest that "replace all results but the last five, now" can be when the future is known: found with hindsight by
// dynamic programming. The state is the request at which was masked last; what it masked is a prefix of the results.

import { PRICES, tokensOf } from './cost.mjs'
import { isResult } from './trajectories.mjs'

const PLACEHOLDER = 12
const KEEP = 5

/** The cost of the cheapest way through a session. */
export function optimum({ requests }, lifetime, prices = PRICES) {
  // The best cost for each mask that can be in force: how many messages at the start are masked.
  let states = new Map([[0, 0]])
  let last
  for (const { messages, pause } of requests) {
    const starts = sums(messages)
    const cold = last === undefined || pause > lifetime
    const shared = last === undefined ? 0 : sharedPrefix(last, messages)
    const reach = maskedBy(messages)
    const next = new Map()
    const offer = (state, cost) => {
      if (cost < (next.get(state) ?? Number.POSITIVE_INFINITY)) next.set(state, cost)
    }
    for (const [state, cost] of states) {
      // After a compaction the messages are others, and what was masked of them is taken to be unmasked.
      const inForce = shared < state ? 0 : state
      offer(inForce, cost + priceOf(starts, inForce, shared, messages.length, cold, prices))
      if (reach > inForce) {
        const change = firstResult(messages, inForce)
        offer(reach, cost + priceOf(starts, reach, Math.min(shared, change), messages.length, cold, prices))
      }
    }
    states = next
    last = messages
  }
  return Math.min(...states.values())
}

/** Tokens before each message, as they are and as placeholders. */
function sums(messages) {
  const whole = [0]
  const masked = [0]
  for (const message of messages) {
    const tokens = tokensOf(message)
    whole.push(whole.at(-1) + tokens)
    masked.push(masked.at(-1) + (isResult(message) ? Math.min(tokens, PLACEHOLDER) : tokens))
  }
  return { whole, masked }
}

function priceOf({ whole, masked }, mask, prefix, length, cold, prices) {
  const upTo = (index) => masked[Math.min(mask, index)] + Math.max(0, whole[index] - whole[Math.min(mask, index)])
  const cached = cold ? 0 : upTo(prefix)
  return prices.read * cached + prices.write * (upTo(length) - cached)
}

/** Up to which message results are masked if it is done now. */
function maskedBy(messages) {
  const results = messages.flatMap((message, at) => (isResult(message) ? [at] : []))
  return results.length > KEEP ? results.at(-KEEP - 1) + 1 : 0
}

function firstResult(messages, from) {
  const at = messages.findIndex(
    (message, index) => index >= from && isResult(message) && tokensOf(message) > PLACEHOLDER,
  )
  return at < 0 ? messages.length : at
}

function sharedPrefix(last, messages) {
  let count = 0
  while (count < messages.length && count < last.length && messages[count] === last[count]) count++
  return count
}
