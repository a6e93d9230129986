/** The compaction of a {@link ContextManager}. */

import { AppliedSummary } from '../compaction/apply-summary'
import { readCompactOptions } from '../compaction/options'
import type { CompactionReport } from '../compaction/report'
import { Run } from '../compaction/run-compaction'
import { Estimate } from '../history/estimate'
import { viewsIn, viewsOf } from '../history/formats'
import { adopt, countedTokens, share } from '../pruning/pruner'
import type { PruneReport } from '../pruning/report'
import { storedNotes } from './bounded-media'
import { type Inner, lastingAfterChange, requestTokens, storedPlacesIn } from './manager-parts'
import { compactOptions } from './options'

/** The history after a compaction. */
interface Compacted<M> {
  history: M[]
  report: CompactionReport
  freed: number
  changed: boolean
  /** Ids of the calls whose results were replaced by the summary. */
  left: string[]
  /** The calls among them that were replaced as well. */
  leftCalls: string[]
}

/** Compacts if the request is over the limit, or if forced; returns nothing otherwise. */
export async function compacted<M>(
  inner: Inner<M>,
  stored: readonly M[],
  history: M[],
  pruned: { messages: M[]; report: PruneReport },
  { force = false, signal }: { force?: boolean; signal?: AbortSignal },
): Promise<Compacted<M> | undefined> {
  const { options, pruner, limit } = inner
  if (options.compaction === false) return undefined
  const { tokensAfter } = pruned.report
  if (!force && requestTokens(inner, tokensAfter) <= limit) return undefined
  share(pruner)
  const usedTokens = countedTokens(pruner, tokensAfter)
  const settings = readCompactOptions({
    ...compactOptions(options, inner.state),
    force,
    ...(signal && { signal }),
    ...(usedTokens !== undefined && { usedTokens }),
  })
  const run = new Run(pruned.messages, settings, history, inner.saver)
  const thrash = run.thrash()
  const done = thrash === undefined ? await run.go() : await run.refused(thrash)
  const { messages, report, summary, replaced, withoutMedia } = done
  inner.state = report.state
  const estimate = new Estimate(options.estimateTokens, inner.tell)
  const tokensOf = (some: readonly M[]) => estimate.of(some, viewsOf(some))
  const freed = messages === pruned.messages ? 0 : pruned.report.tokensAfter - tokensOf(messages)
  if (summary !== undefined) {
    const applied = AppliedSummary.fromReport(stored, inner.appliedSummary, report, summary, tokensOf)
    if (applied?.apply(stored) === undefined)
      return { history, report, freed: 0, changed: false, left: [], leftCalls: [] }
    inner.appliedSummary = applied
    inner.images.keep((index) => applied.shows(index))
  }
  const { format } = report
  if (format !== undefined && withoutMedia.length > 0) {
    const at = storedPlacesIn(inner.appliedSummary, stored.length)
    const notes = withoutMedia.map(({ index, message, notes }) => {
      const place = at(index)
      return [place, storedNotes(format, message, stored[place], notes)] as const
    })
    inner.images.add(stored, new Map(notes), format, tokensOf)
  }
  if (replaced.length > 0) adopt(pruner, replaced)
  const changed = summary !== undefined || replaced.length > 0 || withoutMedia.length > 0
  const after = changed ? lastingAfterChange(inner, stored, settings.options.thinking) : history
  const { views } = viewsIn(replaced.length > 0 ? history : [])
  const gone = replaced.flatMap(({ index, place }) => views[index]?.results[place]?.callId ?? [])
  const leftCalls = summary === undefined ? [] : resultsWithout(history, after)
  const left = summary === undefined ? gone : leftCalls
  return { history: after, report, freed, changed, left, leftCalls }
}

/** Ids of the calls whose results are in one history and not in the other. */
function resultsWithout<M>(before: readonly M[], after: readonly M[]): string[] {
  const idsIn = (messages: readonly M[]) =>
    viewsIn(messages).views.flatMap(({ results }) => results.flatMap(({ callId }) => callId ?? []))
  const stay = new Set(idsIn(after))
  return idsIn(before).filter((id) => !stay.has(id))
}
