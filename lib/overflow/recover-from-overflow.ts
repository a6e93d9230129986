/** Recovery from a request that was too long. */

import type { SpillwayError } from '../errors'
import { definedOf } from '../util/defined'
import { transitions } from './limits'
import type { OverflowPlan, OverflowRecoveryState, Recovered, RecoverOptions } from './recovery-options'
import { type RecoveryContext, Walk } from './recovery-walk'
import type { OverflowTransition } from './state-machine'

/** Every transition of {@link recoverFromOverflow}. */
export const OVERFLOW_TRANSITIONS: readonly Readonly<OverflowTransition>[] = Object.freeze(
  transitions.map((row) => Object.freeze(row)),
)

/**
 * Makes a history fit into the model's window again, cheapest step first: results that are too long are truncated, then all
 * results together are limited to a budget, then the caller's compaction is called; {@link OVERFLOW_TRANSITIONS} has all
 * transitions. Each step must make progress, no step may separate a call from its result, and at most `maxAttempts` steps are
 * tried. The result is a history that fits by the estimate, or an error.
 *
 * `recoverFromOverflow.plan` takes the same arguments and returns the planned steps: nothing is compacted, no callback is called, and nothing
 * changes. The sizes are those that the steps would reach. A plan ends at a compaction, because its result is not known.
 *
 * @returns new messages, in which unchanged ones are the same objects (`===`), and a report
 * @throws SpillwayError `OVERFLOW` if no step helped; its message lists the steps and its `report` has the sizes. `ABORTED` if the
 * signal is aborted. `INVALID_ARGUMENT` if an option is not allowed, or `overflow` is not an overflow
 */
export async function recoverFromOverflow<M>(options: RecoverOptions<M>): Promise<Recovered<M>> {
  const { problem, ...recovered } = await recoverAsFar(options)
  if (problem !== undefined) throw problem
  return recovered
}

/**
 * The same for who sends the messages in any case: if it is not enough, with what was gained, and the error.
 * @internal
 */
export async function recoverAsFar<M>(
  options: RecoverOptions<M>,
  context: RecoveryContext = {},
): Promise<Recovered<M> & { problem: SpillwayError | undefined }> {
  const walk = new Walk(options, context)
  for (;;) {
    walk.checkSignal()
    const state = walk.advance()
    if (state === 'retry' || state === 'failed') {
      walk.leaveOutStale()
      const problem = state === 'failed' ? walk.failure() : undefined
      return { messages: walk.result(), report: walk.report(), problem }
    }
    if (state === 'compaction') await walk.compact()
    else walk.shorten(state)
  }
}

recoverFromOverflow.plan = <M>(options: RecoverOptions<M>): OverflowPlan => {
  const walk = new Walk(options, { dry: true })
  for (;;) {
    const state = walk.advance()
    if (state === 'retry' || state === 'failed' || state === 'compaction') {
      // Nothing was used up.
      const used = {
        attempts: 0,
        compactions: 0,
        truncated: false,
        ...definedOf<Partial<OverflowRecoveryState>>(options.state),
      }
      return { ...walk.report(), state: used, outcome: state }
    }
    walk.shorten(state)
  }
}
