/** The savings of a running manager, in the terms of `spillway report`. */

import type { PruneReport } from '../pruning/report'

/** Savings of pruning. */
export interface ContextSavings {
  /** Priced tokens, minus the cost of changes; below 0 until a change has paid off. */
  pricedTokens: number
  /** Their part of the cost of all requests without pruning. */
  share: number
}

export function contextSavings({ cost: { paid, unpruned } }: PruneReport): ContextSavings {
  return { pricedTokens: unpruned - paid, share: unpruned === 0 ? 0 : (unpruned - paid) / unpruned }
}
