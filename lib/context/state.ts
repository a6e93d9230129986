/** The state of a {@link ContextManager}, as JSON. */

import type { AppliedSummaryState } from '../compaction/apply-summary'
import { readCompactOptions } from '../compaction/options'
import type { CompactionState } from '../compaction/report'
import { formatNamed } from '../history/formats'
import type { HistoryPrunerState } from '../pruning/state'
import { isArray, isCount } from '../util/guards'
import { parsedState, wrongState } from '../validation/options'
import { isRecord, readable } from '../validation/validate'
import { type ImagesState, isImages } from './images'

/** State of a manager, as JSON. */
export interface ContextManagerState {
  version: 1
  /** @internal */
  pruner: HistoryPrunerState
  /** @internal */
  appliedSummary: AppliedSummaryState | null
  /** @internal */
  compaction: CompactionState | null
  /**
   * Messages that go out without their images.
   * @internal
   */
  images?: ImagesState
  /**
   * Number of messages of the stored history that go out without signed reasoning, because something in front of it changed.
   * @internal
   */
  thinkingRemovedBefore?: number
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the part that is not what `toJSON` gave */
export function readManagerState(state: unknown): ContextManagerState {
  return readable('state', () => checkedState(state))
}

function checkedState(state: unknown): ContextManagerState {
  const {
    version,
    pruner,
    appliedSummary = null,
    compaction = null,
    images,
    thinkingRemovedBefore,
  } = parsedState(state)
  if (version !== 1) throw wrongState('version', version, '1')
  if (!isRecord(pruner)) throw wrongState('pruner', pruner)
  if (appliedSummary !== null && !isAppliedSummary(appliedSummary)) throw wrongState('appliedSummary', appliedSummary)
  if (compaction !== null && !isRecord(compaction)) throw wrongState('compaction', compaction)
  if (images !== undefined && !isImages(images)) throw wrongState('images', images)
  if (thinkingRemovedBefore !== undefined && !isCount(thinkingRemovedBefore)) {
    throw wrongState('thinkingRemovedBefore', thinkingRemovedBefore)
  }
  if (compaction !== null) readCompactOptions({ state: compaction as unknown as CompactionState }, 'state')
  return {
    version,
    pruner: pruner as unknown as HistoryPrunerState,
    appliedSummary: appliedSummary as AppliedSummaryState | null,
    compaction: compaction as unknown as CompactionState | null,
    ...(images !== undefined && { images: images as ImagesState }),
    ...(thinkingRemovedBefore !== undefined && { thinkingRemovedBefore: thinkingRemovedBefore as number }),
  }
}

function isAppliedSummary(value: unknown): boolean {
  const { first, head, from, sizes, text, format, saved } = Object(value) as Partial<AppliedSummaryState>
  return (
    isCount(first) &&
    isCount(from) &&
    isArray(head) &&
    head.length === 2 &&
    head.every(isCount) &&
    isArray(sizes) &&
    sizes.length === from &&
    sizes.every(Number.isFinite) &&
    typeof text === 'string' &&
    formatNamed(format as never) !== undefined &&
    Number.isFinite(saved)
  )
}
