/** Images that left a history: from then on notes replace them, with the same bytes at every request. */

import { elementOf, formatNamed, formatOf, viewOf } from '../history/formats'
import { messageSize } from '../history/message-identity'
import type { HistoryFormatName } from '../history/message-view'
import { isArray } from '../util/guards'

/** A message without its images: its index in the stored history, a number by which it is known again, the note, tokens saved. */
export type WithoutImages = [index: number, size: number, note: string | readonly string[], saved: number]

/** State, as JSON. */
export interface ImagesState {
  format: HistoryFormatName
  messages: WithoutImages[]
}

/** The messages of a stored history that go out without their images. */
export class Images<M> {
  private readonly copies = new WeakMap<object, M>()

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

  /** Takes the images out of these messages, too. */
  add(
    stored: readonly M[],
    indices: readonly number[],
    { format, note }: { format: HistoryFormatName; note: string | readonly string[] },
    tokensOf: (messages: readonly M[]) => number,
  ): void {
    const messages = this.state?.messages.slice() ?? []
    for (const index of indices) {
      const message = elementOf(stored, index) as M
      const copy = this.without(message, format, note)
      if (copy === undefined) continue
      messages.push([index, messageSize(viewOf(format, message)), note, tokensOf([message]) - tokensOf([copy])])
    }
    messages.sort(([a], [b]) => a - b)
    if (messages.length > 0) this.state = { format, messages }
  }

  /** A history with the notes; `history` is what a fold made of the stored one. The array itself if there are none. */
  apply(stored: readonly M[], history: M[]): M[] {
    if (this.state === undefined) return history
    const { format, messages } = this.state
    const copies = new Map<M, M>()
    for (const [index, size, note] of messages) {
      const message = elementOf(stored, index) as M
      const copy = messageSize(viewOf(format, message)) === size ? this.without(message, format, note) : undefined
      // From here on it is another history.
      if (copy === undefined) {
        this.keep((at) => at < index)
        break
      }
      copies.set(message, copy)
    }
    return copies.size > 0 ? history.map((message) => copies.get(message) ?? message) : history
  }

  private without(message: M, format: HistoryFormatName, note: string | readonly string[]): M | undefined {
    const known = this.copies.get(message as object)
    if (known !== undefined) return known
    const copy = formatOf(format, message)?.withoutMedia(message as object, note) as M | undefined
    if (copy !== undefined) this.copies.set(message as object, copy)
    return copy
  }
}

/** True if a state is one that {@link Images.toJSON} gave. */
export function isImages(value: unknown): boolean {
  const { format, messages } = Object(value) as Partial<ImagesState>
  const isOne = ([index, size, note, saved]: unknown[]) =>
    Number.isSafeInteger(index) &&
    (index as number) >= 0 &&
    [size, saved].every(Number.isFinite) &&
    (typeof note === 'string' || (isArray(note) && note.every((one) => typeof one === 'string')))
  return (
    formatNamed(format as never) !== undefined &&
    isArray(messages) &&
    messages.every((one) => isArray(one) && one.length === 4 && isOne(one))
  )
}
