/** The definition of a format: what it says of a message, and how it reads one. */

import type { ResultText } from '../message-cache'
import type { HistoryFormatName, MessageRole, ViewFormat } from '../message-view'
import type { Edit } from './immutable-edit'
import { get, isObject, timeOf, unnoted } from './safe-read'

/** A call, and how its arguments are written. */
export interface CallReading {
  id: string | undefined
  name: string | undefined
  /** A string as the model wrote it, or a value. */
  args: unknown
  /** The changes for other arguments; without it they cannot be written. */
  edits?(args: Readonly<Record<string, unknown>>): readonly Edit[]
}

/** A result, and how its text is written. */
export interface ResultReading {
  callId: string | undefined
  toolName?: string | undefined
  text: ResultText
  isError?: boolean | undefined
  media?: number
  outputPath?: string | undefined
  /** True if the flag is the tool's own data, not the host's. */
  isToolsPath?: boolean | undefined
  /** Where results are parts: the place of the part. */
  at?: number
  /** The changes for another text, and with `alone` for nothing else; without it the result must stay as it is. */
  edits?(text: string, alone?: boolean): readonly Edit[]
  /** The place of a name that a result must have, if it is blank. */
  blankName?: readonly PropertyKey[] | undefined
  /** The changes that take out anything that is not text. */
  withoutMedia?: MediaEdits | undefined
}

/** Puts a note in place of everything that is not text. */
export type MediaEdits = (note: string) => readonly Edit[]

/** A message, read. */
export interface MessageReading {
  /** The changes that take out anything that is not text, outside of results; without it nothing can be taken out. */
  withoutMedia?: MediaEdits | undefined
  role: MessageRole
  text?: ResultText
  /** Calls and results of the provider's own tools, as {@link asideOf} writes them. */
  aside?: string | undefined
  /** The reasoning of the model. */
  thinking?: ResultText | undefined
  /** Characters of it that only the provider can read. */
  sealed?: number | undefined
  /** Signatures of the blocks of it that are bound to the messages in front. */
  bound?: readonly string[] | undefined
  /** The changes that take those blocks out. */
  withoutThinking?: (() => readonly Edit[]) | undefined
  calls?: readonly CallReading[]
  results?: readonly ResultReading[]
  media?: number
  /** Blank images that took the places of others. */
  blanks?: number | undefined
  time?: number | undefined
}

/** Definition of a format. Its functions may throw: such a message counts as unreadable. */
export interface FormatRules {
  readonly name: HistoryFormatName
  recognises(message: object): 0 | 1 | 2
  /** `outer` is the line of a log that holds the message, or the message itself. */
  read(message: object, outer: object): MessageReading
  /** The key under which a line of a log has the message; `undefined` for other lines. */
  envelope?(line: object): string | undefined
  /** A line of a log that holds this message; it has nothing that only the log's owner knows, such as an id. */
  seal?(message: object): object
  readonly flat?: boolean
  /** Where results are parts: the array that they are in, and a message around some. */
  readonly container?: { readonly key: string; around(parts: readonly object[]): object }
  /** A message that says this as a summary of what was before; see {@link ViewFormat.summaryOf}. */
  summary?(text: string): object
  /** Makes the replacement of a missing result: a part if results are parts, else a message. */
  missing?(call: CallReading, text: string, reading: MessageReading, message: object): object | undefined
}

/** Reads a message that is in the line of a log under this key, or that is one by itself. */
export function readAt(
  rules: FormatRules,
  message: object,
  key: string | undefined,
  isSure: boolean,
): MessageReading | undefined {
  const inner = key === undefined ? message : get(message, key)
  if (!isObject(inner) || (!isSure && unnoted(recognisedBy, rules, inner) === 0)) return undefined
  const reading = rules.read(inner, message)
  if (key !== undefined) reading.time ??= timeOf(get(message, 'timestamp'))
  return reading
}

function recognisedBy(rules: FormatRules, message: object): 0 | 1 | 2 {
  return rules.recognises(message)
}

/** A message, read, and the path of it in a line of a log. */
export interface ReadMessage {
  reading: MessageReading
  path: readonly string[]
}

/** Reads a message, or the one in a line of a log; `undefined` for one of another format. */
export function readMessage(rules: FormatRules, message: object): ReadMessage | undefined {
  const key = rules.envelope?.(message)
  const reading = readAt(rules, message, key, false)
  return reading && { reading, path: key === undefined ? [] : [key] }
}

/** The message itself, without the line of a log. */
export function innerOf(message: object, [key]: readonly string[]): object {
  return key === undefined ? message : (get(message, key) as object)
}
