/** Budget of all results of a history when everything has to fit. */

import type { Estimate } from '../history/estimate'
import type { ReadViews } from '../history/formats'
import { sum } from '../util/sum'
import { MIN_LINE_LENGTH } from './limit-results'
import { CHARS_PER_TOKEN, type OverflowLimits } from './limits'
import { resultsOf, weigh, weightOf } from './results'

/** Characters that each of the newest results keeps at least: enough to recognise it. */
const MIN_KEEP_CHARS = 400

/** Estimates are not exact, so a little less is kept than would fit. */
const MARGIN = 1.05

/** Shares of the budget to try in turn: the kept part of a text can have more tokens per character than the removed part. */
const LESS = [1, 0.9, 0.75, 0.5]

/**
 * Returns budgets for all results, the largest first; use the first with which the history fits. `excess` is the number of
 * estimated tokens over the limit. While a compaction may still follow, no budget is below a quarter of the usual one.
 */
export function budgetsOf(
  { views }: ReadViews,
  { perResult, recovery: usual, weighted }: OverflowLimits,
  estimate: Estimate,
  excess: number,
  compactionLeft: boolean,
): (number | null)[] {
  if (usual === null) return [null]
  const results = resultsOf(views)
  const sizes = estimate.sizes(views)
  const lengths = results.map((result) => weightOf(result, weighted))
  const weights = lengths.map((length) => Math.min(length, perResult))
  const tokens = sum(results.map(({ index, place }) => sizes[index]?.results[place] ?? 0))
  // The content of the results predicts better than any rule: digits have twice as many tokens as words.
  const perToken = tokens > 0 ? sum(lengths) / tokens : CHARS_PER_TOKEN
  // The margin applies to the part that is kept: 5 % of the removed part of a history ten times too long would be half of what fits.
  const fitting = Math.max(tokens - excess, 0) / MARGIN
  const measured = LESS.map((share) => fitting * share * perToken)
  const needed = [...measured, fitting * Math.min(perToken, CHARS_PER_TOKEN)].map(Math.floor).sort((a, b) => b - a)
  const within = (budgets: readonly number[]) => [...new Set(budgets.map((budget) => Math.min(budget, usual)))]
  if (compactionLeft) {
    const enough = needed.filter((budget) => budget >= usual / 4)
    return enough.length > 0 ? within(enough) : [usual]
  }
  // A model that cannot read what it just asked for asks again; one whose request is refused cannot even do that.
  const fresh = sum(weights.map((weight, at) => (results[at]?.fresh ? Math.min(weight, MIN_KEEP_CHARS) : 0)))
  const line = weigh(MIN_LINE_LENGTH, weighted)
  const lines = sum(weights.map((weight, at) => (results[at]?.fresh ? 0 : Math.min(weight, line))))
  // A quarter is kept for the newest results.
  const minimum = Math.max(fresh + lines, Math.ceil((4 * lines) / 3) + 1)
  return within([...needed.map((budget) => Math.max(budget, minimum)), Math.max(Math.min(...needed), fresh), fresh])
}
