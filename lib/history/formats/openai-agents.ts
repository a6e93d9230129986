/** Items of OpenAI's Agents SDK: those of the Responses, with names in camel case. */

import { defineFormat } from './define-format'
import { hasItemContent, type ItemNames, isCallOrResult, itemRole, missingItem, readItem } from './response-items'
import { get } from './safe-read'

const NAMES: ItemNames = { callId: 'callId', exitCode: 'exitCode', result: 'function_call_result' }

/** Items that are read as something the model said, and never changed. */
const LEFT_ALONE =
  /^(hosted_tool_call|computer_call(_result)?|tool_search(_call|_output)?|program(_call)?(_result)?|compaction|unknown)$/

export const openaiAgents = defineFormat({
  name: 'openai-agents',
  recognises(item) {
    if (itemRole(item) !== undefined) {
      if (!hasItemContent(item)) return 0
      return 'providerData' in item ? 2 : 1
    }
    const type = get(item, 'type')
    if ('call_id' in item) return 0
    if (isCallOrResult(item, NAMES) && 'callId' in item) return 2
    if (type === 'reasoning') return Array.isArray(get(item, 'content')) && !('summary' in item) ? 2 : 0
    return typeof type === 'string' && LEFT_ALONE.test(type)
      ? 'providerData' in item || type === 'hosted_tool_call'
        ? 2
        : 1
      : 0
  },
  read: (item) => readItem(item, NAMES),
  flat: true,
  summary: (text) => ({ type: 'message', role: 'system', content: text }),
  missing: (call, text, _reading, item) => missingItem(call, text, item, NAMES),
})
