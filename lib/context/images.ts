/** Images that left a history: from then on notes replace them, with the same bytes at every request. */

import { elementOf, formatNamed, formatOf, viewOf } from '../history/formats'
import { mediumOf } from '../history/media'
import { messageSize } from '../history/message-identity'
import type { HistoryFormatName, MediaNotes } from '../history/message-view'
import { isArray, isCount } from '../util/guards'

/**
 * A message without its images: its index in the stored history, a number by which it is known again, the note, tokens saved, and a
 * fingerprint of the images that left.
 */
export type WithoutImages = [index: number, size: number, note: MediaNotes, saved: number, fingerprint: string]

/** State, as JSON. */
export interface ImagesState {
  format: HistoryFormatName
  messages: WithoutImages[]
}

/** The messages of a stored history that go out without their images. */
export class Images<M> {
  private readonly copies = new WeakMap<object, { note: MediaNotes; copy: M }>()

  constructor(private state: ImagesState | undefined) {}

  /** Tokens that it saves. */
  get saved(): number {
    return this.state?.messages.reduce((sum, [, , , saved]) => sum + saved, 0) ?? 0
  }

  toJSON(): ImagesState | undefined {
    return this.state && { ...this.state, messages: this.state.messages.map((one): WithoutImages => [...one]) }
  }

  /** It is another history, or only these messages of it are shown. */
  keep(isShown: (index: number) => boolean = () => false): void {
    const messages = this.state?.messages.filter(([index]) => isShown(index)) ?? []
    this.state = this.state && messages.length > 0 ? { ...this.state, messages } : undefined
  }

  /** Puts notes in place of more images, by the indices of their messages. */
  add(
    stored: readonly M[],
    notes: ReadonlyMap<number, MediaNotes>,
    format: HistoryFormatName,
    tokensOf: (messages: readonly M[]) => number,
  ): void {
    const known = new Map((this.state?.messages ?? []).map((one) => [one[0], one]))
    for (const [index, note] of notes) {
      const message = elementOf(stored, index) as M
      const all = merged(known.get(index)?.[2], note)
      const copy = this.without(message, format, all)
      if (copy === undefined) continue
      const saved = tokensOf([message]) - tokensOf([copy])
      const fingerprint = fingerprintOf(message, format, all)
      known.set(index, [index, messageSize(viewOf(format, message)), all, saved, fingerprint])
    }
    const messages = [...known.values()].sort(([a], [b]) => a - b)
    if (messages.length > 0) this.state = { format, messages }
  }

  /**
   * A history with the notes; `history` is the stored one with its summary, where `at` says which message is which. The array itself
   * if there are none.
   */
  apply(stored: readonly M[], history: M[], at: (index: number) => number): M[] {
    if (this.state === undefined) return history
    const { format, messages } = this.state
    const copies = new Map<number, M>()
    for (const [index, size, note, , fingerprint] of messages) {
      const message = elementOf(stored, index) as M
      const isKnown =
        messageSize(viewOf(format, message)) === size && fingerprintOf(message, format, note) === fingerprint
      const copy = isKnown ? this.without(message, format, note) : undefined
      // From here on it is another history.
      if (copy === undefined) {
        this.keep((at) => at < index)
        break
      }
      copies.set(index, copy)
    }
    if (copies.size === 0) return history
    return history.map((message, index) => {
      const copy = copies.get(at(index))
      // A summary has no place in the stored history.
      return copy !== undefined && elementOf(stored, at(index)) === message ? copy : message
    })
  }

  private without(message: M, format: HistoryFormatName, note: MediaNotes): M | undefined {
    const known = this.copies.get(message as object)
    if (known?.note === note) return known.copy
    const copy = formatOf(format, message)?.withoutMedia(message as object, note) as M | undefined
    if (copy !== undefined) this.copies.set(message as object, { note, copy })
    return copy
  }
}

/** A text by which the media are known again that these notes replace. */
function fingerprintOf(message: unknown, format: HistoryFormatName, note: MediaNotes): string {
  const media = formatOf(format, message)?.mediaIn(message as object) ?? []
  const left = media.filter((_, place) => typeof note === 'string' || typeof note[place] === 'string')
  return left.map(({ part }) => mediumOf(part).fingerprint()).join(', ')
}

/** The notes of a message from which more leaves: those that it has stay the same. */
function merged(before: MediaNotes | undefined, more: MediaNotes): MediaNotes {
  if (before === undefined || typeof before === 'string') return before ?? more
  return before.map((note, place) => note ?? (typeof more === 'string' ? more : (more[place] ?? null)))
}

/** True if a state is one that {@link Images.toJSON} gave. */
export function isImages(value: unknown): boolean {
  const { format, messages } = Object(value) as Partial<ImagesState>
  const isOne = ([index, size, note, saved, fingerprint]: unknown[]) =>
    isCount(index) &&
    [size, saved].every(Number.isFinite) &&
    typeof fingerprint === 'string' &&
    (typeof note === 'string' || (isArray(note) && note.every((one) => one === null || typeof one === 'string')))
  return (
    formatNamed(format as never) !== undefined &&
    isArray(messages) &&
    messages.every((one) => isArray(one) && one.length === 5 && isOne(one))
  )
}
