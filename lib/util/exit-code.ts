/** Exit codes as shells report them. */

import { constants } from 'node:os'

/** Returns the exit code of a process that ended: 128 and the number of the signal if a signal ended it. */
export function exitCodeOf(code: number | null | undefined, signal: string | null): number {
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0)
}
