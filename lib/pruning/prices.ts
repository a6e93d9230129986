/** Prices of a prompt token at providers: dated facts with their sources. Nothing is fetched. */

import { atLeastZero } from '../validation/options'

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
export const HIGHEST_PRICE = 1_000_000

export function isPrice(value: unknown): boolean {
  return atLeastZero(value) && (value as number) <= HIGHEST_PRICE
}

/** Prices relative to an input token that is neither read from the cache nor written to it, and the life of a cache. */
interface ModelPrices extends PrunePrices {
  /** Names, as the id of a model holds them between `-`; `.` is written as `-`. */
  models: readonly string[]
  /** Lifetime of a cache after its last use. */
  lifetimeMs: number
  source: string
  /** The day on which the source said so. */
  day: string
}

const MINUTES = 60 * 1000

/**
 * @internal
 * Of several names that an id holds the longest counts. A name does not stand for later versions: `gpt-5` is not in `gpt-5-7`, and a
 * model that is not listed has the prices of {@link UNKNOWN}.
 */
export const TABLE: readonly ModelPrices[] = [
  {
    models: ['claude-fable-5-1'],
    ...{ read: 0.025, write: 1.25, miss: 1.25, lifetimeMs: 5 * MINUTES },
    ...{ source: 'platform.claude.com, page of the model: input $10, cache read $0.25', day: '2026-10-07' },
  },
  {
    models: ['claude-opus-5-5', 'claude-sonnet-5-5'],
    ...{ read: 0.05, write: 1.25, miss: 1.25, lifetimeMs: 5 * MINUTES },
    ...{
      source: 'platform.claude.com, pages of the models: $4 and $0.20; $2 and $0.10 since that day',
      day: '2026-10-07',
    },
  },
  {
    models: [
      ...[
        'claude-haiku-5-5',
        'claude-haiku-4-5',
        'claude-opus-4',
        'claude-opus-4-1',
        'claude-opus-4-5',
        'claude-opus-4-6',
      ],
      ...['claude-sonnet-4', 'claude-sonnet-4-5', 'claude-sonnet-4-6', 'claude-3-7-sonnet', 'claude-3-5-sonnet'],
      'claude-3-5-haiku',
    ],
    ...{ read: 0.1, write: 1.25, miss: 1.25, lifetimeMs: 5 * MINUTES },
    ...{ source: 'platform.claude.com, "Prompt caching": read 0.1, write of five minutes 1.25', day: '2026-10-07' },
  },
  {
    models: ['gpt-5-6'],
    ...{ read: 0.1, write: 1.25, miss: 1.25, lifetimeMs: 30 * MINUTES },
    ...{ source: 'OpenAI, "Prompt caching": writes cost 1.25 from this model on, 30 minutes', day: '2026-10-07' },
  },
  {
    models: ['gpt-5', 'gpt-5-1', 'gpt-5-2', 'gpt-5-4', 'gpt-5-5'],
    ...{ read: 0.1, write: 1, miss: 1, lifetimeMs: 5 * MINUTES },
    ...{ source: 'OpenAI, "Pricing": cached input a tenth of input, writes as input', day: '2026-06-21' },
  },
  {
    models: ['gpt-4-1'],
    ...{ read: 0.25, write: 1, miss: 1, lifetimeMs: 5 * MINUTES },
    ...{ source: 'OpenAI, "Pricing": input $2, cached input $0.50', day: '2026-02-12' },
  },
  {
    models: ['gpt-4o'],
    ...{ read: 0.5, write: 1, miss: 1, lifetimeMs: 5 * MINUTES },
    ...{ source: 'OpenAI, "Pricing": input $2.50, cached input $1.25', day: '2026-02-12' },
  },
]

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

/** The entry of a table that stands for a model, by the id that a provider, a gateway or a cloud gives it. */
export function entryOf<E extends { readonly models: readonly string[] }>(
  table: readonly E[],
  model: string | undefined,
): E | undefined {
  const id = `-${(model ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')}-`
  let found: E | undefined
  let length = 0
  for (const entry of table) {
    for (const name of entry.models) {
      const at = id.indexOf(`-${name}-`)
      const isLaterVersion = at >= 0 && /^\d{1,2}-/.test(id.slice(at + name.length + 2))
      if (at >= 0 && !isLaterVersion && name.length > length) [found, length] = [entry, name.length]
    }
  }
  return found
}

/** The prices of a model by its id. */
export function pricesOf(model: string | undefined): KnownPrices {
  const found = entryOf(TABLE, model)
  if (found === undefined) return { prices: UNKNOWN, cheapest: CHEAPEST, lifetimeMs: 5 * MINUTES }
  const { read, write, miss, lifetimeMs } = found
  const prices = { read, write, miss }
  return { prices, cheapest: prices, lifetimeMs }
}
