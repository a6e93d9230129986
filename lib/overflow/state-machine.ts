/** The states of a recovery, and which follows which. */

import { call, native } from '../native/native'

/** The state of a recovery. `retry` and `failed` are final. */
export type OverflowState = 'start' | 'oversized' | 'aggregate' | 'compaction' | 'retry' | 'failed'

/** Outcome of a state; at the start, `nothing` means that the history does not fit. */
export type OverflowEvent = 'fits' | 'smaller' | 'nothing' | 'refused' | 'error'

/** One transition. The first that matches is taken. */
export interface OverflowTransition {
  readonly order: 'cheapest-first' | 'compaction-first'
  readonly from: OverflowState
  readonly on: readonly OverflowEvent[]
  /**
   * Condition of the transition: `compaction-left` is that the caller can compact, that it was not compaction that overflowed nor did
   * it fail in this call, and that fewer than the allowed number were tried; `last-resort` that no compaction is left and
   * results were not yet held to what remains then; `truncation-untried` that no results were cut since the recovery began.
   */
  readonly when: 'always' | 'compaction-left' | 'last-resort' | 'truncation-untried'
  readonly to: OverflowState
  /** Resets the number of compactions; that of attempts is never reset. */
  readonly resetsCompactions: boolean
  readonly why: string
}

/** Attempts that a recovery has used, and its limits. */
export interface Counters {
  attempts: number
  maxAttempts: number
  compactions: number
  maxCompactions: number
  canCompact: boolean
  truncated: boolean
  squeezed: boolean
}

/** The largest count that the binary takes: no recovery gets there. */
const MAX = 2 ** 32 - 1

/** The next transition; nothing if no attempt is left for it. */
export function nextTransition(
  order: OverflowTransition['order'],
  from: OverflowState,
  event: OverflowEvent,
  counters: Counters,
): OverflowTransition | undefined {
  const { attempts, maxAttempts, compactions, maxCompactions } = counters
  const numbers = { attempts, maxAttempts, compactions, maxCompactions }
  const bounded = Object.fromEntries(Object.entries(numbers).map(([name, count]) => [name, Math.min(count, MAX)]))
  const given = { order, from, event, counters: { ...counters, ...bounded } }
  const answer = call(() => native.overflowNext(JSON.stringify(given)))
  return JSON.parse(answer) ?? undefined
}
