/** Prices of a prompt token by the id of a model. */

import { nearest } from '../util/suggest'
import { warn } from '../util/warn'
import { atLeastZero } from '../validation/options'
import { type Dollars, MINUTES, type PriceRow, TABLE } from './price-table'

/** Price of a prompt token. Only the ratios matter. */
export interface PrunePrices {
  /** In a prefix that the provider has in its cache. */
  read: number
  /** The first time it is sent. */
  write: number
  /** Sent before, and not in the cache any more. */
  miss: number
}

/** The account adds up prices times tokens, which has to stay finite. */
export const MAX_PRICE = 1_000_000

export function isPrice(value: unknown): boolean {
  return atLeastZero(value) && (value as number) <= MAX_PRICE
}

/** A cache that is written for an hour: platform.claude.com, "Prompt caching", 2026-10-07. */
export const LONG_LIVED = { write: 2, lifetimeMs: 60 * MINUTES }

/** Prices where the model is not known: a common one, and the cheapest that a provider in the table has. */
const UNKNOWN: PrunePrices = { read: 0.05, write: 1.25, miss: 1.25 }
const CHEAPEST: PrunePrices = { ...UNKNOWN, read: Math.min(...TABLE.map(({ read }) => read)) }

/** Prices to count with. */
export interface KnownPrices {
  prices: PrunePrices
  /** The cheapest prices for which the guarantee holds. */
  cheapest: PrunePrices
  lifetimeMs: number
}

/** The prices of a model in the table. */
export interface ModelPrices extends PriceRow {
  /** Missing if they are not known. */
  dollars: Dollars | undefined
}

/** Every model with its prices. */
const MODELS: ReadonlyMap<string, ModelPrices> = new Map(
  TABLE.flatMap((row) => Object.entries(row.models).map(([name, dollars]) => [name, { ...row, dollars }] as const)),
)

/** An id as names in the table are written: small letters and digits with `-` between them. */
function plain(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/**
 * Returns the entry of a model in the table, by the id that a provider, a gateway or a cloud gives it. The longest of
 * several names in an id counts. A name does not match later versions: `gpt-5` is not in `gpt-5-7`.
 */
export function modelPrices(model: string | undefined): ModelPrices | undefined {
  const id = `-${plain(model ?? '')}-`
  let found: string | undefined
  for (const name of MODELS.keys()) {
    const at = id.indexOf(`-${name}-`)
    const isLaterVersion = at >= 0 && /^\d{1,2}-/.test(id.slice(at + name.length + 2))
    if (at >= 0 && !isLaterVersion && name.length > (found?.length ?? 0)) found = name
  }
  return found === undefined ? undefined : MODELS.get(found)
}

/** Returns the prices of a model by its id. */
export function pricesOf(model: string | undefined): KnownPrices {
  const found = modelPrices(model)
  if (found === undefined) return { prices: UNKNOWN, cheapest: CHEAPEST, lifetimeMs: 5 * MINUTES }
  const { read, write, lifetimeMs } = found
  const prices = { read, write, miss: write }
  return { prices, cheapest: prices, lifetimeMs }
}

/** Ids of which a warning was given. */
const warned = new Set<string>()

/** Warns once of an id that is not in the table but resembles a name in it. */
export function warnOfUnknownModel(of: string, model: string): void {
  if (warned.has(model) || modelPrices(model) !== undefined) return
  // Without the provider before a name, and the date after it.
  const name = plain(model.slice(model.lastIndexOf('/') + 1)).replace(/-(?:\d{8}.*|\d{4}-\d\d-\d\d)$/, '')
  const meant = nearest(name, [...MODELS.keys()])
  if (meant === undefined) return
  warned.add(model)
  const problem = `no prices are known for the model ${JSON.stringify(model)}, so a cached token counts ${UNKNOWN.read}`
  warn(of, `${problem}; did you mean "${meant}"?`)
}
