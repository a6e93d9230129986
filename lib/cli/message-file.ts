/** Reads a file of messages in any supported form, and writes other messages in the same form. */

import { detectFormat } from 'spillway/history'
import { parsedJson } from '../util/json'
import { parseLossless, stringifyLossless, withExactNumbers } from '../util/lossless-json'
import { UsageError } from './command'
import { inputOf } from './input'

/** Content of a file. */
export interface Conversation {
  messages: unknown[]
  /** The messages as `stringifyLossless` writes them: no digit of an unchanged number is lost. */
  exactly(messages: readonly unknown[]): unknown
  /** The text of such a file with these messages. */
  write(messages: readonly unknown[]): string
}

/** Under which key requests of providers keep their messages. */
const KEYS = ['messages', 'input', 'contents'] as const

/** @throws UsageError that says where the text is not JSON, or that there are no messages in it */
export async function readConversation(path: string): Promise<Conversation> {
  // Some editors begin a file with a byte order mark.
  const text = (await inputOf(path, 'a conversation')).replace(/^\ufeff/, '')
  const whole = parsedJson(text)
  if (Array.isArray(whole)) {
    const exactly = (messages: readonly unknown[]) => withExactNumbers(messages, whole, parseLossless(text))
    return { messages: whole, exactly, write: (messages) => `${stringifyLossless(exactly(messages), 2)}\n` }
  }
  if (typeof whole === 'object' && whole !== null) {
    const holder = whole as Record<string, unknown>
    const key = KEYS.find((each) => Array.isArray(holder[each]))
    if (key !== undefined) {
      const around = (messages: readonly unknown[]) =>
        withExactNumbers({ ...holder, [key]: messages }, holder, parseLossless(text)) as Record<string, unknown>
      return {
        messages: holder[key] as unknown[],
        exactly: (messages) => around(messages)[key],
        write: (messages) => `${stringifyLossless(around(messages), 2)}\n`,
      }
    }
  }
  const lines = linesOf(path, text)
  const before = [...lines.keys()]
  if (before.some(isEntry)) {
    const inside = before.filter(isEntry).map(({ message }) => message)
    // Messages of pi are read and written as entries.
    if (detectFormat(inside) !== 'pi') return sessionOf(lines, inside)
  }
  const exact = (message: unknown, from: unknown) => {
    const line = lines.get(from)
    return line === undefined ? message : withExactNumbers(message, from, parseLossless(line))
  }
  const sources = (messages: readonly unknown[]) => (messages.length === before.length ? before : messages)
  const exactly = (messages: readonly unknown[]) => {
    const from = sources(messages)
    return messages.map((message, index) => exact(message, from[index]))
  }
  // Unchanged messages keep their exact text.
  const write = (messages: readonly unknown[]) => {
    const from = sources(messages)
    return messages
      .map((message, index) => `${lines.get(message) ?? stringifyLossless(exact(message, from[index]))}\n`)
      .join('')
  }
  return { messages: before, exactly, write }
}

/** An entry of a session file that holds a message. */
interface Entry {
  message: object
}

function isEntry(record: unknown): record is Entry {
  const { type, id, parentId, message } = record as Record<string, unknown>
  const isPlaced = typeof id === 'string' && (parentId === null || typeof parentId === 'string')
  return type === 'message' && isPlaced && typeof message === 'object' && message !== null
}

/** The messages of a session file, which are written back into their entries. */
function sessionOf(lines: ReadonlyMap<unknown, string>, before: readonly object[]): Conversation {
  const places = new Map(before.map((message, index) => [message, index]))
  const exactly = (messages: readonly unknown[]) => {
    const texts = [...lines].filter(([record]) => isEntry(record)).map(([, line]) => line)
    return messages.map((message, index) =>
      withExactNumbers(message, before[index], (parseLossless(texts[index] as string) as Entry).message),
    )
  }
  const write = (messages: readonly unknown[]) =>
    [...lines]
      .map(([record, line]) => {
        if (!isEntry(record)) return `${line}\n`
        const message = messages[places.get(record.message) as number]
        if (message === record.message) return `${line}\n`
        return `${stringifyLossless(withExactNumbers({ ...record, message }, record, parseLossless(line)))}\n`
      })
      .join('')
  return { messages: [...before], exactly, write }
}

/** The messages, each with its line. */
function linesOf(path: string, text: string): Map<unknown, string> {
  const messages = new Map<unknown, string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const message = parsedJson(line)
    if (typeof message !== 'object' || message === null) {
      throw new UsageError(`${path}:${index + 1}: expected a JSON array, or one JSON object per line`)
    }
    messages.set(message, line.trimEnd())
  }
  return messages
}
