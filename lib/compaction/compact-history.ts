/** A history made shorter by a summary of its older part. */

import { detectFormat, elementOf, viewOf } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { pairsOf } from '../history/tool-pairs'
import { call, native } from '../native/native'
import type { Compacted as Answer } from '../overflow/recovery-options'
import { edgesOf, rolesOf } from './history-reader'
import { type CompactOptions, checkMessages, readCompactOptions } from './options'
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
 * Kept messages are the same objects, byte for byte: instructions at the beginning, the newest three turns as long
 * as they fit, and the newest message of the user in any case. A turn that is too long by itself is split where
 * {@link cutPoints} allows it. Calls keep their results. The summary is one message, brought up to date by the next
 * compaction; the record of changed files in it is not the summariser's and outlives it.
 *
 * If a summary fails, is empty, or is larger than the messages it replaces, only old outputs are removed. A step that frees
 * less than a tenth is not taken.
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
  /** The first message behind the cut. */
  index: number
  /** `turn`: the user speaks there. `inside`: in the middle of a turn, before the model is asked again. */
  kind: 'turn' | 'inside'
}

/**
 * The only places between messages where a history may be cut: never between a call and its result, parallel calls
 * included, never behind a call that is still running, before a result, or between two messages of one answer. Ascending;
 * the two ends of the history are not among them.
 *
 * @param messages in any format that `detectFormat` knows; none if it is in no known format
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array
 */
export function cutPoints(messages: readonly unknown[]): CutPoint[] {
  checkMessages(messages)
  const format = detectFormat(messages)
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

/**
 * The `compact` of `recoverFromOverflow`, made of {@link compactHistory}: whatever the size, into the tokens that the recovery asks for.
 * It remembers over the recoveries of a session what its compactions left behind.
 *
 * @example
 * await recoverFromOverflow({ messages, contextWindowTokens, overflow, compact: compactionStep({ summarize }) })
 */
export function compactionStep<M>(
  options: Omit<CompactOptions<M>, 'targetTokens' | 'force' | 'enabled'>,
): (messages: M[], info: { targetTokens: number; signal: AbortSignal | undefined }) => Promise<Answer<M>> {
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
