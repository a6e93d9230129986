/** Simulates results as they enter the context with Spillway: truncated and folded. */

import { FoldSession } from '../fold/fold-session'
import { ToolResultLedger } from '../history/ledger'
import { TruncationService } from '../service/service'
import { containsTruncationMarker } from '../truncation/notice'
import type { ITruncationStorage } from '../types'
import { isRecord } from '../validation/validate'
import type { LoggedMessage } from './types'

/** Results that were shortened. */
export interface Shortened {
  results: number
  /** UTF-8 bytes that were not shown. */
  bytes: number
}

/** A session as it would have been. */
export interface EnteredSession {
  messages: LoggedMessage[]
  /** The whole text of each message that was shortened. */
  originals: Map<LoggedMessage, string>
  ledger: ToolResultLedger
  truncated: Shortened
  folded: Shortened
}

/** As long as a path of the default store is; nothing is kept, because the log has the whole. */
const PATH = '/home/user/.local/state/spillway/outputs/bash_1767225600000_0123456789abcdef.txt'

const NOWHERE: ITruncationStorage = {
  save: async () => PATH,
  read: async () => '',
  cleanup: async () => 0,
  getStorageDir: () => '/home/user/.local/state/spillway/outputs',
}

/** Changes the results of a session in their order. */
export async function entered(
  messages: readonly LoggedMessage[],
  turn: () => Promise<void> | undefined,
): Promise<EnteredSession> {
  const service = new TruncationService({ storage: NOWHERE, availableTools: ['read_output', 'search_output'] })
  const folding = new FoldSession()
  const calls = new Map<string, unknown>()
  const session: EnteredSession = {
    messages: [],
    originals: new Map(),
    ledger: new ToolResultLedger(),
    truncated: { results: 0, bytes: 0 },
    folded: { results: 0, bytes: 0 },
  }
  for (const message of messages) {
    await turn()
    for (const { id, args } of message.toolCalls ?? []) calls.set(id, args)
    // The lines that were in view are not there any more.
    if (message.boundary === 'compaction') folding.clear()
    const changed = message.role === 'tool' ? await changedResult(message) : message
    if (changed !== message) session.originals.set(changed, message.content)
    session.messages.push(changed)
  }
  await service.close()
  return session

  async function changedResult(message: LoggedMessage): Promise<LoggedMessage> {
    const { content, toolCallId, toolName = 'tool', isError = false } = message
    const made = await service.output(content, { toolName, ...(toolCallId ? { toolCallId } : {}) })
    // A preview in a log stays as it is, as it would in the session.
    const isCut = made.truncated && !containsTruncationMarker(content)
    const shown = isCut ? made.content : content
    count(session.truncated, content, shown)
    const args = calls.get(toolCallId ?? '')
    const keep = isCut ? [PATH] : []
    const fold = folding.fold(shown, { toolName, toolCallId, keep, ...(isRecord(args) && { args }) })
    count(session.folded, shown, fold.content)
    if (toolCallId && fold.record !== undefined) {
      session.ledger.record({ toolCallId, toolName, isError, folds: fold.record })
    }
    return fold.content === content ? message : { ...message, content: fold.content }
  }
}

function count(shortened: Shortened, before: string, after: string): void {
  if (before === after) return
  shortened.results++
  shortened.bytes += Buffer.byteLength(before) - Buffer.byteLength(after)
}
