/**
 * Model messages of the AI SDK, and the prompt that its middleware sees. Results are parts of a tool message. Results of the
 * provider's own tools are in the assistant's message, and left alone.
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
import type { CallReading, ResultReading } from './format-rules'
import { type Edit, edited, REMOVED } from './immutable-edit'
import { repeatedThinking, sealedIn, thinkingOf } from './reasoning-and-files'
import {
  asBoolean,
  asideOf,
  elements,
  get,
  isJsonObject,
  isObject,
  isUiMessage,
  isUnnamed,
  jsonText,
  nonEmpty,
  outputPathOf,
  watched,
} from './safe-read'

const ROLES = ['system', 'user', 'assistant', 'tool']
const SURE = /^(tool-(call|result|approval-request|approval-response|error)|reasoning-file)$/
const KNOWN = /^(text|image|file|reasoning|custom|source)$/

const parts: PartRules = textParts(['text'], (part, type) => {
  if (type === 'reasoning') return thinkingOf(part)
  if (type === 'file') return fileOrMedia(part)
  return type === 'image' || type === 'reasoning-file' ? 'media' : 'none'
})

/** A file can be a text, too. */
const outputParts: PartRules = textParts(['text'], (part, type) => {
  const data = get(part, 'data')
  const text = type === 'file' && get(data, 'type') === 'text' ? watched(data, 'text') : undefined
  return typeof text === 'string' ? [['data', 'text'], text] : fileOrMedia(part)
})

export const aiSdk = defineFormat({
  name: 'ai-sdk',
  recognises(message) {
    const role = get(message, 'role')
    if (!ROLES.includes(role as string) || 'tool_calls' in message || 'tool_call_id' in message) return 0
    if (isUiMessage(message) || 'lc_namespace' in message) return 0
    const content = get(message, 'content')
    const usual = 'providerOptions' in message ? 2 : 1
    if (typeof content === 'string') return role === 'tool' ? 0 : usual
    if (!Array.isArray(content)) return 0
    const found = elements(content)
    if (found.some(isSure)) return 2
    return role !== 'tool' && found.every((part) => KNOWN.test(asText(get(part, 'type')))) ? usual : 0
  },
  read(message) {
    const role = get(message, 'role') as MessageRole
    const content = watched(message, 'content')
    const found = elements(content)
    const calls: CallReading[] = []
    const results: ResultReading[] = []
    const others: unknown[] = []
    const repeated = role === 'assistant' ? [message, ...found].flatMap((holder) => repeatedThinking(holder) ?? []) : []
    let signed = 0
    for (let at = 0; at < found.length; at++) {
      const part = found[at]
      const type = get(part, 'type')
      // Google signs calls and texts.
      if (role === 'assistant' && type !== 'reasoning') signed += sealedIn(get(part, 'providerOptions'))
      if (role === 'assistant' && type === 'tool-call') {
        if (get(part, 'providerExecuted') === true) others.push(get(part, 'input'))
        else calls.push(readCall(part as object, at))
      }
      if (role === 'assistant' && type === 'tool-result') others.push(readResult(part as object, at).text)
      if (role === 'tool' && type === 'tool-result') results.push(readResult(part as object, at))
    }
    const said = readContent(content, parts, found)
    const sealed = (said.sealed ?? 0) + signed
    const bound = [...(said.bound ?? []), ...repeated.map(({ signature }) => signature)]
    return {
      role,
      ...said,
      ...(sealed > 0 && { sealed }),
      aside: asideOf(others),
      calls,
      results,
      withoutMedia: withoutMedia(['content'], content, parts),
      ...(bound.length > 0 && { bound, withoutThinking: () => thinkingEdits(message, content) }),
    }
  },
  summary: (text) => ({ role: 'system', content: text, providerOptions: { spillway: { summary: true } } }),
  container: { key: 'content', around: (content) => ({ role: 'tool', content }) },
  missing: ({ id, name }, text) => ({
    type: 'tool-result',
    toolCallId: id ?? '',
    toolName: name ?? 'unknown',
    output: { type: 'error-text', value: text },
  }),
})

/** Takes signed reasoning out of the content, and where calls or the message itself repeat it. */
function thinkingEdits(message: object, content: unknown): readonly Edit[] {
  const [[, rest] = [[], content]] = withoutThinking(['content'], content, parts)?.() ?? []
  const repeats = repeatedThinking(message)
  const bare = Array.isArray(rest) ? rest.map(withoutRepeats) : rest
  return [[['content'], bare], ...(repeats === undefined ? [] : [[repeats.path, REMOVED] as Edit])]
}

function withoutRepeats(part: object): object {
  const repeats = repeatedThinking(part)
  return repeats === undefined ? part : edited(part, [[repeats.path, REMOVED]])
}

function isSure(part: unknown): boolean {
  const type = get(part, 'type')
  if (typeof type !== 'string') return false
  if (SURE.test(type)) return type.startsWith('tool-a') || nonEmpty(get(part, 'toolCallId')) !== undefined
  if (type === 'file') return typeof get(part, 'mediaType') === 'string'
  if (type === 'image') return get(part, 'image') !== undefined
  return type === 'reasoning' ? typeof get(part, 'text') === 'string' : isObject(get(part, 'providerOptions'))
}

function readCall(part: object, at: number): CallReading {
  // Version 4 called it `args`.
  const key = 'input' in part || !('args' in part) ? 'input' : 'args'
  return {
    id: nonEmpty(get(part, 'toolCallId')),
    name: nonEmpty(get(part, 'toolName')),
    args: watched(part, key),
    edits: (args) => [[['content', at, key], args]],
  }
}

function readResult(part: object, at: number): ResultReading {
  const common = {
    at,
    callId: nonEmpty(get(part, 'toolCallId')),
    toolName: nonEmpty(get(part, 'toolName')),
    blankName: isUnnamed(get(part, 'toolName')) ? ['content', at, 'toolName'] : undefined,
    outputPath: outputPathOf(part),
  }
  const output = watched(part, 'output')
  const path = ['content', at, 'output']
  if (isJsonObject(output)) return { ...common, ...readOutput(output, path) }
  // Version 4 had the bare value, and beside it what the model reads in its place.
  const result = watched(part, 'result')
  const content = watched(part, 'experimental_content')
  if (Array.isArray(content)) {
    const key = ['content', at, 'experimental_content']
    return {
      ...common,
      ...readContent(content, outputParts),
      isError: asBoolean(get(part, 'isError')),
      edits: (text, alone) => [
        [['content', at, 'result'], text],
        [key, contentWithText(content, text, outputParts, alone)],
      ],
      withoutMedia: withoutMedia(key, content, outputParts),
    }
  }
  return {
    ...common,
    text: jsonText(result),
    isError: asBoolean(get(part, 'isError')),
    edits: (text) => [[['content', at, 'result'], text]],
  }
}

function readOutput(
  output: object,
  path: readonly PropertyKey[],
): Pick<ResultReading, 'text' | 'media' | 'isError' | 'edits' | 'withoutMedia'> {
  const type = get(output, 'type')
  const value = watched(output, 'value')
  const instead = (type: string, value: unknown): Edit[] => [
    [
      path,
      edited(output, [
        [['type'], type],
        [['value'], value],
      ]),
    ],
  ]
  switch (type) {
    case 'text':
    case 'json':
      return { text: jsonText(value), isError: false, edits: (text) => instead('text', text) }
    case 'error-text':
    case 'error-json':
      return { text: jsonText(value), isError: true, edits: (text) => instead('error-text', text) }
    case 'execution-denied': {
      const reason = watched(output, 'reason')
      return {
        text: typeof reason === 'string' ? reason : '',
        isError: true,
        edits: (text) => [[[...path, 'reason'], text === '' ? REMOVED : text]],
      }
    }
    case 'content':
      // A failure of an MCP tool is content that looks like any other.
      return {
        ...readContent(value, outputParts),
        edits: (text, alone) => [[[...path, 'value'], contentWithText(value, text, outputParts, alone)]],
        withoutMedia: withoutMedia([...path, 'value'], value, outputParts),
      }
    default:
      return { text: jsonText(value) }
  }
}
