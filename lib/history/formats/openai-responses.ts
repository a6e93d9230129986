/** Items of OpenAI's Responses, alone or as a log of Codex has them: `{ type: 'response_item', timestamp, payload }`. */

import { defineFormat } from './define-format'
import { hasItemContent, type ItemNames, isCallOrResult, itemRole, missingItem, readItem } from './response-items'
import { get } from './safe-read'

const NAMES: ItemNames = { callId: 'call_id', exitCode: 'exit_code', result: 'function_call_output' }

/** Items that are read as something the model said, and never changed. */
const LEFT_ALONE =
  /^(web_search|file_search|code_interpreter|image_generation|computer|mcp|tool_search|program)(_call|_list_tools|_approval_request|_approval_response)?(_output)?$|^(item_reference|compaction)$/

export const openaiResponses = defineFormat({
  name: 'openai-responses',
  recognises(item) {
    if (itemRole(item) !== undefined) return hasItemContent(item) ? 1 : 0
    const type = get(item, 'type')
    if ('callId' in item) return 0
    if (isCallOrResult(item, NAMES)) return 2
    if (type === 'reasoning') return Array.isArray(get(item, 'summary')) ? 2 : 0
    return typeof type === 'string' && LEFT_ALONE.test(type) ? 1 : 0
  },
  read: (item) => readItem(item, NAMES),
  flat: true,
  // A text, because without calls this may be a history of the Agents SDK, which takes nothing else of the system.
  summary: (text) => ({ type: 'message', role: 'system', content: text }),
  missing: (call, text, _reading, item) => missingItem(call, text, item, NAMES),
  seal: (payload) => ({ type: 'response_item', payload }),
  envelope: (line) => (get(line, 'type') === 'response_item' ? 'payload' : undefined),
})
