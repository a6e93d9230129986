/** Notes that replace images and files, and the saved copies that they name. */

import { LruCache } from '../util/lru-cache'
import { warn } from '../util/warn'
import { describeMedium, digestOf } from './media'
import type { Medium } from './message-view'

/** Returns the note in place of a medium, with the path of its copy. */
export function noteOf(medium: Medium, path: string | undefined, chinese: boolean): string {
  const what = describeMedium(medium)
  if (chinese) return path === undefined ? `[${what}，已移除]` : `[${what}，已移除；保存在 ${path}]`
  return path === undefined ? `[${what}, left out]` : `[${what}, left out; saved in ${path}]`
}

/** A storage that may save bytes. */
interface ByteStorage {
  saveBytes?(content: Uint8Array, context: { toolName: string; sessionId?: string }): Promise<string>
}

/** Saves the media that leave a history, equal ones once. */
export class MediaSaver {
  /** Paths by the digests of what is saved there. */
  private readonly paths = new LruCache<string, string>()
  private readonly storage: ByteStorage | undefined

  constructor(
    storage: unknown,
    private readonly sessionId?: string,
  ) {
    const { saveBytes } = Object(storage) as ByteStorage
    this.storage = typeof saveBytes === 'function' ? (storage as ByteStorage) : undefined
  }

  /** Returns the notes for media, which are saved before if the storage can save bytes; `null` for those that stay. Never rejects. */
  async notesOf(media: readonly (Medium | undefined)[], chinese: boolean): Promise<(string | null)[]> {
    const notes: (string | null)[] = []
    for (const medium of media)
      notes.push(medium === undefined ? null : noteOf(medium, await this.save(medium), chinese))
    return notes
  }

  private async save(medium: Medium): Promise<string | undefined> {
    const { storage, sessionId } = this
    const content = storage && medium.content()
    if (storage === undefined || content === undefined) return undefined
    // All of it counts: a note must not name another file that differs in a few bytes.
    const key = digestOf(content)
    const known = this.paths.get(key)
    if (known !== undefined) return known
    try {
      const context = { toolName: 'media', ...(sessionId !== undefined && { sessionId }) }
      const path = await storage.saveBytes?.(content, context)
      if (path !== undefined) this.paths.set(key, path)
      return path
    } catch (thrown) {
      warn('media', thrown)
      return undefined
    }
  }
}
