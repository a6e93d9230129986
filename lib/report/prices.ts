/** Prices of the tokens of a session, in input tokens and in dollars. */

import { modelPrices, pricesOf } from '../pruning/prices'

export { DOLLARS_SOURCE } from '../pruning/price-table'

/** Price of an output token where it is not known, relative to an input token: that of most models in the table. */
const UNKNOWN_OUTPUT = 5

/** Prices of a session, relative to an input token that is neither read from the cache nor written to it. */
export interface SessionPrices {
  read: number
  write: number
  output: number
  /** Milliseconds that the provider's cache lives after its last use. */
  lifetimeMs: number
  /** Dollars for a million input tokens; missing if they are not known. */
  dollars?: number
}

/** Returns the prices of a model by its id. */
export function sessionPrices(model: string | undefined): SessionPrices {
  const { prices, lifetimeMs } = pricesOf(model)
  const { read, write } = prices
  const dollars = modelPrices(model)?.dollars
  if (dollars === undefined) return { read, write, output: UNKNOWN_OUTPUT, lifetimeMs }
  const [input, output] = dollars
  return { read, write, output: output / input, lifetimeMs, dollars: input }
}

/** A cost: tokens times their prices, and dollars where the price of the model is known. */
export interface PricedCost {
  pricedTokens: number
  dollars?: number
}

/** The cost of priced tokens of a session. */
export function pricedCost(pricedTokens: number, { dollars }: Pick<SessionPrices, 'dollars'>): PricedCost {
  return { pricedTokens, ...(dollars !== undefined && { dollars: (pricedTokens * dollars) / 1e6 }) }
}

/** The sum of costs, in dollars only if all of them have some. */
export function sumOfCosts(costs: readonly PricedCost[]): PricedCost {
  const pricedTokens = costs.reduce((sum, cost) => sum + cost.pricedTokens, 0)
  const dollars = costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost.dollars === undefined ? undefined : sum + cost.dollars),
    0,
  )
  return { pricedTokens, ...(dollars !== undefined && costs.length > 0 && { dollars }) }
}

/** A part of a whole, in dollars if both have some. */
export function shareOf(part: PricedCost, whole: PricedCost): number {
  const [a, b] =
    part.dollars === undefined || whole.dollars === undefined
      ? [part.pricedTokens, whole.pricedTokens]
      : [part.dollars, whole.dollars]
  return b === 0 ? 0 : a / b
}
