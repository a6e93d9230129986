/** The public shapes of running a command. Types only: nothing here runs. */

import type { CapturePeek } from '../capture/types'
import type { TruncationService } from '../service/service'
import type { RangeResult, ReadRange } from '../storage/read'
import type { ToolTruncationConfig, TruncationOptions, TruncationResult } from '../types'

/** Output of a running command so far. */
export interface CommandProgress {
  bytes: number
  lines: number
  /** Milliseconds since the command was started. */
  elapsedMs: number
}

/** A command that is running. */
export interface RunningCommand {
  /** The id of its process, which is also that of its process group. */
  readonly pid: number
  /** Preview as if the output ended here. */
  peek: () => Promise<CapturePeek>
  /** Reads a part of the output so far; see `Capture.readRange`. */
  readRange: (range: ReadRange) => Promise<RangeResult>
  /** Ends the command and everything that it started. The call then resolves with the output so far, and with `aborted`. */
  stop: () => void
}

/** Options of `runCommand`. */
export interface RunCommandOptions {
  /** The folder the command runs in. Default: that of this process. */
  cwd?: string | URL
  /** Variables on top of this process's environment; `undefined` removes one. */
  env?: Record<string, string | undefined>
  /** Standard input of the command. Default: empty. */
  input?: string | Uint8Array
  /**
   * Standard input if `input` is not given: empty, or that of this process.
   * @default 'ignore'
   */
  stdin?: 'ignore' | 'inherit'
  /** Milliseconds after which the command and everything it started is ended. More than 0. Default: none. */
  timeoutMs?: number
  /**
   * Milliseconds between asking the processes to end (`SIGTERM`) and ending them (`SIGKILL`).
   * @default 2000
   */
  killGraceMs?: number
  /**
   * Ends the command; the result has the output so far, and `aborted`, or `timedOut` for a signal of `AbortSignal.timeout`. If it is
   * aborted before the start, the call rejects with its reason.
   */
  signal?: AbortSignal | undefined
  /**
   * Called when the command has started, with an object that can read its output and end it: for commands that do not end by
   * themselves, such as a development server.
   */
  onStart?: (running: RunningCommand) => void
  /** Called a few times a second while the command runs. */
  onProgress?: (progress: CommandProgress) => void
  /**
   * Labels standard output and standard error: a line `[stdout]` or `[stderr]` comes before the text of each. By default both
   * share one pipe, so that they are in the order in which they were written.
   * @default false
   */
  separate?: boolean
  /**
   * Runs `file` as a shell command: `true` for `/bin/sh` (`cmd.exe` on Windows), or the path of another shell. Arguments are
   * appended, quoted.
   * @default false
   */
  shell?: boolean | string
  /** Truncates the output. Default: a service with default settings. */
  service?: TruncationService
  /** @default 'bash' */
  toolName?: string
  sessionId?: string | undefined
  messageId?: string | undefined
  toolCallId?: string | undefined
  /** The question that the output is to answer: see `TruncationContext`. */
  query?: string | undefined
  /** Overrides of truncation for this call. */
  truncation?: TruncationOptions
  /** Defaults for this call, which every setting overrides: see `TruncationContext`. */
  defaults?: ToolTruncationConfig | undefined
}

/** Exit and output of a command. */
export interface CommandResult {
  /** `null` if a signal ended it. */
  exitCode: number | null
  /** The signal that ended it. */
  signal: string | null
  timedOut: boolean
  aborted: boolean
  /** Milliseconds. */
  durationMs: number
  /** Truncated output of both streams. After a timeout or an abort, its `content` ends with `note`. */
  output: TruncationResult
  /** Bytes that the command printed. */
  totalBytes: number
  /** Lines that the command printed. */
  totalLines: number
  /** A sentence that the command was ended, and what to do next. */
  note?: string
}
