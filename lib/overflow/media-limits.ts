/** Keeps the images and files of a request within its provider's limits: the oldest are removed, in batches. */

import { elementOf, formatNamed, formatOf, type ReadViews, viewsIn } from '../history/formats'
import { mediumKey, mediumOf } from '../history/media'
import { sameView } from '../history/message-identity'
import type { HistoryFormatName, Medium, MessageView } from '../history/message-view'
import { messageBytes } from '../history/request-bytes'
import { isAnswer } from '../history/roles'
import { documentedLimits, type MediaLimits, type Recipient } from './provider-limits'

/** Share of a limit down to which media leave once it is reached: each time costs the provider's cache. */
const ROOM = 0.75

/** Bytes of a note, which are not freed. */
const NOTE = 200

/** A medium, and where it is. */
interface PlacedMedium {
  index: number
  /** Its place among the media of the message. */
  place: number
  medium: Medium
  /** A blank image replaces it. */
  isBlanked: boolean
}

/** A message whose media leave: each of its media, and `undefined` for one that stays. */
export interface Leaving {
  index: number
  media: readonly (Medium | undefined)[]
}

/** Returns the limits of a request: those of the caller, else those that are documented for its recipient or its format. */
export function mediaLimits(
  format: HistoryFormatName | undefined,
  given: Partial<MediaLimits>,
  recipient: Recipient,
): MediaLimits {
  const { bytes, images } = { ...documentedLimits(format, recipient), ...given }
  return { bytes: bytes ?? Number.POSITIVE_INFINITY, images: images ?? Number.POSITIVE_INFINITY }
}

/** The bytes and images of a request. */
export function requestSize(messages: readonly unknown[], beside: number): MediaLimits {
  const read = viewsIn(messages)
  return sizeOf(messages, read, mediaIn(messages, read), beside)
}

/**
 * Chooses the media that leave: those that are there again later first, then the oldest. Those in messages that the model
 * has not seen yet stay.
 * @param beside bytes of the request beside the messages
 * @param isKept true if later requests remember what left; otherwise each of them has to decide the same by itself
 */
export function leavingMedia(
  messages: readonly unknown[],
  limits: MediaLimits,
  beside: number,
  isKept: boolean,
): Leaving[] {
  // Most histories: nothing has to be read.
  if (!isLimited(limits)) return []
  const read = viewsIn(messages)
  const all = mediaIn(messages, read)
  if (all.length === 0) return []
  const size = sizeOf(messages, read, all, beside)
  if (isWithinLimits(size, limits)) return []
  const wanted = isKept ? roomIn : nextStep
  return leavingUntil(
    { bytes: wanted(size.bytes, limits.bytes), images: wanted(size.images, limits.images) },
    size,
    all,
    read,
  )
}

/** The size down to which media leave: only a limit that is exceeded counts. */
function roomIn(size: number, limit: number): number {
  return size > limit ? ROOM * limit : Number.POSITIVE_INFINITY
}

/** The same in whole steps: a request that is a little longer than the last one loses the same media. */
function nextStep(size: number, limit: number): number {
  if (size <= limit) return Number.POSITIVE_INFINITY
  const step = (1 - ROOM) * limit
  return size - (Math.floor((size - limit) / step) + 1) * step
}

/** Chooses the media that leave until a request of this size has the size that is wanted. */
function leavingUntil(
  wanted: MediaLimits,
  size: MediaLimits,
  all: readonly PlacedMedium[],
  read: ReadViews,
): Leaving[] {
  // A list of results does not say what the model has seen: all but the newest.
  const seenBefore = read.format === 'mcp' ? read.views.length - 1 : read.views.findLastIndex(isAnswer)
  const leaving = new Set<PlacedMedium>()
  let { bytes, images } = size
  for (const placed of inOrder(all.filter(({ index }) => index < seenBefore))) {
    const freed = placed.medium.bytes - NOTE
    const isOneLess = isImage(placed) && !placed.isBlanked
    const helps = (bytes > wanted.bytes && freed > 0) || (images > wanted.images && isOneLess)
    if (!helps) continue
    leaving.add(placed)
    bytes -= freed
    if (isOneLess) images--
  }
  return byMessage(all, leaving)
}

/** True if there is a limit. */
export function isLimited({ bytes, images }: MediaLimits): boolean {
  return Number.isFinite(bytes) || Number.isFinite(images)
}

export function isWithinLimits(size: MediaLimits, limits: MediaLimits): boolean {
  return size.bytes <= limits.bytes && size.images <= limits.images
}

/** Bytes of media that a request may have whatever its provider: with fewer it was refused for something else. */
const HARMLESS = 1e6

/** Chooses the media that leave after a provider refused the size of a request: half of the bytes, or fewer. */
export function leavingAfterRefusal(messages: readonly unknown[], recipient: Recipient): Leaving[] {
  const read = viewsIn(messages)
  const all = mediaIn(messages, read)
  const ofMedia = all.reduce((sum, { medium }) => sum + medium.bytes, 0)
  if (ofMedia < HARMLESS) return []
  const size = sizeOf(messages, read, all, 0)
  const { images } = mediaLimits(read.format, {}, recipient)
  return leavingUntil({ bytes: size.bytes - ofMedia / 2, images }, size, all, read)
}

function sizeOf(
  messages: readonly unknown[],
  { format, views }: ReadViews,
  all: readonly PlacedMedium[],
  beside: number,
): MediaLimits {
  // Each message has a comma or a bracket before it.
  const bytes = views.reduce((sum, view, index) => sum + 1 + bytesAt(messages, index, view, format), beside + 1)
  const blanks = views.reduce((sum, { blanks = 0 }) => sum + blanks, 0)
  return { bytes, images: all.filter(isImage).length + blanks }
}

/** The bytes of a message as it is sent, without the line of a log around it. */
function bytesAt(
  messages: readonly unknown[],
  index: number,
  view: MessageView,
  format: HistoryFormatName | undefined,
): number {
  const message = elementOf(messages, index) ?? messages[index]
  const isRead = format !== undefined && typeof message === 'object' && message !== null
  return messageBytes((isRead ? formatNamed(format).inner(message) : undefined) ?? message, view)
}

/**
 * Number of messages at the start that two histories have in common: the same objects, or others that say the same and have as many
 * bytes.
 */
export function sharedMessages(history: readonly unknown[], before: readonly unknown[]): number {
  const limit = Math.min(history.length, before.length)
  let index = 0
  while (index < limit && history[index] === before[index]) index++
  if (index === limit) return index
  const [read, known] = [viewsIn(history), viewsIn(before)]
  const isSame = (at: number) => {
    const [view, other] = [read.views[at] as MessageView, known.views[at] as MessageView]
    return sameView(view, other) && bytesAt(history, at, view, read.format) === bytesAt(before, at, other, known.format)
  }
  while (index < limit && isSame(index)) index++
  return index
}

/** The media of a history, the oldest first. */
function mediaIn(messages: readonly unknown[], { format, views }: ReadViews): PlacedMedium[] {
  const found: PlacedMedium[] = []
  if (format === undefined) return found
  for (const [index, { media, results }] of views.entries()) {
    // Most messages have none: their views are known, and reading the message again takes longer than all the rest.
    if (media === 0 && results.every((result) => result.media === 0)) continue
    const message = elementOf(messages, index)
    if (message === undefined) continue
    const parts = formatOf(format, message)?.mediaIn(message) ?? []
    for (const [place, { part, isBlanked }] of parts.entries()) {
      found.push({ index, place, medium: mediumOf(part), isBlanked })
    }
  }
  return found
}

function isImage({ medium }: PlacedMedium): boolean {
  return medium.type.startsWith('image')
}

/** Media that come again later go first. */
function inOrder(all: readonly PlacedMedium[]): PlacedMedium[] {
  const sizes = new Map<number, number>()
  for (const { medium } of all) sizes.set(medium.bytes, (sizes.get(medium.bytes) ?? 0) + 1)
  const later = new Set<string>()
  const again = new Set<PlacedMedium>()
  for (const placed of all.toReversed()) {
    // Equal media have as many bytes; a digest takes longer than all the rest.
    const key = sizes.get(placed.medium.bytes) === 1 ? undefined : mediumKey(placed.medium)
    if (key === undefined) continue
    if (later.has(key)) again.add(placed)
    later.add(key)
  }
  return [...all.filter((placed) => again.has(placed)), ...all.filter((placed) => !again.has(placed))]
}

/** The media that leave, by their messages. */
function byMessage(all: readonly PlacedMedium[], leaving: ReadonlySet<PlacedMedium>): Leaving[] {
  const indices = new Set([...leaving].map(({ index }) => index))
  const messages = new Map<number, (Medium | undefined)[]>()
  for (const placed of all) {
    if (!indices.has(placed.index)) continue
    const media = messages.get(placed.index) ?? []
    media[placed.place] = leaving.has(placed) ? placed.medium : undefined
    messages.set(placed.index, media)
  }
  return [...messages].map(([index, media]) => ({ index, media }))
}
