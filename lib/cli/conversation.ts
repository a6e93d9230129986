/** A file of messages, in whichever form, and the same form again for other messages. */

import { UsageError } from './command'
import { inputOf } from './input'

/** What a file holds. */
export interface Conversation {
  messages: unknown[]
  /** The text of such a file with these messages. */
  write(messages: readonly unknown[]): string
}

/** Under which key requests of providers keep their messages. */
const KEYS = ['messages', 'input', 'contents'] as const

/** @throws UsageError that says where the text is no JSON, or that there are no messages in it */
export async function readConversation(path: string): Promise<Conversation> {
  // Some editors begin a file with a byte order mark.
  const text = (await inputOf(path, 'a conversation')).replace(/^\ufeff/, '')
  const whole = parsed(text)
  if (Array.isArray(whole)) return { messages: whole, write: (messages) => `${JSON.stringify(messages, null, 2)}\n` }
  if (typeof whole === 'object' && whole !== null) {
    const holder = whole as Record<string, unknown>
    const key = KEYS.find((each) => Array.isArray(holder[each]))
    if (key !== undefined) {
      const write = (messages: readonly unknown[]) => `${JSON.stringify({ ...holder, [key]: messages }, null, 2)}\n`
      return { messages: holder[key] as unknown[], write }
    }
  }
  const lines = linesOf(path, text)
  // What nobody changed keeps its very text: it may hold numbers that JavaScript cannot.
  const write = (messages: readonly unknown[]) =>
    messages.map((message) => `${lines.get(message) ?? JSON.stringify(message)}\n`).join('')
  return { messages: [...lines.keys()], write }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The messages, each with its line. */
function linesOf(path: string, text: string): Map<unknown, string> {
  const messages = new Map<unknown, string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const message = parsed(line)
    if (typeof message !== 'object' || message === null) {
      throw new UsageError(`${path}:${index + 1}: is no message; allowed is a JSON array, or one JSON object a line`)
    }
    messages.set(message, line.trimEnd())
  }
  return messages
}
