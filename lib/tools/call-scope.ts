/**
 * Facts that the controls around a call know, for ready-made tools that were given neither a service nor a session of their own: their outputs
 * are then saved where `read_output` beside them reads.
 */

import { TruncationService } from '../service/service'

export interface CallScope {
  service?: TruncationService | undefined
  sessionId?: string | undefined
}

let current: CallScope = {}

/** Starts a call: the scope is that of what runs before the call waits for anything. */
export function inScope<T>(
  { service, sessionId }: { service?: unknown; sessionId?: string | undefined },
  start: () => T,
): T {
  const before = current
  current = { ...(service instanceof TruncationService && { service }), sessionId }
  try {
    return start()
  } finally {
    current = before
  }
}

/** The scope of the call that is starting. */
export function callScope(): CallScope {
  return current
}
