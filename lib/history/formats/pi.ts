/**
 * Messages of pi and OpenClaw, alone or as an entry of a session has them: `{ type: 'message', id, parentId, message }`.
 * Results are messages of their own, `{ role: 'toolResult', toolCallId, toolName, content, isError, timestamp }`; older
 * ones name their call by `toolUseId`.
 */

import { asText } from '../../util/guards'
import type { MessageRole } from '../message-view'
import {
  contentWithText,
  fileOrMedia,
  type PartRules,
  readContent,
  textParts,
  withoutMedia,
  withoutThinking,
} from './content-blocks'
import { defineFormat } from './define-format'
import type { CallReading, MessageReading } from './format-rules'
import type { Edit } from './immutable-edit'
import { sealedIn, thinkingOf } from './reasoning-and-files'
import {
  asBoolean,
  asideOf,
  elements,
  get,
  isJsonObject,
  isUiMessage,
  isUnnamed,
  nonEmpty,
  outputPathOf,
  timeOf,
  watched,
} from './safe-read'

const CALL = /^(toolCall|toolUse|functionCall)$/

const parts: PartRules = textParts(['text'], (part, type) => {
  if (type === 'thinking') return thinkingOf(part)
  if (!CALL.test(asText(type))) return fileOrMedia(part)
  const sealed = sealedIn(get(part, 'thoughtSignature'), true)
  return sealed > 0 ? { thinking: [], sealed } : 'none'
})

const BROKEN = /^(error|aborted)$/

/** Entries that pi sends as user messages, and the field that holds their text. */
const TEXT_KEYS: Readonly<Record<string, string>> = {
  bashExecution: 'output',
  branchSummary: 'summary',
  compactionSummary: 'summary',
  custom: 'content',
  hookMessage: 'content',
}

export const pi = defineFormat({
  name: 'pi',
  recognises(message) {
    const role = get(message, 'role')
    if (role === 'toolResult') return 2
    if (typeof role !== 'string') return 0
    if (Object.hasOwn(TEXT_KEYS, role)) return typeof get(message, 'timestamp') === 'number' ? 2 : 1
    if (role !== 'user' && role !== 'assistant' && role !== 'system') return 0
    if ('tool_calls' in message || isUiMessage(message) || 'type' in message) return 0
    const content = get(message, 'content')
    if (typeof content === 'string') return 1
    if (!Array.isArray(content)) return 0
    const found = elements(content)
    if (found.some(isSure)) return 2
    return found.every((part) => KNOWN.test(asText(get(part, 'type')))) ? 1 : 0
  },
  read(message): MessageReading {
    const role = get(message, 'role') as string
    const time = timeOf(get(message, 'timestamp'))
    if (role === 'toolResult') return { role: 'tool', time, results: [readResult(message)] }
    const key = Object.hasOwn(TEXT_KEYS, role) ? (TEXT_KEYS[role] as string) : 'content'
    const content = watched(message, key)
    const found = elements(content)
    const { bound, ...said } = readContent(content, parts, found)
    const noMedia = withoutMedia([key], content, parts)
    if (Object.hasOwn(TEXT_KEYS, role)) return { role: 'user', time, ...said, withoutMedia: noMedia }
    const calls = role === 'assistant' ? readCalls(found) : []
    const reading = {
      role: role as MessageRole,
      time,
      ...said,
      withoutMedia: noMedia,
      ...(bound && isBinding(message) && { bound, withoutThinking: withoutThinking(['content'], content, parts) }),
    }
    // pi does not send the calls of an answer that failed or was interrupted, so a result of one would be alone.
    if (BROKEN.test(asText(get(message, 'stopReason')))) {
      return { ...reading, aside: asideOf(calls.map(({ name, args }) => [name, args])) }
    }
    return { ...reading, calls }
  },
  summary: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  missing: ({ id, name }, text, { time }) => ({
    role: 'toolResult',
    toolCallId: id ?? '',
    toolName: name ?? 'unknown',
    content: [{ type: 'text', text }],
    isError: true,
    ...(time !== undefined && { timestamp: time }),
  }),
  seal: (message) => ({ type: 'message', message }),
  envelope(entry) {
    return get(entry, 'type') === 'message' && isJsonObject(get(entry, 'message')) ? 'message' : undefined
  },
})

/** True unless the message names a model whose reasoning is not bound to the messages before it. */
function isBinding(message: object): boolean {
  const api = get(message, 'api')
  return typeof api !== 'string' || /anthropic|bedrock/i.test(api)
}

const KNOWN = /^(text|image|thinking)$/

function isSure(part: unknown): boolean {
  const type = get(part, 'type')
  if (type === 'thinking') return 'thinkingSignature' in (part as object)
  if (type === 'image') return typeof get(part, 'mimeType') === 'string' && typeof get(part, 'data') === 'string'
  return CALL.test(asText(type))
}

function readCalls(found: readonly unknown[]): CallReading[] {
  return found.flatMap((part, at) => {
    if (!isJsonObject(part) || !CALL.test(asText(get(part, 'type')))) return []
    const key = 'arguments' in part || !('input' in part) ? 'arguments' : 'input'
    const args = watched(part, key)
    return {
      id: nonEmpty(get(part, 'id')),
      name: nonEmpty(get(part, 'name')),
      args: args ?? '',
      edits: (other) => [[['content', at, key], typeof args === 'string' ? JSON.stringify(other) : other]],
    }
  })
}

function readResult(message: object) {
  const content = watched(message, 'content')
  return {
    callId: nonEmpty(get(message, 'toolCallId')) ?? nonEmpty(get(message, 'toolUseId')),
    toolName: nonEmpty(get(message, 'toolName')),
    // OpenClaw's histories have results without the member, which stay as they are.
    blankName: 'toolName' in message && isUnnamed(get(message, 'toolName')) ? ['toolName'] : undefined,
    ...readContent(content, parts),
    isError: asBoolean(get(message, 'isError')),
    outputPath: outputPathOf(message, ['details', 'metadata']),
    // Details are what the tool gave back beside its text.
    isToolsPath: outputPathOf(message) === undefined,
    edits: (text: string, alone?: boolean): Edit[] => [[['content'], contentWithText(content, text, parts, alone)]],
    withoutMedia: withoutMedia(['content'], content, parts),
  }
}
