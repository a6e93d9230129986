/** The answer after a compaction, which has taken previews and files out of the context. */

import { sizeText } from '../../util/format'
import type { HookFacts } from '../agents/types'
import type { Parsed } from '../command'
import { recordedOutputs } from '../outputs'
import { openStorage } from '../shared-options'
import { printable } from '../terminal'
import { startAnswer } from './answers'
import type { HookCall } from './payload'
import { recordedReads } from './read-files'
import { removeShown } from './session-files'

const LISTED = 10

/** A name or a command in one line, whatever is in it. */
const inLine = (text: string): string => printable(text).replace(/\s+/g, ' ')

/** Lists the saved outputs of a session, and the files that were read in it. */
export async function afterCompaction(hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (call.sessionId === undefined) return undefined
  const storage = openStorage(values)
  removeShown(storage.getStorageDir(), call.sessionId)
  const outputs = (await recordedOutputs(storage, call.sessionId)).slice(0, LISTED)
  const reads = recordedReads(storage.getStorageDir(), call.sessionId)
  if (outputs.length + reads.length === 0) return undefined
  const lines = outputs.map(({ path, command: line, toolName, bytes }) => {
    return `- ${path} (${sizeText(bytes)}): ${inLine((line ?? toolName).slice(0, 120))}`
  })
  const saved = 'Full outputs of earlier tool calls are saved, the newest first:'
  const read = 'Files that were read before the compaction, the newest first; their text is not in view any more:'
  const parts = [
    ...(lines.length === 0 ? [] : [saved, ...lines]),
    ...(reads.length === 0 ? [] : [read, ...reads.map((each) => `- ${inLine(each)}`)]),
  ]
  return startAnswer(hook.dialect, parts.join('\n'), call)
}
