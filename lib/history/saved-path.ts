/** Finds the paths that a text names, and a trustworthy one of the full output of a result. */

import { call, native } from '../native/native'
import { isPlace } from '../storage/receipt'
import { isSavedOutput, type OutputOwner } from '../storage/saved-outputs'
import type { ToolResultRecord } from '../types'
import { LANGUAGES } from '../util/languages'
import { joinedText, type ResultText } from './message-cache'
import type { ResultView } from './message-view'
import { usualPlaceholder } from './usual-placeholder'

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

/** The location of an output according to a text. */
export interface NamedPlace {
  readonly path: string
  /** True if only a part of the output was saved. */
  readonly partial: boolean
}

/** Stands for the path, or the words, in a placeholder of which only the rest is wanted. */
const SLOT = '\0'
const PARTIAL = '.partial.txt'

/** The placeholders of pruned results without their paths: what is before, between path and words, and after. */
const PLACEHOLDERS = LANGUAGES.flatMap((language) =>
  ['', PARTIAL].map((end) => {
    const text = usualPlaceholder({ language, path: SLOT + end, words: SLOT })
    const [before = '', between = '', after = ''] = text.split(SLOT)
    return { before, between: between.slice(end.length), after }
  }),
)

/** The places that a text names as those of its full output, in a notice or as the placeholder of a pruned result. */
export function placesIn(text: string): readonly NamedPlace[] {
  const noticed = JSON.parse(call(() => native.overflowSaved(text.toWellFormed()))) as NamedPlace[]
  const pruned = prunedPath(text)
  return pruned === undefined ? noticed : [{ path: pruned, partial: pruned.endsWith(PARTIAL) }, ...noticed]
}

/** The path in a text that is the placeholder of a pruned result; that of its images may be before it. */
function prunedPath(text: string): string | undefined {
  const line = text.trimEnd()
  if (line.includes('\n')) return undefined
  const found = PLACEHOLDERS.find(({ before, after }) => {
    const at = line.indexOf(before)
    return (at === 0 || line.startsWith('] ', at - 2)) && line.endsWith(after)
  })
  if (found === undefined) return undefined
  const { before, between, after } = found
  const rest = line.slice(line.indexOf(before) + before.length, -after.length)
  return rest.split(between, 1)[0]
}

/** A notice has at most 8 lines; a host may have put some around it. */
const END_LINES = 12
const END_UNITS = 8192

/** So paths of our files end, and addresses of other stores begin; most results have neither. */
export function maySayPath(text: string): boolean {
  return text.includes('.txt') || text.includes('://')
}

/** The path in a notice at either end of a text. Anywhere else, a text may quote the notice of another output. */
function noticedPath(text: string, storage: OutputOwner | undefined): string | undefined {
  if (!maySayPath(text)) return undefined
  const start = text.slice(0, END_UNITS).split('\n', END_LINES).join('\n')
  const end = text.slice(-END_UNITS).split('\n').slice(-END_LINES).join('\n')
  for (const part of new Set([start, end])) {
    const found = placesIn(part).find(({ path }) => isPlace(path) && isSavedOutput(path, storage))
    if (found !== undefined) return found.path
  }
  return undefined
}
