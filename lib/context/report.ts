/** The answer of a {@link ContextManager}, and its report. */

import type { CompactionReport } from '../compaction/report'
import type { DropThinkingOptions } from '../pruning/provider-editing'
import type { PruneReport } from '../pruning/report'
import type { ContextSavings } from './savings'
import type { ContextStep } from './step-reports'

/** Report of {@link ContextManager.prepare}. */
export interface ContextReport {
  /** In the order in which they run. */
  steps: ContextStep[]
  /** Estimated tokens of the stored history, and of the sent messages, without the other parts of the request. */
  tokensBefore: number
  tokensAfter: number
  /** Tokens of the other parts of the request. */
  environmentTokens: number
  /** Ids of the calls whose results left the request now: pruned, or replaced by a compaction. */
  left: string[]
  /** Those of them that are not sent any more themselves: a summary replaced them. */
  leftCalls: string[]
  /** Budget of both together; `Infinity` if the window is unknown. */
  usable: number
  /**
   * True if they are within the budget, in the provider's count once `observe` was called, and within the limits of bytes and
   * images; the reason of the step `media` names a limit that is exceeded.
   */
  fits: boolean
  pruning: PruneReport
  /** The savings of pruning in all requests so far. */
  savings: ContextSavings
  /** Only if it was requested in this call. */
  compaction?: CompactionReport
}

/** Result of {@link ContextManager.prepare}. */
export interface PreparedContext<M> {
  /** For the request. */
  messages: M[]
  /**
   * The history with its compactions applied but nothing pruned, for callers who store that. The input array itself if there was
   * no compaction.
   */
  history: M[]
  report: ContextReport
  /** Only with `pruning: { thinking: 'provider-drops' }`: fields that the request needs, as in the result of `HistoryPruner.prune`. */
  requestOptions?: DropThinkingOptions
}
