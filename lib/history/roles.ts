/** Who speaks in a message, in the binary's terms. */

import type { MessageView } from './view'

/** The number of each role; a summary of what was before is one of its own. */
export const ROLES: Readonly<Record<MessageView['role'] | 'summary', number>> = {
  user: 0,
  assistant: 1,
  summary: 2,
  system: 3,
  tool: 4,
  other: 5,
}
