/** Report of a compaction. */

import type { SpillwayError } from '../errors'
import type { HistoryFormatName } from '../history/message-view'

/** State of earlier compactions of a session. Plain data. */
export interface CompactionState {
  /** Answers of the model that were summarised away. */
  answers: number
  /** After which answer, counted over the whole session, each of the newest compactions was made. */
  recent: number[]
  /** Summaries that failed since the last that did not. */
  failures: number
  /** After which answer the last one failed; ten answers later it is tried again. */
  failedAt?: number
}

/**
 * The reason for the result of a compaction.
 * - `not-needed`: there is room; `disabled`: it was turned off;
 * - `nothing-old`: everything is protected or already removed; `no-progress`: less than a tenth could be removed;
 * - `outputs-suffice`: without old outputs it fits; `no-summarizer`: outputs were removed, and there is no `summarize`;
 * - `summarized`;
 * - `summary-failed`, `summary-timeout`, `summary-empty`, `summary-too-large`, `summary-no-progress`: outputs were removed, because
 *   the summary threw or was not text, did not arrive, was empty, larger than the messages it replaces, or frees too little;
 * - `summary-blocked`: the same, because three summaries in a row have failed, for ten answers of the model;
 * - `thrash`: three compactions in three turns of the model did not help. Only a `ContextManager` reports it, as long as results
 * can still be truncated; otherwise it is an error;
 * - `media`: nothing else could be removed, so images and files were replaced by notes;
 * - `unreadable`: no message is in a known format.
 */
export type CompactionReason =
  | 'not-needed'
  | 'disabled'
  | 'nothing-old'
  | 'no-progress'
  | 'outputs-suffice'
  | 'no-summarizer'
  | 'summarized'
  | 'summary-failed'
  | 'summary-timeout'
  | 'summary-empty'
  | 'summary-too-large'
  | 'summary-no-progress'
  | 'summary-blocked'
  | 'thrash'
  | 'media'
  | 'unreadable'

/** Report of {@link compactHistory}. */
export interface CompactionReport {
  /** `none`: the input messages themselves. `outputs`: old outputs were replaced. `summary`: old messages were. */
  action: 'none' | 'outputs' | 'summary'
  reason: CompactionReason
  /** The sizes that were compared: the history with the other parts of the request, and the limit. */
  trigger: {
    size: number
    /** `Infinity` if there is no limit. */
    limit: number
    unit: 'tokens' | 'chars'
    /** True if the limit was exceeded, or compaction was forced. */
    triggered: boolean
  }
  /** Budget of the history and the other parts of the request, in the unit of the trigger. */
  usable: number
  /** True if they are within the budget now. */
  fits: boolean
  /** The history, estimated, in the unit of the trigger. */
  sizeBefore: number
  sizeAfter: number
  /** UTF-16 units of all texts. */
  charsBefore: number
  charsAfter: number
  messagesBefore: number
  messagesAfter: number
  /** Number of outputs that were replaced in place. */
  replacedOutputs: number
  /** By tool the number of outputs that were removed, replaced or summarised. */
  droppedTools: Record<string, number>
  /** Images and files that were replaced by a note. */
  replacedMedia: number
  /** Kept messages: those before `first`, those in `head`, and those from `from` on; indices into the input. */
  kept: { first: number; head: readonly [number, number]; from: number; cut: 'turn' | 'inside' }
  /** The summary, if there is one now. */
  summary?: {
    /** Index of its message in the new history. */
    index: number
    text: string
    /** UTF-16 units. */
    chars: number
    /** In the unit of the trigger. */
    size: number
    /** True if it updates an earlier one. */
    updated: boolean
    /** True if the summary includes the beginning of a turn whose rest is kept. */
    hasTurn: boolean
    /** True if it was longer than its limit. */
    shortened: boolean
  }
  /** Why there is no summary. */
  error?: SpillwayError
  /** For the next compaction of this session. */
  state: CompactionState
  /** Format of the history; `undefined` if no message is in a known format. */
  format: HistoryFormatName | undefined
}

/** Plan of {@link compactHistory}. */
export interface CompactionPlan {
  /** `summary` if a summary would be requested; its result is not known before. */
  action: 'none' | 'outputs' | 'summary'
  reason: CompactionReason
  trigger: CompactionReport['trigger']
  usable: number
  sizeBefore: number
  /** With `summary`, the size of the kept messages, without the summary. */
  sizeAfter: number
  messages: number
  replacedOutputs: number
  droppedTools: Record<string, number>
  /** Images and files that would be replaced by a note; with `summary` not known. */
  replacedMedia: number
  kept: CompactionReport['kept']
  /** Limit of the summary, in the unit of the trigger. */
  room: number
  format: HistoryFormatName | undefined
}
