/** The time that an agent waits for its hook at most. */

import { native } from '../../native/native'

/** The texts that a hook writes. */
export interface Said {
  stdout: string
  stderr: string
}

/**
 * Writes `late` and ends the process after a time, also while a call blocks that reads a file or standard input. From the moment that
 * the returned function was called, the answer is the caller's.
 */
export function startTimeLimit(ms: number, late: Said): () => void {
  native.deadlineStart(ms, late.stdout, late.stderr)
  return native.deadlineMeet
}
