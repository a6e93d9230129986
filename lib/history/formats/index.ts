/** The formats that histories are kept in: which one a history has, and what its messages say. */

import { isArray } from '../../util/guards'
import { wrong } from '../../validation/validate'
import type { HistoryFormatName, MessageView, ViewFormat } from '../message-view'
import { aiSdk } from './ai-sdk'
import { anthropic } from './anthropic'
import { bedrock } from './bedrock'
import { OTHER } from './define-format'
import { Votes } from './detect-format'
import { gemini } from './gemini'
import { langchain } from './langchain'
import { mcp } from './mcp'
import { openaiAgents } from './openai-agents'
import { openaiChat } from './openai-chat'
import { openaiResponses } from './openai-responses'
import { pi } from './pi'
import { isObject, isUnchanged, noting, watched } from './safe-read'
import { snow } from './snow'

/** All formats. Where several recognise a message equally well, the first counts. */
export const FORMATS: readonly ViewFormat[] = [
  bedrock,
  openaiChat,
  openaiResponses,
  openaiAgents,
  anthropic,
  aiSdk,
  langchain,
  gemini,
  mcp,
  pi,
  snow,
]

const named = new Map(FORMATS.map((format) => [format.name, format]))

/**
 * Returns the format of a history: the one that most of its first distinctive messages have, or, if there are none, as in a
 * conversation without tools, the first format that can read all messages. The format does not change as the history grows beyond
 * its first few tool calls.
 *
 * @returns `undefined` if no message is in a known format
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array
 */
export function detectFormat(messages: readonly unknown[]): HistoryFormatName | undefined {
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const votes = new Votes(FORMATS)
  votes.add(messages)
  return votes.format
}

/** An element of a history; `undefined` if it is not an object, or cannot be read. */
export function elementOf(messages: readonly unknown[], at: number): object | undefined {
  try {
    const message = messages[at]
    return isObject(message) ? message : undefined
  } catch {
    return undefined
  }
}

export function formatNamed(name: HistoryFormatName): ViewFormat {
  return named.get(name) as ViewFormat
}

/** View of a message, and the values that it was made from. */
export interface Remembered {
  readonly asked: ViewFormat
  /** The format that it was read in; `undefined` if no format can read it. */
  readonly format: ViewFormat | undefined
  readonly view: MessageView
  readonly watched: readonly unknown[]
}

const remembered = new WeakMap<object, Remembered>()

/**
 * Returns the view of a message in this format. A message that this format cannot read is read by the one format that
 * is sure of it, and if there is none, it is `other`.
 *
 * Cached per message object, and read again when a value that it was made of is replaced: its content, a part of
 * it, a text in a part, the arguments of a call. The inside of an object that is taken as a whole, such as the
 * arguments of a call or an output in JSON, is not compared: an agent that changes one in place has to put
 * another object there.
 */
export function viewOf(format: HistoryFormatName | ViewFormat, message: unknown): MessageView {
  return isObject(message) ? recall(format, message).view : OTHER
}

/** The format that {@link viewOf} reads this message in; `undefined` if none does. Changes are written back through it. */
export function formatOf(format: HistoryFormatName | ViewFormat, message: unknown): ViewFormat | undefined {
  return isObject(message) ? recall(format, message).format : undefined
}

/**
 * Returns a summary as a message of a history, in the shape of the nearest readable message: at this place or after it,
 * else before it. `undefined` if the format has no message for it.
 */
export function summaryAt(
  format: HistoryFormatName,
  messages: readonly unknown[],
  at: number,
  text: string,
): object | undefined {
  const places = [...messages.keys()]
  for (const place of [...places.slice(at), ...places.slice(0, at).reverse()]) {
    const like = elementOf(messages, place)
    const its = formatOf(format, like)
    if (its !== undefined) return its.summaryOf(text, like)
  }
  return undefined
}

/** Returns the format of a history, and the views of its messages; an unreadable one is `other`. */
export interface ReadViews {
  readonly format: HistoryFormatName | undefined
  readonly views: readonly MessageView[]
}

/** Reads a history. */
export function viewsIn(messages: readonly unknown[]): ReadViews {
  const format = detectFormat(messages)
  const views: MessageView[] = []
  for (let index = 0; index < messages.length; index++) {
    views.push(format === undefined ? OTHER : viewOf(format, elementOf(messages, index)))
  }
  return { format, views }
}

/** Returns the views of a history; an unreadable message is `other`. */
export function viewsOf(messages: readonly unknown[]): readonly MessageView[] {
  return viewsIn(messages).views
}

/** Returns the view as {@link viewOf} does, with its cached facts. */
function recall(name: HistoryFormatName | ViewFormat, message: object): Remembered {
  const asked = typeof name === 'string' ? formatNamed(name) : name
  const known = knownAs(asked, message)
  if (known !== undefined) return known
  const read: HistoryReading = { view: OTHER, format: undefined }
  const values: unknown[] = []
  readAnew(asked, message, values, read)
  const made = { asked, ...read, watched: values }
  remember(message, made)
  return made
}

function knownAs(asked: ViewFormat, message: object): Remembered | undefined {
  const known = remembered.get(message)
  return known !== undefined && known.asked === asked && isUnchanged(known.watched) ? known : undefined
}

/** Shares views with later readers of the same messages. */
export function remember(message: object, read: Remembered): void {
  remembered.set(message, read)
}

/** Returns the view of a message, for callers that store it. */
export interface HistoryReading {
  view: MessageView
  /** The format that it was read in; `undefined` if no format can read it. */
  format: ViewFormat | undefined
}

/**
 * The same for who holds on to the answers, which go into `read`, and the values that they were made of to the end of `values`:
 * to remember a message costs as much as reading it, and nothing new is remembered here.
 */
export function readMessage(asked: ViewFormat, message: object, values: unknown[], read: HistoryReading): void {
  const known = knownAs(asked, message)
  if (known === undefined) {
    readAnew(asked, message, values, read)
    return
  }
  for (const value of known.watched) values.push(value)
  read.view = known.view
  read.format = known.format
}

function readAnew(asked: ViewFormat, message: object, values: unknown[], read: HistoryReading): void {
  const format = readerOf(asked, message)
  read.view = noting(values, viewIn, format, message)
  read.format = read.view === OTHER ? undefined : format
}

function viewIn(format: ViewFormat | undefined, message: object): MessageView {
  return format === undefined ? unreadable(message) : format.view(message, true)
}

/** An object that is not a message yet is read again when one of the fields of messages changes. */
function unreadable(message: object): MessageView {
  try {
    for (const key of ['role', 'type', 'content', 'parts', 'message', 'payload']) watched(message, key)
  } catch {
    // It stays what it is.
  }
  return OTHER
}

function readerOf(asked: ViewFormat, message: object): ViewFormat | undefined {
  if (asked.recognises(message) > 0) return asked
  return FORMATS.find((format) => format.recognises(message) === 2)
}
