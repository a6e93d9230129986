/** The history as it is sent: copies where something is left out, and the very same objects elsewhere. */

import type { CallView } from '../view'
import { shortArguments } from './file-access'
import type { HistoryItem } from './item'
import type { KnownMessage } from './reader'

/** A message in which something is left out. */
interface Changed {
  readonly items: HistoryItem[]
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
    let changed = this.changed.get(item.index)
    if (changed === undefined) {
      changed = { items: [], of: undefined, copy: undefined }
      this.changed.set(item.index, changed)
    }
    if (item.sent === undefined) {
      changed.items.push(item)
      this.gone++
    }
    item.sent = text
    changed.of = undefined
    this.stale.add(item.index)
  }

  /** Forgets the messages from this index on. */
  dropFrom(index: number): void {
    this.sent.length = Math.min(this.sent.length, index)
    for (const [at, { items }] of this.changed) {
      if (at < index) continue
      this.gone -= items.length
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
      changed.copy = copyOf(message, changed.items)
      changed.of = message.object
    }
    return changed?.copy
  }
}

function copyOf({ object, format, view }: KnownMessage, items: readonly HistoryItem[]): object | undefined {
  let results: Map<number, string> | undefined
  let args: Map<number, Readonly<Record<string, unknown>>> | undefined
  for (const { kind, place, sent = '' } of items) {
    if (kind === 'result') {
      results ??= new Map()
      results.set(place, sent)
    } else {
      args ??= new Map()
      args.set(place, shortArguments(view.calls[place] as CallView, sent))
    }
  }
  let copy = object as object | undefined
  if (results !== undefined) copy = copy && format?.withResults(copy, results)
  if (args !== undefined) copy = copy && format?.withArguments(copy, args)
  return copy
}
