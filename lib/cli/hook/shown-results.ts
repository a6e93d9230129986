/**
 * Results that the model of a session has in view. Lines that one of them has already become a pointer. Each hook is a process
 * of its own, so the results are kept in a file of the session, until a compaction takes them out of view.
 */

import { deepJsonOf } from '../../util/deep-json'
import type { HookCall } from './payload'
import { addRecord, recordsIn, removeFile, type SessionFile, sizeIn } from './session-files'

/** A result as the model was shown it, before lines in it were replaced. */
interface Shown {
  id: string
  tool: string
  args: Readonly<Record<string, unknown>>
  text: string
  /** When the call ran, in ms since 1970; absent in older files. */
  began?: number
  ended?: number
}

/** Results that are longer are not remembered, and the file is begun again above this. */
const MAX_TEXT = 64 * 1024
const MAX_BYTES = 512 * 1024
/** Longer arguments are left out: a pointer names the tool alone then. */
const MAX_ARGS = 2000
/** Time from the end of a call to the start of its hook, which differs by this much at most. */
const START_MS = 50
/** Lines that have to stand together in an earlier result, before the folding is loaded. */
const MIN_RUN = 8

/**
 * Remembers a result, and returns it with pointers in place of lines that an earlier result has; the same text if there are none.
 *
 * @param path of the saved output, if the text names one
 */
export async function foldShown(dir: string, call: HookCall, text: string, path: string | undefined): Promise<string> {
  const { sessionId, agentId, toolCallId, tool, args } = call
  if (sessionId === undefined || toolCallId === '' || text.length > MAX_TEXT) return text
  const file: SessionFile = { kind: 'shown', sessionId, ...(agentId !== undefined && { agentId }) }
  const earlier = recordsIn<Shown>(dir, file, isShown)
  const ended = Math.round(performance.timeOrigin)
  const began = ended - START_MS - (call.durationMs ?? 0)
  const own: Shown = { id: toolCallId, tool, args: shortArgs(args), text, began, ended }
  if (sizeIn(dir, file) > MAX_BYTES) removeFile(dir, file)
  if (!addRecord(dir, file, own) || !hasRun(text, earlier)) return text
  const { FoldSession } = await import('spillway/fold')
  const session = new FoldSession()
  const keep = path === undefined ? [] : [path]
  for (const { result, hasEnded } of inOrder([...earlier, own])) {
    const { id, tool: toolName, args: given, text: shown } = result
    const about = { toolName, toolCallId: id, args: given, keep }
    if (!hasEnded) {
      session.begin(about)
      continue
    }
    const { content } = session.fold(shown, about)
    if (result === own) return content
  }
  return text
}

/** The begins and the ends of calls, in their order in time. */
function inOrder(results: readonly Shown[]): { result: Shown; hasEnded: boolean }[] {
  const begins = results.map((result) => ({ at: result.began ?? 0, result, hasEnded: false }))
  const ends = results.map((result) => ({ at: result.ended ?? 0, result, hasEnded: true }))
  // A result without times is older than all that have some.
  return [...begins, ...ends].sort((one, other) => one.at - other.at)
}

const isShown = ({ id, tool, args, text }: Partial<Shown>): boolean =>
  [id, tool, text].every((each) => typeof each === 'string') && typeof args === 'object' && args !== null

function shortArgs(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return (deepJsonOf(args)?.length ?? 0) > MAX_ARGS ? {} : args
}

/** True if a few lines one after the other stand in earlier results: most results have nothing in common. */
function hasRun(text: string, earlier: readonly Shown[]): boolean {
  const known = new Set(earlier.flatMap((each) => each.text.split('\n')))
  let run = 0
  for (const line of text.split('\n')) {
    run = known.has(line) ? run + 1 : 0
    if (run >= MIN_RUN) return true
  }
  return false
}
