/** The last step of a compaction: notes take the place of images and files, the oldest first. */

import { formatOf } from '../history/formats'
import { mediumOf } from '../history/media'
import { type MediaSaver, noteOf } from '../history/media-notes'
import type { HistoryFormatName, Medium, MessageView } from '../history/message-view'
import { call, native } from '../native/native'
import { sum } from '../util/sum'

/** A message that loses its images and files. */
export interface WithoutMedia<M> {
  readonly index: number
  /** The message with them. */
  readonly message: M
  /** The notes that replace them, in their order. */
  readonly notes: readonly (string | null)[]
}

/** A history in which notes replace images and files. */
export interface MediaRemoval<M> {
  readonly messages: M[]
  readonly format: HistoryFormatName | undefined
  readonly without: readonly WithoutMedia<M>[]
  /** How many images and files left. */
  readonly media: number
}

/** Facts about a history whose media may leave. */
interface MediaHistory<M> {
  readonly messages: M[]
  readonly format: HistoryFormatName | undefined
  readonly views: readonly MessageView[]
  readonly chinese: boolean
  /** Size of media with these tokens. */
  sizeOfMedia(tokens: number): number
  /** By how much these messages are too large. */
  excessOf(messages: readonly M[]): number
}

/** Removes media until nothing is too large, except those that the user sent last. */
export function removeMedia<M>(history: MediaHistory<M>): MediaRemoval<M> {
  const { messages, format, views, chinese } = history
  const media = views.map(mediaIn)
  const newest = views.findLastIndex(({ role }) => role === 'user')
  const sizes = Float64Array.from(media, ({ tokens }, at) => (at === newest ? 0 : history.sizeOfMedia(tokens)))
  const copy = messages.slice()
  const without: WithoutMedia<M>[] = []
  for (;;) {
    // The notes have a size, too, which is known only when they are there.
    const excess = history.excessOf(without.length > 0 ? copy : messages)
    const places = call(() => native.compactionImages(sizes, excess))
    if (places.length === 0) break
    for (const index of places) {
      sizes[index] = 0
      const message = messages[index] as M
      const notes = mediaOf(message, format).map((medium) => noteOf(medium, undefined, chinese))
      const changed = withNotes(message, format, notes)
      if (changed === undefined) continue
      copy[index] = changed
      without.push({ index, message, notes })
    }
  }
  if (without.length === 0) return nothingRemoved(messages)
  return { messages: copy, format, without, media: sum(without.map(({ index }) => media[index]?.count ?? 0)) }
}

export function nothingRemoved<M>(messages: M[]): MediaRemoval<M> {
  return { messages, format: undefined, without: [], media: 0 }
}

/** Saves what was removed, where there is a storage for it, and names the copies in the notes. */
export async function saveRemoved<M>(
  removal: MediaRemoval<M>,
  saver: MediaSaver,
  chinese: boolean,
): Promise<MediaRemoval<M>> {
  const { format } = removal
  const messages = removal.messages.slice()
  const without: WithoutMedia<M>[] = []
  for (const { index, message } of removal.without) {
    const notes = await saver.notesOf(mediaOf(message, format), chinese)
    messages[index] = withNotes(message, format, notes) ?? message
    without.push({ index, message, notes })
  }
  return without.length === 0 ? removal : { ...removal, messages, without }
}

function mediaOf(message: unknown, format: HistoryFormatName | undefined): Medium[] {
  const found = format && formatOf(format, message)?.mediaIn(message as object)
  return found?.map(({ part }) => mediumOf(part)) ?? []
}

function withNotes<M>(
  message: M,
  format: HistoryFormatName | undefined,
  notes: readonly (string | null)[],
): M | undefined {
  return format && (formatOf(format, message)?.withoutMedia(message as object, notes) as M | undefined)
}

/** True if there is a part that is not text. */
export function hasMedia(view: MessageView): boolean {
  return mediaIn(view).count > 0
}

/** Returns the number of parts of a message that are not text, and their tokens. */
function mediaIn({ media, mediaTokens = 0, results }: MessageView): { count: number; tokens: number } {
  return results.reduce(
    (sum, result) => ({ count: sum.count + result.media, tokens: sum.tokens + (result.mediaTokens ?? 0) }),
    { count: media, tokens: mediaTokens },
  )
}
