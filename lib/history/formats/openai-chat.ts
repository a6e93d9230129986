/** Messages of OpenAI's chat completions. */

import {
  chatRole,
  chatSummary,
  hasChatContent,
  isCall,
  missingChatResult,
  readChatMessage,
  speaksOfCalls,
} from './chat-messages'
import { defineFormat } from './define-format'
import { isSnow } from './snow'

export const openaiChat = defineFormat({
  name: 'openai-chat',
  recognises(message) {
    if (chatRole(message) === undefined || !hasChatContent(message)) return 0
    return speaksOfCalls(message) && (isCall(message) || !isSnow(message)) ? 2 : 1
  },
  read: readChatMessage,
  summary: chatSummary,
  missing: missingChatResult,
})
