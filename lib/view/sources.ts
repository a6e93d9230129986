/** Sources of the components of `spillway/ui`: implemented by a storage, a gate, an HTTP server, Electron's preload script or a test. */

import type { GateResponse } from '../approval/gate-options'
import type { PendingRequest } from '../approval/gate-state'
import type { AuditReport } from '../audit/audit-log'
import type { SuggestedRule } from '../permission/types'
import type { OutputAccess, RangeResult, ReadRange, SearchOptions, SearchResult } from '../storage/read'
import type { SavedOutput, StorageUsage, SweepReport } from '../storage/retention'

/** An output in a list, and the command that printed it, if that is known. */
export interface ListedOutput extends SavedOutput {
  /** The program and its arguments, or the text for the shell. */
  command?: string
  cwd?: string
  /** The exit code as a shell reports it. */
  exitCode?: number
  /** Milliseconds since the epoch. */
  startedAt?: number
  durationMs?: number
  /** Lines of the output. */
  lines?: number
  /** The command has not ended: the output grows. */
  isRunning?: boolean
}

/** Progress of a followed output. */
export interface OutputProgress {
  /** Bytes that can be read. */
  totalBytes: number
  /** True if the output no longer grows. */
  isFinished: boolean
  /** Path of the saved output, if it differs from the name of the running one. */
  path?: string
}

/**
 * Outputs that can be read in parts. A `TruncationStorage` is one. Arguments and answers are plain data, so that every member can be a
 * call over HTTP or over Electron's bridge; if a member is absent, the components do not offer its feature.
 */
export interface OutputSource {
  readRange(path: string, range: ReadRange, access?: OutputAccess): Promise<RangeResult>
  search?(path: string, pattern: string, options?: SearchOptions): Promise<SearchResult>
  /** Lists outputs, the newest first. */
  list?(access?: OutputAccess): Promise<ListedOutput[]>
  /** Calls the listener when an output has grown, until the returned function is called. */
  follow?(path: string, listener: (progress: OutputProgress) => void): () => void
  /** Opens an output with the system's program for it. */
  open?(path: string): Promise<void>
  /** Returns a URL from which a browser can download the full output. It may be valid only once. */
  downloadUrl?(path: string): Promise<string>
  usage?(): Promise<StorageUsage>
  /** Removes one output. Returns false if it did not exist. */
  remove?(path: string): Promise<boolean>
  /** Removes outputs that are too old or too many. */
  sweep?(): Promise<SweepReport>
}

/** Questions that wait for an answer. A `PermissionGate` is one. */
export interface ApprovalSource {
  /** Lists the open questions, the oldest first. */
  pending(): PendingRequest[] | Promise<PendingRequest[]>
  /** Answers a question; with `always`, `rule` is the suggested rule to store. */
  respond(id: string, response: GateResponse, rule?: SuggestedRule): Promise<void>
  /** Calls the listener after a question was asked or answered, until the returned function is called. */
  listen?(listener: () => void): () => void
}

/** An audit log, and the result of verifying it. */
export interface ListedAuditLog {
  /** Path of the current file of the log. */
  file: string
  report: AuditReport
}

/** Records of an audit log. */
export interface AuditRecords {
  /** The records, the newest first. A line that is not a record is left out. */
  records: Record<string, unknown>[]
  /** Number of the oldest record here, from 0 at the newest; pass it as `skip` for earlier records. Absent at the beginning of the log. */
  next?: number
}

/** Audit logs that can be read and verified: see `createAuditSource`. */
export interface AuditSource {
  list(): Promise<ListedAuditLog[]>
  /** Reads up to `count` records of the file, the newest first, after leaving out `skip` of them. */
  read(file: string, range?: { skip?: number; count?: number }): Promise<AuditRecords>
}
