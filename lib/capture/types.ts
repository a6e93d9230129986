/** The options and the progress of a capture. */

/** Options of `TruncationService.capture`. */
export interface CaptureOptions {
  /**
   * Behaviour when the stream is destroyed, or its signal aborted, before its end: `discard` leaves no file and
   * rejects `result`; `keep` ends the output where it is and resolves `result` with it. Later writes are dropped.
   * @default 'discard'
   */
  onAbort?: 'discard' | 'keep'
  /**
   * Maximum bytes held in memory for a custom strategy, which must see the full text. A longer output is truncated by `default`;
   * an `error` event and `strategyBypassed` say so. A whole number of at least 1.
   * @default 8388608
   */
  customStrategyBytes?: number
}

/** Progress of an unfinished output. */
export interface CapturePeek {
  /** Preview as if the output ended here, without a notice. */
  text: string
  /** True if the preview is not the full output so far. */
  truncated: boolean
  /** Bytes so far. */
  totalBytes: number
  /** Lines so far. */
  totalLines: number
}
