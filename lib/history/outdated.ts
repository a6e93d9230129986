/** Replaces outdated results of terminal tools by a placeholder. */

import { debuglog } from 'node:util'
import { SpillwayError } from '../errors'
import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { tellCaller, warn } from '../util/warn'
import { describe, wrong } from '../validation/validate'
import { chat } from './chat'
import type { ChatResult, HistoryFormat } from './chat-shape'
import { warnTimeless, warnUnreadable } from './format-warning'
import { detectFormat } from './formats'
import { knownResults } from './known-results'
import { type ToolResultKnowledge, warnOfLedger } from './ledger'
import { costOf, DEFAULT_PLACEHOLDER, learn, recordFacts, textCost, UNKNOWN } from './message-cache'
import type { HistoryFormatName } from './message-view'
import {
  type OutdatedResultInfo,
  type Rules,
  readOutdatedOptions,
  type SimplifiedReport,
  type SimplifyOutdatedOptions,
} from './options'
import { restoreFolds } from './restore-folds'
import { viewed } from './result-views'
import { savedPathOf } from './saved-path'

const debug = debuglog('spillway')
const { FACT_FAILED, FACT_FIXED } = native

/**
 * Replaces the text of outdated terminal results by a placeholder. Use it for requests, not for the stored history. The input
 * messages are never changed.
 *
 * A tool result is outdated when all of these hold:
 * - it comes from a terminal: its tool is known to run commands, or its tool is unknown and its text is a JSON object with
 * `stdout`, `stderr` or `exitCode`, or is not JSON and contains one of these names with quotes and a colon;
 * - its `timestamp`, or its time in the `ledger`, is more than 15 minutes ago;
 * - it is not among the 5 newest tool results of any kind, by time and then by position. Errors are not counted; a result without
 * a timestamp stays, and counts with the time of the nearest earlier result that has one;
 * - it is not an error: the text does not start with `Error:`, `messageStatus` is not `'error'`, the exit code is 0 or not
 *   known, and `stderr` is empty or not known.
 *
 * A result with more than text stays, and so do elements that are not messages. If no result has a time, or no message is in a
 * known format, nothing is replaced, and a warning is issued once: codes
 * `SPILLWAY_NO_TIMES` and `SPILLWAY_UNKNOWN_FORMAT`.
 *
 * @param messages the history, in any format that `detectFormat` knows
 * @returns a new array in which replaced messages are shallow copies and unchanged ones the same objects (`===`); if there
 * is nothing to replace, `messages` itself
 * @throws SpillwayError `INVALID_ARGUMENT` if `messages` is not an array or an option is unknown or not allowed
 */
export function simplifyOutdatedTerminalResults<M>(messages: readonly M[], options?: SimplifyOutdatedOptions): M[] {
  const rules = readOutdatedOptions(options)
  if (!isArray(messages)) throw wrong('messages', messages, 'an array')
  const { name, format, found } = resultsIn(messages)
  if (found.length === 0 && warnUnreadable(PLACE, messages, name)) return messages as M[]
  const results = withLedger(found, rules.ledger, format)
  if (results.length === 0) return messages as M[]
  if (results.length > rules.keepRecent && results.every(({ time }) => !Number.isFinite(time))) {
    if (rules.maxAgeMs !== Number.POSITIVE_INFINITY) warnTimeless(PLACE, name ?? 'unknown')
    return messages as M[]
  }
  const outdated = findOutdated(results, rules)
  if (outdated.length === 0) return messages as M[]
  const replaced = replaceAll(messages, results, outdated, rules, format)
  const isFolded = results.some(({ learnt }) => learnt?.folds !== undefined)
  return isFolded ? (restoreFolds(messages, replaced, rules.ledger) as M[]) : replaced
}

const PLACE = 'simplifyOutdatedTerminalResults'

/** The results of a history. Most are chat messages, which are read without a question about their format. */
function resultsIn(messages: readonly unknown[]): {
  name: HistoryFormatName | undefined
  format: HistoryFormat
  found: ChatResult[]
} {
  const found = chat.read(messages)
  if (found.some(isChat)) return { name: 'openai-chat', format: chat, found }
  const name = detectFormat(messages)
  if (name === undefined || name === 'openai-chat' || name === 'snow' || name === 'mcp') {
    return { name, format: chat, found }
  }
  const format = viewed(name)
  return { name, format, found: format.read(messages) }
}

function isChat({ copy }: ChatResult): boolean {
  const { content, tool_call_id: id } = copy as { content?: unknown; tool_call_id?: unknown }
  return typeof content === 'string' || typeof id === 'string'
}

/** The results, those that the ledger knows with what it knows. */
function withLedger(
  results: ChatResult[],
  ledger: ToolResultKnowledge | undefined,
  format: HistoryFormat,
): ChatResult[] {
  if (ledger === undefined) return results
  const asked = results.map((result) => ({
    id: format.toolCallId(result),
    text: result.known.text ?? '',
    called: undefined,
  }))
  const known = knownResults(ledger, asked, warnOfLedger)
  return results.map((result, at) => {
    const learnt = known[at]
    if (learnt === undefined) return result
    return { ...result, learnt, time: Number.isFinite(result.time) ? result.time : learnt.endedAt }
  })
}

/** Asks the rule which results are outdated, by their places, and reads as much of the texts as it wants to know. */
function findOutdated(results: readonly ChatResult[], rules: Rules): Uint32Array {
  const { now, maxAgeMs, keepRecent, countErrors, stderrIsError } = rules
  const rule = { now, maxAgeMs, keepRecent, countErrors, stderrIsError }
  const { times, facts } = columnsOf(results, rules)
  for (;;) {
    const answer = call(() => native.outdatedResults(times, facts, rule))
    const places = placesOf(answer)
    if (answer.charCodeAt(0) === 1) return places
    learn(results, places)
    let learnt = false
    for (const place of places) {
      const before = facts[place] as number
      facts[place] = before | (results[place] as ChatResult).known.facts
      learnt ||= facts[place] !== before
    }
    // The same question would come again, indefinitely.
    if (!learnt) throw new SpillwayError('INTERNAL', 'texts were read and not understood')
  }
}

/** Reads the indices of an answer: its first unit is followed by runs, each as its first index and the one after its last. */
function placesOf(answer: string): Uint32Array {
  let count = 0
  for (let at = 1; at < answer.length; at += 4) count += numberAt(answer, at + 2) - numberAt(answer, at)
  const places = new Uint32Array(count)
  let next = 0
  for (let at = 1; at < answer.length; at += 4) {
    const end = numberAt(answer, at + 2)
    for (let place = numberAt(answer, at); place < end; place++) places[next++] = place
  }
  return places
}

function numberAt(answer: string, at: number): number {
  return answer.charCodeAt(at) * 0x10000 + answer.charCodeAt(at + 1)
}

/** Input of the rule: a time and a set of facts per result. */
function columnsOf(results: readonly ChatResult[], { terminalTools, placeholder }: Rules) {
  const times = new Float64Array(results.length)
  const facts = new Uint16Array(results.length)
  const builtIn = terminalTools === undefined
  const custom = placeholder !== DEFAULT_PLACEHOLDER
  const open: number[] = []
  for (let place = 0; place < results.length; place++) {
    const { time, failed, known, learnt } = results[place] as ChatResult
    let all = known.facts
    if (failed) all |= FACT_FAILED
    if (learnt !== undefined) all |= recordFacts(learnt)
    if (custom && known.text === placeholder) all |= FACT_FIXED
    // Remembered for the built-in lists only: the caller's own may change.
    if (learnt === undefined && builtIn && known.kind !== UNKNOWN) all |= known.kind
    else if (learnt !== undefined || known.toolName !== undefined) open.push(place)
    times[place] = time
    facts[place] = all
  }
  if (open.length > 0) addToolFacts(facts, results, open, terminalTools)
  return { times, facts }
}

/** Adds what the names of the tools say for the results at these places. Each name is asked about once. */
function addToolFacts(
  facts: Uint16Array,
  results: readonly ChatResult[],
  places: readonly number[],
  terminalTools: readonly string[] | undefined,
): void {
  const numbers = new Map<string, number>()
  const numberOf = places.map((place) => {
    const { known, learnt } = results[place] as ChatResult
    const name = learnt?.toolName ?? (known.toolName as string)
    const number = numbers.get(name) ?? numbers.size
    if (number === numbers.size) numbers.set(name, number)
    return number
  })
  const kinds = call(() => native.toolFacts([...numbers.keys()], terminalTools && [...terminalTools]))
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as number
    const kind = kinds[numberOf[at] as number] as number
    facts[place] = (facts[place] as number) | kind
    const { known, learnt } = results[place] as ChatResult
    if (terminalTools === undefined && learnt === undefined) known.kind = kind
  }
}

function replaceAll<M>(
  messages: readonly M[],
  results: readonly ChatResult[],
  outdated: Uint32Array,
  rules: Rules,
  format: HistoryFormat,
): M[] {
  const replaced = copyOf(messages)
  if (replaced === undefined) return messages as M[]
  const { placeholder, onSimplified } = rules
  const texts =
    typeof placeholder === 'string' ? placeholder : placeholders(results, outdated, placeholder, rules, format)
  for (let at = 0; at < outdated.length; at++) {
    const result = results[outdated[at] as number] as ChatResult
    if (typeof texts === 'string') {
      format.setText(result, texts)
    } else {
      format.setText(result, texts[at] as string)
      // The next call sees this message, and only here is known that its text is a placeholder.
      format.placed(result, texts[at] as string)
    }
    replaced[result.index] = result.copy as M
  }
  debug('%d outdated terminal results were replaced', outdated.length)
  if (onSimplified !== undefined) report(results, outdated, texts, onSimplified)
  return replaced
}

/** A history whose elements cannot even be copied stays as it is. */
function copyOf<M>(messages: readonly M[]): M[] | undefined {
  try {
    return messages.slice()
  } catch {
    return undefined
  }
}

/** Returns the caller's placeholder for each result; a fault of the function is reported once. */
function placeholders(
  results: readonly ChatResult[],
  outdated: Uint32Array,
  placeholder: (info: OutdatedResultInfo) => string,
  rules: Rules,
  format: HistoryFormat,
): string[] {
  let problem: string | undefined
  const { standard } = rules
  const texts = Array.from(outdated, (place) => {
    const info = infoOf(results[place] as ChatResult, rules, format)
    try {
      const text: unknown = placeholder(info)
      if (typeof text === 'string') return text.toWellFormed()
      problem ??= `answered ${describe(text)} instead of a string`
    } catch (error) {
      problem ??= messageOf(error)
    }
    return standard
  })
  if (problem !== undefined) warn('placeholder', problem)
  return texts
}

function infoOf(
  result: ChatResult,
  { now, storage }: Pick<Rules, 'now' | 'storage'>,
  format: HistoryFormat,
): OutdatedResultInfo {
  const { time, known, learnt } = result
  const toolName = learnt?.toolName ?? known.toolName
  const toolCallId = format.toolCallId(result)
  const outputPath = savedPathOf(format.saved(result), learnt, storage, known.text)
  return {
    ...(toolName !== undefined && { toolName }),
    ...(toolCallId !== undefined && { toolCallId }),
    timestamp: time,
    ageMs: now - time,
    bytes: costOf(known)[0],
    ...(outputPath !== undefined && { outputPath }),
  }
}

function report(
  results: readonly ChatResult[],
  outdated: Uint32Array,
  texts: string | readonly string[],
  onSimplified: (report: SimplifiedReport) => void,
): void {
  const report: SimplifiedReport = { count: outdated.length, bytes: 0, tokens: 0, indices: [] }
  const one = typeof texts === 'string' ? textCost(texts) : undefined
  outdated.forEach((place, at) => {
    const { index, known } = results[place] as ChatResult
    const [bytes, tokens] = costOf(known)
    const [placeholderBytes, placeholderTokens] = one ?? textCost(texts[at] as string)
    report.bytes += bytes - placeholderBytes
    report.tokens += tokens - placeholderTokens
    report.indices.push(index)
  })
  tellCaller('onSimplified', onSimplified, report)
}
