/** A history made shorter by a summary of its older part. */

import { warnUnreadable } from '../history/format-warning'
import { detectFormat, elementOf, viewOf } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { pairsOf } from '../history/tool-pairs'
import { call, native } from '../native/native'
import type { Compacted as Answer } from '../overflow/recovery-options'
import { checkOptions } from '../validation/options'
import { edgesOf, rolesOf } from './history-reader'
import { COMPACT_CHECKS, type CompactOptions, checkMessages, readCompactOptions } from './options'
import type { CompactionPlan, CompactionReport, CompactionState } from './report'
import { Run } from './run-compaction'

/** Result of {@link compactHistory}. */
export interface CompactResult<M> {
  messages: M[]
  report: CompactionReport
}

/**
 * Shortens a history that is near the model's window: old tool outputs are replaced in place, and if
 * that is not enough, `summarize` writes a summary that takes the place of everything before the newest turns.
 *
 * Kept messages are the same objects, byte for byte: instructions at the beginning, the newest three turns as long as they fit,
 * and always the newest message of the user. A turn that is too long by itself is split where
 * {@link cutPoints} allows it. Calls keep their results. The summary is one message, updated by the next compaction. The record of
 * changed files in it is not written by the summariser, and later summaries keep it.
 *
 * If a summary fails, is empty, or is larger than the messages it replaces, only old outputs are removed. A step that frees less
 * than a tenth is discarded.
 *
 * `compactHistory.plan` takes the same arguments and returns the planned steps: no callback is called, and nothing changes.
 *
 * @param messages in any format that `detectFormat` knows. Never changed
 * @returns new messages, or the very array if nothing was done, and what was done and why
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed; `COMPACTION` if it was done three times in the last
 * three turns of the model and is needed again, by `options.state`; `ABORTED` if the signal says so
 */
export async function compactHistory<M>(messages: readonly M[], options: CompactOptions<M>): Promise<CompactResult<M>> {
  const { messages: compacted, report } = await runOf(messages, options).go()
  return { messages: compacted, report }
}

compactHistory.plan = <M>(messages: readonly M[], options: CompactOptions<M>): CompactionPlan =>
  runOf(messages, options).plan()

function runOf<M>(messages: readonly M[], options: CompactOptions<M>): Run<M> {
  const settings = readCompactOptions(options)
  checkMessages(messages)
  return new Run(messages, settings)
}

/** A place where a history may be cut. */
export interface CutPoint {
  /** Index of the first message after the cut. */
  index: number
  /** `turn`: before a user message. `inside`: in the middle of a turn, before the next request to the model. */
  kind: 'turn' | 'inside'
}

/**
 * Returns the only positions between messages where a history may be split: never between a call and its result, parallel calls
 * included, never after a call that is still running, before a result, or between two messages of one answer. Ascending, without
 * the two ends of the history.
 *
 * @param messages in any format that `detectFormat` knows; none if it is in no known format
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array
 */
export function cutPoints(messages: readonly unknown[]): CutPoint[] {
  checkMessages(messages)
  const format = detectFormat(messages)
  warnUnreadable('cutPoints', messages, format)
  if (format === undefined) return []
  const views = Array.from(messages, (_, at) => viewOf(format, elementOf(messages, at)) ?? OTHER)
  const roles = rolesOf(messages, views, format)
  const edges = edgesOf(pairsOf(format, messages), messages.length)
  const found = call(() => native.compactionCuts(roles, edges))
  const points: CutPoint[] = []
  for (let at = 0; at < found.length; at += 2) {
    points.push({ index: found[at] as number, kind: found[at + 1] === 1 ? 'turn' : 'inside' })
  }
  return points
}

/** The recovery decides about the others. */
const STEP = Object.fromEntries(
  Object.entries(COMPACT_CHECKS).filter(([key]) => !['targetTokens', 'force', 'enabled'].includes(key)),
)

/**
 * The `compact` of `recoverFromOverflow`, made of {@link compactHistory}: it shortens a history of any size to the tokens that the
 * recovery requests, and keeps the state of its compactions across the recoveries of a session.
 *
 * @example
 * await recoverFromOverflow({ messages, contextWindowTokens, overflow, compact: compactionStep({ summarize }) })
 */
export function compactionStep<M>(
  options: Omit<CompactOptions<M>, 'targetTokens' | 'force' | 'enabled'>,
): (messages: M[], info: { targetTokens: number; signal: AbortSignal | undefined }) => Promise<Answer<M>> {
  checkOptions('options', options, STEP)
  readCompactOptions(options)
  let state: CompactionState | undefined = options.state
  return async (messages, { targetTokens, signal }) => {
    const given = signal ?? options.signal
    const { report, ...answer } = await compactHistory(messages, {
      ...options,
      targetTokens,
      force: true,
      ...(given && { signal: given }),
      ...(state && { state }),
    })
    state = report.state
    return report.action === 'none' ? undefined : answer
  }
}
