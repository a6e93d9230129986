/** Replaces lines of a result that are already in the context by a pointer, when the result first enters it. */

import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { call, native } from '../native/native'
import { estimateTokens } from '../tokens/tokens'
import type { FoldEdit, FoldRecord } from '../types'
import { isArray } from '../util/guards'
import { tellCaller } from '../util/warn'
import { type Check, checkOptions, flag, fn, strings, wholeFrom } from '../validation/options'
import { isRecord, readable, wrong } from '../validation/validate'
import { type HistoryInView, historyInView, type ResultInView } from './results-in-view'
import { TestChanges } from './test-changes'

/** Options of {@link FoldSession}. */
export interface FoldOptions {
  /** Minimum number of lines in a run that a pointer replaces. A whole number of at least 4. @default 8 */
  minLines?: number
  /** Minimum UTF-8 bytes of such a run. A whole number of at least 1. @default 300 */
  minBytes?: number
  /** Maximum bytes of the index of lines. A whole number of at least 65536. @default 8388608 */
  maxIndexBytes?: number
  /**
   * Tools by their names: with `false` their results are never folded, though later results may point to them; limits apply to their
   * results in place of those above.
   */
  tools?: Readonly<Record<string, boolean | FoldLimits>>
  /** Called with each result of which a part was replaced. An error in it is a warning of the process. */
  onFold?: (event: FoldEvent) => void
}

/** Options of {@link FoldSession.restore}. */
export interface FoldRestoreOptions {
  /** Says which results were folded, and how: the ledger that everything else has that shortens the history. */
  ledger?: ToolResultKnowledge
}

/** Limits for the results of one tool. */
export type FoldLimits = Pick<FoldOptions, 'minLines' | 'minBytes'>

/** A result of which a part was replaced. */
export interface FoldEvent {
  toolName: string
  toolCallId: string
  /** UTF-8 bytes of the result before folding. */
  bytes: number
  /** UTF-8 bytes that were saved. */
  savedBytes: number
  /** The same in tokens, by an estimate. */
  savedTokens: number
  /** Number of places that were replaced. */
  pointers: number
}

/** The call whose result is folded. */
export interface FoldCall {
  toolName: string
  /** The id by which the target of a pointer is identified. A result without an id is not folded. */
  toolCallId?: string | undefined
  /** The arguments: pointers name the result by them, and results of equal calls are compared. */
  args?: Readonly<Record<string, unknown>> | undefined
  /** The folder that it ran in: a test run is compared with runs of the same folder only. */
  workingDirectory?: string | undefined
  /** The result is never folded. */
  protect?: boolean | undefined
  /** Lines with one of these texts stay. */
  keep?: readonly string[] | undefined
}

/** A call that begins to run. */
export type BegunCall = Pick<FoldCall, 'toolName' | 'toolCallId' | 'args'>

/** A call that runs, or that ended while others ran. */
interface RunningCall {
  toolName: string
  args: string
  /** Names of its texts in pointers, once another call asked for them. */
  labels?: readonly string[]
  /** The number that the next text had when the call began, and the time of its begin or end among those of other calls. */
  since: number
  time: number
}

/** The texts that a pointer may not lead to: those with this number or a later one, and those of the calls beside it. */
interface Beside {
  since: number
  calls: readonly RunningCall[]
  labels: readonly string[]
}

/** A text with pointers in place of lines. */
export interface FoldedText {
  content: string
  /** The record of the edits; absent if there are none. Keep it: a ledger carries it as `folds`. */
  record?: FoldRecord
}

/** Totals of a session. */
export interface FoldReport {
  /** Results that were given. */
  results: number
  /** Results of which a part was replaced. */
  folded: number
  /** UTF-8 bytes of all results before folding. */
  bytes: number
  /** UTF-8 bytes that were saved by pointers and by writing paths only once. */
  savedBytes: number
  /** The same in tokens, by an estimate. */
  savedTokens: number
  /** Bytes of the index, and lines that it knows. */
  index: { bytes: number; lines: number }
}

const CHECKS: { readonly [K in keyof Required<FoldOptions>]: Check } = {
  minLines: wholeFrom(4),
  minBytes: wholeFrom(1),
  maxIndexBytes: wholeFrom(65_536),
  tools: [
    'an object with true, false or limits for names of tools',
    (value) => isRecord(value) && Object.values(value).every((each) => typeof each === 'boolean' || isRecord(each)),
  ],
  onFold: fn,
}

const RESTORE_CHECKS = { ledger: LEDGER_CHECK }

const LIMITS = { minLines: CHECKS.minLines, minBytes: CHECKS.minBytes }

/** Default of the index, and bytes that a text and each of its lines take in it at least. */
const MAX_INDEX_BYTES = 8_388_608
const TEXT_BYTES = 128
const LINE_BYTES = 12
/** Shorter texts have no run of lines that a pointer could stand for. */
const SMALL_UNITS = 300
/** Longer arguments are not compared, nor are texts in them. */
const MAX_ARGS_UNITS = 4096
const MAX_TEXT_UNITS = 2000
/** At most 100,000 texts can be named; the oldest calls are forgotten with their lines. */
const MAX_IDS = 100_000
/** Calls that run at the same time, and of those that ended meanwhile; of more, the oldest are forgotten. */
const MAX_RUNNING = 1000

interface Edit {
  fromLine: number
  toLine: number
  from: number
  to: number
  text: string
  target?: { id: number; line: number; numbering?: unknown }
}

interface Inner {
  readonly handle: object
  readonly maxIndexBytes: number
  /** It has met a history: what came before this process is known. */
  hasHistory: boolean
  readonly tools: ReadonlyMap<string, boolean | FoldLimits>
  readonly onFold: FoldOptions['onFold']
  /** The call of each number, with the argument if it is one; and the numbers of each call. */
  readonly calls: Map<number, { id: string; argument?: string }>
  readonly numbers: Map<string, number[]>
  readonly tests: TestChanges
  /** The calls that run, by their ids, and those that ended while one of these ran. */
  readonly running: Map<string, RunningCall>
  ended: RunningCall[]
  time: number
  next: number
  sums: Omit<FoldReport, 'index'>
  last: FoldEvent | undefined
}

const inners = new WeakMap<FoldSession, Inner>()

/**
 * Records the lines that are in the context of a session. When a result first enters the context, lines that an earlier result
 * contains verbatim are replaced by a pointer; nothing that was sent before changes.
 *
 * A pointer is valid as long as its target is sent. `HistoryPruner` and `ContextManager` give a result its text back when they
 * leave out its target, if their ledger has the records. If you remove results in another way, call {@link forget} or
 * {@link clear} first. {@link restore} continues a session in another process.
 *
 * @example
 * const session = new FoldSession()
 * const { content, record } = session.fold(text, { toolName: 'read', toolCallId: 'call_7', args: { path: 'src/a.ts' } })
 */
export class FoldSession {
  /** @throws SpillwayError `INVALID_ARGUMENT` that names the option, its value and what is allowed */
  constructor(options: FoldOptions = {}) {
    checkOptions('options', options, CHECKS)
    const { tools = {}, onFold, ...limits } = options
    for (const [name, own] of Object.entries(tools)) {
      if (typeof own === 'object') checkOptions(`options.tools.${name}`, own, LIMITS)
    }
    inners.set(this, {
      handle: call(() => native.foldOpen(JSON.stringify(limits))),
      maxIndexBytes: limits.maxIndexBytes ?? MAX_INDEX_BYTES,
      hasHistory: false,
      tools: new Map(Object.entries(tools)),
      onFold,
      calls: new Map(),
      numbers: new Map(),
      tests: new TestChanges(),
      running: new Map(),
      ended: [],
      time: 0,
      next: 0,
      sums: { results: 0, folded: 0, bytes: 0, savedBytes: 0, savedTokens: 0 },
      last: undefined,
    })
  }

  /**
   * Marks the start of a call. Results of concurrent calls never point to each other, because their order in the context is not
   * known yet. The call ends with its `fold`, or with {@link end}. Call `begin` again if a hook changes the arguments.
   * @throws SpillwayError `INVALID_ARGUMENT` for an invalid call
   */
  begin(about: BegunCall): void {
    beginOf(inners.get(this) as Inner, checkedCall(about))
  }

  /** Marks the end of a call whose result is not folded. */
  end(toolCallId: string): void {
    if (typeof toolCallId !== 'string') throw wrong('toolCallId', toolCallId, 'a string')
    endOf(inners.get(this) as Inner, toolCallId)
  }

  /**
   * Folds a result as the model is to read it, and remembers the lines that it shows.
   * @throws SpillwayError `INVALID_ARGUMENT` for an invalid text or call
   */
  fold(text: string, about: FoldCall): FoldedText {
    if (typeof text !== 'string') throw wrong('text', text, 'a string')
    const inner = inners.get(this) as Inner
    const beside = isRecord(about) ? endOf(inner, about.toolCallId) : undefined
    // Most results are small.
    if (text.length <= SMALL_UNITS) {
      if (isRecord(about) && inner.tests.mayKnow(about)) testChange(inner, about, text, beside)
      if (isRecord(about)) countCall(inner, about)
      return { content: text }
    }
    const { toolName, toolCallId, args, workingDirectory, protect = false, keep = [] } = checkedCall(about)
    const bytes = Buffer.byteLength(text)
    inner.sums.results++
    inner.sums.bytes += bytes
    // A lone surrogate would be equal to any other.
    if (!toolCallId || !text.isWellFormed()) {
      countCall(inner, { toolName, toolCallId, args })
      return { content: text }
    }
    forgetCall(inner, toolCallId)
    const described = describeArgs(args)
    const own = inner.tools.get(toolName)
    const isProtected = protect || own === false
    const id = numberOf(inner, { id: toolCallId })
    const at = { since: beside?.since, beside: beside?.labels }
    const named = { call: id, tool: toolName.toWellFormed(), args: described, ...at }
    addArguments(inner, { toolCallId, args }, named)
    // A text without lone surrogates has no such line.
    const kept = keep.filter((line) => line.isWellFormed())
    const given = { ...named, id, protected: isProtected, keep: kept, ...Object(own) }
    const answer = call(() => native.foldText(inner.handle, text, JSON.stringify(given)))
    const change = isProtected ? undefined : testChange(inner, { toolName, args, workingDirectory }, text, beside)
    if (answer === null || answer === undefined) return { content: text }
    const { edits, counts } = JSON.parse(answer) as { edits: Edit[]; counts: number[] }
    const content = changed(text, withChange(edits, change))
    const savedBytes = bytes - Buffer.byteLength(content)
    inner.sums.folded++
    inner.sums.savedBytes += savedBytes
    const tokens = savedTokens(text, edits)
    inner.sums.savedTokens += tokens
    inner.last = { toolName, toolCallId, bytes, savedBytes, savedTokens: tokens, pointers: edits.length }
    tell(inner, inner.last)
    const counted = counts.flatMap((number) => inner.calls.get(number)?.id ?? [])
    const record = {
      saved: text.length - content.length,
      edits: edits.map((edit) => withId(inner, edit)),
      ...(counted.length > 0 && { counts: counted }),
    }
    return { content, record }
  }

  /**
   * Continues a session in another process: replaces what this one knows by what a history shows, so that the next results point to
   * it. Pass the messages as they are sent, after pruning and compaction, in any format that `detectFormat` knows; they are never changed. Lines are
   * indexed only where they are shown: not those that pointers stand for, and nothing of a result that has media, or has no id or call. If the
   * history is too long for the index, its newest results are known.
   * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array, or an option is not allowed
   */
  restore(messages: readonly unknown[], options: FoldRestoreOptions = {}): void {
    checkOptions('options', options, RESTORE_CHECKS)
    restoreFrom(this, historyInView('FoldSession.restore', messages, options.ledger))
  }

  /**
   * Removes results that are no longer sent: later pointers do not refer to them. With `callsStay` their calls are still sent, for example
   * with a placeholder in place of the result: pointers to others of the same name go on counting them.
   */
  forget(toolCallIds: readonly string[], options: { callsStay?: boolean } = {}): void {
    checkOptions('options', options, { callsStay: flag })
    const ids = readable('toolCallIds', () => (isArray(toolCallIds) ? [...toolCallIds] : undefined))
    if (ids === undefined) throw wrong('toolCallIds', toolCallIds, 'an array of ids')
    const inner = inners.get(this) as Inner
    const numbers = ids.flatMap((id) => inner.numbers.get(id) ?? [])
    if (numbers.length > 0) call(() => native.foldForget(inner.handle, numbers, options.callsStay === true))
  }

  /** Removes everything, for example after a compaction. */
  clear(): void {
    const inner = inners.get(this) as Inner
    call(() => native.foldClear(inner.handle))
    inner.calls.clear()
    inner.numbers.clear()
    inner.tests.clear()
    for (const running of inner.running.values()) running.since = inner.next
  }

  /** Returns the totals of the session. */
  report(): FoldReport {
    const { handle, sums } = inners.get(this) as Inner
    const [bytes = 0, lines = 0] = call(() => native.foldSize(handle))
    return { ...sums, index: { bytes, lines } }
  }

  /** Returns the totals of the session as a sentence. */
  explain(): string {
    const { sums, last } = inners.get(this) as Inner
    if (last === undefined) return `Nothing of ${sums.results} results was folded.`
    const share = ((100 * sums.savedBytes) / sums.bytes).toFixed(1)
    return `${sums.savedBytes} bytes (${share} %, about ${sums.savedTokens} tokens) of ${sums.results} results were folded; of the last one, of ${last.toolName}, ${last.savedBytes} bytes in ${last.pointers} ${last.pointers === 1 ? 'place' : 'places'}.`
  }
}

const CALL: readonly [name: keyof FoldCall, ...Check][] = [
  ['toolCallId', 'a string', (value) => typeof value === 'string'],
  ['workingDirectory', 'the path of a folder', (value) => typeof value === 'string'],
  ['protect', ...flag],
  ['keep', ...strings],
]

function checkedCall(about: unknown): FoldCall {
  const given = readable('call', () => (isRecord(about) ? { ...about } : undefined))
  if (typeof given?.toolName !== 'string') throw wrong('call', about, 'an object with toolName')
  for (const [name, allowed, test] of CALL) {
    const value = given[name]
    if (value !== undefined && !test(value)) throw wrong(`call.${name}`, value, allowed)
  }
  return given as unknown as FoldCall
}

/** Tells the caller of a fold. Never throws. */
function tell({ onFold }: Inner, event: FoldEvent): void {
  tellCaller('onFold', onFold, { ...event })
}

/** The text with the edits. */
function changed(text: string, edits: readonly Edit[]): string {
  let content = ''
  let at = 0
  for (const { from, to, text: shown } of edits) {
    content += text.slice(at, from) + shown
    at = to
  }
  return content + text.slice(at)
}

/** Tokens of the lines that edits replace, without those of their texts. */
function savedTokens(text: string, edits: readonly Edit[]): number {
  const tokensOf = (parts: string[]) => estimateTokens(parts.join('\n'))
  return tokensOf(edits.map(({ from, to }) => text.slice(from, to))) - tokensOf(edits.map((edit) => edit.text))
}

/** Says in front of the first pointer how a test run differs from the last one, if that leaves the text shorter than it was. */
function withChange(edits: Edit[], change: string | undefined): Edit[] {
  const first = edits.find(({ target }) => target !== undefined)
  const saved = edits.reduce((sum, { from, to, text }) => sum + (to - from) - text.length, 0)
  if (first !== undefined && change !== undefined && Buffer.byteLength(change) + 1 < saved)
    first.text = `${change}\n${first.text}`
  return edits
}

/** Restores a session from the first history that it meets, if that has a result of another process. */
export function resumeSession(folder: unknown, messages: readonly unknown[], ledger?: ToolResultKnowledge): void {
  const inner = folder instanceof FoldSession ? inners.get(folder) : undefined
  if (inner === undefined || inner.hasHistory) return
  inner.hasHistory = true
  const view = historyInView('FoldSession.restore', messages, ledger)
  const isOfAnother = ({ toolCallId, text = '' }: ResultInView) =>
    toolCallId !== undefined && text.length > SMALL_UNITS && !inner.numbers.has(toolCallId)
  if (view.results.some(isOfAnother)) restoreFrom(folder as FoldSession, view)
}

function restoreFrom(session: FoldSession, { results, running }: HistoryInView): void {
  const inner = inners.get(session) as Inner
  session.clear()
  inner.hasHistory = true
  const begins = [...running]
  for (const result of newestOf(results, inner.maxIndexBytes)) {
    // Which of the two will stand above the other is not known.
    while (begins[0] !== undefined && begins[0].message <= result.message) beginOf(inner, begins.shift() as BegunCall)
    addResult(inner, result)
  }
  for (const begun of begins) beginOf(inner, begun)
}

/** The newest results, as many as an index may hold. */
function newestOf(results: readonly ResultInView[], maxBytes: number): readonly ResultInView[] {
  let left = maxBytes
  let from = results.length
  while (from > 0 && left > 0 && results.length - from < MAX_IDS) {
    from--
    left -= TEXT_BYTES + LINE_BYTES * countLines(results[from]?.text)
  }
  return results.slice(from)
}

function countLines(text = ''): number {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Remembers a result that was shown before. */
function addResult(inner: Inner, { toolName, toolCallId, args, text, hidden }: ResultInView): void {
  const about = { toolName, toolCallId, args }
  if (inner.running.size > 0 && toolCallId) {
    beginOf(inner, about)
    endOf(inner, toolCallId)
  }
  if (!toolCallId || text === undefined || text.length <= SMALL_UNITS || !text.isWellFormed()) {
    countCall(inner, about)
    return
  }
  const id = numberOf(inner, { id: toolCallId })
  const named = { call: id, tool: toolName.toWellFormed(), args: describeArgs(args) }
  addArguments(inner, { toolCallId, args }, named)
  call(() => native.foldText(inner.handle, text, JSON.stringify({ ...named, id, protected: true, hidden })))
}

/** Remembers the texts among the arguments of a call: the model wrote them before it saw the result. */
function addArguments(
  inner: Inner,
  { toolCallId: id, args }: { toolCallId: string; args: FoldCall['args'] },
  named: object,
) {
  for (const [argument, value] of longTexts(args)) {
    const given = { ...named, id: numberOf(inner, { id, argument }), argument: true }
    call(() => native.foldText(inner.handle, value, JSON.stringify(given)))
  }
}

function beginOf(inner: Inner, { toolName, toolCallId, args }: BegunCall): void {
  const { running, next, time } = inner
  if (!toolCallId) return
  const { since, time: began } = running.get(toolCallId) ?? { since: next, time }
  running.set(toolCallId, { toolName: toolName.toWellFormed(), args: describeArgs(args), since, time: began })
  const [oldest] = running.keys()
  if (running.size > MAX_RUNNING && oldest !== undefined) endOf(inner, oldest)
}

/** Ends a call. Returns what ran beside it. */
function endOf(inner: Inner, id: string | undefined): Beside | undefined {
  const { running } = inner
  if (running.size === 0) return undefined
  const own = id === undefined ? undefined : running.get(id)
  if (id === undefined || own === undefined) return undefined
  running.delete(id)
  const others = [...running.values(), ...inner.ended.filter(({ time }) => time > own.time)]
  inner.time++
  if (running.size === 0) inner.ended = []
  else {
    inner.ended.push({ ...own, time: inner.time })
    // A call that never ends must not keep all others.
    if (inner.ended.length > MAX_RUNNING) inner.ended.shift()
  }
  if (others.length === 0) return undefined
  return { since: own.since, calls: others, labels: others.flatMap(labelsOf) }
}

/** Returns the names of the texts of a call in pointers. Each of many calls at the same time asks for those of all others. */
function labelsOf(running: RunningCall): readonly string[] {
  running.labels ??= call(() => native.foldLabels(running.toolName, running.args))
  return running.labels
}

/** Returns how a test run differs from the last one of its call. None of several equal calls that ran at the same time is the last one. */
function testChange({ tests }: Inner, about: FoldCall, text: string, beside: Beside | undefined): string | undefined {
  const args = describeArgs(about.args)
  const isAmbiguous = beside?.calls.some(
    (other) => other.toolName === about.toolName.toWellFormed() && other.args === args,
  )
  if (isAmbiguous !== true) return tests.describe(about, args, text)
  tests.forget(about, args)
  return undefined
}

/** Forgets the earlier use of an id: a pointer could not tell the two apart. */
function forgetCall({ calls, numbers, handle }: Inner, id: string | undefined): void {
  const before = id === undefined ? undefined : numbers.get(id)
  if (id === undefined || before === undefined) return
  call(() => native.foldForget(handle, before, false))
  for (const number of before) calls.delete(number)
  numbers.delete(id)
}

/** Counts a call that no pointer names: pointers to others of this name count it, because the model sees it between them. */
function countCall(inner: Inner, { toolName, toolCallId: id, args }: FoldCall): void {
  if (inner.numbers.size === 0 || typeof toolName !== 'string') return
  forgetCall(inner, id)
  const isCounted = call(() => native.foldCount(inner.handle, inner.next, toolName.toWellFormed(), describeArgs(args)))
  if (!isCounted) return
  if (typeof id === 'string') numberOf(inner, { id })
  else inner.next = (inner.next + 1) >>> 0
}

function numberOf(inner: Inner, named: { id: string; argument?: string }): number {
  const { calls, numbers } = inner
  const number = inner.next
  inner.next = (number + 1) >>> 0
  calls.set(number, named)
  const own = numbers.get(named.id)
  if (own === undefined) numbers.set(named.id, [number])
  else own.push(number)
  const [oldest] = numbers.keys()
  if (calls.size > MAX_IDS && oldest !== undefined && oldest !== named.id) forgetCall(inner, oldest)
  return number
}

/** The arguments that have enough lines to be pointed to. */
function longTexts(args: FoldCall['args']): [string, string][] {
  try {
    return Object.entries(isRecord(args) ? args : {}).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' &&
        entry[1].length > SMALL_UNITS &&
        entry[1].includes('\n') &&
        entry[1].isWellFormed(),
    )
  } catch {
    return []
  }
}

function describeArgs(args: unknown): string {
  try {
    // Long texts tell nothing that a name of a call would need.
    const short = (_: string, value: unknown) =>
      typeof value === 'string' && value.length > MAX_TEXT_UNITS ? undefined : value
    const json = args === undefined ? '' : JSON.stringify(args, short)
    return json === undefined || json.length > MAX_ARGS_UNITS ? '' : json.toWellFormed()
  } catch {
    return ''
  }
}

function withId({ calls }: Inner, { fromLine, toLine, text, target }: Edit): FoldEdit {
  if (target === undefined) return { fromLine, toLine, text }
  const { id, line, numbering } = target
  const { id: toolCallId, argument } = calls.get(id) as { id: string; argument?: string }
  return {
    fromLine,
    toLine,
    text,
    toolCallId,
    ...(argument !== undefined && { argument }),
    line,
    ...(numbering !== undefined && { numbering: numbering as FoldEdit['numbering'] }),
  }
}
