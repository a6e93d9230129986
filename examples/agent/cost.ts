/** Calculates the price of the input of a run, with a provider's cache and without one. */

import type { Message, RequestRecord } from './types'

/** Dollars for a million tokens of input: new ones, those that a cache holds already, and those that it is to hold. */
interface Prices {
  input: number
  read: number
  write: number
}

/** A provider without a cache, one whose cache is free to write, and one that asks more for writing. */
const PRICE_SETS: readonly Prices[] = [
  { input: 1, read: 1, write: 1 },
  { input: 2.5, read: 0.25, write: 2.5 },
  { input: 3, read: 0.3, write: 3.75 },
]

/** The messages at the beginning of a request that the request before it began with, too: these are what a cache holds. */
export function sharedBeginning(before: readonly Message[], now: readonly Message[]): Message[] {
  const differs = now.findIndex((message, at) => JSON.stringify(message) !== JSON.stringify(before[at]))
  return now.slice(0, differs === -1 ? now.length : differs)
}

/** Rows of a table: prices, dollars for what was sent, dollars for everything, what was saved. */
export function costRows(requests: readonly RequestRecord[]): string[][] {
  return PRICE_SETS.map((prices) => {
    const sent = dollars(requests, prices, ({ tokens, cached }) => [tokens, cached])
    const everything = dollars(requests, prices, ({ unmanaged, cachedUnmanaged }) => [unmanaged, cachedUnmanaged])
    const { input, read, write } = prices
    const words = read === input ? 'no cache' : `read ${money(read)}, written ${money(write)}`
    return [
      `${money(input)}; ${words}`,
      money(sent),
      money(everything),
      `${Math.round(100 * (1 - sent / everything))} %`,
    ]
  })
}

type Parts = (request: RequestRecord) => [tokens: number, cached: number]

function dollars(requests: readonly RequestRecord[], { read, write }: Prices, partsOf: Parts): number {
  const costs = requests.map((request) => {
    const [tokens, cached] = partsOf(request)
    return cached * read + (tokens - cached) * write
  })
  return costs.reduce((sum, cost) => sum + cost, 0) / 1e6
}

const money = (value: number) => `$${value.toFixed(2)}`
