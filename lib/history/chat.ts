/**
 * Histories of chat messages, as OpenAI's chat completions have them and most agents keep them:
 * `{ role: 'tool', content, tool_call_id, name?, timestamp?, messageStatus? }` for a result, and
 * `{ role: 'assistant', tool_calls: [{ id, function: { name } }] }` before it for the call.
 *
 * Elements can be anything at all. An unreadable one is not a tool result; and no property is read twice in one pass,
 * because a getter may cost something, or answer differently each time.
 */

import type { ChatResult, HistoryFormat } from './chat-shape'
import { carriesMore, MAX_PARTS, nonEmpty, outputPathOf } from './formats/safe-read'
import { beginKnowledge, type Knowledge, knowledgeOf, type ResultText, UNKNOWN } from './message-cache'

/** A message, as far as it is read. */
interface ChatMessage {
  role?: unknown
  content?: unknown
  timestamp?: unknown
  tool_call_id?: unknown
  name?: unknown
  messageStatus?: unknown
}

/** Chat messages. */
export const chat: HistoryFormat = {
  read(messages) {
    // As long as they get: lists that grow are copied again and again.
    const length = messages.length >>> 0
    const results = new Array<ChatResult>(length)
    const calls = new Calls(messages, length)
    let count = 0
    for (let index = 0; index < messages.length; index++) {
      try {
        const message = messages[index]
        if (typeof message !== 'object' || message === null) continue
        const role = (message as ChatMessage).role
        if (role === 'tool') {
          results[count] = readResult(message, index, calls)
          count++
        } else if (role === 'assistant') calls.add(index)
      } catch {
        // A getter or a proxy threw: whatever this is, it is left alone.
      }
    }
    results.length = count
    return results
  },

  setText({ copy }, text) {
    const message: ChatMessage = copy
    let value: unknown = text
    try {
      if (Array.isArray(message.content)) value = markedWith(message.content, text)
      message.content = value
    } catch {
      // A class may have it on its prototype, without a setter.
      Object.defineProperty(copy, 'content', { value, configurable: true, enumerable: true, writable: true })
    }
  },

  placed({ copy, known }, text) {
    beginKnowledge(copy, known.plain, text)
  },

  toolCallId({ copy }) {
    return attempt(() => nonEmpty((copy as ChatMessage).tool_call_id))
  },

  saved({ copy }) {
    return { outputPath: attempt(() => outputPathOf(copy)) }
  },
}

function readResult(message: object, index: number, calls: Calls): ChatResult {
  const known = knowledgeOf(message) ?? beginKnowledge(message, isPlain(message))
  const copy: ChatMessage = known.plain ? { ...message } : copyOf(message)
  update(known, copy, calls)
  const { timestamp, messageStatus } = copy
  const time = typeof timestamp === 'number' ? timestamp : Number.NaN
  return { index, time, failed: messageStatus === 'error', copy, known, learnt: undefined }
}

// `Object.is` compares references first. Anything else would fetch the texts, which lie far apart, only to see that they
// are the same as ever.
function update(known: Knowledge, copy: ChatMessage, calls: Calls): void {
  const { content, name, tool_call_id: id } = copy
  if (known.mixed || !Object.is(known.text, content)) {
    const { text, mixed } = typeof content === 'string' ? { text: content, mixed: false } : readParts(content)
    known.see(text, mixed)
  }
  if (!Object.is(known.callId, id) || !Object.is(known.name, name)) {
    const callId = nonEmpty(id)
    const toolName = nonEmpty(name) ?? (callId === undefined ? undefined : calls.nameOf(callId))
    if (toolName !== known.toolName) known.kind = UNKNOWN
    known.toolName = toolName
    known.name = name
    // A call that was not found may be in the history next time.
    known.callId = toolName === undefined && callId !== undefined ? UNKNOWN : id
  }
}

function isPlain(message: object): boolean {
  if (Object.getPrototypeOf(message) !== Object.prototype) return false
  return Object.getOwnPropertyDescriptor(message, 'role')?.get === undefined
}

/** A shallow copy of a message whose role has been asked for already. */
function copyOf(message: object): ChatMessage {
  // A copy of an instance is an instance. If its class needs more than properties, reading it fails, and it stays.
  const copy = Object.create(Object.getPrototypeOf(message))
  for (const key of Reflect.ownKeys(message)) {
    if (!Object.prototype.propertyIsEnumerable.call(message, key)) continue
    const value = key === 'role' ? 'tool' : (message as Record<PropertyKey, unknown>)[key]
    Object.defineProperty(copy, key, { value, configurable: true, enumerable: true, writable: true })
  }
  return copy
}

/** The texts of a content of parts, and whether there is anything else in it: for that a text cannot stand. */
function readParts(content: unknown): { text: ResultText; mixed: boolean } {
  if (!Array.isArray(content) || content.length > MAX_PARTS) return { text: '', mixed: true }
  const texts: string[] = []
  let mixed = false
  for (let at = 0; at < content.length; at++) {
    const part: unknown = content[at]
    const { type, text } = typeof part === 'object' && part !== null ? (part as { type?: unknown; text?: unknown }) : {}
    if (type === 'text' && typeof text === 'string') texts.push(text)
    else mixed = true
  }
  return { text: texts.length === 1 ? (texts[0] as string) : texts, mixed }
}

/** The text, in the last part that carries more, if there is one. */
function markedWith(content: readonly object[], text: string): unknown {
  const marked = content.findLast(carriesMore)
  return marked === undefined ? text : [{ ...marked, text }]
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** One call of a message, and those before it. */
class Call {
  constructor(
    readonly id: string,
    readonly name: string,
    readonly before: Call | undefined,
  ) {}
}

/** Maximum number of calls searched linearly; more of them get an index. */
const FEW = 8

/**
 * The assistant's calls up to the message at hand. A result nearly always belongs to the newest of them, so the others
 * are only looked into when it does not.
 */
class Calls {
  private readonly names = new Map<string, string>()
  /** One entry per message of the assistant: its place in the history, or its calls once they were read; spare entries follow. */
  private readonly lists: (number | Call | undefined)[]
  private count = 0

  constructor(
    private readonly messages: readonly unknown[],
    room: number,
  ) {
    this.lists = new Array(room)
  }

  /** The next message of the assistant. */
  add(index: number): void {
    this.lists[this.count] = index
    this.count++
  }

  nameOf(id: string): string | undefined {
    if (this.count > 0) {
      let call = this.read(this.count - 1)
      for (let looked = 0; call !== undefined && looked < FEW; looked++, call = call.before) {
        if (call.id === id) return call.name
      }
      this.index()
    }
    return this.names.get(id)
  }

  // From the newest to the oldest: of an id that comes twice the later call counts, also over those indexed before.
  private index(): void {
    const seen = new Set<string>()
    for (let at = this.count - 1; at >= 0; at--) {
      for (let call = this.read(at); call !== undefined; call = call.before) {
        if (!seen.has(call.id)) this.names.set(call.id, call.name)
        seen.add(call.id)
      }
    }
    this.count = 0
  }

  private read(at: number): Call | undefined {
    const list = this.lists[at]
    if (typeof list !== 'number') return list
    const calls = readCalls(this.messages[list])
    this.lists[at] = calls
    return calls
  }
}

function readCalls(message: unknown): Call | undefined {
  let newest: Call | undefined
  try {
    const list = (message as { tool_calls?: unknown }).tool_calls
    if (!Array.isArray(list) || list.length > MAX_PARTS) return undefined
    for (let at = 0; at < list.length; at++) newest = readCall(list[at], newest)
  } catch {
    // The results of calls that cannot be read have no names.
  }
  return newest
}

function readCall(value: unknown, before: Call | undefined): Call | undefined {
  const call = value as { id?: unknown; name?: unknown; function?: { name?: unknown } | null } | null | undefined
  const id = nonEmpty(call?.id)
  const name = nonEmpty(call?.function?.name) ?? nonEmpty(call?.name)
  return id !== undefined && name !== undefined ? new Call(id, name, before) : before
}
