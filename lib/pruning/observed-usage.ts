/** Learns from the usage that a provider reports: token counts, prices, and how long a cache lives. */

import { isArray } from '../util/guards'
import { atLeastZero } from '../validation/options'
import { isPrice, type KnownPrices, LONG_LIVED, type PrunePrices } from './prices'
import type { ReadUsage } from './usage'

/** A request, as it was estimated. */
export interface SentRequest {
  /** Its tokens. */
  tokens: number
  /** Tokens at its start that the request before had as well. */
  repeated: number
  /** Milliseconds since the request before; `undefined` for the first one. */
  pauseMs: number | undefined
}

/** State, as JSON. */
export interface ObservedState {
  prices?: PrunePrices
  lifetimeMs?: number
  /** Pauses after which the cache was gone although it should have been there. */
  misses: number[]
  /** Set once the provider has reported a token that was read from its cache or written to it. */
  reportsCache?: boolean
  /** Tokens of the last observed request, estimated and counted. */
  estimated: number
  counted: number
}

/** A provider caches no prefix that is shorter than about a thousand tokens. */
const MIN_CACHED = 2048

/** Share of the repeated tokens from which a request hit the cache, and up to which it missed it. Between, it says nothing. */
const HIT = 0.5
const MISS = 0.1

/** A provider may lose a cache once without a reason. */
const MISSES = 2

/** Learns from one response after another. */
export class ObservedUsage {
  private readonly state: ObservedState

  /** `known` are the prices before anything was observed; `isCustom` if the caller has given them by number. */
  constructor(
    private readonly known: KnownPrices,
    private readonly isCustom: boolean,
    state?: ObservedState,
  ) {
    this.state = state ?? { misses: [], estimated: 0, counted: 0 }
  }

  /** Returns the state if something was observed. */
  toJSON(): ObservedState | undefined {
    return this.state.counted > 0 ? { ...this.state, misses: [...this.state.misses] } : undefined
  }

  /** `request` is the one that the usage belongs to, if it was not observed yet. */
  observe(usage: ReadUsage, request: SentRequest | undefined): void {
    if (usage.promptTokens === 0) return
    const { state } = this
    state.counted = usage.promptTokens
    if (request !== undefined) state.estimated = request.tokens
    this.observePrices(usage)
    if (request !== undefined && usage.problem === undefined) this.observeCache(usage, request)
  }

  /** Prices, the cheapest ones that the guarantee covers, and the lifetime of a cache. */
  get rule(): KnownPrices {
    const { prices, lifetimeMs = this.known.lifetimeMs } = this.state
    if (prices === undefined) return { ...this.known, lifetimeMs }
    const { cheapest } = this.known
    // A cheaper read than the observed one is not ruled out where only writes were observed.
    const read = prices.read === this.known.prices.read ? cheapest.read : prices.read
    return { prices, cheapest: { ...prices, read }, lifetimeMs }
  }

  /**
   * The tokens that the provider will count of a request. A count above the estimate adds a constant: the
   * part of each request that is not estimated (instructions, tools). A count below it scales the estimate. `undefined` if nothing was observed.
   */
  tokensOf(estimated: number): number | undefined {
    const { estimated: before, counted } = this.state
    if (counted === 0 || before === 0) return undefined
    return counted >= before ? estimated + (counted - before) : (estimated * counted) / before
  }

  private observePrices({ prices, isLongLived }: ReadUsage): void {
    const { state, known } = this
    const { read, input, write = input } = prices ?? {}
    if (read !== undefined && write !== undefined) {
      const unit = input ?? write
      const observed = { read: read / unit, write: write / unit, miss: write / unit }
      if (Object.values(observed).every(isPrice)) state.prices = observed
    } else if (isLongLived && !this.isCustom) {
      state.prices = { read: known.prices.read, write: LONG_LIVED.write, miss: LONG_LIVED.write }
      state.lifetimeMs = Math.max(state.lifetimeMs ?? 0, LONG_LIVED.lifetimeMs)
    }
  }

  /**
   * Learns if the cache was still there after the pause. Hosts write 0 where a provider reports nothing, so that zeros say nothing
   * until the provider has reported some use of its cache.
   */
  private observeCache(usage: ReadUsage, { repeated, pauseMs = 0 }: SentRequest): void {
    const { cacheReadTokens, cacheWriteTokens = 0 } = usage
    if (cacheReadTokens === undefined) return
    const { state } = this
    if (cacheReadTokens + cacheWriteTokens > 0) state.reportsCache = true
    if (!state.reportsCache || repeated < MIN_CACHED || pauseMs <= 0) return
    const lifetimeMs = state.lifetimeMs ?? this.known.lifetimeMs
    if (cacheReadTokens >= HIT * repeated) {
      state.misses = state.misses.filter((pause) => pause > pauseMs)
      if (pauseMs > lifetimeMs) state.lifetimeMs = pauseMs
    } else if (cacheReadTokens <= MISS * repeated && pauseMs <= lifetimeMs) {
      state.misses.push(pauseMs)
      if (state.misses.length < MISSES) return
      state.lifetimeMs = Math.max(Math.min(...state.misses) - 1, 0)
      state.misses = []
    }
  }
}

/** True if a state is one that {@link ObservedUsage.toJSON} gave. */
export function isObserved(value: unknown): value is ObservedState {
  const { prices, lifetimeMs = 0, misses, estimated, counted } = Object(value) as Partial<ObservedState>
  const numbers = [lifetimeMs, estimated, counted, ...(isArray(misses) ? misses : [undefined])]
  if (prices !== undefined) numbers.push(prices?.read, prices?.write, prices?.miss)
  return numbers.every((number) => atLeastZero(number) && Number.isFinite(number))
}
