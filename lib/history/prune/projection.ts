/** The history as it is sent: copies where something is left out, and the very same objects elsewhere. */

import type { CallView } from '../view'
import { shortArguments } from './file-access'
import type { HistoryItem } from './item'
import type { KnownMessage } from './reader'

/** A message in which something is left out. */
interface Changed {
  readonly texts: Map<HistoryItem, string>
  of: unknown
  copy: object | undefined
}

export class Projection {
  private readonly changed = new Map<number, Changed>()
  /** How many items are left out. */
  gone = 0
  /** The messages that were sent last. */
  private sent: unknown[] = []
  /** Messages that are not in {@link sent} as they are now. */
  private readonly stale = new Set<number>()

  /** Leaves an item out. */
  leaveOut(item: HistoryItem, text: string): void {
    const changed = this.changed.get(item.index) ?? { texts: new Map(), of: undefined, copy: undefined }
    this.changed.set(item.index, changed)
    if (!changed.texts.has(item)) this.gone++
    changed.texts.set(item, text)
    changed.of = undefined
    this.stale.add(item.index)
  }

  /** Forgets the messages from this index on. */
  dropFrom(index: number): void {
    this.sent.length = Math.min(this.sent.length, index)
    for (const [at, { texts }] of this.changed) {
      if (at < index) continue
      this.gone -= texts.size
      this.changed.delete(at)
    }
  }

  /**
   * What to send for these messages, of which `known` says how they were read. The first `same` are the very objects of the
   * last time.
   */
  apply<M>(messages: readonly M[], known: readonly KnownMessage[], same: number): M[] {
    if (this.gone === 0) {
      this.sent = []
      return messages as M[]
    }
    const { sent } = this
    const from = Math.min(same, sent.length)
    sent.length = from
    for (let index = from; index < messages.length; index++) {
      sent.push(messages[index])
      if (this.changed.has(index)) this.stale.add(index)
    }
    for (const index of this.stale) {
      if (index < messages.length) sent[index] = this.copy(index, known[index] as KnownMessage) ?? messages[index]
    }
    this.stale.clear()
    // The caller owns what is given back.
    return sent.slice() as M[]
  }

  /** The copy of a message; `undefined` if nothing in it is left out. */
  private copy(index: number, message: KnownMessage): object | undefined {
    const changed = this.changed.get(index)
    if (changed !== undefined && (changed.of !== message.object || changed.copy === undefined)) {
      // What is offered to the binary can be copied; should a proxy have changed its mind, its message goes out whole.
      changed.copy = copyOf(message, changed.texts)
      changed.of = message.object
    }
    return changed?.copy
  }
}

function copyOf({ object, read, view }: KnownMessage, texts: ReadonlyMap<HistoryItem, string>): object | undefined {
  const results = new Map<number, string>()
  const args = new Map<number, Readonly<Record<string, unknown>>>()
  for (const [item, text] of texts) {
    if (item.kind === 'result') results.set(item.place, text)
    else args.set(item.place, shortArguments(view.calls[item.place] as CallView, text))
  }
  let copy = object as object | undefined
  if (results.size > 0) copy = copy && read?.format?.withResults(copy, results)
  if (args.size > 0) copy = copy && read?.format?.withArguments(copy, args)
  return copy
}
