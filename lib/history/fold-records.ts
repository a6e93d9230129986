/** Records of folds: the text of a folded result whose target is no longer sent, and the lines that stand for others. */

import { native } from '../native/native'
import type { FoldEdit, FoldRecord } from '../types'
import { isArray, isCount } from '../util/guards'
import { isRecord } from '../validation/validate'

/** Returns true if a value is the record of a fold. */
export function isFoldRecord(value: unknown): value is FoldRecord {
  if (!isRecord(value)) return false
  const { saved, edits, counts = [] } = value as Partial<FoldRecord>
  return (
    // A text that takes fewer bytes may have more UTF-16 units.
    Number.isSafeInteger(saved) &&
    isArray(counts) &&
    counts.every((id) => typeof id === 'string') &&
    isArray(edits) &&
    edits.every(
      (edit) =>
        isRecord(edit) &&
        isCount(edit.fromLine) &&
        isCount(edit.toLine) &&
        typeof edit.text === 'string' &&
        (edit.toolCallId === undefined || (typeof edit.toolCallId === 'string' && isCount(edit.line))) &&
        (edit.argument === undefined || typeof edit.argument === 'string'),
    )
  )
}

/** Returns the key of a target: a result by the id of its call, or an argument by that id and its name. */
export function foldKey(toolCallId: string, argument?: string): string {
  return argument === undefined ? toolCallId : JSON.stringify([toolCallId, argument])
}

/** Returns the targets of a folded result by their keys. */
export function targetsOf({ edits }: FoldRecord): Map<string, { toolCallId: string; argument?: string }> {
  return new Map(
    edits.flatMap(({ toolCallId, argument }) =>
      toolCallId === undefined
        ? []
        : [[foldKey(toolCallId, argument), { toolCallId, ...(argument !== undefined && { argument }) }]],
    ),
  )
}

/** The text that was folded; `undefined` if it cannot be made from what there is. */
export function unfolded(
  text: string,
  { saved, edits }: FoldRecord,
  textOf: (key: string) => string | undefined,
): string | undefined {
  const keys = [...targetsOf({ saved, edits }).keys()]
  const texts = keys.map(textOf)
  if (texts.includes(undefined)) return undefined
  const described = edits.map(({ fromLine, toLine, text: shown, toolCallId, argument, line, numbering }) => ({
    fromLine,
    toLine,
    from: 0,
    to: 0,
    text: shown,
    ...(toolCallId !== undefined && {
      target: { id: keys.indexOf(foldKey(toolCallId, argument)), line, ...(numbering !== undefined && { numbering }) },
    }),
  }))
  try {
    const back = native.foldUndo(text, JSON.stringify(described), [...keys.keys()], texts as string[])
    // A text that is not the one that was folded, such as one that its host wrote as JSON, gives another length.
    const isSame = edits.every((edit) => text.includes(edit.text))
    return back != null && isSame && back.length - text.length === saved ? back : undefined
  } catch {
    return undefined
  }
}

/** Returns true if a pointer counts a call that is not there any more, so that it names another call than it means. */
export function miscounts({ counts = [] }: FoldRecord, isThere: (toolCallId: string) => boolean): boolean {
  return !counts.every(isThere)
}

/** Returns true if a text has a line that the fold of this record put there. */
export function showsEdits(text: string, { edits }: FoldRecord): boolean {
  return edits.some(({ text: shown }) => shown.split('\n').some((line) => text.includes(line)))
}

/** Returns true if a text has a pointer of this record, or a line of one. */
export function hasPointers(text: string, { saved, edits }: FoldRecord): boolean {
  return showsEdits(text, { saved, edits: edits.filter(({ toolCallId }) => toolCallId !== undefined) })
}

/**
 * The text with each pointer replaced by a sentence that says that its lines are not there any more. A line of the tool that is equal to
 * a pointer is replaced as well: in a text that was shortened it cannot be distinguished from the pointer.
 */
export function withoutPointers(text: string, { edits }: FoldRecord): string {
  const pointers = edits.filter(({ toolCallId }) => toolCallId !== undefined)
  return pointers.reduce((rest, edit) => {
    const note = noteFor(edit)
    const lines = rest.includes(edit.text) ? [edit.text] : edit.text.split('\n')
    return lines.reduce((left, line) => left.replaceAll(line, () => note), rest)
  }, text)
}

/** The lines that stand for others: pointers, the sentences above them, and the sentence of {@link noteFor}. */
const POINTER_LINE =
  /^\[(?:lines \d+-\d+: (?:same as|as) |\d+ of \d+ lines differs? from |test failures since the last run |\d+ lines are not in view any more: )/

/** Returns true for a line that looks as if it stood for others. Only the record of a fold says whether it does. */
export function isPointerLine(line: string): boolean {
  return line.startsWith('[') && POINTER_LINE.test(line)
}

function noteFor({ fromLine, toLine }: FoldEdit): string {
  return `[${toLine - fromLine} lines are not in view any more: call the tool again to read them]`
}
