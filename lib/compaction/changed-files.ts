/** The record of changed files: which calls belong into it, and its lines. */

import type { CallView } from '../history/message-view'
import { call, native } from '../native/native'
import { safeStringify } from '../util/safe-stringify'
import type { ReadHistory } from './history-reader'

/** A record has no more lines; the oldest go. */
const MAX_LINES = 100

/** Longer strings in arguments are content; a path is near the beginning of a patch. UTF-16 units. */
const MAX_ARGUMENT_LENGTH = 1 << 16

/** The record, with the calls in these messages. */
export function changesWith<M>(
  known: readonly string[],
  history: ReadHistory<M>,
  isDropped: (index: number) => boolean,
): string[] {
  const edits = new Map<string, boolean>()
  const isEdit = (name: string) => {
    let answer = edits.get(name)
    if (answer === undefined) {
      answer = call(() => native.isEditTool(name.toWellFormed()))
      edits.set(name, answer)
    }
    return answer
  }
  const lines: string[] = []
  const add = (index: number, view: CallView | undefined, failed: boolean | undefined) => {
    if (view?.name === undefined || !isDropped(index) || !isEdit(view.name)) return
    const { name } = view
    lines.push(...call(() => native.changedFiles(name.toWellFormed(), argumentsOf(view), failed)))
  }
  const { toolPairs } = history
  for (const { index, view, call: called, learnt } of history.outputs) {
    add(index, called, learnt?.isError ?? view.isError ?? saysError(view.text))
  }
  for (const { call: number, running } of toolPairs?.open() ?? []) {
    const placed = toolPairs?.calls[number]
    if (placed === undefined || running) continue
    add(placed.message, history.views[placed.message]?.calls[placed.place], undefined)
  }
  return call(() => native.changedFilesMerged([...known], lines, MAX_LINES))
}

function argumentsOf(view: CallView): string {
  const args = view.args()
  if (args === undefined) return safeStringify(view.argsText.slice(0, MAX_ARGUMENT_LENGTH))
  try {
    const short = Object.entries(args).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.slice(0, MAX_ARGUMENT_LENGTH) : value,
    ])
    return safeStringify(Object.fromEntries(short))
  } catch {
    // A proxy or a getter threw.
    return '{}'
  }
}

function saysError(text: string | readonly string[]): boolean {
  return (typeof text === 'string' ? text : (text[0] ?? '')).trimStart().startsWith('Error:')
}
