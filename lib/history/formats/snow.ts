/** Chat messages with what agents add to them: `timestamp`, `messageStatus`, and where the full output was saved. */

import { chatRole, chatSummary, hasChatContent, isCall, missingChatResult, readChatMessage } from './chat-messages'
import { defineFormat } from './define-format'
import { get, nonEmpty } from './safe-read'

export const snow = defineFormat({
  name: 'snow',
  recognises(message) {
    if (chatRole(message) === undefined || !hasChatContent(message)) return 0
    // Calls look the same in both; the results tell.
    return isCall(message) || (get(message, 'role') === 'tool' && isSnow(message)) ? 2 : 1
  },
  read: readChatMessage,
  summary: chatSummary,
  missing: (call, text, { time }) => ({
    ...missingChatResult(call, text),
    ...(call.name !== undefined && { name: call.name }),
    ...(time !== undefined && { timestamp: time }),
    messageStatus: 'error',
  }),
})

/** True if a chat message has what OpenAI's does not. */
export function isSnow(message: object): boolean {
  return typeof get(message, 'timestamp') === 'number' || nonEmpty(get(message, 'messageStatus')) !== undefined
}
