/** A session that wraps another one, and limits and completes the messages that are added. */

import { formatOf, viewOf, viewsIn } from '../history/formats'
import { unitsOf } from '../history/message-cache'
import type { CallView, MessageView, ResultView, ViewFormat } from '../history/message-view'
import { type PlacedCall, pairsOf } from '../history/tool-pairs'
import { boundResults } from '../overflow/limit-results'
import { GUARD_TRUNCATION_SUFFIX, HARD_MAX_TOOL_RESULT_CHARS, MIN_KEEP_CHARS } from '../overflow/limits'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import { asText, isArray } from '../util/guards'
import { warn } from '../util/warn'
import { amount, checkOptions, flag, fn, string } from '../validation/options'
import { isRevoked, wrong } from '../validation/validate'
import { branchEntries, isMessage } from './branch'
import type { NewSessionEntry, Session, SessionEntry } from './types'

/** Facts about a result that is about to be written. */
export interface GuardedResultInfo {
  toolCallId: string | undefined
  toolName: string | undefined
  /** True if the result was added because none had arrived. */
  synthetic: boolean
}

/** Options of {@link guardSession}. Hooks may be asynchronous. If one throws, a warning is issued and it changes nothing. */
export interface GuardSessionOptions {
  /**
   * Limit of all texts of a result together, in UTF-16 units.
   * @default 400000
   */
  maxToolResultChars?: number
  /**
   * Suffix of a truncated text; `{removed}` is replaced by the number of removed characters.
   * @default GUARD_TRUNCATION_SUFFIX, or the path of the saved output if the text names it
   */
  suffix?: string
  /**
   * True if a result is added for each call that has none when the next message arrives.
   * @default true
   */
  synthesizeMissing?: boolean
  /** The storage that full outputs were saved in: only paths that it owns are named. @default what this process saved */
  storage?: OutputOwner
  /** Called first: returns a replacement for any message. */
  transform?: (message: unknown) => unknown
  /** Called after truncation: returns a replacement for a result. */
  transformToolResult?: (message: unknown, info: GuardedResultInfo) => unknown
  /** Called last: returns the message to write, `{ block: true }` to write none, or `undefined` to keep it. */
  beforeWrite?: (message: unknown) => unknown
}

/** A session returned by `guardSession`. */
export interface GuardedSession extends Session {
  entries(): Promise<readonly SessionEntry[]>
  leaf(): Promise<string | null>
  /** Adds an entry. Returns its id, or that of the leaf if nothing was written. */
  append(entry: NewSessionEntry): Promise<string>
  branch(id: string | null): Promise<void>
  /** Adds results for calls that have none. */
  flush(): Promise<void>
  /** The ids of calls that wait for their results; those of an earlier process only after the first `append` or `flush`. */
  pending(): string[]
}

const CHECKS = {
  maxToolResultChars: amount,
  suffix: string,
  synthesizeMissing: flag,
  storage: owner,
  transform: fn,
  transformToolResult: fn,
  beforeWrite: fn,
} as const

/** No provider takes a longer name of a tool. */
const MAX_TOOL_NAME = 200

/** Placeholder of a result that never arrived. */
const MISSING = 'Error: missing tool result; the call was interrupted before its result was recorded.'

/**
 * Returns a session that wraps another one and limits added messages: tool results are truncated to
 * {@link HARD_MAX_TOOL_RESULT_CHARS} and end with {@link GUARD_TRUNCATION_SUFFIX}; if the next message arrives before the result
 * of a call, a result that says so is added; calls that never got any arguments are removed. Messages are written in the order in
 * which they were added. The messages of the caller are never changed.
 *
 * Calls that an earlier process left open wait as well. Added results have the format of their call, and their entries have `synthetic: true`. Each call keeps one result. A result that
 * arrives after one was added is stored as an entry of type `late_result`, which is not part of the history.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed
 */
export function guardSession(session: Session, options: GuardSessionOptions = {}): GuardedSession {
  if (isRevoked(session) || typeof session?.append !== 'function') throw wrong('session', session, 'a session')
  checkOptions('options', options, CHECKS)
  const guard = new Guard(session, options)
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    entries: () => inTurn(async () => session.entries()),
    leaf: () => inTurn(async () => session.leaf()),
    append: (entry) => inTurn(() => guard.append(entry)),
    branch: (id) => inTurn(() => guard.branch(id)),
    flush: () => inTurn(() => guard.flush()),
    pending: () => guard.pending(),
  }
}

interface PendingCall {
  id: string | undefined
  name: string | undefined
  /** The message that it is in, its place there, and the format of the message. */
  message: object
  place: number
  format: ViewFormat
}

class Guard {
  private waiting: PendingCall[] = []
  /** False until it is known which calls of the branch wait. */
  private hasRead = false

  constructor(
    private readonly session: Session,
    private readonly options: GuardSessionOptions,
  ) {}

  pending(): string[] {
    return this.waiting.flatMap(({ id }) => id ?? [])
  }

  async branch(id: string | null): Promise<void> {
    await this.flush()
    await this.session.branch(id)
    this.hasRead = false
  }

  async flush(): Promise<void> {
    await this.read()
    if (this.options.synthesizeMissing !== false) {
      for (const { message, of } of madeUp(this.waiting)) {
        const info = { toolCallId: of[0].id, toolName: of[0].name, synthetic: true }
        const entry = { type: 'message', message, synthetic: true }
        await this.write(entry, await this.hooked('transformToolResult', message, info))
        this.waiting = this.waiting.filter((call) => !of.includes(call))
      }
    }
    this.waiting = []
  }

  async append(entry: NewSessionEntry): Promise<string> {
    // Entries that are not messages may stand between a call and its result.
    if (entry?.type !== 'message' || entry.message === undefined) return this.session.append(entry)
    return this.add(entry, withCompleteCalls(await this.hooked('transform', entry.message)))
  }

  /** Reads which calls of the branch wait, as after a restart. */
  private async read(): Promise<void> {
    if (this.hasRead) return
    const messages = (await this.entriesOfBranch()).map(({ message }) => readingOf(message))
    this.waiting = messages.reduce<PendingCall[]>(waitingAfter, [])
    this.hasRead = true
  }

  private async entriesOfBranch() {
    return branchEntries(await this.session.entries(), await this.session.leaf()).filter(isMessage)
  }

  private async add(entry: NewSessionEntry, message: unknown): Promise<string> {
    await this.read()
    const reading = readingOf(message)
    const { format, results } = reading
    const late = await this.lateIn(results, format)
    if (late.size > 0) {
      const { taken, rest } = format?.takeResults(message as object, late) ?? { taken: message }
      const id = await this.write({ ...entry, type: 'late_result' }, this.capped(taken))
      return rest === undefined ? id : this.add(entry, rest)
    }
    if (message === undefined || (results.length === 0 && !reading.goesOn)) await this.flush()
    if (message === undefined) return this.current()
    const written = () => {
      this.waiting = waitingAfter(this.waiting, reading)
    }
    const [first] = results
    if (first === undefined) return this.write(entry, message, written)
    const info = { toolCallId: first.callId, toolName: first.toolName, synthetic: false }
    const named = this.withNames(message as object, results, format)
    const final = await this.hooked('transformToolResult', this.capped(named), info)
    return this.write(entry, final, written)
  }

  /** The places of results that no call waits for, because a result was added for theirs. */
  private async lateIn(results: readonly ResultView[], format: ViewFormat | undefined): Promise<ReadonlySet<number>> {
    if (format === undefined || matched(this.waiting, results).strays.size === 0) return NONE
    // Only the entries know what an earlier guard added, or what is on another branch.
    const branch = await this.entriesOfBranch()
    const added = branch.filter(({ synthetic }) => synthetic === true)
    const messages = branch.map(({ message }) => message)
    const answered = added.flatMap(({ message }) => viewOf(format, message).results)
    if (answered.length === 0) return NONE
    const pairs = pairsOf(format, messages)
    const open = pairs.open().flatMap(({ call }) => {
      const { message, place } = pairs.calls[call] as PlacedCall
      return viewOf(format, messages[message]).calls[place] ?? []
    })
    const { strays } = matched(open, results)
    return new Set([...strays].filter((place) => answered.some((one) => isSameCall(one, results[place] as ResultView))))
  }

  /** The message with the names of the calls where results have blank ones. */
  private withNames(message: object, results: readonly ResultView[], format: ViewFormat | undefined): object {
    const names = new Map<number, string>()
    results.forEach(({ callId, toolName }, place) => {
      const called = this.waiting.find(({ id }) => id !== undefined && id === callId)?.name
      if ((toolName ?? '').trim() === '' && called !== undefined) names.set(place, called)
    })
    return (names.size > 0 && format?.withToolNames(message, names)) || message
  }

  private capped(message: unknown): unknown {
    const {
      maxToolResultChars: cap = HARD_MAX_TOOL_RESULT_CHARS,
      suffix = GUARD_TRUNCATION_SUFFIX,
      storage,
    } = this.options
    const bounds = {
      weighted: false,
      cap,
      budget: null,
      minKeep: MIN_KEEP_CHARS,
      suffix,
      suffixGivesWay: this.options.suffix === undefined,
      storage,
    }
    const { messages } = boundResults([message], { profile: 'openclaw-2026-02', ...bounds })
    return withShortName(messages[0])
  }

  /** A call or a result that was not written would leave the other one alone: until then no call is awaited or answered. */
  private async write(entry: NewSessionEntry, message: unknown, written?: () => void): Promise<string> {
    const final = await this.hooked('beforeWrite', message)
    if ((final as { block?: unknown } | null)?.block === true) return this.current()
    const id = await this.session.append({ ...entry, message: final })
    written?.()
    return id
  }

  private async current(): Promise<string> {
    return (await this.session.leaf()) ?? ''
  }

  private async hooked(
    name: 'transform' | 'transformToolResult' | 'beforeWrite',
    message: unknown,
    info?: GuardedResultInfo,
  ): Promise<unknown> {
    const hook = this.options[name] as ((message: unknown, info?: GuardedResultInfo) => unknown) | undefined
    if (hook === undefined) return message
    try {
      return (await hook(message, info)) ?? message
    } catch (error) {
      warn(name, error)
      return message
    }
  }
}

/** The parts of a message that decide which calls wait. */
interface MessageReading {
  format: ViewFormat | undefined
  results: readonly ResultView[]
  calls: readonly PendingCall[]
  /** True for a message after which the calls before it may still get their results. */
  goesOn: boolean
}

function readingOf(message: unknown): MessageReading {
  const { format: name, views } = viewsIn([message])
  const [view] = views
  const format = name && formatOf(name, message)
  return {
    format,
    results: view?.results ?? [],
    calls: endedBadly(message) ? [] : callsOf(message as object, view, format),
    // Where everything is an item of its own, the other calls of an answer come one by one.
    goesOn: format?.flat === true && view?.role === 'assistant' && unitsOf(view.text) === 0,
  }
}

/** Returns the calls that wait after a message. */
function waitingAfter(before: readonly PendingCall[], { results, calls, goesOn }: MessageReading): PendingCall[] {
  if (results.length > 0) return matched(before, results).left
  const others = (all: readonly PendingCall[], call: PendingCall) =>
    all.filter(({ id }) => id === undefined || id !== call.id)
  return calls.reduce<PendingCall[]>((all, call) => [...others(all, call), call], goesOn ? [...before] : [])
}

/** A call, as far as a result names it. */
type Named = Pick<CallView, 'id' | 'name'>

const NONE: ReadonlySet<number> = new Set()

/**
 * The calls that are left without a result, and the places of results without a call. Results without ids come in the order of
 * their calls; if they are more than the calls that wait, those of earlier calls come first.
 */
function matched<C extends Named>(
  calls: readonly C[],
  results: readonly ResultView[],
): { left: C[]; strays: Set<number> } {
  const left = [...calls]
  const strays = new Set<number>()
  const unnamed = [...results.entries()].filter(([, { callId }]) => {
    const at = left.findIndex(({ id }) => id !== undefined && id === callId)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  for (const [at, [place, result]] of unnamed.entries()) {
    const open = left.filter((call) => isByName(call, result))
    const coming = unnamed.slice(at).filter(([, later]) => open.some((call) => isByName(call, later)))
    const [first] = open
    if (first === undefined || open.length < coming.length) strays.add(place)
    else left.splice(left.indexOf(first), 1)
  }
  return { left, strays }
}

/** Where one of both has no id, a result is of the call of its name. */
function isByName({ id, name }: Named, { callId, toolName }: ResultView): boolean {
  return (id === undefined || callId === undefined) && name === toolName
}

function isSameCall({ callId: id, toolName: name }: ResultView, result: ResultView): boolean {
  return (id !== undefined && id === result.callId) || isByName({ id, name }, result)
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

const CALL = /^(toolCall|toolUse|functionCall|tool_use)$/

/** A message without the calls that have no arguments at all; nothing if nothing else was in it. */
function withCompleteCalls(message: unknown): unknown {
  const { role, content } = fieldsOf(message)
  if (role !== 'assistant' || !isArray(content)) return message
  const whole = content.filter((part) => !isIncomplete(fieldsOf(part)))
  if (whole.length === content.length) return message
  return whole.length > 0 ? { ...fieldsOf(message), content: whole } : undefined
}

function isIncomplete(part: Fields): boolean {
  return CALL.test(asText(part.type)) && (part.arguments ?? part.input) === undefined
}

/** An answer that failed or was interrupted has calls that will never have results. */
function endedBadly(message: unknown): boolean {
  const { stopReason } = fieldsOf(message)
  return stopReason === 'error' || stopReason === 'aborted'
}

function callsOf(message: object, view: MessageView | undefined, format: ViewFormat | undefined): PendingCall[] {
  if (format === undefined) return []
  return (view?.calls ?? []).map(({ id, name }, place) => ({ id, name, message, place, format }))
}

/** Calls, of which there is one at least. */
type Calls = [PendingCall, ...PendingCall[]]

/** The results of calls that never got one, each message with the calls that it answers. */
function madeUp(calls: readonly PendingCall[]): { message: object; of: Calls }[] {
  const made: { message: object; of: Calls }[] = []
  const parts = new Map<object, { of: Calls; values: object[] }>()
  for (const call of calls) {
    const piece = call.format.missingResult(call.message, call.place, MISSING)
    if (piece?.kind === 'message') made.push({ message: piece.value, of: [call] })
    if (piece?.kind !== 'part') continue
    // Where results are parts of a message, those of one answer are in one.
    const together = parts.get(call.message)
    if (together === undefined) parts.set(call.message, { of: [call], values: [piece.value] })
    else {
      together.of.push(call)
      together.values.push(piece.value)
    }
  }
  for (const { of, values } of parts.values()) {
    const message = of[0].format.messageOf(values, of[0].message)
    if (message !== undefined) made.push({ message, of })
  }
  return made
}

function withShortName(message: unknown): unknown {
  const { toolName } = fieldsOf(message)
  if (typeof toolName !== 'string' || toolName.length <= MAX_TOOL_NAME) return message
  return { ...fieldsOf(message), toolName: toolName.slice(0, MAX_TOOL_NAME).toWellFormed() }
}
