/** Keeps the images and files of a request within its provider's limits: the oldest are removed, in batches. */

import { detectFormat, elementOf, formatNamed, viewsIn } from '../history/formats'
import { describeMedium, type Medium, mediumKey, mediumOf } from '../history/media'
import type { ResultText } from '../history/message-cache'
import type { HistoryFormatName, MessageView, ViewFormat } from '../history/message-view'
import { isAnswer } from '../history/roles'

/** Limits of a request. */
export interface MediaLimits {
  bytes: number
  images: number
}

/**
 * Documented limits of requests, as read on 2026-11-26. platform.claude.com, "Vision", general limits: 32 MB, and 100 images for models
 * with a window of 200,000 tokens, 600 for others; the lower one counts. platform.openai.com, "Images and vision": 50 MB and 500
 * images. ai.google.dev, "Image understanding": 20 MB with inline data. Other formats are sent to many providers.
 */
const DOCUMENTED: Partial<Record<HistoryFormatName, Partial<MediaLimits>>> = {
  anthropic: { bytes: 32e6, images: 100 },
  'openai-responses': { bytes: 50e6, images: 500 },
  'openai-agents': { bytes: 50e6, images: 500 },
  gemini: { bytes: 20e6 },
}

/** Share of a limit down to which media leave once it is reached: each time costs the provider's cache. */
const ROOM = 0.75

/** The media of a message. */
interface Holder {
  index: number
  media: Medium[]
}

/** A message whose media leave, and the note about them. */
export interface Leaving {
  index: number
  media: readonly Medium[]
}

/** Returns the limits of a history: what the caller says, else what the provider of its format documents. */
export function mediaLimits(format: HistoryFormatName | undefined, given: Partial<MediaLimits>): MediaLimits {
  const documented = format === undefined ? undefined : DOCUMENTED[format]
  const { bytes, images } = { ...documented, ...given }
  return { bytes: bytes ?? Number.POSITIVE_INFINITY, images: images ?? Number.POSITIVE_INFINITY }
}

/**
 * Chooses the messages whose media leave: those that are there again later first, then the oldest. Those
 * that the model has not seen yet stay.
 * @param beside bytes of the request beside the messages
 */
export function leavingMedia(messages: readonly unknown[], given: Partial<MediaLimits>, beside = 0): Leaving[] {
  const limits = mediaLimits(detectFormat(messages), given)
  // Most histories: nothing has to be read.
  if (!Number.isFinite(limits.bytes) && !Number.isFinite(limits.images)) return []
  const { views, format: name } = viewsIn(messages)
  const format = formatNamed(name as HistoryFormatName)
  if (format === undefined) return []
  const all = holders(messages, format, views)
  const isImage = ({ type }: Medium) => type.startsWith('image')
  let images = all.reduce((sum, { media }) => sum + media.filter(isImage).length, 0)
  if (all.length === 0) return []
  let bytes = all.reduce(
    (sum, holder) => sum + bytesOf(holder),
    views.reduce((sum, view) => sum + textBytes(view), beside),
  )
  if (bytes <= limits.bytes && images <= limits.images) return []
  // A list of results does not say what the model has seen: all but the newest.
  const seenBefore = name === 'mcp' ? views.length - 1 : views.findLastIndex(isAnswer)
  const leaving: Leaving[] = []
  for (const holder of inOrder(all.filter(({ index }) => index < seenBefore))) {
    if (bytes <= ROOM * limits.bytes && images <= ROOM * limits.images) break
    leaving.push(holder)
    bytes -= bytesOf(holder)
    images -= holder.media.filter(isImage).length
  }
  return leaving.sort((a, b) => a.index - b.index)
}

/** Bytes of media that a request may have whatever its provider: with fewer it was refused for something else. */
const HARMLESS = 1e6

/** Chooses the messages whose media leave after a provider refused the size of a request: half of the bytes, or fewer. */
export function leavingAfterRefusal(messages: readonly unknown[]): Leaving[] {
  const { views, format: name } = viewsIn(messages)
  const format = formatNamed(name as HistoryFormatName)
  if (format === undefined) return []
  const bytes = holders(messages, format, views).reduce((sum, holder) => sum + bytesOf(holder), 0)
  return bytes < HARMLESS ? [] : leavingMedia(messages, { bytes: bytes / 2 / ROOM })
}

function holders(messages: readonly unknown[], format: ViewFormat, views: readonly MessageView[]): Holder[] {
  const found: Holder[] = []
  for (const [index, { media, results }] of views.entries()) {
    // Most messages have none: their views are known, and reading the message again takes longer than all the rest.
    if (media === 0 && results.every((result) => result.media === 0)) continue
    const message = elementOf(messages, index)
    if (typeof message !== 'object' || message === null) continue
    const all = format.mediaIn(message).map(mediumOf)
    if (all.length > 0) found.push({ index, media: all })
  }
  return found
}

/** Messages all of whose media come again later go first. */
function inOrder(all: readonly Holder[]): Holder[] {
  const later = new Set<string>()
  const again = new Set<Holder>()
  for (const holder of all.toReversed()) {
    const keys = holder.media.map(mediumKey)
    if (keys.every((key) => key !== undefined && later.has(key))) again.add(holder)
    for (const key of keys) if (key !== undefined) later.add(key)
  }
  return [...again, ...all.filter((holder) => !again.has(holder))]
}

function bytesOf({ media }: Holder): number {
  return media.reduce((sum, medium) => sum + medium.bytes, 0)
}

/** Bytes of a message around its texts: names of fields, ids, quotes. */
const AROUND = 100

/** Bytes of a message without its media. */
function textBytes({ text, calls, results }: MessageView): number {
  const called = calls.reduce((sum, { argsText }) => sum + AROUND + Buffer.byteLength(argsText), 0)
  const answered = results.reduce((sum, { text: output }) => sum + AROUND + lengthOf(output), 0)
  return AROUND + lengthOf(text) + called + answered
}

function lengthOf(text: ResultText): number {
  return typeof text === 'string'
    ? Buffer.byteLength(text)
    : text.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
}

/** The note in place of a medium. */
export function noteOf(medium: Medium, path: string | undefined, chinese: boolean): string {
  const what = describeMedium(medium)
  if (chinese) return path === undefined ? `[${what}，已移除]` : `[${what}，已移除；保存在 ${path}]`
  return path === undefined ? `[${what}, left out]` : `[${what}, left out; saved in ${path}]`
}
