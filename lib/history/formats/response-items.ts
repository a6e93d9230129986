/**
 * Items, as OpenAI's Responses have them and as its Agents SDK keeps them: a call, its output, and a message are elements
 * of the history of their own. The two differ in how they write the names of fields.
 */

import { asText } from '../../util/guards'
import type { MessageRole } from '../message-view'
import { BLANK, BLANK_URL, isBlankImage } from './blank-image'
import {
  contentWithText,
  fileOrMedia,
  NO_THINKING,
  type PartRules,
  readContent,
  reasoningOf,
  textParts,
  withoutMedia,
} from './content-blocks'
import type { CallReading, MediaEdits, MessageReading, ResultReading } from './format-rules'
import { type Edit, edited, REMOVED } from './immutable-edit'
import { repeatedThinking, thinkingOf } from './reasoning-and-files'
import {
  asideOf,
  elements,
  get,
  isJsonObject,
  isUiMessage,
  isUnnamed,
  jsonText,
  nonEmpty,
  outputPathOf,
  timeOf,
  watched,
} from './safe-read'

/** How one of the two writes things. */
export interface ItemNames {
  callId: 'call_id' | 'callId'
  exitCode: 'exit_code' | 'exitCode'
  /** The type of the result of a function. */
  result: 'function_call_output' | 'function_call_result'
}

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
}

const parts: PartRules = textParts(['input_text', 'output_text', 'text'], (part, type) => {
  const refusal = type === 'refusal' ? watched(part, 'refusal') : undefined
  return typeof refusal === 'string' ? [['refusal'], refusal] : fileOrMedia(part)
})

/** Where the calls of each type have their arguments, and their name if the item does not say it. */
const CALLS: Readonly<Record<string, readonly [key: string, name?: string]>> = {
  function_call: ['arguments'],
  custom_tool_call: ['input'],
  local_shell_call: ['action', 'local_shell'],
  shell_call: ['action', 'shell'],
  apply_patch_call: ['operation', 'apply_patch'],
}

/** Returns the kind of an item by its type name; `undefined` for all others. */
export function itemRole(item: object): MessageRole | undefined {
  const role = get(item, 'role')
  const type = get(item, 'type')
  if (type !== undefined && type !== 'message') return undefined
  return typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
}

/** Parts that messages among items have, a picture without a word too. */
const PART = /^((in|out)put_(text|image|file|audio)|refusal)$/

/** True if a message's content can be read as that of an item. */
export function hasItemContent(item: object): boolean {
  const content = get(item, 'content')
  if (typeof content === 'string') return !('tool_calls' in item || isUiMessage(item))
  return Array.isArray(content) && elements(content).some((part) => PART.test(asText(get(part, 'type'))))
}

export function isCallOrResult(item: object, names: ItemNames): boolean {
  const type = get(item, 'type')
  if (typeof type !== 'string') return false
  const isKnown = Object.hasOwn(CALLS, type) || type === names.result || RESULTS.test(type)
  return isKnown && nonEmpty(callIdOf(item, names)) !== undefined
}

/** Items that are mainly a picture. */
const PICTURES = /^(computer_call_(output|result)|image_generation_call)$/

/** Items that the provider stores, or that only it can read apart from summaries. */
const SEALED = /^(reasoning|compaction|item_reference)$/

const RESULTS = /^(custom_tool|local_shell|shell|apply_patch)_call_output$/

export function readItem(item: object, names: ItemNames): MessageReading {
  const reading = readAny(item, names)
  const repeats = reading.role === 'assistant' ? repeatedThinking(item) : undefined
  if (repeats === undefined || reading.bound !== undefined) return reading
  return { ...reading, bound: [repeats.signature], withoutThinking: () => [[repeats.path, REMOVED]] }
}

function readAny(item: object, names: ItemNames): MessageReading {
  const time = timeOf(get(item, 'timestamp'))
  const role = itemRole(item)
  if (role !== undefined) {
    const content = watched(item, 'content')
    return { role, time, ...readContent(content, parts), withoutMedia: withoutMedia(['content'], content, parts) }
  }
  const type = asText(get(item, 'type'))
  if (Object.hasOwn(CALLS, type)) return { role: 'assistant', time, calls: [readCall(item, type, names)] }
  if (type === names.result || RESULTS.test(type))
    return { role: 'tool', time, results: [readResult(item, type, names)] }
  // Provider tools, reasoning, compaction: part of the model's answer, never changed.
  const said = type === 'computer_call_output' || type === 'computer_call_result' ? 'tool' : 'assistant'
  if (PICTURES.test(type)) return { role: said, time, ...pictureOf(item, type) }
  if (type === 'code_interpreter_call') return { role: said, time, ...drawingsOf(item) }
  if (!SEALED.test(type)) return { role: said, time, aside: asideOf([item]) }
  const thinking = thinkingOf(item)
  const signed = thinking.bound !== undefined && {
    bound: [thinking.bound],
    withoutThinking: () => messageInstead(item),
  }
  return { role: said, time, ...reasoningOf(thinking), ...signed }
}

/** The picture of an item, and the change that puts a blank one in its place. */
function pictureOf(item: object, type: string): Pick<MessageReading, 'media' | 'blanks' | 'withoutMedia'> {
  const key = type === 'image_generation_call' ? 'result' : 'output'
  const picture = watched(item, key)
  if (typeof picture === 'string') {
    if (picture === BLANK) return { blanks: 1 }
    return { media: 1, withoutMedia: () => [[[key], BLANK]] }
  }
  if (!isJsonObject(picture)) return { media: 1 }
  const place = ['image_url', 'data'].find((name) => typeof watched(picture, name) === 'string')
  if (place === undefined) return { media: 1 }
  if (picture[place] === BLANK_URL) return { blanks: 1 }
  return { media: 1, withoutMedia: () => [[[key], { ...picture, [place]: BLANK_URL }]] }
}

/** The pictures that code has drawn, where the item has their data; everything else in it is text. */
function drawingsOf(item: object): Pick<MessageReading, 'aside' | 'media' | 'blanks' | 'withoutMedia'> {
  const outputs = elements(watched(item, 'outputs'))
  const places = [...outputs.keys()].filter((at) => {
    const address = watched(outputs[at], 'url')
    return typeof address === 'string' && address.startsWith('data:') && address !== BLANK_URL
  })
  const blanks = outputs.filter(isBlankImage).length
  if (places.length === 0) return { aside: asideOf([item]), blanks }
  const edits = places.map((at): Edit => [['outputs', at], { type: 'image', url: BLANK_URL }])
  return { aside: asideOf([edited(item, edits)]), media: places.length, blanks, withoutMedia: () => edits }
}

/** Makes a message of an item of reasoning: its place in the history stays, and the Agents SDK takes no reasoning without content. */
function messageInstead(item: object): readonly Edit[] {
  const message = {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: NO_THINKING }],
  }
  const others = Object.keys(item).filter((key) => !Object.hasOwn(message, key))
  return [...Object.entries(message), ...others.map((key) => [key, REMOVED])].map(
    ([key, value]): Edit => [[key as string], value],
  )
}

/** The result of a call that has none, in the form that its kind of call wants. */
export function missingItem(call: CallReading, text: string, item: object, names: ItemNames): object {
  const id = { [names.callId]: call.id }
  switch (get(item, 'type')) {
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', ...id, output: text }
    case 'local_shell_call':
      return { type: 'local_shell_call_output', ...id, output: text }
    case 'shell_call':
      return {
        type: 'shell_call_output',
        ...id,
        output: [{ stdout: '', stderr: text, outcome: { type: 'exit', [names.exitCode]: 1 } }],
      }
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', ...id, status: 'failed', output: text }
    default: {
      // The Agents SDK wants the name and a status.
      const more = names.result === 'function_call_result' ? { name: call.name ?? '', status: 'incomplete' } : {}
      return { type: names.result, ...id, ...more, output: text }
    }
  }
}

function callIdOf(item: object, names: ItemNames): string | undefined {
  return nonEmpty(get(item, names.callId)) ?? nonEmpty(get(item, 'id'))
}

function readCall(item: object, type: string, names: ItemNames): CallReading {
  const [key, name] = CALLS[type] as readonly [key: string, name?: string]
  const args = watched(item, key)
  const reading: CallReading = {
    id: callIdOf(item, names),
    name: nonEmpty(get(item, 'name')) ?? name,
    args: args ?? '',
  }
  if (type !== 'custom_tool_call') {
    reading.edits = (other) => [[[key], isJsonObject(args) ? other : JSON.stringify(other)]]
  }
  return reading
}

function readResult(item: object, type: string, names: ItemNames): ResultReading {
  const output = watched(item, 'output')
  const common = {
    callId: callIdOf(item, names),
    toolName: nonEmpty(get(item, 'name')),
    blankName: type === 'function_call_result' && isUnnamed(get(item, 'name')) ? ['name'] : undefined,
    outputPath: outputPathOf(item, ['metadata', 'providerData']),
  }
  if (type === 'shell_call_output' && Array.isArray(output)) return { ...common, ...readShell(output, names) }
  const status = type === 'apply_patch_call_output' ? get(item, 'status') : undefined
  const isError = typeof status === 'string' ? status === 'failed' : undefined
  if (isJsonObject(output)) return { ...common, isError, ...readOne(output) }
  const edits = (text: string, alone?: boolean): Edit[] => [[['output'], contentWithText(output, text, parts, alone)]]
  const noMedia = withoutMedia(['output'], output, parts)
  return { ...common, isError, ...readContent(output, parts), edits, withoutMedia: noMedia }
}

/** An output of one part. */
function readOne(output: object): Pick<ResultReading, 'text' | 'media' | 'edits' | 'withoutMedia'> {
  const kind = parts.kind(output)
  // A text replaces it, because an output has one of the two.
  if (kind === 'media') {
    const noMedia: MediaEdits = (note) => [[['output'], note]]
    return { text: '', media: 1, edits: (other) => [[['output'], other]], withoutMedia: noMedia }
  }
  if (kind === 'none' || 'thinking' in kind) return { text: jsonText(output) }
  if ('attached' in kind) return { text: kind.attached, edits: (other) => [[['output'], other]] }
  const [path, text] = kind
  return { text, edits: (other) => [[['output', ...path], other]] }
}

/** Returns the outputs of commands, joined. */
function readShell(output: unknown[], names: ItemNames): Pick<ResultReading, 'text' | 'isError' | 'edits'> {
  const texts: string[] = []
  const places: (readonly PropertyKey[])[] = []
  let isError = false
  for (const [at, command] of elements(output).entries()) {
    for (const key of ['stdout', 'stderr']) {
      const text = watched(command, key)
      if (typeof text !== 'string') continue
      places.push(['output', at, key])
      if (text !== '') texts.push(text)
    }
    const outcome = get(command, 'outcome')
    isError ||= get(outcome, 'type') === 'timeout' || Number(get(outcome, names.exitCode) ?? 0) !== 0
  }
  const text = texts.length === 1 ? (texts[0] as string) : texts
  if (places.length === 0) return { text, isError }
  return { text, isError, edits: (other) => places.map((path, at): Edit => [path, at === 0 ? other : '']) }
}
