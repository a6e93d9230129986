/**
 * Messages of Amazon Bedrock's Converse, as Strands Agents keeps them too. A block of a content has no type: its only key says
 * what it is, as in `{ toolUse: { toolUseId, name, input } }`.
 */

import { asText } from '../../util/guards'
import type { MessageRole } from '../message-view'
import {
  contentWithText,
  type PartKind,
  type PartRules,
  readContent,
  withoutMedia,
  withoutThinking,
} from './content-blocks'
import { defineFormat } from './define-format'
import type { CallReading, ResultReading } from './format-rules'
import { textOfData, thinkingOf } from './reasoning-and-files'
import {
  elements,
  get,
  isConverseBlock,
  isJsonObject,
  jsonText,
  nonEmpty,
  outputPathOf,
  timeOf,
  watched,
} from './safe-read'

/** Blocks that are neither text nor media. */
const SILENT = ['toolUse', 'toolResult', 'cachePoint']

/** Documents that a model reads as text. */
const TEXT_FORMATS = /^(txt|md|csv|html)$/

const blocks: PartRules = {
  make: (text) => ({ text }),
  kind(block): PartKind {
    if (!isJsonObject(block)) return 'none'
    const text = watched(block, 'text')
    if (typeof text === 'string') return [['text'], text]
    if (isJsonObject(block.reasoningContent)) return reasoningIn(block)
    if (SILENT.some((key) => key in block)) return 'none'
    const attached = attachedIn(block)
    return attached === undefined ? 'media' : { attached }
  },
}

export const bedrock = defineFormat({
  name: 'bedrock',
  recognises(message) {
    const role = get(message, 'role')
    if (role !== 'user' && role !== 'assistant') return 0
    const content = get(message, 'content')
    if (!Array.isArray(content) || 'tool_calls' in message) return 0
    const found = elements(content)
    if (found.some(isConverseBlock)) return 2
    return found.length > 0 && found.every(isPlainBlock) ? 1 : 0
  },
  read(message) {
    const speaker = get(message, 'role') as MessageRole
    const content = watched(message, 'content')
    const found = elements(content)
    const said = readContent(content, blocks, found)
    const calls: CallReading[] = []
    const results: ResultReading[] = []
    for (const [at, block] of found.entries()) {
      const call = get(block, 'toolUse')
      const result = get(block, 'toolResult')
      if (speaker === 'assistant' && isJsonObject(call)) calls.push(readCall(call, at))
      if (speaker === 'user' && isJsonObject(result)) results.push(readResult(result, at))
    }
    const role = results.length > 0 && said.text.length === 0 && said.media === 0 ? 'tool' : speaker
    return {
      role,
      ...said,
      calls,
      results,
      time: timeOf(get(message, 'timestamp')),
      withoutMedia: withoutMedia(['content'], content, blocks),
      withoutThinking: said.bound && withoutThinking(['content'], content, blocks),
    }
  },
  // Instructions are a parameter of the request, and not in the history.
  summary: (text) => ({ role: 'user', content: [{ text }] }),
  container: { key: 'content', around: (content) => ({ role: 'user', content }) },
  missing: ({ id }, text) => ({ toolResult: { toolUseId: id ?? '', content: [{ text }], status: 'error' } }),
})

/** True for a block that other APIs might have as well. */
function isPlainBlock(block: unknown): boolean {
  if (!isJsonObject(block) || block.type !== undefined) return false
  return typeof block.text === 'string' || ['image', 'document', 'video'].some((key) => isJsonObject(block[key]))
}

/** The text of a block that has one and is not replaced in its place; `undefined` for media. */
function attachedIn(block: Readonly<Record<string, unknown>>): string | undefined {
  if (block.json !== undefined) return jsonText(watched(block, 'json'))
  const guarded = get(get(block, 'guardContent'), 'text')
  if (isJsonObject(guarded)) return asText(watched(guarded, 'text'))
  const cited = get(block, 'citationsContent') ?? get(block, 'searchResult')
  if (isJsonObject(cited))
    return elements(watched(cited, 'content'))
      .map((part) => asText(watched(part, 'text')))
      .join('\n')
  const document = get(block, 'document')
  const source = get(document, 'source')
  if (!isJsonObject(source) || !TEXT_FORMATS.test(asText(get(document, 'format')))) return undefined
  const text = watched(source, 'text')
  return typeof text === 'string' ? text : textOfData(watched(source, 'bytes'), 'text/plain')
}

function reasoningIn(block: object): PartKind {
  const reasoning = thinkingOf(watched(block, 'reasoningContent'))
  const held = get(block, 'reasoningContent')
  const signature = nonEmpty(get(get(held, 'reasoningText'), 'signature')) ?? nonEmpty(get(held, 'redactedContent'))
  return { ...reasoning, bound: signature }
}

function readCall(call: object, at: number): CallReading {
  return {
    id: nonEmpty(get(call, 'toolUseId')),
    name: nonEmpty(get(call, 'name')),
    args: watched(call, 'input'),
    edits: (args) => [[['content', at, 'toolUse', 'input'], args]],
  }
}

function readResult(result: object, at: number): ResultReading {
  const content = watched(result, 'content')
  const status = get(result, 'status')
  const path = ['content', at, 'toolResult', 'content']
  return {
    at,
    callId: nonEmpty(get(result, 'toolUseId')),
    ...readContent(content, blocks),
    isError: typeof status === 'string' ? status === 'error' : undefined,
    outputPath: outputPathOf(result),
    isToolsPath: true,
    edits: (text, alone) => [[path, contentWithText(Array.isArray(content) ? content : [], text, blocks, alone)]],
    withoutMedia: withoutMedia(path, content, blocks),
  }
}
