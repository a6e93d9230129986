/** Finds a trustworthy path of the full output of a result. */

import { isPlace } from '../storage/receipt'
import { isSavedOutput, type OutputOwner } from '../storage/saved-outputs'
import type { ToolResultRecord } from '../types'
import type { ResultView } from './message-view'

const claims = new WeakSet<object>()

/** Remembers that the path of a view is what the tool says: the host did not write it. */
export function rememberClaim(view: ResultView): void {
  claims.add(view)
}

/**
 * The path that may be shown to a model or a user: that of the ledger; else that of the message, which must be the path of a saved
 * output if there is a storage to ask, or if it is the tool that says so.
 */
export function savedPathOf(
  result: Pick<ResultView, 'outputPath'>,
  learnt: Pick<ToolResultRecord, 'outputPath'> | undefined,
  storage: OutputOwner | undefined,
): string | undefined {
  if (learnt?.outputPath !== undefined) return learnt.outputPath
  const { outputPath } = result
  // The path is part of a sentence.
  if (!isPlace(outputPath)) return undefined
  if (storage === undefined && !claims.has(result)) return outputPath
  return isSavedOutput(outputPath, storage) ? outputPath : undefined
}
