/** The history as it is sent: copies where something is left out; unchanged messages are the same objects (`===`). */

import type { CallView } from '../history/message-view'
import { shortArguments } from './file-access'
import type { KnownMessage } from './known-message'
import type { HistoryItem } from './prunable-item'

export class PrunedView {
  /** How many items are left out. */
  gone = 0
  /** How many messages are sent without their signed reasoning. */
  private withoutThinking = 0
  /** The messages that were sent last. */
  private sent: unknown[] = []
  /** Messages that are not in {@link sent} as they are now. */
  private readonly stale = new Set<number>()

  /** Leaves an item of a message out. */
  leaveOut(item: HistoryItem, message: KnownMessage, text: string): void {
    if (item.sent === undefined) {
      message.gone++
      this.gone++
    }
    item.sent = text
    message.copy = undefined
    this.stale.add(item.index)
  }

  /** Leaves the signed reasoning of a message out. */
  leaveThinkingOut(index: number, message: KnownMessage): void {
    if (message.isWithoutThinking) return
    message.isWithoutThinking = true
    message.copy = undefined
    this.withoutThinking++
    this.stale.add(index)
  }

  /** Forgets these messages, which begin at this index, and their items. */
  dropFrom(index: number, messages: readonly KnownMessage[], items: readonly HistoryItem[]): void {
    this.sent.length = Math.min(this.sent.length, index)
    for (const { isWithoutThinking } of messages) if (isWithoutThinking) this.withoutThinking--
    for (const { sent } of items) if (sent !== undefined) this.gone--
  }

  /**
   * Returns the messages to send; `known` says how they were read, with the items in them. The first `same` are
   * the very objects of the last time.
   */
  apply<M>(messages: readonly M[], known: readonly KnownMessage[], items: readonly HistoryItem[], same: number): M[] {
    if (this.gone + this.withoutThinking === 0) {
      this.sent = []
      return messages as M[]
    }
    const { sent } = this
    const from = Math.min(same, sent.length)
    sent.length = from
    for (let index = from; index < messages.length; index++) {
      sent.push(messages[index])
      if (isChanged(known[index])) this.stale.add(index)
    }
    for (const index of this.stale) {
      if (index < messages.length) sent[index] = copyAt(index, known, items) ?? messages[index]
    }
    this.stale.clear()
    // The caller owns what is given back.
    return sent.slice() as M[]
  }
}

/** The copy of a message; `undefined` if nothing in it is left out. */
function copyAt(index: number, known: readonly KnownMessage[], items: readonly HistoryItem[]): object | undefined {
  const message = known[index]
  if (message === undefined || !isChanged(message)) return undefined
  // Items passed to the core could be copied; if a proxy changed since then, its message is sent whole.
  message.copy ??= copyOf(index, message, items)
  return message.copy
}

function isChanged(message: KnownMessage | undefined): boolean {
  return message !== undefined && (message.gone > 0 || message.isWithoutThinking)
}

function copyOf(
  index: number,
  { object, format, view, itemsBefore, isWithoutThinking }: KnownMessage,
  items: readonly HistoryItem[],
): object | undefined {
  let results: Map<number, string> | undefined
  let alone: Set<number> | undefined
  let args: Map<number, Readonly<Record<string, unknown>>> | undefined
  for (let at = itemsBefore; items[at]?.index === index && at < items.length; at++) {
    const { kind, place, sent, hasMedia, restored } = items[at] as HistoryItem
    if (sent === undefined) continue
    if (kind === 'result') {
      results ??= new Map()
      results.set(place, sent)
      // A text that comes back takes the place of a text alone.
      if (hasMedia && !restored) {
        alone ??= new Set()
        alone.add(place)
      }
    } else {
      args ??= new Map()
      args.set(place, shortArguments(view.calls[place] as CallView, sent))
    }
  }
  let copy = object as object | undefined
  if (results !== undefined) copy = copy && format?.withResults(copy, results, alone)
  if (args !== undefined) copy = copy && format?.withArguments(copy, args)
  if (isWithoutThinking) copy = copy && (format?.withoutThinking(copy) ?? copy)
  return copy
}
