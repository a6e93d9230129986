/** Advice on keeping a provider's cache between requests. Nothing here sends a request or sets a timer. */

import { isArray } from '../util/guards'
import { type Check, checkOptions, finite, isAboveZero, milliseconds } from '../validation/options'
import { wrong } from '../validation/validate'
import { pricesOrModel, readPrices } from './options'
import { LONG_LIVED, type PrunePrices } from './prices'

/** Options of {@link nextPing}. */
export interface NextPingOptions {
  /** Milliseconds since the last request. Pings do not count as requests. */
  idleMs: number
  /** Tokens of the prompt in the cache. */
  tokens: number
  /** As in `HistoryPruner`. */
  prices?: PrunePrices | string
  /** @default 300000, or that of the model named in `prices` */
  cacheLifetimeMs?: number
}

/** Advice about the next ping: a request that repeats the prompt, to keep it in the cache. */
export interface PingAdvice {
  /** Milliseconds from now; `undefined` if the cache should be left to expire. */
  inMs: number | undefined
  /** Priced tokens that a ping costs. */
  cost: number
  /** Priced tokens that it saves if the next request comes within a lifetime of it. */
  worth: number
  /** Milliseconds since the last request after which no ping pays. */
  stopAfterMs: number
}

/** Milliseconds before the end of the lifetime at which a ping is sent, so that it arrives in time. */
const EARLY_MS = 5000
/** The same as a share of a short lifetime. */
const EARLY_SHARE = 0.1

const PING: Readonly<Record<keyof NextPingOptions, Check>> = {
  idleMs: finite(0),
  tokens: finite(0),
  prices: pricesOrModel,
  cacheLifetimeMs: ['a number of milliseconds above 0', isAboveZero],
}

/**
 * Advises when to repeat a prompt so that it stays in the provider's cache, and when to stop. Pings stop once they have cost as much as
 * the prompt costs without a cache. So a pause costs at most twice what it would cost if its length were known, for a lifetime of five
 * minutes or more and a cached token that costs at least a sixtieth of any other. A ping comes five seconds before the cache expires.
 * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed
 */
export function nextPing(options: NextPingOptions): PingAdvice {
  checkOptions('options', options, PING)
  const { idleMs, tokens } = options
  for (const [name, value] of Object.entries({ idleMs, tokens })) {
    if (value === undefined) throw wrong(`options.${name}`, value, finite(0)[0])
  }
  const { prices, lifetimeMs } = readPrices(options.prices, 'options.prices')
  const lifetime = options.cacheLifetimeMs ?? lifetimeMs
  const every = Math.max(lifetime - EARLY_MS, (1 - EARLY_SHARE) * lifetime)
  const cost = prices.read * tokens
  const worth = Math.max(prices.miss - prices.read, 0) * tokens
  const maxReads = cost > 0 ? Math.floor(prices.miss / prices.read) : Number.POSITIVE_INFINITY
  const next = Math.floor(idleMs / every) + 1
  const pays = worth > 0 && Number.isFinite(every) && next <= maxReads
  const stopAfterMs = worth > 0 && Number.isFinite(every) ? maxReads * every : 0
  return { inMs: pays ? next * every - idleMs : undefined, cost, worth, stopAfterMs }
}

/** A request of a session, for {@link adviseCacheLifetime}. */
export interface PausedRequest {
  /** Milliseconds since the request before. */
  pauseMs: number
  /** Tokens of its prompt that the request before had as well. */
  repeatedTokens: number
  /** All other tokens of its prompt. */
  newTokens: number
}

/** Costs of a session in priced tokens, by the lifetime of the cache. */
export interface CacheLifetimeAdvice {
  lifetime: '5m' | '1h'
  fiveMinutes: number
  oneHour: number
}

const REQUEST: Readonly<Record<keyof PausedRequest, Check>> = {
  pauseMs: milliseconds,
  repeatedTokens: finite(0),
  newTokens: finite(0),
}

const FIVE_MINUTES = 5 * 60 * 1000

/**
 * Compares a cache of five minutes with one of an hour, whose writes cost more, from the observed pauses.
 * @throws SpillwayError `INVALID_ARGUMENT` if an argument is not allowed
 */
export function adviseCacheLifetime(
  requests: readonly PausedRequest[],
  options: { prices?: PrunePrices | string } = {},
): CacheLifetimeAdvice {
  if (!isArray(requests)) throw wrong('requests', requests, 'an array of requests')
  checkOptions('options', options, { prices: PING.prices })
  const { prices } = readPrices(options.prices, 'options.prices')
  const cost = (lifetimeMs: number, write: number) =>
    requests.reduce((sum, request, at) => {
      checkOptions(`requests[${at}]`, request, REQUEST)
      const { pauseMs, repeatedTokens, newTokens } = request
      return sum + repeatedTokens * (pauseMs > lifetimeMs ? write : prices.read) + newTokens * write
    }, 0)
  const fiveMinutes = cost(FIVE_MINUTES, prices.write)
  const oneHour = cost(LONG_LIVED.lifetimeMs, LONG_LIVED.write)
  return { lifetime: oneHour < fiveMinutes ? '1h' : '5m', fiveMinutes, oneHour }
}
