/** Placeholders of pruned items: those of the caller, and the usual ones. */

import type { Estimate } from '../history/estimate'
import { describeMedia } from '../history/media'
import type { Medium } from '../history/message-view'
import { usualPlaceholder } from '../history/usual-placeholder'
import { call } from '../native/native'
import { catchLater } from '../util/warn'
import { badAnswer } from '../validation/validate'
import { type PrunedInfo, type PrunerSettings, pruningError } from './options'
import type { HistoryItem } from './prunable-item'

export function infoOf({ kind, toolName, toolCallId, tokens, outputPath }: HistoryItem): PrunedInfo {
  // A first request may leave out tens of thousands, and what is spread costs more than all else that is done for one.
  const info = {} as { -readonly [K in keyof PrunedInfo]: PrunedInfo[K] }
  info.kind = kind
  if (toolName !== undefined) info.toolName = toolName
  if (toolCallId !== undefined) info.toolCallId = toolCallId
  info.tokens = tokens
  if (outputPath !== undefined) info.outputPath = outputPath
  return info
}

/** `undefined` if the caller wants nothing of its own, or nothing that can be used. */
function wantedPlaceholder({ placeholder, tell }: PrunerSettings, item: HistoryItem): string | undefined {
  if (typeof placeholder !== 'function') return placeholder
  try {
    const text: unknown = placeholder(infoOf(item))
    if (typeof text === 'string') return text.toWellFormed()
    tell(badAnswer('placeholder', text, 'a string'))
    catchLater('placeholder', text)
  } catch (thrown) {
    tell(pruningError('placeholder', thrown))
  }
  return undefined
}

/** Facts about an item for its placeholder. */
export interface About {
  /** A text about its images and files. */
  readonly media: string
  /** Its index. */
  readonly words: string
  /** Returns true if the call may be made again. Asked only for the usual placeholder: reading a command takes long. */
  readonly isRepeatable: () => boolean
}

export const NOTHING_MORE: About = { media: '', words: '', isRepeatable: () => false }

export class Placeholders {
  private readonly usual = new Map<string, string>()

  constructor(
    private readonly settings: PrunerSettings,
    private readonly tokens: Estimate,
  ) {}

  /** Returns the future placeholder of an item; a function is called before pruning, because the savings depend on its answer. */
  of(item: HistoryItem, trimmed: string | undefined, fixed: boolean, about: About): string {
    const { placeholder } = this.settings
    if (typeof placeholder === 'string') return placeholder
    const wanted = fixed ? undefined : wantedPlaceholder(this.settings, item)
    if (wanted !== undefined) {
      const limit = trimmed === undefined ? item.tokens : this.tokens.text(trimmed)
      if (this.tokens.repeated(wanted) < limit) return wanted
    }
    return about.media + this.defaultOf(item, about)
  }

  /** Returns the text about the media of a pruned result. */
  ofMedia(media: readonly Medium[]): string {
    const isChinese = this.settings.language === 'zh-CN'
    const areImages = media.every(({ type }) => type.startsWith('image'))
    const words = describeMedia(media, isChinese)
    if (isChinese) return `[${areImages ? '图片' : '文件'}已移除：${words}] `
    return `[${areImages ? 'image' : 'media'} removed: ${words}] `
  }

  private defaultOf({ kind, outputPath }: HistoryItem, { words, isRepeatable }: About): string {
    const isUsual = outputPath === undefined && words === ''
    // With a saved output nothing needs to be called again.
    const repeatable = outputPath === undefined && isRepeatable()
    const key = `${kind} ${repeatable}`
    const known = isUsual ? this.usual.get(key) : undefined
    if (known !== undefined) return known
    const { language } = this.settings
    const of = kind === 'arguments' ? 'arguments' : 'result'
    const text = call(() =>
      usualPlaceholder({ kind: of, repeatable, language, path: outputPath, words: words || undefined }),
    )
    if (isUsual) this.usual.set(key, text)
    return text
  }
}
