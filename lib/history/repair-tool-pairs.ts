/** Repairs calls without results and results without calls, because providers refuse such a history. */

import { isArray } from '../util/guards'
import { checkKeys, checkOneOf, isRecord, wrong } from '../validation/validate'
import { warnUnreadable } from './format-warning'
import { detectFormat, elementOf, FORMATS, formatNamed, formatOf, viewOf } from './formats'
import type { HistoryFormatName, ResultPiece, ViewFormat } from './message-view'
import { pairsOf, type ToolPairs } from './tool-pairs'

/** Default text of a synthesised result. */
const MISSING_RESULT = '[missing tool result: the call was interrupted, or its result was lost]'

/** Options of {@link repairToolPairs}. */
export interface RepairToolPairsOptions {
  /**
   * The format of the history.
   * @default detectFormat(messages)
   */
  format?: HistoryFormatName
  /**
   * Text of a synthesised result.
   * @default '[missing tool result: the call was interrupted, or its result was lost]'
   */
  text?: string
  /**
   * Calls at the end of the history may still be running, because no message followed. `'keep'` leaves them open, `'close'` adds
   * results for them too, for example after a crash or before a session is stored for the last time.
   * @default 'keep'
   */
  runningCalls?: 'keep' | 'close'
}

const OPTIONS = ['format', 'text', 'runningCalls'] as const

/**
 * Restores the pairs of calls and results, so that a provider accepts the history.
 *
 * - A call without a result gets one that says that the result is missing, marked as an error if the format supports that. It
 * comes after the results of the same turn, in the same message if the format keeps results together, or directly after its call
 * in formats whose calls and results may be in any order (OpenAI's Responses and Agents SDK). A call that may still be running at
 * the end of the history is left open.
 * - A result without a call before it, or of a call that already has a result, is removed, and so is a message that becomes empty.
 * - An empty tool name in a result is replaced by that of its call.
 * - A result that comes after a later message is moved to its call; where the order is free it stays.
 *
 * Calls, and complete pairs, are never removed. Repairing twice changes nothing more. The
 * format of a message defines its calls and results; results in the format `mcp` have no calls and stay.
 *
 * @param messages the history, in any of the formats
 * @returns a new array in which unchanged messages are the same objects (`===`); `messages` itself if there is nothing to do
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export function repairToolPairs<M>(messages: readonly M[], options?: RepairToolPairsOptions): M[] {
  const { format: asked, text = MISSING_RESULT, runningCalls = 'keep' } = checked(options)
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const name = asked ?? detectFormat(messages)
  warnUnreadable('repairToolPairs', messages, name)
  if (name === undefined || name === 'mcp') return messages as M[]
  const format = formatNamed(name)
  let repaired: readonly unknown[] = messages
  // The next pass matches moved results by id; where ids and names contradict each other, that can be another call.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const repair = new Repair(format, repaired)
    repair.fillNames()
    repair.takeStrayResults()
    repair.addMissingResults(text.toWellFormed(), runningCalls === 'close')
    if (!repair.isNeeded) break
    repaired = repair.repaired()
  }
  return repaired as M[]
}

/** One pass repairs any history of a sane agent, and the next finds nothing to do. */
const MAX_PASSES = 10

function checked(options: RepairToolPairsOptions | undefined): RepairToolPairsOptions {
  if (options === undefined) return {}
  const given: unknown = options
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  checkKeys('options', options, OPTIONS)
  const { format, text, runningCalls } = options
  const names = FORMATS.map(({ name }) => name)
  checkOneOf('options.format', format, names)
  if (text !== undefined && typeof text !== 'string') throw wrong('options.text', text, 'a string')
  checkOneOf('options.runningCalls', runningCalls, ['keep', 'close'])
  return options
}

/** A result that comes to a call. */
interface Arrival {
  readonly call: number
  readonly piece: ResultPiece
  readonly format: ViewFormat
}

/** Changes that a history needs. */
class Repair {
  private readonly pairs: ToolPairs
  /** The results to take out of messages, by their places. */
  private readonly taken = new Map<number, Set<number>>()
  /** The results that come to the calls of messages. */
  private readonly arrivals = new Map<number, Arrival[]>()
  /** Copies of messages in which blank names of tools are filled. */
  private readonly named = new Map<number, object>()

  constructor(
    private readonly format: ViewFormat,
    private readonly messages: readonly unknown[],
  ) {
    this.pairs = pairsOf(format, messages)
  }

  get isNeeded(): boolean {
    return this.taken.size > 0 || this.arrivals.size > 0 || this.named.size > 0
  }

  /** Results that answer nothing go; those that come too late go to their calls. */
  takeStrayResults(): void {
    for (const { message, place, call, late } of this.pairs.results) {
      if (call === undefined) this.take(message, place)
      else if (late && !this.format.flat) this.move(message, place, call)
    }
  }

  /** A blank name of a tool becomes that of the call: some providers refuse it. */
  fillNames(): void {
    const names = new Map<number, Map<number, string>>()
    for (const { message, place, call } of this.pairs.results) {
      const called = call === undefined ? undefined : this.placeOf(call)
      const name = called && viewOf(this.format, this.messages[called.message]).calls[called.place]?.name
      if (name === undefined || name.trim() === '') continue
      const { toolName = '' } = viewOf(this.format, this.messages[message]).results[place] ?? {}
      if (toolName.trim() !== '') continue
      names.set(message, (names.get(message) ?? new Map<number, string>()).set(place, name))
    }
    for (const [message, fills] of names) {
      const before = this.at(message)
      const copy = this.formatAt(message)?.withToolNames(before, fills)
      if (copy !== undefined && copy !== before) this.named.set(message, copy)
    }
  }

  addMissingResults(text: string, close: boolean): void {
    for (const { call, running } of this.pairs.open()) {
      if (running && !close) continue
      const { message, place } = this.placeOf(call)
      const format = this.formatAt(message)
      const piece = format?.missingResult(this.at(message), place, text)
      if (format !== undefined && piece !== undefined) this.arrive({ call, piece, format })
    }
  }

  repaired(): unknown[] {
    const anchors = new Map<number, Arrival[]>()
    for (const [message, arrivals] of this.arrivals) {
      arrivals.sort((a, b) => a.call - b.call)
      anchors.set(this.anchorOf(message), arrivals)
    }
    const repaired: unknown[] = []
    for (let at = 0; at < this.messages.length; at++) {
      const rest = this.restOf(at)
      const arrivals = anchors.get(at)
      if (arrivals === undefined) {
        if (rest.isLeft) repaired.push(rest.message)
        continue
      }
      repaired.push(...this.joined(at, rest.message, arrivals))
    }
    return repaired
  }

  private take(message: number, place: number): void {
    const places = this.taken.get(message)
    if (places === undefined) this.taken.set(message, new Set([place]))
    else places.add(place)
  }

  private move(message: number, place: number, call: number): void {
    const format = this.formatAt(message)
    const piece = format?.takeResults(this.at(message), new Set([place]))?.pieces[0]
    if (format === undefined || piece === undefined) return
    // A part fits into messages of its own format only.
    if (piece.kind === 'part' && this.formatAt(this.placeOf(call).message) !== format) return
    this.take(message, place)
    this.arrive({ call, piece, format })
  }

  private arrive(arrival: Arrival): void {
    const { message } = this.placeOf(arrival.call)
    const arrivals = this.arrivals.get(message)
    if (arrivals === undefined) this.arrivals.set(message, [arrival])
    else arrivals.push(arrival)
  }

  /** The last message with results of the same turn, after which others can come, or the call's own. */
  private anchorOf(message: number): number {
    let anchor = message
    if (this.format.flat) return anchor
    for (let at = message + 1; at < this.messages.length; at++) {
      const { role, results } = viewOf(this.format, this.messages[at])
      const stays = results.length > (this.taken.get(at)?.size ?? 0)
      if (stays) anchor = at
      if (role === 'user' || role === 'assistant') break
    }
    return anchor
  }

  /** Returns a message without its stray results. A message that cannot be copied is returned unchanged. */
  private restOf(at: number): { message: unknown; isLeft: boolean } {
    const message = this.named.get(at) ?? this.messages[at]
    const places = this.taken.get(at)
    const left = places && this.formatAt(at)?.takeResults(this.at(at), places)
    if (left === undefined) return { message, isLeft: true }
    return { message: left.rest, isLeft: left.rest !== undefined }
  }

  /** The message at the anchor, with what comes there. */
  private joined(at: number, anchor: unknown, arrivals: readonly Arrival[]): unknown[] {
    const format = this.formatAt(at)
    const parts = arrivals.filter(({ piece }) => piece.kind === 'part')
    const messages = arrivals.filter(({ piece }) => piece.kind === 'message').map(({ piece }) => piece.value)
    if (parts.length === 0) return [anchor, ...messages]
    const [first] = parts as [Arrival]
    const values = parts.map(({ piece }) => piece.value)
    const caller = this.placeOf(first.call).message
    if (at !== caller && format === first.format) {
      const merged = format.withParts(anchor as object, values)
      if (merged !== undefined) return [merged, ...messages]
    }
    const made = first.format.messageOf(values, this.at(caller))
    return made === undefined ? [anchor, ...messages] : [anchor, made, ...messages]
  }

  private placeOf(call: number) {
    return this.pairs.calls[call] as ToolPairs['calls'][number]
  }

  private formatAt(message: number): ViewFormat | undefined {
    return formatOf(this.format, this.at(message))
  }

  private at(message: number): object {
    return this.named.get(message) ?? (elementOf(this.messages, message) as object)
  }
}
