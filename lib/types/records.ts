/** The records of finished tool calls and of folds. */

/** Metadata of one tool call. */
export interface ToolResultRecord {
  /** The id of the call, as the model gave it. */
  toolCallId: string
  toolName: string
  /** When the tool finished: milliseconds since the epoch. */
  endedAt: number
  /** True if the tool reported a failure. */
  isError: boolean
  /** The exit code of a command. */
  exitCode?: number
  /** True if the command wrote something to its error stream. */
  hasStderr?: boolean
  /** The size of the whole output: UTF-8 bytes. */
  bytes: number
  /** Lines of the whole output, if they were counted. */
  lines?: number
  /** Path of the saved output. */
  outputPath?: string
  /** The arguments of the call, as plain JSON. Arguments of more than 4,096 UTF-16 units of JSON are not kept. */
  args?: Readonly<Record<string, unknown>>
  /** The parts of its text that a `FoldSession` replaced by pointers to earlier results. */
  folds?: FoldRecord
}

/** A receiver of records, such as a `ToolResultLedger`. */
export interface ToolResultRecorder {
  record(entry: ToolResultRecord): void
  /** Says that a call begins, which may have the id of an earlier one. */
  begin?(toolCallId: string): void
}

/** A range of lines of a result that was replaced. Lines count from 0 and end before `toLine`. */
export interface FoldEdit {
  fromLine: number
  toLine: number
  /** The shown text: a pointer, or lines under the path that they begin with. */
  text: string
  /** The call whose result has the lines. */
  toolCallId?: string
  /** The argument of that call that has the lines, if it is not the result. */
  argument?: string
  /** The first of them there. */
  line?: number
  /** The line numbers here, if they differ from those of the target. */
  numbering?: 'None' | { From: number }
}

/** The replaced parts of a result, from which its text can be restored. */
export interface FoldRecord {
  /** Number of UTF-16 units that were saved. */
  saved: number
  edits: FoldEdit[]
  /** The calls that pointers count between them and their targets: once one of these left, a pointer names another call than it means. */
  counts?: string[]
}
