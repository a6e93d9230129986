/** Folds the result of a tool. */

import type { BegunCall, FoldCall, FoldedText } from '../fold/fold-session'
import { noticeOfOutput } from '../storage/saved-outputs'
import type { FoldRecord } from '../types'
import { catchLater, tellCaller, warn } from '../util/warn'
import { isRecord } from '../validation/validate'
import { bodyOf, editText } from './tool-result'

/** Folds results of one session: a `FoldSession`. */
export interface ResultFolder {
  fold(text: string, call: FoldCall): FoldedText
  /**
   * Receives each call before it runs, once more if a hook changes its arguments, and its id when it has ended: results of calls that
   * ran at the same time do not point to each other.
   */
  begin?(call: BegunCall): void
  end?(toolCallId: string): void
  /** Receives the ids of results that are no longer sent; with `callsStay` their calls still are. */
  forget?(toolCallIds: readonly string[], options?: { callsStay?: boolean }): void
}

/** Tells a folder which results are not sent any more, and of which of them (`leftCalls`) neither is the call. */
export function forgetResults(
  folder: Pick<ResultFolder, 'forget'> | undefined,
  left: readonly string[],
  leftCalls: readonly string[] = [],
): void {
  const gone = new Set(leftCalls)
  const pruned = left.filter((id) => !gone.has(id))
  // Calls that left first: what a pointer counts depends on them, and a folder of the host may throw.
  if (gone.size > 0) catchLater('fold', folder?.forget?.([...gone]))
  if (pruned.length > 0) catchLater('fold', folder?.forget?.(pruned, { callsStay: true }))
}

/** Runs a call, and tells a folder when it begins and ends. */
export async function runFolded<T>(
  folder: ResultFolder | undefined,
  call: BegunCall,
  run: () => Promise<T>,
): Promise<T> {
  if (folder?.begin === undefined) return run()
  const { toolCallId } = call
  tellBegin(folder, call)
  try {
    return await run()
  } finally {
    if (toolCallId !== undefined) tellCaller('fold', () => folder.end?.(toolCallId))
  }
}

/** Tells a folder that a call begins, or with which arguments it runs if that has changed. */
export function tellBegin(folder: ResultFolder | undefined, call: BegunCall): void {
  if (folder?.begin !== undefined) tellCaller('fold', () => folder.begin?.(call))
}

/** Folds a truncated result. `outputPath` is the saved output. A failure costs nothing but the fold. */
export function foldResult(
  folder: ResultFolder | undefined,
  result: unknown,
  { outputPath, args, ...call }: Omit<FoldCall, 'args'> & { outputPath: unknown; args: unknown },
): { result: unknown; folds?: FoldRecord } {
  const text = folder === undefined ? undefined : bodyOf(result)
  if (folder === undefined || typeof text !== 'string') return { result }
  try {
    // The words of a notice are found again by the path, and its other lines say how the saved output is read.
    const keep = typeof outputPath === 'string' ? [outputPath, ...noticeOfOutput(outputPath).split('\n')] : []
    const { content, record } = folder.fold(text, { ...call, ...(isRecord(args) && { args }), keep })
    return record === undefined ? { result } : { result: editText(result, { output: content }), folds: record }
  } catch (error) {
    warn('fold', error)
    return { result }
  }
}
