/**
 * Reads properties of objects that could be anything. Callers run inside of a guard: a message whose read throws is
 * unreadable, and an unreadable message is left alone.
 */

import { saidPaths } from '../../truncation/said-path'
import type { ResultText } from '../message-cache'

type Fields = Record<PropertyKey, unknown>

/** Most parts of a message; a sparse array that claims more would take too long. */
export const MAX_PARTS = 100_000

/** Where the values go that a view is made from: three entries each, the holder, the key, and the value. */
let noted: unknown[] | undefined

/** Reads something of a message, and adds to `values` which were {@link watched}. */
export function noting<F, T>(
  values: unknown[],
  read: (format: F, message: object) => T,
  format: F,
  message: object,
): T {
  const before = noted
  noted = values
  try {
    return read(format, message)
  } finally {
    noted = before
  }
}

/** Reads without taking note of it. */
export function unnoted<F, T>(read: (format: F, message: object) => T, format: F, message: object): T {
  const before = noted
  noted = undefined
  try {
    return read(format, message)
  } finally {
    noted = before
  }
}

/** True if every one of these values is still where it was. */
export function isUnchanged(watched: readonly unknown[]): boolean {
  return holdsUntil(watched, watched.length) === watched.length
}

/** The first entry of a value that is not where it was, of those before `end`; `end` if all are. */
export function holdsUntil(watched: readonly unknown[], end: number): number {
  let at = 0
  try {
    for (; at < end; at += 3) {
      const value = valueAt(watched[at] as Fields, watched[at + 1] as PropertyKey)
      const before = watched[at + 2]
      if (value !== before && !Object.is(value, before)) return at
    }
  } catch {
    // A value that can no longer be read has changed.
  }
  return at
}

/**
 * The same as `holder[key]`. The keys that come most often are written out: V8 answers a name in the code several times
 * faster than one in a variable, and before every request a long history asks a hundred thousand times.
 */
function valueAt(holder: Fields, key: PropertyKey): unknown {
  if (typeof key === 'number') return holder[key]
  switch (key) {
    case 'content':
      return holder.content
    case 'tool_calls':
      return holder.tool_calls
    case 'arguments':
      return holder.arguments
    case 'length':
      return holder.length
    case 'text':
      return holder.text
    case 'input':
      return holder.input
    case 'output':
      return holder.output
    case 'parts':
      return holder.parts
    case 'value':
      return holder.value
    case 'function_call':
      return holder.function_call
    default:
      return holder[key]
  }
}

/** A property of whatever this is. */
export function get(holder: unknown, key: PropertyKey): unknown {
  return isObject(holder) ? (holder as Fields)[key] : undefined
}

/** A property that an agent may set again while it keeps the message: a view holds as long as it has this value. */
export function watched(holder: unknown, key: PropertyKey): unknown {
  if (!isObject(holder)) return undefined
  const value = valueAt(holder as Fields, key)
  noted?.push(holder, key, value)
  return value
}

const NONE: readonly unknown[] = Object.freeze([])

/** The elements of an array; none of anything else. */
export function elements(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return NONE
  const length = watched(value, 'length') as number
  if (length > MAX_PARTS) throw new RangeError('not a list of parts')
  const found = new Array<unknown>(length)
  for (let at = 0; at < length; at++) found[at] = watched(value, at)
  return found
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Array.isArray(value)
}

export function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** True if a name is there and says nothing. One that is not there stays so. */
export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** True if a name that providers require is missing or says nothing. */
export function isUnnamed(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === ''
}

export function asBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** True for a message of a user interface of the AI SDK: its results are in fields that no provider reads. */
export function isUiMessage(message: object): boolean {
  return 'parts' in message || 'toolInvocations' in message
}

/** Keys of the blocks of Amazon Bedrock's Converse that no other API has. */
const CONVERSE = [
  'toolUse',
  'toolResult',
  'reasoningContent',
  'cachePoint',
  'guardContent',
  'citationsContent',
] as const

/** True for a block of Amazon Bedrock's Converse, which has no type and one of these keys. */
export function isConverseBlock(block: unknown): boolean {
  return isJsonObject(block) && block.type === undefined && CONVERSE.some((key) => isJsonObject(block[key]))
}

/** Milliseconds since the epoch, from such a number or from a date as text. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}

/** One text for itself, several as a list. */
export function resultText(texts: readonly string[]): ResultText {
  return texts.length === 1 ? (texts[0] as string) : texts
}

/** True if a part of a content carries more than its text, such as a mark for the provider's cache. */
export function carriesMore(part: object): boolean {
  return Object.keys(part).length > 2
}

/** Returns a value as the text that a model sees. Throws if it has no JSON. */
export function jsonText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value) ?? ''
}

/** Returns the calls and results of a provider's own tools as text; `undefined` if there are none. */
export function asideOf(parts: readonly unknown[]): string | undefined {
  if (parts.length === 0) return undefined
  try {
    return jsonText(parts)
  } catch {
    // A value without JSON is not sent as it is, so its size is unknown.
    return undefined
  }
}

/** Where the full output was saved, as results of tools tell it: beside the text, or in one of these holders. */
export function outputPathOf(message: unknown, holders: readonly string[] = ['metadata']): string | undefined {
  const path = nonEmpty(get(message, 'outputPath'))
  if (path !== undefined) return path
  for (const key of holders) {
    const [found] = saidPaths(get(message, key))
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns what the work returns; `undefined` if it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
