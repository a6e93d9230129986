/**
 * Chat messages as OpenAI's chat completions have them, and as most agents keep them:
 * `{ role: 'tool', content, tool_call_id, name?, timestamp?, messageStatus?, outputPath?, metadata? }` for a result, and
 * `{ role: 'assistant', content, tool_calls: [{ id, function: { name, arguments } }] }` for calls.
 */

import { asText } from '../../util/guards'
import type { ResultText } from '../message-cache'
import type { MessageRole } from '../message-view'
import { BLANK_URL, isBlankImage } from './blank-image'
import {
  contentWithText,
  fileOrMedia,
  type PartRules,
  readContent,
  reasoningOf,
  textParts,
  withoutMedia,
} from './content-blocks'
import type { CallReading, MediaEdits, MessageReading, ResultReading } from './format-rules'
import type { Edit } from './immutable-edit'
import { sealedIn, type ThinkingBeside, thinkingBeside, withoutThinkingBeside } from './reasoning-and-files'
import {
  elements,
  get,
  isConverseBlock,
  isJsonObject,
  isObject,
  isUiMessage,
  nonEmpty,
  outputPathOf,
  timeOf,
  watched,
} from './safe-read'

/** Name of a summary message, where messages have names. */
export const SUMMARY_NAME = 'session_summary'

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Part types that other formats have and chat completions do not. */
const FOREIGN =
  /^(tool-[a-z-]+|tool_(use|result)|toolCall|function_?[cC]all|thinking|redacted_thinking|reasoning|(in|out)put_text|input_image|input_file|server_tool_use)$/

const parts: PartRules = textParts(['text'], (part, type) => {
  const refusal = type === 'refusal' ? watched(part, 'refusal') : undefined
  return typeof refusal === 'string' ? [['refusal'], refusal] : fileOrMedia(part)
})

/** A message, as far as it is read. V8 answers a name in the code faster than one in a variable. */
interface ChatMessage {
  role?: unknown
  content?: unknown
  timestamp?: unknown
  messageStatus?: unknown
  tool_call_id?: unknown
  tool_calls?: unknown
  name?: unknown
}

export function chatRole(message: object): MessageRole | undefined {
  const { role } = message as ChatMessage
  return typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
}

/** True if no other format has this content. */
export function hasChatContent(message: object): boolean {
  const { content } = message as ChatMessage
  if (typeof content === 'string' || content === null || content === undefined) return !isUiMessage(message)
  return Array.isArray(content) && !elements(content).some(isForeign)
}

function isForeign(part: unknown): boolean {
  return FOREIGN.test(asText(get(part, 'type'))) || isConverseBlock(part)
}

/** True if this answers or makes calls as chat completions do. */
export function speaksOfCalls(message: object): boolean {
  const { role } = message as ChatMessage
  return (role === 'tool' && nonEmpty((message as ChatMessage).tool_call_id) !== undefined) || isCall(message)
}

/** True if this makes calls as chat completions do. */
export function isCall(message: object): boolean {
  const { tool_calls: calls } = message as ChatMessage
  return Array.isArray(calls) && elements(calls).some(hasFunction)
}

function hasFunction(call: unknown): boolean {
  return isObject(get(call, 'function'))
}

export function readChatMessage(message: object): MessageReading {
  const role = chatRole(message) ?? 'other'
  const time = timeOf((message as ChatMessage).timestamp)
  const content = watched(message, 'content')
  const { text, media } = readContent(content, parts)
  const noMedia = withoutMedia(CONTENT, content, parts)
  if (role === 'assistant') {
    const drawn = drawnIn(message)
    const reading = {
      role,
      text,
      media: media + drawn.length,
      blanks: elements(get(message, 'images')).filter(isBlankImage).length,
      time,
      calls: readCalls(message),
      withoutMedia: drawn.length === 0 ? noMedia : (note: string) => [...(noMedia?.(note) ?? []), ...drawn],
    }
    const thinking = readThinking(message as ChatMessage)
    if (thinking === undefined) return reading
    const { bound } = thinking
    const noThinking = bound && { bound, withoutThinking: () => withoutThinkingBeside(message) }
    return { ...reading, ...reasoningOf(thinking), ...noThinking }
  }
  if (role !== 'tool') return { role, text, media, time, calls: readCalls(message), withoutMedia: noMedia }
  const result = new ChatResult(
    nonEmpty((message as ChatMessage).tool_call_id),
    nonEmpty((message as ChatMessage).name),
    text,
    media,
    isFailed((message as ChatMessage).messageStatus),
    outputPathOf(message),
    noMedia,
    content,
  )
  return { role, time, results: [result] }
}

const CONTENT = ['content']

/** The changes that put a blank image in place of each that the model has drawn: OpenRouter has them beside the content. */
function drawnIn(message: object): Edit[] {
  return elements(watched(message, 'images')).flatMap((part, at): Edit[] => {
    const address = watched(get(part, 'image_url'), 'url')
    if (typeof address !== 'string' || address === BLANK_URL) return []
    return [[['images', at], { type: 'image_url', image_url: { url: BLANK_URL } }]]
  })
}

function isFailed(status: unknown): boolean | undefined {
  return typeof status === 'string' ? status === 'error' : undefined
}

/** A result. Its changes are a method: they are rarely needed, and a function for each would outweigh the rest. */
class ChatResult implements ResultReading {
  constructor(
    readonly callId: string | undefined,
    readonly toolName: string | undefined,
    readonly text: ResultText,
    readonly media: number,
    readonly isError: boolean | undefined,
    readonly outputPath: string | undefined,
    readonly withoutMedia: MediaEdits | undefined,
    private readonly content: unknown,
  ) {}

  edits(text: string, alone?: boolean): Edit[] {
    return [[CONTENT, contentWithText(this.content, text, parts, alone)]]
  }

  get blankName(): readonly PropertyKey[] | undefined {
    return this.toolName !== undefined && this.toolName.trim() === '' ? ['name'] : undefined
  }
}

/** A summary. `name` is a field that providers take, and says what the message is. */
export function chatSummary(text: string): object {
  return { role: 'system', name: SUMMARY_NAME, content: text }
}

/** The result of a call that has none. Only agents say more than the text. */
export function missingChatResult(call: CallReading, text: string): Record<string, unknown> {
  // Before there were lists of calls, functions had names and nothing else.
  if (call.id === undefined) return { role: 'function', name: call.name ?? '', content: text }
  return { role: 'tool', tool_call_id: call.id, content: text }
}

/** The reasoning beside the content, and what Gemini signs its calls with. */
function readThinking(message: ChatMessage): ThinkingBeside | undefined {
  const beside = thinkingBeside(message)
  const { tool_calls: calls } = message
  const signed = Array.isArray(calls) ? calls.reduce((sum, call) => sum + sealedIn(get(call, 'extra_content')), 0) : 0
  if (signed === 0) return beside
  return { ...beside, thinking: beside?.thinking ?? [], sealed: (beside?.sealed ?? 0) + signed }
}

function readCalls(message: object): readonly CallReading[] {
  const list = elements(watched(message, 'tool_calls'))
  const old = watched(message, 'function_call')
  if (list.length === 0 && old === undefined) return NO_CALLS
  const calls = new Array<CallReading>(list.length)
  let count = 0
  for (let at = 0; at < list.length; at++) {
    const call = list[at]
    if (isJsonObject(call)) calls[count++] = readCall(call, at)
  }
  if (isJsonObject(old)) calls[count++] = new ChatCall(undefined, old, undefined, undefined)
  calls.length = count
  return calls
}

const NO_CALLS: readonly CallReading[] = []

/** A call with its function inside, or flat. */
function readCall(call: object, at: number): CallReading {
  const { id, function: inner } = call as { id?: unknown; function?: unknown }
  if (isJsonObject(inner)) return new ChatCall(nonEmpty(id), inner, at, 'function')
  const custom = get(call, 'custom')
  if (isJsonObject(custom)) {
    // The input of a custom tool is a text by the tool's own rules.
    return { id: nonEmpty(id), name: nonEmpty(get(custom, 'name')), args: watched(custom, 'input') ?? '' }
  }
  return new ChatCall(nonEmpty(id), call, at, undefined)
}

/** A call whose arguments can be changed. */
class ChatCall implements CallReading {
  readonly name: string | undefined
  readonly args: unknown

  /** `holder` has the name and the arguments; `at` is the place among the calls of the message, if it has a list of them. */
  constructor(
    readonly id: string | undefined,
    holder: object,
    private readonly at: number | undefined,
    private readonly inside: 'function' | undefined,
  ) {
    this.args = watched(holder, 'arguments') ?? ''
    this.name = nonEmpty((holder as { name?: unknown }).name)
  }

  edits(args: Readonly<Record<string, unknown>>): Edit[] {
    const path: PropertyKey[] = this.at === undefined ? ['function_call'] : ['tool_calls', this.at]
    if (this.inside !== undefined) path.push(this.inside)
    return [[[...path, 'arguments'], isJsonObject(this.args) ? args : JSON.stringify(args)]]
  }
}
