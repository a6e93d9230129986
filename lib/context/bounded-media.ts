/** Takes out of a stored history the images and files that do not fit into a request, and saves them. */

import { formatOf, viewsIn } from '../history/formats'
import { addsChinese } from '../history/language'
import type { MediaSaver } from '../history/media-notes'
import type { HistoryFormatName, MediaNotes } from '../history/message-view'
import { leavingMedia } from '../overflow/media-limits'
import type { MediaLimits } from '../overflow/provider-limits'
import type { NoticeLanguage } from '../types'
import type { Images } from './images'

/** A history as it was stored, and as it is sent: some results may be left out there. */
interface Histories<M> {
  images: Images<M>
  stored: readonly M[]
  sent: readonly M[]
  /** The index in the stored history of a message that is sent. */
  at(index: number): number
}

/** How what leaves is chosen, saved, described and counted. */
interface SaveOptions<M> {
  saver: MediaSaver
  language: NoticeLanguage | undefined
  /** Bytes of the request beside the messages. */
  beside: number
  /** True if later requests remember what left. */
  isKept: boolean
  tokensOf(messages: readonly M[]): number
}

/** Takes out what is too much in what is sent. Returns how many parts left. */
export async function boundMedia<M>(
  { images, stored, sent, at }: Histories<M>,
  limits: MediaLimits,
  { saver, language, beside, isKept, tokensOf }: SaveOptions<M>,
): Promise<number> {
  const leaving = leavingMedia(sent, limits, beside, isKept)
  if (leaving.length === 0) return 0
  const { format, views } = viewsIn(sent)
  if (format === undefined) return 0
  const chinese = addsChinese(language, views)
  const notes = new Map<number, MediaNotes>()
  for (const { index, media } of leaving) {
    const note = await saver.notesOf(media, chinese)
    const place = at(index)
    notes.set(place, storedNotes(format, sent[index], stored[place], note))
  }
  images.add(stored, notes, format, tokensOf)
  return leaving.reduce((sum, { media }) => sum + media.filter(Boolean).length, 0)
}

/** The notes in the order of the media of the stored message, which has those as well that left with a result. */
export function storedNotes(
  format: HistoryFormatName,
  sent: unknown,
  stored: unknown,
  note: readonly (string | null)[],
): (string | null)[] {
  const [shown, whole] = [sent, stored].map((message) => formatOf(format, message)?.mediaIn(message as object) ?? [])
  const notes: (string | null)[] = (whole ?? []).map(() => null)
  const taken = new Set<number>()
  for (const [at, { part }] of (shown ?? []).entries()) {
    const place = (whole ?? []).findIndex((one, place) => one.part === part && !taken.has(place))
    taken.add(place)
    if (place >= 0) notes[place] = note[at] ?? null
  }
  return notes
}
