/** The one table of prices: dated facts with their sources. Nothing is fetched. */

/** Dollars for a million input tokens that are neither read from the cache nor written to it, and for a million output tokens. */
export type Dollars = readonly [input: number, output: number]

/** Models whose prompt tokens have the same prices, relative to an input token that is neither read from the cache nor written to it. */
export interface PriceRow {
  /**
   * Names of models with their dollars, if those are known. An id holds the name between `-`; `.` is written as `-`.
   */
  models: Readonly<Record<string, Dollars | undefined>>
  /** In a prefix that the provider has in its cache. */
  read: number
  /** The first time it is sent, or sent again after the cache has expired. */
  write: number
  /** Lifetime of a cache after its last use. */
  lifetimeMs: number
  /** Where the relative prices are from. */
  source: string
  /** The day on which the source said so. */
  day: string
}

/** Where the dollars are from, and the day on which they were looked up. Prices of long contexts are not among them. */
export const DOLLARS_SOURCE = { source: 'models of pi 0.87.1', day: '2026-11-26' } as const

export const MINUTES = 60 * 1000

export const TABLE: readonly PriceRow[] = [
  {
    models: { 'claude-fable-5-1': [10, 50] },
    read: 0.025,
    write: 1.25,
    lifetimeMs: 5 * MINUTES,
    source: 'platform.claude.com, page of the model: input $10, cache read $0.25',
    day: '2026-10-07',
  },
  {
    models: { 'claude-opus-5-5': [4, 20], 'claude-sonnet-5-5': undefined },
    read: 0.05,
    write: 1.25,
    lifetimeMs: 5 * MINUTES,
    source: 'platform.claude.com, pages of the models: $4 and $0.20; $2 and $0.10 since that day',
    day: '2026-10-07',
  },
  {
    models: {
      'claude-haiku-5-5': undefined,
      'claude-haiku-4-5': [1, 5],
      'claude-opus-4': undefined,
      'claude-opus-4-1': undefined,
      'claude-opus-4-5': [5, 25],
      'claude-opus-4-6': [5, 25],
      'claude-sonnet-4': undefined,
      'claude-sonnet-4-5': [3, 15],
      'claude-sonnet-4-6': [3, 15],
      'claude-3-7-sonnet': undefined,
      'claude-3-5-sonnet': undefined,
      'claude-3-5-haiku': undefined,
    },
    read: 0.1,
    write: 1.25,
    lifetimeMs: 5 * MINUTES,
    source: 'platform.claude.com, "Prompt caching": read 0.1, write of five minutes 1.25',
    day: '2026-10-07',
  },
  {
    models: {
      'claude-fable-5': [10, 50],
      'claude-opus-4-7': [5, 25],
      'claude-opus-4-8': [5, 25],
      'claude-opus-5': [5, 25],
      'claude-sonnet-5': [2, 10],
    },
    read: 0.1,
    write: 1.25,
    lifetimeMs: 5 * MINUTES,
    ...DOLLARS_SOURCE,
  },
  {
    models: { 'gpt-5-6': undefined, 'gpt-5-6-sol': [4, 20], 'gpt-5-6-terra': [2, 12], 'gpt-5-6-luna': [0.2, 1.2] },
    read: 0.1,
    write: 1.25,
    lifetimeMs: 30 * MINUTES,
    source: 'OpenAI, "Prompt caching": writes cost 1.25 from this model on, 30 minutes',
    day: '2026-10-07',
  },
  {
    models: { 'gpt-6-astra': [10, 50], 'gpt-6-sol': [2, 10], 'gpt-6-luna': [0.1, 0.5] },
    read: 0.1,
    write: 1.25,
    lifetimeMs: 30 * MINUTES,
    source: `${DOLLARS_SOURCE.source}; the lifetime is that of \`gpt-5-6\``,
    day: DOLLARS_SOURCE.day,
  },
  {
    models: {
      'gpt-5': [1.25, 10],
      'gpt-5-mini': [0.25, 2],
      'gpt-5-nano': [0.05, 0.4],
      'gpt-5-1': [1.25, 10],
      'gpt-5-2': [1.75, 14],
      'gpt-5-4': [2.5, 15],
      'gpt-5-4-mini': [0.75, 4.5],
      'gpt-5-4-nano': [0.2, 1.25],
      'gpt-5-5': [5, 30],
    },
    read: 0.1,
    write: 1,
    lifetimeMs: 5 * MINUTES,
    source: 'OpenAI, "Pricing": cached input a tenth of input, writes as input',
    day: '2026-06-21',
  },
  {
    models: { 'gpt-5-3-codex': [1.75, 14] },
    read: 0.1,
    write: 1,
    lifetimeMs: 5 * MINUTES,
    ...DOLLARS_SOURCE,
  },
  {
    models: { 'gpt-4-1': [2, 8], 'gpt-4-1-mini': [0.4, 1.6], 'gpt-4-1-nano': [0.1, 0.4] },
    read: 0.25,
    write: 1,
    lifetimeMs: 5 * MINUTES,
    source: 'OpenAI, "Pricing": input $2, cached input $0.50',
    day: '2026-02-12',
  },
  {
    models: { 'gpt-4o': [2.5, 10], 'gpt-4o-mini': [0.15, 0.6] },
    read: 0.5,
    write: 1,
    lifetimeMs: 5 * MINUTES,
    source: 'OpenAI, "Pricing": input $2.50, cached input $1.25',
    day: '2026-02-12',
  },
  {
    models: {
      'gemini-3-1-pro-preview': [2, 12],
      'gemini-3-5-flash': [1.5, 9],
      'gemini-3-6-flash': [0.75, 3.75],
      'gemini-3-7-flash': [0.75, 3.75],
      'gemini-3-8-flash': [0.75, 3.75],
      'gemini-3-flash-preview': [0.5, 3],
      'gemini-2-5-pro': [1.25, 10],
      'gemini-2-5-flash': [0.3, 2.5],
      'gemini-2-5-flash-lite': [0.1, 0.4],
    },
    read: 0.1,
    write: 1,
    lifetimeMs: 5 * MINUTES,
    source: `${DOLLARS_SOURCE.source}; the lifetime is a guess`,
    day: DOLLARS_SOURCE.day,
  },
]
