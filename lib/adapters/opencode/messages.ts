/** OpenCode's messages as a chat that the pruner reads, and what it left out put back into them. */

import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'

interface ToolState {
  status?: unknown
  input?: unknown
  output?: unknown
  attachments?: unknown
}

interface ChatMessage {
  role: string
  content: string | object[]
  tool_calls?: object[]
  tool_call_id?: string
}

/** The sent form of each message: the same as long as the message is, so that the pruner knows it again. */
const known = new WeakMap<object, { made: ChatMessage[]; values: unknown[] }>()

/** The history in the form of OpenAI's chats: a call, then its result, part by part. */
export function chatOf(messages: readonly unknown[]): ChatMessage[] {
  return messages.flatMap((message) => (isRecord(message) ? chatOfOne(message) : []))
}

function chatOfOne(message: Record<string, unknown>): ChatMessage[] {
  const tools = toolsOf(message)
  const files = filesIn(message.parts)
  const attached = tools.map(({ state }) => filesIn(state.attachments))
  const values = [...files, ...tools.map(({ state }) => state.output), ...attached.flat()]
  const before = known.get(message)
  if (before?.values.length === values.length && before.values.every((value, at) => value === values[at])) {
    return before.made
  }
  const role = Object(message.info).role === 'user' ? 'user' : 'assistant'
  const texts = (isArray(message.parts) ? message.parts : []).map((part) => Object(part).text)
  const content = texts.filter((text) => typeof text === 'string').join('\n')
  const made: ChatMessage[] = [
    {
      role,
      content: withFiles(content, files),
      ...(tools.length > 0 && {
        tool_calls: tools.map(({ callID, tool, state }) => ({
          id: callID,
          type: 'function',
          function: { name: tool, arguments: JSON.stringify(state.input ?? {}) },
        })),
      }),
    },
    ...tools.map(({ callID, state }, at) => ({
      role: 'tool',
      tool_call_id: callID,
      content: withFiles(state.output as string, attached[at] as FilePart[]),
    })),
  ]
  known.set(message, { made, values })
  return made
}

/** An image or a file that is in the message itself. */
interface FilePart {
  mime: string
  url: string
  filename?: unknown
}

function filesIn(parts: unknown): FilePart[] {
  return (isArray(parts) ? parts : []).filter(isFile)
}

function isFile(part: unknown): part is FilePart {
  const { type, mime, url } = Object(part) as Record<string, unknown>
  // Files of text are texts for the model.
  const isMedium = typeof mime === 'string' && /^((image|audio|video)\/|application\/pdf$)/.test(mime)
  return type === 'file' && isMedium && typeof url === 'string' && url.startsWith('data:')
}

/** A text with its files, as parts. */
function withFiles(text: string, files: readonly FilePart[]): string | object[] {
  if (files.length === 0) return text
  return [{ type: 'text', text }, ...files.map(partOf)]
}

function partOf({ mime, url, filename }: FilePart): object {
  if (mime.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  return { type: 'file', file: { file_data: url, ...(typeof filename === 'string' && { filename }) } }
}

/** The calls that have ended well: of others OpenCode sends an error, or nothing. */
function toolsOf({ parts }: Record<string, unknown>): { callID: string; tool: string; state: ToolState }[] {
  return (isArray(parts) ? parts : []).filter((part): part is never => {
    const { type, callID, state } = Object(part) as Record<string, unknown>
    if (type !== 'tool' || typeof callID !== 'string' || !isRecord(state)) return false
    // Results that OpenCode has cleared by itself are sent as cleared.
    const { compacted } = Object(state.time) as { compacted?: unknown }
    return state.status === 'completed' && typeof state.output === 'string' && compacted === undefined
  })
}

/** The messages of which something was left out, in copies, with their places. */
export function withOutputs(messages: readonly unknown[], chat: readonly unknown[]): [number, object][] {
  const shown = new Map<string, unknown>()
  for (const message of chat) {
    const { role, tool_call_id, content } = Object(message) as Partial<ChatMessage>
    if (role === 'tool' && typeof tool_call_id === 'string') shown.set(tool_call_id, content)
  }
  const own = messages.map((message) => (isRecord(message) ? chatOfOne(message) : []))
  const isWhole = own.reduce((sum, made) => sum + made.length, 0) === chat.length
  let place = 0
  return messages.flatMap((message, at): [number, object][] => {
    // The results of a message follow what it says.
    const said = isWhole ? (Object(chat[place]) as Partial<ChatMessage>).content : undefined
    const made = own[at] as ChatMessage[]
    place += made.length
    if (!isRecord(message)) return []
    const changed = new Map<object, object>([
      ...notedFiles(message, made[0]?.content, said),
      ...toolsOf(message).flatMap((part) => changedTool(part, shown.get(part.callID))),
    ])
    if (changed.size === 0) return []
    return [[at, { ...message, parts: (message.parts as object[]).map((part) => changed.get(part) ?? part) }]]
  })
}

/** The files of a message that became notes, as parts of text. */
function notedFiles({ parts }: Record<string, unknown>, before: unknown, said: unknown): [object, object][] {
  const files = filesIn(parts)
  if (said === undefined || said === before || !isArray(said) || said.length !== files.length + 1) return []
  return files.flatMap((file, at): [object, object][] => {
    const note = textIn(said[at + 1])
    if (note === undefined) return []
    const { id, sessionID, messageID } = file as Partial<Record<string, unknown>> & FilePart
    return [[file, { id, sessionID, messageID, type: 'text', text: note, synthetic: true }]]
  })
}

/** A call whose output or files are others, with them. */
function changedTool(part: { callID: string; state: ToolState }, content: unknown): [object, object][] {
  const { state } = part
  const files = filesIn(state.attachments)
  const text = isArray(content) ? textIn(content[0]) : content
  if (typeof text !== 'string') return []
  // A result that was pruned has no files any more.
  const isPruned = files.length > 0 && (!isArray(content) || content.length !== files.length + 1)
  const notes = files.map((_, at) => (isPruned ? '' : textIn((content as readonly unknown[])[at + 1])))
  const output = [text, ...notes.filter((note) => note)].join('\n')
  const gone = new Set<unknown>(files.filter((_, at) => notes[at] !== undefined))
  if (output === state.output && gone.size === 0) return []
  const attachments =
    gone.size > 0 && isArray(state.attachments) ? state.attachments.filter((file) => !gone.has(file)) : undefined
  return [[part, { ...part, state: { ...state, output, ...(attachments && { attachments }) } }]]
}

function textIn(part: unknown): string | undefined {
  const { type, text } = Object(part) as { type?: unknown; text?: unknown }
  return type === 'text' && typeof text === 'string' ? text : undefined
}
