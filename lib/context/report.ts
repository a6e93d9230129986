/** The answer of a {@link ContextManager}, and its report. */

import type { CompactionReport } from '../compaction/report'
import type { PruneReport } from '../pruning/report'
import type { ContextSavings } from './savings'
import type { ContextStep } from './steps'

/** Report of {@link ContextManager.prepare}. */
export interface ContextReport {
  /** In the order in which they are done. */
  steps: ContextStep[]
  /** Estimated tokens of the stored history, and of the sent messages, without the other parts of the request. */
  tokensBefore: number
  tokensAfter: number
  /** Tokens of what is sent beside the history. */
  environmentTokens: number
  /** Ids of the calls whose results left the request now: pruned, or replaced by a compaction. */
  left: string[]
  /** Budget of both together; `Infinity` if the window is unknown. */
  usable: number
  /** True if they have no more; as the provider counts them once `observe` was called. */
  fits: boolean
  pruning: PruneReport
  /** The savings of pruning in all requests so far. */
  savings: ContextSavings
  /** Only if it was asked for at this request. */
  compaction?: CompactionReport
}

/** Result of {@link ContextManager.prepare}. */
export interface PreparedContext<M> {
  /** For the request. */
  messages: M[]
  /**
   * The history with its compactions, and nothing else left out: for callers who want to store that. The very array that
   * went in if there was none.
   */
  history: M[]
  report: ContextReport
}
