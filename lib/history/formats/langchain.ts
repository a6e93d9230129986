/** Messages of LangChain: instances of its classes, and the plain objects with a `type` or a `role` that it takes as well. */

import { asText } from '../../util/guards'
import type { MessageRole } from '../message-view'
import {
  contentWithText,
  fileOrMedia,
  type PartRules,
  readContent,
  reasoningOf,
  textParts,
  withoutMedia,
  withoutThinking,
} from './content-blocks'
import { defineFormat } from './define-format'
import type { CallReading, MessageReading, ResultReading } from './format-rules'
import type { Edit } from './immutable-edit'
import { attachedText, sealedIn, thinkingBeside, thinkingOf, withoutThinkingBeside } from './reasoning-and-files'
import { elements, get, isBlank, isJsonObject, isUiMessage, nonEmpty, outputPathOf, watched } from './safe-read'

const ROLES: Readonly<Record<string, MessageRole>> = {
  human: 'user',
  user: 'user',
  ai: 'assistant',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'tool',
  function: 'tool',
}

/** The content repeats the calls, as the provider wrote them. */
const SILENT = /^(tool_use|tool_call|tool_call_chunk|input_json_delta|function_call|non_standard)$/

/** Blocks of providers that are images or files. */
const FILES = /^(image|image_url|input_image|document|file|input_file|audio|input_audio|video|media)$/

const THINKING = /^(thinking|redacted_thinking|reasoning|reasoning_content)$/

/** Where LangChain keeps the signatures of Gemini's calls. */
const GEMINI_SIGNATURES = '__gemini_function_call_thought_signatures__'

const parts: PartRules = textParts(['text'], (part, type) => {
  if (THINKING.test(asText(type))) return thinkingOf(part)
  // A block of the provider's that LangChain has no own one for.
  const value = type === 'non_standard' ? get(part, 'value') : undefined
  const kind = asText(get(value, 'type'))
  if (THINKING.test(kind)) return thinkingOf(value)
  if (FILES.test(kind)) {
    const attached = attachedText(value)
    return attached === undefined ? 'media' : { attached }
  }
  return SILENT.test(asText(type)) ? 'none' : fileOrMedia(part)
})

export const langchain = defineFormat({
  name: 'langchain',
  recognises(message) {
    if (roleOf(message) === undefined) return 0
    const content = get(message, 'content')
    if (typeof content !== 'string' && !Array.isArray(content)) return 0
    if ('lc_namespace' in message || 'lc_serializable' in message) return 2
    const type = get(message, 'type')
    if (typeof type === 'string') return type === 'human' || type === 'ai' || 'tool_call_id' in message ? 2 : 0
    return typeof content === 'string' && !('tool_calls' in message) && !isUiMessage(message) ? 1 : 0
  },
  read(message) {
    const role = roleOf(message) as MessageRole
    const content = watched(message, 'content')
    const said = readContent(content, parts)
    const noMedia = withoutMedia(['content'], content, parts)
    if (role === 'tool') return readTool(message, content, said)
    const calls = readCalls(message, content)
    const kwargs = role === 'assistant' ? get(message, 'additional_kwargs') : undefined
    const beside = isJsonObject(kwargs) ? thinkingBeside(kwargs) : undefined
    const sealed = (said.sealed ?? 0) + (beside?.sealed ?? 0) + sealedIn(get(kwargs, GEMINI_SIGNATURES), true)
    const { bound: signed, ...rest } = said
    const bound = isBinding(message) ? [...(signed ?? []), ...(beside?.bound ?? [])] : []
    return {
      role,
      ...rest,
      // Where the content has the reasoning as well, it is the same.
      ...reasoningOf({ thinking: [said.thinking ?? beside?.thinking ?? []].flat(), sealed }),
      calls,
      withoutMedia: noMedia,
      ...(bound.length > 0 && {
        bound,
        withoutThinking: () => [
          ...(withoutThinking(['content'], content, parts)?.() ?? []),
          ...(beside?.bound === undefined ? [] : withoutThinkingBeside(kwargs, ['additional_kwargs'])),
        ],
      }),
    }
  },
  summary: (text) => ({ role: 'system', content: text, additional_kwargs: { spillway: { summary: true } } }),
  // Not an instance, because the class is not here; LangChain makes one of it.
  missing: ({ id, name }, text) => ({
    type: 'tool',
    content: text,
    tool_call_id: id ?? '',
    ...(name !== undefined && { name }),
    status: 'error',
  }),
})

function roleOf(message: object): MessageRole | undefined {
  for (const name of [get(message, 'type'), typeOf(message), get(message, 'role')]) {
    if (typeof name === 'string' && Object.hasOwn(ROLES, name)) return ROLES[name]
  }
  return undefined
}

/** Older versions have the type in a method only. */
function typeOf(message: object): unknown {
  const method = 'lc_namespace' in message ? get(message, '_getType') : undefined
  return typeof method === 'function' ? method.call(message) : undefined
}

/** True unless the message names a model of Google's: Gemini signs its reasoning, too, and does not bind it to what is in front. */
function isBinding(message: object): boolean {
  const said = get(message, 'response_metadata')
  const model = asText(get(said, 'model_name') ?? get(said, 'model'))
  return !/^google/i.test(asText(get(said, 'model_provider'))) || /claude/i.test(model)
}

function readTool(message: object, content: unknown, said: ReturnType<typeof readContent>): MessageReading {
  const status = get(message, 'status')
  const result = {
    callId: nonEmpty(get(message, 'tool_call_id')),
    toolName: nonEmpty(get(message, 'name')),
    blankName: isBlank(get(message, 'name')) ? ['name'] : undefined,
    ...said,
    isError: typeof status === 'string' ? status === 'error' : undefined,
    ...pathOf(message),
    edits: (text: string, alone?: boolean): Edit[] => [[['content'], contentWithText(content, text, parts, alone)]],
    withoutMedia: withoutMedia(['content'], content, parts),
  }
  return { role: 'tool', results: [result] }
}

/** An artifact is what the tool gave back beside its text. */
function pathOf(message: object): Pick<ResultReading, 'outputPath' | 'isToolsPath'> {
  const outputPath = outputPathOf(message, ['artifact', 'metadata', 'additional_kwargs'])
  const isHosts = outputPath === outputPathOf(message, ['metadata', 'additional_kwargs'])
  return { outputPath, isToolsPath: !isHosts }
}

function readCalls(message: object, content: unknown): CallReading[] {
  return elements(watched(message, 'tool_calls')).flatMap((call, at) => {
    if (!isJsonObject(call)) return []
    const id = nonEmpty(get(call, 'id'))
    return {
      id,
      name: nonEmpty(get(call, 'name')),
      args: watched(call, 'args'),
      edits: (args) => [[['tool_calls', at, 'args'], args], ...editsInContent(content, id, args)],
    }
  })
}

/** Calls that the provider's converter reads, where the content repeats them. */
function editsInContent(content: unknown, id: string | undefined, args: unknown): Edit[] {
  if (!Array.isArray(content) || id === undefined) return []
  return elements(content).flatMap((part, at): Edit[] => {
    if (get(part, 'id') !== id) return []
    const type = get(part, 'type')
    if (type === 'tool_use') return [[['content', at, 'input'], args]]
    return type === 'tool_call' ? [[['content', at, 'args'], args]] : []
  })
}
