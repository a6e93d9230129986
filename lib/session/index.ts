/** Everything about append-only sessions. */

export { entriesOnBranch } from './branch'
export { type GuardedResultInfo, type GuardedSession, type GuardSessionOptions, guardSession } from './guard-session'
export { JsonlSession, type JsonlSessionOptions } from './jsonl-session'
export { MemorySession } from './memory-session'
export type { SessionDamage } from './repair-jsonl'
export {
  type TruncatedSession,
  type TruncateSessionParams,
  truncateOversizedToolResultsInSession,
} from './truncate-session'
export type { NewSessionEntry, Session, SessionEntry } from './types'
