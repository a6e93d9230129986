/** Prices of the tokens of a session: the ratios of the pruner's table, and dollars. Dated facts; nothing is fetched. */

import { entryOf, pricesOf } from '../pruning/prices'

/** Dollars for a million tokens. */
interface ModelDollars {
  /** Names, as in the table of the pruner. */
  models: readonly string[]
  input: number
  output: number
  read: number
  /** As `input` where writing to the cache costs nothing more. */
  write: number
}

/** Where the dollars are from, and the day on which they were looked up. Prices of long contexts are not among them. */
export const DOLLARS_SOURCE = { source: 'models of pi 0.87.1', day: '2026-11-26' } as const

export const DOLLARS: readonly ModelDollars[] = [
  { models: ['claude-fable-5-1'], input: 10, output: 50, read: 0.25, write: 12.5 },
  { models: ['claude-fable-5'], input: 10, output: 50, read: 1, write: 12.5 },
  { models: ['claude-opus-5-5'], input: 4, output: 20, read: 0.2, write: 5 },
  {
    models: ['claude-opus-4-5', 'claude-opus-4-6', 'claude-opus-4-7', 'claude-opus-4-8', 'claude-opus-5'],
    input: 5,
    output: 25,
    read: 0.5,
    write: 6.25,
  },
  { models: ['claude-sonnet-4-5', 'claude-sonnet-4-6'], input: 3, output: 15, read: 0.3, write: 3.75 },
  { models: ['claude-sonnet-5'], input: 2, output: 10, read: 0.2, write: 2.5 },
  { models: ['claude-haiku-4-5'], input: 1, output: 5, read: 0.1, write: 1.25 },
  { models: ['gpt-6-astra'], input: 10, output: 50, read: 1, write: 12.5 },
  { models: ['gpt-6-sol'], input: 2, output: 10, read: 0.2, write: 2.5 },
  { models: ['gpt-6-luna'], input: 0.1, output: 0.5, read: 0.01, write: 0.125 },
  { models: ['gpt-5-6-sol'], input: 4, output: 20, read: 0.4, write: 5 },
  { models: ['gpt-5-6-terra'], input: 2, output: 12, read: 0.2, write: 2.5 },
  { models: ['gpt-5-6-luna'], input: 0.2, output: 1.2, read: 0.02, write: 0.25 },
  { models: ['gpt-5-5'], input: 5, output: 30, read: 0.5, write: 5 },
  { models: ['gpt-5-4'], input: 2.5, output: 15, read: 0.25, write: 2.5 },
  { models: ['gpt-5-4-mini'], input: 0.75, output: 4.5, read: 0.075, write: 0.75 },
  { models: ['gpt-5-4-nano'], input: 0.2, output: 1.25, read: 0.02, write: 0.2 },
  { models: ['gpt-5-2', 'gpt-5-3-codex'], input: 1.75, output: 14, read: 0.175, write: 1.75 },
  { models: ['gpt-5', 'gpt-5-1'], input: 1.25, output: 10, read: 0.125, write: 1.25 },
  { models: ['gpt-5-mini'], input: 0.25, output: 2, read: 0.025, write: 0.25 },
  { models: ['gpt-5-nano'], input: 0.05, output: 0.4, read: 0.005, write: 0.05 },
  { models: ['gpt-4-1'], input: 2, output: 8, read: 0.5, write: 2 },
  { models: ['gpt-4-1-mini'], input: 0.4, output: 1.6, read: 0.1, write: 0.4 },
  { models: ['gpt-4-1-nano'], input: 0.1, output: 0.4, read: 0.025, write: 0.1 },
  { models: ['gpt-4o'], input: 2.5, output: 10, read: 1.25, write: 2.5 },
  { models: ['gpt-4o-mini'], input: 0.15, output: 0.6, read: 0.075, write: 0.15 },
  { models: ['gemini-3-1-pro-preview'], input: 2, output: 12, read: 0.2, write: 2 },
  { models: ['gemini-3-5-flash'], input: 1.5, output: 9, read: 0.15, write: 1.5 },
  {
    models: ['gemini-3-6-flash', 'gemini-3-7-flash', 'gemini-3-8-flash'],
    input: 0.75,
    output: 3.75,
    read: 0.075,
    write: 0.75,
  },
  { models: ['gemini-3-flash-preview'], input: 0.5, output: 3, read: 0.05, write: 0.5 },
  { models: ['gemini-2-5-pro'], input: 1.25, output: 10, read: 0.125, write: 1.25 },
  { models: ['gemini-2-5-flash'], input: 0.3, output: 2.5, read: 0.03, write: 0.3 },
  { models: ['gemini-2-5-flash-lite'], input: 0.1, output: 0.4, read: 0.01, write: 0.1 },
]

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

/** The prices of a model by its id. */
export function sessionPrices(model: string | undefined): SessionPrices {
  const { prices, lifetimeMs } = pricesOf(model)
  const found = entryOf(DOLLARS, model)
  if (found === undefined) return { read: prices.read, write: prices.write, output: UNKNOWN_OUTPUT, lifetimeMs }
  const { input, output, read, write } = found
  return { read: read / input, write: write / input, output: output / input, lifetimeMs, dollars: input }
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
