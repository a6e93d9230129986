/**
 * Messages of Anthropic's API, alone or as a line of a Claude Code transcript has them:
 * `{ type: 'user' | 'assistant', timestamp, message }`. Results are blocks of a user's message; what the provider's own
 * tools did is in the assistant's, and left alone.
 */

import { asText } from '../../util/guards'
import type { MessageRole } from '../message-view'
import {
  contentWithText,
  type PartKind,
  type PartRules,
  plainParts,
  readContent,
  withoutMedia,
  withoutThinking,
} from './content-blocks'
import { defineFormat } from './define-format'
import type { CallReading, MediaEdits, ResultReading } from './format-rules'
import { type Edit, edited } from './immutable-edit'
import { attachedText, thinkingOf } from './reasoning-and-files'
import {
  asBoolean,
  asideOf,
  elements,
  get,
  isObject,
  isUiMessage,
  nonEmpty,
  outputPathOf,
  timeOf,
  watched,
} from './safe-read'

const SURE = /^(tool_use|tool_result|redacted_thinking|server_tool_use|\w+_tool_result|container_upload|compaction)$/

/** Reasoning. */
const THINKING = /^(thinking|redacted_thinking)$/

/** Blocks that are neither text nor media. */
const SILENT = /^(tool_use|tool_result|server_tool_use|\w+_tool_result|compaction|fallback)$/

/** Calls and results of the provider's own tools. */
const PROVIDERS = /^(server_tool_use|\w+_tool_result)$/

const blocks: PartRules = {
  make: plainParts.make,
  kind(block) {
    const type = asText(get(block, 'type'))
    if (THINKING.test(type)) return thinkingOf(block)
    return SILENT.test(type) ? 'none' : plainParts.kind(block)
  },
}

export const anthropic = defineFormat({
  name: 'anthropic',
  recognises(message) {
    const role = get(message, 'role')
    if (role !== 'user' && role !== 'assistant' && role !== 'system') return 0
    if ('tool_calls' in message || isUiMessage(message)) return 0
    const content = get(message, 'content')
    if (typeof content === 'string') return 1
    if (!Array.isArray(content)) return 0
    const found = elements(content)
    if (found.some(isSure)) return 2
    return found.every((block) => ANTHROPIC.test(asText(get(block, 'type')))) ? 1 : 0
  },
  read(message, outer) {
    const speaker = get(message, 'role')
    const content = watched(message, 'content')
    const found = elements(content)
    const said = readContent(content, blocks, found)
    const { text } = said
    const calls: CallReading[] = []
    const results: ResultReading[] = []
    const others: unknown[] = []
    const fetched: number[] = []
    for (let at = 0; at < found.length; at++) {
      const block = found[at]
      const type = get(block, 'type')
      if (speaker === 'assistant' && PROVIDERS.test(asText(type))) {
        const isFetched = isFetchedFile(block)
        if (isFetched) fetched.push(at)
        others.push(isFetched ? edited(block as object, [[FETCHED, undefined]]) : block)
      }
      if (speaker === 'assistant' && type === 'tool_use') calls.push(readCall(block as object, at))
      if (speaker === 'user' && type === 'tool_result') results.push(readResult(block as object, at, outer))
    }
    const media = said.media + fetched.length
    const role: MessageRole = results.length > 0 && text.length === 0 && media === 0 ? 'tool' : (speaker as MessageRole)
    const time = timeOf(get(message, 'timestamp')) ?? timeOf(get(message, 'ts'))
    const aside = asideOf(others)
    const noMedia = withoutMedia(['content'], content, blocks)
    const noFiles: MediaEdits = (note) => [...(noMedia?.(note) ?? []), ...fetched.map((at) => fetchedText(at, note))]
    const noThinking = said.bound && withoutThinking(['content'], content, blocks)
    return {
      role,
      ...said,
      media,
      aside,
      calls,
      results,
      time,
      withoutMedia: fetched.length === 0 ? noMedia : noFiles,
      withoutThinking: noThinking,
    }
  },
  // Instructions are a parameter of the request, and not in the history.
  summary: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  container: { key: 'content', around: (content) => ({ role: 'user', content }) },
  missing: ({ id }, text) => ({ type: 'tool_result', tool_use_id: id ?? '', content: text, is_error: true }),
  seal: (message) => ({ type: 'user', message }),
  envelope(line) {
    const type = get(line, 'type')
    const isLine = (type === 'user' || type === 'assistant') && get(get(line, 'message'), 'role') === type
    return isLine ? 'message' : undefined
  },
})

const ANTHROPIC = /^(text|image|document|search_result|thinking|file)$/

function isSure(block: unknown): boolean {
  const type = get(block, 'type')
  if (type === 'thinking') return typeof get(block, 'signature') === 'string'
  if (type === 'image' || type === 'document') return isObject(get(block, 'source'))
  return typeof type === 'string' && SURE.test(type)
}

/** Where the result of a fetch has the source of its document. */
const FETCHED = ['content', 'content', 'source']

/** True for a fetch of a file that is no text, such as a PDF. */
function isFetchedFile(block: unknown): boolean {
  if (get(block, 'type') !== 'web_fetch_tool_result') return false
  const source = get(get(get(block, 'content'), 'content'), 'source')
  return get(source, 'type') === 'base64' && attachedText({ source }) === undefined
}

/** The change that puts a note in place of a fetched file: a document of text. */
function fetchedText(at: number, note: string): Edit {
  return [['content', at, ...FETCHED], { type: 'text', media_type: 'text/plain', data: note }]
}

function readCall(block: object, at: number): CallReading {
  return {
    id: nonEmpty(get(block, 'id')),
    name: nonEmpty(get(block, 'name')),
    args: watched(block, 'input'),
    edits: (args) => [[['content', at, 'input'], args]],
  }
}

function readResult(block: object, at: number, outer: object): ResultReading {
  const content = watched(block, 'content')
  return {
    at,
    callId: nonEmpty(get(block, 'tool_use_id')),
    toolName: nonEmpty(get(block, 'name')),
    ...readContent(content, resultBlocks),
    isError: asBoolean(get(block, 'is_error')),
    outputPath: outputPathOf(block) ?? outputPathOf(outer, ['metadata', 'toolUseResult']),
    isToolsPath: (outputPathOf(block) ?? outputPathOf(outer)) === undefined,
    edits: (text, alone) => [[['content', at, 'content'], contentWithText(content, text, resultBlocks, alone)]],
    withoutMedia: withoutMedia(['content', at, 'content'], content, resultBlocks),
  }
}

const resultBlocks: PartRules = {
  make: plainParts.make,
  kind: (block): PartKind => (get(block, 'type') === 'tool_reference' ? 'none' : plainParts.kind(block)),
}
