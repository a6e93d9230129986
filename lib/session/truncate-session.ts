/** Truncates the results of a session, in a new branch next to the old one. */

import { readTruncateOptions, type TruncateResultsOptions, truncateBy } from '../overflow/truncate-tool-results'
import { messageOf } from '../util/message-of'
import { debug } from '../util/warn'
import { isRecord, wrong } from '../validation/validate'
import { branchEntries, isMessage } from './branch'
import type { NewSessionEntry, Session, SessionEntry } from './types'

/** Parameters of {@link truncateOversizedToolResultsInSession}. */
export interface TruncateSessionParams extends TruncateResultsOptions {
  session: Session
  /** The model's window in tokens; `NaN` or `Infinity` if unknown. */
  contextWindowTokens: number
}

/** Result of {@link truncateOversizedToolResultsInSession}. */
export interface TruncatedSession {
  truncated: boolean
  /** Number of results that were truncated on the new branch. */
  truncatedCount: number
  /** Why nothing was truncated. */
  reason?: string
  /** The ids of the replayed entries, and of their copies on the new branch. */
  replayed?: Record<string, string>
}

/** The fields of entries that name other entries. */
const REFERENCES = ['firstKeptEntryId', 'targetId', 'fromId', 'entryId', 'targetEntryId', 'lastEntryId'] as const

/**
 * Shortens the tool results that are too long, in a session: a new branch begins at the parent of the first of them, and every
 * entry from there on is appended to it again, truncated if it was too long. The old branch is not changed, so that the full
 * results can be found there. Entries that refer to others, such as summaries and labels, refer to the new ones on the new branch;
 * labels that were set elsewhere are set again.
 *
 * Never throws and never rejects: a failure is returned as the `reason`, and the session keeps its leaf.
 */
export async function truncateOversizedToolResultsInSession(params: TruncateSessionParams): Promise<TruncatedSession> {
  try {
    if (!isRecord(params)) throw wrong('params', params, 'an object')
    const { session, contextWindowTokens, ...options } = params
    const rules = readTruncateOptions(contextWindowTokens, options)
    const [entries, leaf] = [await session.entries(), await session.leaf()]
    const path = branchEntries(entries, leaf)
    if (path.length === 0) return nothing('empty session')
    const holders = path.filter(isMessage)
    const messages = holders.map(({ message }) => message)
    const { messages: shortened, count } = truncateBy(messages, rules)
    const changed = new Map<string, unknown>()
    holders.forEach(({ id, message }, at) => {
      if (shortened[at] !== message) changed.set(id, shortened[at])
    })
    if (changed.size === 0) return nothing('no oversized tool results')
    const replayed = await replay(session, entries, path, changed)
    return { truncated: true, truncatedCount: count, replayed: Object.fromEntries(replayed) }
  } catch (error) {
    debug('a session was not truncated: %s', messageOf(error))
    return nothing(messageOf(error))
  }
}

function nothing(reason: string): TruncatedSession {
  return { truncated: false, truncatedCount: 0, reason }
}

async function replay(
  session: Session,
  entries: readonly SessionEntry[],
  path: readonly SessionEntry[],
  changed: ReadonlyMap<string, unknown>,
): Promise<Map<string, string>> {
  const leaf = await session.leaf()
  const from = path.findIndex(({ id }) => changed.has(id))
  const ids = new Map<string, string>()
  try {
    await session.branch(path[from]?.parentId ?? null)
    for (const entry of path.slice(from)) {
      const { id, parentId: _, ...rest } = entry
      const message = changed.has(id) ? { message: changed.get(id) } : {}
      ids.set(id, await session.append({ ...renamed(rest, ids), ...message } as NewSessionEntry))
    }
    const onPath = new Set(path.map(({ id }) => id))
    for (const { id, parentId: _, ...label } of entries) {
      const isLabel = label.type === 'label' && ids.has(label.targetId as string) && !onPath.has(id)
      if (isLabel) await session.append(renamed(label, ids))
    }
    return ids
  } catch (error) {
    // A history cannot continue from half a branch.
    await session.branch(leaf)
    throw error
  }
}

/** An entry that names the new entries where it named old ones. */
function renamed(entry: NewSessionEntry, ids: ReadonlyMap<string, string>): NewSessionEntry {
  const copy = { ...entry }
  for (const key of REFERENCES) {
    const id = copy[key]
    if (typeof id === 'string' && ids.has(id)) copy[key] = ids.get(id)
  }
  return copy
}
