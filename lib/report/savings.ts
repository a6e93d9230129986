/** The savings of a simulated session, as parts that add up. */

import { type PricedCost, pricedCost, type SessionPrices, shareOf, sumOfCosts } from './prices'
import type { RequestMeter } from './request-cost'
import type { Shortened } from './simulated-results'
import type { Simulation } from './simulation'

/** The savings of Spillway: `net` is `gross` minus `refetches`, `rewrites` and `declarations`. */
export interface Savings {
  net: PricedCost
  /** The net savings as a part of the whole bill. */
  share: number
  /** The cost of tokens that were not sent. */
  gross: PricedCost
  /** The cost of results that the model would have fetched again, with the requests for them. */
  refetches: PricedCost
  /** The cost of tokens that were sent again because something before them changed. */
  rewrites: PricedCost
  /** The cost of declaring the tools that read saved outputs. */
  declarations: PricedCost
  /** The net savings if results are truncated and folded when they enter the context, and nothing is pruned: what a hook can do. */
  entering: { net: PricedCost; share: number }
  truncated: Shortened
  folded: Shortened
  /** Number of items that were left out of later requests. */
  pruned: number
  /** Number of results that were fetched again. */
  refetched: number
}

/**
 * Compares a session with its simulations. Both are counted by the texts of the log; where the provider counted less for the requests,
 * such as in a log that has the usage of a part of them, the savings are less in the same proportion: no more is saved than was paid.
 */
export function savingsOf(
  { everything, entering }: { everything: Simulation; entering: Simulation },
  meter: RequestMeter,
  prices: SessionPrices,
  bill: { input: PricedCost; total: PricedCost },
): Savings {
  const before = meter.cost(prices)
  const scale = before > bill.input.pricedTokens ? bill.input.pricedTokens / before : 1
  const { refetches, declarations, rewritten, cost, truncated, folded, pruned, refetched } = everything
  const rewrites = (rewritten - meter.tokens.rewritten) * (prices.write - prices.read)
  const priced = (pricedTokens: number) => pricedCost(pricedTokens * scale, prices)
  const [net, netEntering] = [priced(before - cost), priced(before - entering.cost)]
  return {
    net,
    share: shareOf(net, bill.total),
    gross: priced(before - cost + refetches + rewrites + declarations),
    refetches: priced(refetches),
    rewrites: priced(rewrites),
    declarations: priced(declarations),
    entering: { net: netEntering, share: shareOf(netEntering, bill.total) },
    truncated,
    folded,
    pruned,
    refetched,
  }
}

/** The savings of several sessions together. */
export function sumOfSavings(all: readonly Savings[], bill: PricedCost): Savings {
  const cost = (of: (savings: Savings) => PricedCost) => sumOfCosts(all.map(of))
  const count = (of: (savings: Savings) => number) => all.reduce((sum, savings) => sum + of(savings), 0)
  const shortened = (of: (savings: Savings) => Shortened): Shortened => ({
    results: count((savings) => of(savings).results),
    bytes: count((savings) => of(savings).bytes),
  })
  const [net, entering] = [cost((each) => each.net), cost((each) => each.entering.net)]
  return {
    net,
    share: shareOf(net, bill),
    gross: cost(({ gross }) => gross),
    refetches: cost(({ refetches }) => refetches),
    rewrites: cost(({ rewrites }) => rewrites),
    declarations: cost(({ declarations }) => declarations),
    entering: { net: entering, share: shareOf(entering, bill) },
    truncated: shortened((each) => each.truncated),
    folded: shortened((each) => each.folded),
    pruned: count(({ pruned }) => pruned),
    refetched: count(({ refetched }) => refetched),
  }
}
