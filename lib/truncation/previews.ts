/**
 * The previews and files that this process made itself. A text is recognised as a preview only if it is one of these, byte for
 * byte, and a path as that of a saved output only if a storage answered it: nothing that a tool prints can claim either.
 */

import { call, native } from '../native/native'
import type { FoundPreview } from '../storage/printed-previews'
import { noticeOfOutput, rememberOutput } from '../storage/saved-outputs'
import type { TruncatedResult } from '../types'

/** A preview, and what was answered with it. */
export type Preview = TruncatedResult<string>

/** Bytes of a text that no preview is longer than, in practice: longer ones are not decoded to find out. */
export const MAX_PREVIEW_BYTES = 2 ** 20

/** Units of the texts that are remembered; a host that keeps its history has them in memory anyway. */
const MAX_UNITS = 2 ** 23
/** Maximum number of paths; the oldest are dropped with their notices. */
const MAX_PATHS = 10_000
const MAX_NOTICES = 1000
/** Paths that do not end as ours do are looked for one by one. */
const MAX_FOREIGN = 16

/** A text that is a preview. */
interface Known {
  text: string
  preview: Preview
}

/** By length, so that a text of any other length costs one look. */
const byLength = new Map<number, Known[]>()
/** The oldest first. */
const previews = new Set<Known>()
let units = 0

/** By the name of the file, which no other file has. */
const noticesByName = new Map<string, { path: string; notice: string }>()
const foreign = new Set<string>()

/**
 * Remembers a preview, so that it is never cut again. One that does not say that it is one is a text like any other.
 * @param text what it is in the parts of a message, joined by line feeds
 * @param beside its content without the text of the output, where that is known
 */
export function rememberPreview(preview: Preview, text = preview.content, beside = besideOf(preview)): void {
  const { content, outputPath, hint = '' } = preview
  const path = outputPath.toWellFormed()
  // Nearly every notice names the path: most calls do not search the content.
  const namesPath = path !== '' && (beside.includes(path) || content.includes(path))
  const notice = noticeOf(preview, beside, namesPath ? path : '')
  rememberOutput(outputPath, notice)
  if (
    !namesPath &&
    !(hint !== '' && content.includes(hint)) &&
    !call(() => native.containsTruncationMarker(content, true))
  )
    return
  if (namesPath) rememberNotice(path, notice)
  if (text.length > MAX_UNITS) return
  const known = { text, preview }
  const same = byLength.get(text.length)
  if (same === undefined) byLength.set(text.length, [known])
  else same.push(known)
  previews.add(known)
  units += text.length
  while (units > MAX_UNITS || previews.size > MAX_PATHS) forget(first(previews))
}

function forget(known: Known): void {
  const { length } = known.text
  previews.delete(known)
  units -= length
  const left = byLength.get(length)?.filter((one) => one !== known)
  if (left === undefined || left.length === 0) byLength.delete(length)
  else byLength.set(length, left)
}

function rememberNotice(path: string, notice: string): void {
  const name = nameOf(path)
  if (name === undefined) {
    foreign.delete(path)
    foreign.add(path)
    if (foreign.size > MAX_FOREIGN) foreign.delete(first(foreign))
    return
  }
  noticesByName.delete(name)
  noticesByName.set(name, { path, notice })
  if (noticesByName.size > MAX_NOTICES) noticesByName.delete(first(noticesByName.keys()))
}

/** The preview that another process printed, and the paragraph of it that names its output. */
export function printedBefore({ path, preview }: FoundPreview): { preview: Preview; notice: EarlierNotice } {
  const at = preview.indexOf(path)
  const from = preview.lastIndexOf(GAP, at)
  const to = preview.indexOf(GAP, at)
  const notice = preview.slice(from === -1 ? 0 : from + GAP.length, to === -1 ? undefined : to)
  return {
    preview: { content: preview, truncated: true, outputPath: path, hint: notice },
    notice: { path, notice, at: at + path.length },
  }
}

/** The gap between a notice and the text of the output. */
const GAP = '\n\n'

function besideOf({ content, preview = '' }: Preview): string {
  const at = content.indexOf(preview)
  return at === -1 ? '' : around(content, at, at + preview.length)
}

/** A text without a part of it. */
export function around(text: string, from: number, to: number): string {
  return `${text.slice(0, from)}\n${text.slice(to)}`
}

/** Returns the notice of a preview. */
function noticeOf({ content, hint = '' }: Preview, beside: string, path: string): string {
  const said = beside.replace(/\n{2,}/g, '\n').trim()
  if (path === '' || said.includes(path)) return said
  return hint.includes(path) ? hint : (content.split('\n').find((line) => line.includes(path)) ?? said)
}

/** True if any preview is remembered. */
export function hasPreviews(): boolean {
  return previews.size > 0
}

/** True if a preview has this length. */
export function hasPreviewOf(length: number): boolean {
  return byLength.has(length)
}

/** The preview that a text is, if it is one. */
export function previewOf(text: string): Preview | undefined {
  return byLength.get(text.length)?.findLast((known) => known.text === text)?.preview
}

/** A notice in a text, and the end of its path there. */
export interface EarlierNotice {
  path: string
  /** Empty if only the path stands there, as of a command that reads the file. */
  notice: string
  at: number
}

const ENDING = '.txt'
const NAME = /[\w.-]{1,255}$/

function nameOf(path: string): string | undefined {
  return path.endsWith(ENDING) ? NAME.exec(path.slice(0, -ENDING.length))?.[0] : undefined
}

/** Units or bytes of either end of a long output in which earlier notices are looked for. */
export const END_UNITS = 2 ** 18

/** True if there is any notice to be found. */
export function hasNotices(): boolean {
  return noticesByName.size > 0 || foreign.size > 0
}

/** True if a text that is given as bytes may contain the path of a notice. */
export function mayNamePath(bytes: Uint8Array): boolean {
  if (foreign.size > 0) return true
  // Bytes that were transferred away meanwhile have no length, and their buffer must not be touched.
  return bytes.byteLength > 0 && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(ENDING)
}

/** Finds the notices of earlier previews in a text, in their order; also if the text is the JSON of another. */
export function noticesIn(text: string): EarlierNotice[] {
  const found = new Map<string, EarlierNotice>()
  const parts = text.length <= 2 * END_UNITS ? [text] : [text.slice(0, END_UNITS), text.slice(text.length - END_UNITS)]
  for (const [place, part] of parts.entries()) {
    const from = place === 0 ? 0 : text.length - part.length
    for (let at = part.indexOf(ENDING); at !== -1; at = part.indexOf(ENDING, at + 1)) {
      const name = NAME.exec(part.slice(Math.max(at - 255, 0), at))?.[0]
      const known = name === undefined ? undefined : noticesByName.get(name)
      const end = at + ENDING.length
      if (known !== undefined && endsWithPath(part.slice(0, end), known.path)) {
        found.set(known.path, { ...known, at: from + end })
      }
    }
    for (const path of foreign) {
      const at = part.lastIndexOf(path)
      if (at !== -1) found.set(path, { path, notice: noticeOfOutput(path), at: from + at + path.length })
    }
  }
  const said = [...found.values()].map((one) => (isSaid(parts, one) ? one : { ...one, notice: '' }))
  return said.sort((one, other) => one.at - other.at)
}

/** True if a text repeats what was said beside a preview, in whatever words: the lines that name the saved output. */
export function repeatsNotice(text: string): boolean {
  return hasNotices() && noticesIn(text).some(({ notice }) => notice !== '')
}

/** True if one of the texts has a line of a notice that names its output in words. */
function isSaid(texts: readonly string[], { path, notice }: EarlierNotice): boolean {
  const written = (line: string) => {
    const inJson = JSON.stringify(line).slice(1, -1)
    return texts.some((text) => text.includes(line) || (inJson !== line && text.includes(inJson)))
  }
  return notice.split('\n').some((line) => line.includes(path) && line.length > path.length && written(line))
}

/** True if a text contains a whole notice. */
export function standsIn(text: string, { path, notice }: EarlierNotice): boolean {
  const lines = notice === '' ? [path] : notice.split('\n')
  return lines.every((line) => text.includes(line))
}

function endsWithPath(text: string, path: string): boolean {
  return text.endsWith(path) || text.endsWith(JSON.stringify(path).slice(1, -1))
}

/** Finds the last verbatim preview in a text, and the text around it. */
export function previewIn(
  text: string,
  notices: readonly EarlierNotice[],
): { preview: Preview; around: string } | undefined {
  const wanted = new Set(notices.map(({ path }) => path))
  for (const known of [...previews].reverse()) {
    const { preview } = known
    if (!wanted.has(preview.outputPath.toWellFormed())) continue
    for (const form of [known.text, JSON.stringify(known.text).slice(1, -1)]) {
      const at = text.lastIndexOf(form)
      if (at !== -1) return { preview, around: text.slice(0, at) + text.slice(at + form.length) }
    }
  }
  return undefined
}

/** Maximum number of notices repeated in full; of more, only the paths. */
const MAX_WHOLE_NOTICES = 3
const MAX_REPEATED = 20

/** Returns the notices to repeat because they were truncated with the text around them. */
export function repeated(notices: readonly EarlierNotice[], short: boolean): string {
  const isWhole = !short && notices.length <= MAX_WHOLE_NOTICES
  const last = notices.slice(-MAX_REPEATED)
  return last.map(({ path, notice }) => (isWhole && notice !== '' ? notice : lineOf(notice, path))).join('\n')
}

function lineOf(notice: string, path: string): string {
  return notice.split('\n').findLast((line) => line.includes(path)) ?? path
}

function first<T>(items: Iterable<T>): T {
  return items[Symbol.iterator]().next().value as T
}
