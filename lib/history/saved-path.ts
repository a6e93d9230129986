/** Finds a trustworthy path of the full output of a result. */

import { call, native } from '../native/native'
import { isPlace } from '../storage/receipt'
import { isSavedOutput, type OutputOwner } from '../storage/saved-outputs'
import type { ToolResultRecord } from '../types'
import { joinedText, type ResultText } from './message-cache'
import type { ResultView } from './message-view'

const claims = new WeakSet<object>()

/** Remembers that the path of a view is what the tool says: the host did not write it. */
export function rememberClaim(view: ResultView): void {
  claims.add(view)
}

/**
 * The path that may be shown to a model or a user: that of the ledger; else that of the message, which must be the path of a saved
 * output if there is a storage to ask, or if it is the tool that says so; else that of a saved output in the notice of the text.
 */
export function savedPathOf(
  result: Pick<ResultView, 'outputPath'>,
  learnt: Pick<ToolResultRecord, 'outputPath'> | undefined,
  storage: OutputOwner | undefined,
  text: ResultText,
): string | undefined {
  if (learnt?.outputPath !== undefined) return learnt.outputPath
  const { outputPath } = result
  const isHosts = storage === undefined && !claims.has(result)
  // The path is part of a sentence.
  if (isPlace(outputPath) && (isHosts || isSavedOutput(outputPath, storage))) return outputPath
  return noticedPath(joinedText(text), storage)
}

/** A notice has at most 8 lines; a host may have put some around it. */
const END_LINES = 12
const END_UNITS = 8192

/** The path in a notice at either end of a text. Anywhere else, a text may quote the notice of another output. */
function noticedPath(text: string, storage: OutputOwner | undefined): string | undefined {
  // So paths of our files end, and addresses of other stores begin; most results have neither.
  if (!text.includes('.txt') && !text.includes('://')) return undefined
  const start = text.slice(0, END_UNITS).split('\n', END_LINES).join('\n')
  const end = text.slice(-END_UNITS).split('\n').slice(-END_LINES).join('\n')
  for (const part of new Set([start, end])) {
    const named = JSON.parse(call(() => native.overflowSaved(part.toWellFormed()))) as { path: string }[]
    const found = named.find(({ path }) => isPlace(path) && isSavedOutput(path, storage))
    if (found !== undefined) return found.path
  }
  return undefined
}
