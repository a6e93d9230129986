/** Takes out of a stored history the images and files that do not fit into a request, and saves them. */

import { viewsIn } from '../history/formats'
import { isChinese } from '../history/language'
import { type Medium, mediumKey } from '../history/media'
import { leavingMedia, type MediaLimits, noteOf } from '../overflow/media-limits'
import { warn } from '../util/warn'
import type { Images } from './images'

/** A storage that may save what leaves. */
interface Saver {
  saveBytes?(content: Uint8Array, context: { toolName: string }): Promise<string>
}

/** Takes out what is too much in `history`, which is what is sent of `stored`. Returns how many parts left. */
export async function boundMedia<M>(
  {
    images,
    stored,
    history,
    at,
  }: { images: Images<M>; stored: readonly M[]; history: readonly M[]; at(index: number): number },
  limits: Partial<MediaLimits>,
  {
    storage,
    language,
    tokensOf,
  }: { storage: unknown; language: string | undefined; tokensOf(messages: readonly M[]): number },
): Promise<number> {
  const leaving = leavingMedia(history, limits)
  if (leaving.length === 0) return 0
  const { format, views } = viewsIn(history)
  if (format === undefined) return 0
  const chinese = language === undefined ? isChinese(views) : language === 'zh-CN'
  const saved = new Map<string, string>()
  let items = 0
  for (const { index, media } of leaving) {
    const note: string[] = []
    for (const medium of media) note.push(noteOf(medium, await save(medium, storage as Saver, saved), chinese))
    images.add(stored, [at(index)], { format, note }, tokensOf)
    items += media.length
  }
  return items
}

/** Saves a medium, once if it is there several times. Returns where; `undefined` if that is not possible. */
async function save(medium: Medium, storage: Saver, saved: Map<string, string>): Promise<string | undefined> {
  const content = medium.content()
  const key = mediumKey(medium)
  if (content === undefined || key === undefined || typeof storage?.saveBytes !== 'function') return undefined
  const known = saved.get(key)
  if (known !== undefined) return known
  try {
    const path = await storage.saveBytes(content, { toolName: 'media' })
    saved.set(key, path)
    return path
  } catch (thrown) {
    warn('media', thrown)
    return undefined
  }
}
