/** Takes out of a stored history the images and files that do not fit into a request, and saves them. */

import { formatOf, viewsIn } from '../history/formats'
import { isChinese } from '../history/language'
import { digestOf } from '../history/media'
import type { HistoryFormatName, Medium } from '../history/message-view'
import { leavingMedia, noteOf } from '../overflow/media-limits'
import type { MediaLimits } from '../overflow/provider-limits'
import type { LruCache } from '../util/lru-cache'
import { warn } from '../util/warn'
import type { Images } from './images'

/** A storage that may save what leaves. */
interface Saver {
  saveBytes?(content: Uint8Array, context: SaveContext): Promise<string>
}

interface SaveContext {
  toolName: string
  sessionId?: string
}

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
  storage: unknown
  sessionId: string | undefined
  language: string | undefined
  /** Bytes of the request beside the messages. */
  beside: number
  /** True if later requests remember what left. */
  isKept: boolean
  /** Where media were saved before, by the digests of their content. */
  saved: LruCache<string, string>
  tokensOf(messages: readonly M[]): number
}

/** Takes out what is too much in what is sent. Returns how many parts left. */
export async function boundMedia<M>(
  { images, stored, sent, at }: Histories<M>,
  limits: MediaLimits,
  { storage, sessionId, language, beside, isKept, saved, tokensOf }: SaveOptions<M>,
): Promise<number> {
  const leaving = leavingMedia(sent, limits, beside, isKept)
  if (leaving.length === 0) return 0
  const { format, views } = viewsIn(sent)
  if (format === undefined) return 0
  const chinese = language === undefined ? isChinese(views) : language === 'zh-CN'
  const context = { toolName: 'media', ...(sessionId !== undefined && { sessionId }) }
  let items = 0
  for (const { index, media } of leaving) {
    const note: (string | null)[] = []
    for (const medium of media) {
      if (medium !== undefined) items++
      note.push(
        medium === undefined ? null : noteOf(medium, await save(medium, storage as Saver, saved, context), chinese),
      )
    }
    const place = at(index)
    images.add(stored, [place], { format, note: storedNotes(format, sent[index], stored[place], note) }, tokensOf)
  }
  return items
}

/** The notes in the order of the media of the stored message, which has those as well that left with a result. */
function storedNotes(
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

/** Saves a medium, once if it is there several times. Returns where; `undefined` if that is not possible. */
async function save(
  medium: Medium,
  storage: Saver,
  saved: LruCache<string, string>,
  context: SaveContext,
): Promise<string | undefined> {
  if (typeof storage?.saveBytes !== 'function') return undefined
  const content = medium.content()
  if (content === undefined) return undefined
  // All of it counts: a note must not name another file that differs in a few bytes.
  const key = digestOf(content)
  const known = saved.get(key)
  if (known !== undefined) return known
  try {
    const path = await storage.saveBytes(content, context)
    saved.set(key, path)
    return path
  } catch (thrown) {
    warn('media', thrown)
    return undefined
  }
}
