/** The role of a message, in the binary's terms, and whether it is an answer of the model. */

import type { MessageView } from './message-view'

/** The number of each role; a summary of what was before is one of its own. */
export const ROLES: Readonly<Record<MessageView['role'] | 'summary', number>> = {
  user: 0,
  assistant: 1,
  summary: 2,
  system: 3,
  tool: 4,
  other: 5,
}

/**
 * True if this is an answer of the model. The rest of a broken stream or a failed request does not count as an answer, and has seen
 * nothing.
 */
export function isAnswer({ role, text, aside, calls, media }: MessageView): boolean {
  return role === 'assistant' && (text.length > 0 || aside !== undefined || calls.length > 0 || media > 0)
}
