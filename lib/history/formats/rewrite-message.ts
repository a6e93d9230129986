/** Copies of a message with other results, arguments or media, and the parts that they are made from. Functions of a format may throw. */

import { mediumOf } from '../media'
import type { MediaNotes, MediaPart, Medium, ResultPiece, TakenResults } from '../message-view'
import { isBlankImage } from './blank-image'
import { type FormatRules, innerOf, type MessageReading, readAt, readMessage } from './format-rules'
import { type Edit, edited } from './immutable-edit'
import { get, isBlank } from './safe-read'

/** The changes that write a value at a place of a message; `undefined` if it cannot be written. */
export type EditsOf<T> = (reading: MessageReading, place: number, value: T) => readonly Edit[] | undefined

/** Writes values at their places. Never throws. */
export function write<T>(
  rules: FormatRules,
  message: object,
  values: ReadonlyMap<number, T>,
  editsOf: EditsOf<T>,
): object | undefined {
  try {
    const key = rules.envelope?.(message)
    const reading = readAt(rules, message, key, false)
    if (reading === undefined) return undefined
    const edits: Edit[] = []
    for (const [place, value] of values) {
      const made = editsOf(reading, place, value)
      if (made === undefined) return undefined
      if (values.size === 1 && key === undefined) return edited(message, made)
      for (const edit of made) edits.push(key === undefined ? edit : [[key, ...edit[0]], edit[1]])
    }
    return edited(message, edits)
  } catch {
    return undefined
  }
}

/** The message again if it was in a line of a log. */
export function sealed(rules: FormatRules, made: object, like: object): object {
  return rules.envelope?.(like) === undefined ? made : (rules.seal?.(made) ?? made)
}

/** A result with this text for a call that has none. */
export function missingResult(
  rules: FormatRules,
  message: object,
  place: number,
  text: string,
): ResultPiece | undefined {
  const { reading, path } = readMessage(rules, message) ?? {}
  const call = reading?.calls?.[place]
  if (reading === undefined || call === undefined || path === undefined) return undefined
  // A blank name is none: providers refuse it.
  const called = call.name !== undefined && isBlank(call.name) ? { ...call, name: undefined } : call
  const made = rules.missing?.(called, text, reading, innerOf(message, path))
  if (made === undefined) return undefined
  return rules.container ? { kind: 'part', value: made } : { kind: 'message', value: sealed(rules, made, message) }
}

/** Parts a message into one with these results and one with the rest. */
export function takeResults(
  rules: FormatRules,
  message: object,
  places: ReadonlySet<number>,
): TakenResults | undefined {
  const { reading, path } = readMessage(rules, message) ?? {}
  if (reading === undefined || path === undefined) return undefined
  if (rules.container === undefined) {
    return { taken: message, rest: undefined, pieces: [{ kind: 'message', value: message }] }
  }
  const { key } = rules.container
  const parts = get(innerOf(message, path), key) as readonly object[]
  const results = reading.results ?? []
  const taken = new Set([...places].map((place) => results[place]?.at))
  const values = parts.filter((_, at) => taken.has(at))
  const pieces = values.map((value) => ({ kind: 'part', value }) as const)
  const rest = parts.filter((_, at) => !taken.has(at))
  if (rest.length === 0) return { taken: message, rest: undefined, pieces }
  const withOnly = (some: readonly object[]) => edited(message, [[[...path, key], some]])
  return { taken: withOnly(values), rest: withOnly(rest), pieces }
}

/** Adds results after those that the message has. */
export function withParts(rules: FormatRules, message: object, added: readonly object[]): object | undefined {
  const { reading, path } = readMessage(rules, message) ?? {}
  if (reading === undefined || path === undefined || rules.container === undefined) return undefined
  const { key } = rules.container
  const parts = [...(get(innerOf(message, path), key) as readonly object[])]
  parts.splice(Math.max(-1, ...(reading.results ?? []).map(({ at = -1 }) => at)) + 1, 0, ...added)
  return edited(message, [[[...path, key], parts]])
}

function mediaEdits(reading: MessageReading, note: string): readonly Edit[] {
  return [reading, ...(reading.results ?? [])].flatMap((holder) => holder.withoutMedia?.(note) ?? [])
}

/** The parts of a message that are no text. */
export function mediaIn(rules: FormatRules, message: object): readonly MediaPart[] {
  const { reading, path } = readMessage(rules, message) ?? {}
  if (reading === undefined || path === undefined) return []
  return mediaEdits(reading, '').map(([keys, value]) => ({
    part: keys.reduce<unknown>(get, innerOf(message, path)),
    isBlanked: isBlankImage(value),
  }))
}

/** The media in a result. Those that cannot be replaced are not read: each is a file without data. */
export function mediaOf(rules: FormatRules, message: object, place: number): readonly Medium[] {
  const { reading, path } = readMessage(rules, message) ?? {}
  const result = reading?.results?.[place]
  if (result === undefined || path === undefined) return []
  const places = result.withoutMedia?.('') ?? []
  const media = places.map(([keys]) => mediumOf(keys.reduce<unknown>(get, innerOf(message, path))))
  while (media.length < (result.media ?? 0)) media.push(mediumOf(undefined))
  return media
}

/** Puts a note, or one after another, in place of media. */
export function withoutMedia(rules: FormatRules, message: object, note: MediaNotes): object | undefined {
  const { reading, path } = readMessage(rules, message) ?? {}
  if (reading === undefined || path === undefined) return undefined
  const edits =
    typeof note === 'string'
      ? mediaEdits(reading, note)
      : note.flatMap((one, place) => (one === null ? [] : mediaEdits(reading, one).slice(place, place + 1)))
  if (edits.length === 0) return undefined
  return edited(
    message,
    edits.map(([keys, value]): Edit => [[...path, ...keys], value]),
  )
}

/** Takes out the reasoning that is bound to the messages in front. */
export function withoutThinking(rules: FormatRules, message: object): object | undefined {
  const { reading, path } = readMessage(rules, message) ?? {}
  const edits = reading?.withoutThinking?.() ?? []
  if (edits.length === 0 || path === undefined) return undefined
  return edited(
    message,
    edits.map(([keys, value]): Edit => [[...path, ...keys], value]),
  )
}
