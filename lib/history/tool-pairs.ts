/** Pairs results with calls, in any format. The binary decides; this module prepares its input. */

import { call, native } from '../native/native'
import { elementOf, formatNamed, viewOf } from './formats'
import type { CallView, HistoryFormatName, MessageView, ResultView, ViewFormat } from './message-view'

const { EVENT_USER, EVENT_ASSISTANT, EVENT_CALL, EVENT_RESULT } = native

/** A call: the place of its message in the history, and its own among the calls of the message. */
export interface PlacedCall {
  readonly message: number
  readonly place: number
}

/** A result, placed the same way. */
export interface PlacedResult {
  readonly message: number
  readonly place: number
  /** The number of the call that it answers; `undefined` if there is none before it that is open. */
  readonly call: number | undefined
  /** Another message is between the call's turn and this result. */
  readonly late: boolean
}

/** The calls and results of a history that may grow: what was read once is not read again. */
export class ToolPairs {
  readonly calls: PlacedCall[] = []
  readonly results: PlacedResult[] = []
  private readonly handle: object
  private readonly ids = new Map<string, number>()
  private readonly names = new Map<string, number>()
  private readonly seen: unknown[] = []

  private readonly format: ViewFormat

  /** `format` is that of the history. */
  constructor(format: HistoryFormatName | ViewFormat) {
    this.format = typeof format === 'string' ? formatNamed(format) : format
    this.handle = call(() => native.pairsNew(this.format.flat))
  }

  /**
   * Reads the messages that are new. Answers `false`, and reads nothing, if the history is not one that the messages read
   * so far are the beginning of. The first `unchanged` are known to say what they said, and not looked at. `viewAt` is for
   * who has the views already.
   */
  extend(messages: readonly unknown[], unchanged = 0, viewAt?: (index: number) => MessageView): boolean {
    if (messages.length < this.seen.length) return false
    for (let at = unchanged; at < this.seen.length; at++) {
      if (this.seen[at] !== elementOf(messages, at)) return false
    }
    const events = new Events()
    const from = this.results.length
    for (let at = this.seen.length; at < messages.length; at++) {
      const message = elementOf(messages, at)
      this.seen.push(message)
      this.read(viewAt?.(at) ?? viewOf(this.format, message), at, events)
    }
    if (events.length === 0) return true
    const answers = call(() => native.pairsExtend(this.handle, events.all))
    for (let at = 0; at < answers.length; at += 2) {
      const result = this.results[from + at / 2] as { -readonly [K in keyof PlacedResult]: PlacedResult[K] }
      const found = answers[at] as number
      if (found > 0) result.call = found - 1
      result.late = answers[at + 1] === 1
    }
    return true
  }

  /** The numbers of the calls that nothing answers, and whether they may still be running at the end of the history. */
  open(): { call: number; running: boolean }[] {
    const numbers = call(() => native.pairsOpen(this.handle))
    const calls: { call: number; running: boolean }[] = []
    for (let at = 0; at < numbers.length; at += 2) {
      calls.push({ call: numbers[at] as number, running: numbers[at + 1] === 1 })
    }
    return calls
  }

  private read({ role, calls, results }: MessageView, message: number, events: Events): void {
    for (let place = 0; place < results.length; place++) {
      const { callId, toolName } = results[place] as ResultView
      events.push(EVENT_RESULT, numberOf(this.ids, callId), numberOf(this.names, toolName))
      this.results.push({ message, place, call: undefined, late: false })
    }
    if (role === 'user') events.push(EVENT_USER, 0, 0)
    if (role === 'assistant') events.push(EVENT_ASSISTANT, 0, 0)
    for (let place = 0; place < calls.length; place++) {
      const { id, name } = calls[place] as CallView
      events.push(EVENT_CALL, numberOf(this.ids, id), numberOf(this.names, name))
      this.calls.push({ message, place })
    }
  }
}

/** Events as the core reads them: three numbers each. */
class Events {
  private held = new Uint32Array(48)
  length = 0

  push(kind: number, id: number, name: number): void {
    if (this.length === this.held.length) {
      const more = new Uint32Array(2 * this.length)
      more.set(this.held)
      this.held = more
    }
    this.held[this.length++] = kind
    this.held[this.length++] = id
    this.held[this.length++] = name
  }

  get all(): Uint32Array {
    return this.held.subarray(0, this.length)
  }
}

/** The number of a text among others, from 1 on; 0 for none. */
function numberOf(numbers: Map<string, number>, text: string | undefined): number {
  if (text === undefined) return 0
  let number = numbers.get(text)
  if (number === undefined) {
    number = numbers.size + 1
    numbers.set(text, number)
  }
  return number
}

/** The pairs of a whole history; `views` are those of its messages, if they are known. */
export function pairsOf(
  format: HistoryFormatName | ViewFormat,
  messages: readonly unknown[],
  views?: readonly MessageView[],
): ToolPairs {
  const pairs = new ToolPairs(format)
  pairs.extend(messages, 0, views && ((at) => views[at] as MessageView))
  return pairs
}
