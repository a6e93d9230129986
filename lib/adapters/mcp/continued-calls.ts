/** Allowed calls whose server requested input before it answered. */

import { createHash } from 'node:crypto'

/** Maximum number of remembered calls. */
const MAX_ALLOWED = 1000

/** Kept by the state that a server sends with its question: the call is made again with it and the answer. */
export class ContinuedCalls {
  private readonly allowed = new Map<string, string>()

  isAllowed(state: unknown, judged: string): boolean {
    return this.allowed.get(digestOf(state)) === judged
  }

  allow(state: unknown, judged: string): void {
    this.allowed.set(digestOf(state), judged)
    if (this.allowed.size <= MAX_ALLOWED) return
    const [oldest] = this.allowed.keys()
    this.allowed.delete(oldest!)
  }
}

/** Returns the stand-in for the state of a question, which may be of any size; for none, the stand-in for nothing. */
function digestOf(state: unknown): string {
  return typeof state === 'string' ? createHash('sha256').update(state).digest('base64') : ''
}
