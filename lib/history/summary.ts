/** Recognises and creates the summaries in a history. */

import { call, native } from '../native/native'
import { SUMMARY_NAME } from './formats/chat-messages'
import { get, isObject } from './formats/safe-read'
import type { MessageView } from './message-view'

/** The words of a summary in a history. */
export interface SummaryWords {
  prefix: string
  turn: string
  changes: string
  reads: string
  files: string
  unchanged: string
  changed: string
  deleted: string
  unknown: string
  earlier: string
  lines: string
  omitted: string
}

const ALL: readonly SummaryWords[] = JSON.parse(call(() => native.compactionWords()))

/** Headings inside of a summary, in their order. */
const HEADINGS = ['turn', 'changes', 'reads', 'files'] as const
type Heading = (typeof HEADINGS)[number]

/** The words of a language. */
export function wordsOf(chinese: boolean): SummaryWords {
  return ALL[chinese ? 1 : 0] as SummaryWords
}

/** Marks a message that is a summary. A symbol is not sent: some providers refuse fields that they do not know. */
const MARK = Symbol.for('spillway.summary')

/** Parts of a summary. */
export interface SummaryParts {
  /** Summary of the messages before the kept turns. */
  history: string
  /** Summary of the removed part of the turn whose rest is kept. */
  turn: string
  /** The record of changed files. */
  changes: readonly string[]
  /** The record of files that were read. */
  reads: readonly string[]
  /** Files whose text is given again. It is not read back. */
  files: readonly string[]
}

/** True if a message is a summary: it is marked, or it begins as one and is not what a user said. */
export function isSummary(message: unknown, { role, text }: MessageView): boolean {
  if (isMarked(message)) return true
  return (role === 'system' || role === 'assistant') && beginsAsSummary(text)
}

/** True if a text begins as summaries do. */
export function beginsAsSummary(text: MessageView['text']): boolean {
  const first = (typeof text === 'string' ? text : (text[0] ?? '')).trimStart()
  for (const { prefix } of ALL) if (first.startsWith(prefix)) return true
  return false
}

/** Where a message can say that it is a summary. */
interface Marks {
  [MARK]?: unknown
  name?: unknown
  role?: unknown
  providerOptions?: unknown
  additional_kwargs?: unknown
}

/** True if the structure of a message says that it is a summary. */
export function isMarked(message: unknown): boolean {
  try {
    if (!isObject(message)) return false
    const asked = message as Marks
    if (asked[MARK] === true || asked.name === SUMMARY_NAME || asked.role === 'compactionSummary') return true
    return isMarkedIn(asked.providerOptions) || isMarkedIn(asked.additional_kwargs)
  } catch {
    return false
  }
}

function isMarkedIn(holder: unknown): boolean {
  return holder !== undefined && get(get(holder, 'spillway'), 'summary') === true
}

/** Marks a message that was just made. */
export function marked<T extends object>(message: T): T {
  return Object.assign(message, { [MARK]: true })
}

/** A summary as text. */
export function summaryText({ history, turn, changes, reads, files }: SummaryParts, words: SummaryWords): string {
  const parts = [`${words.prefix}\n${inert(history)}`.trimEnd()]
  if (turn !== '') parts.push(`${words.turn}\n${inert(turn)}`)
  if (changes.length > 0) parts.push(`${words.changes}\n${changes.join('\n')}`)
  if (reads.length > 0) parts.push(`${words.reads}\n${reads.join('\n')}`)
  if (files.length > 0) parts.push(`${words.files}\n${files.join('\n')}`)
  return parts.join('\n\n')
}

/** The parts of a text that {@link summaryText} made, or of one that only begins as a summary. */
export function summaryParts(text: string): SummaryParts {
  const lines = text.trim().split('\n')
  const is = (key: Heading) => (line: string) => ALL.some((words) => words[key] === line.trim())
  const at = (key: Heading) => lines.findLastIndex(is(key))
  // A file can have any line: its first heading is ours, because nothing before it has one.
  const filesAt = lines.findIndex(is('files'))
  if (filesAt >= 0) lines.splice(filesAt)
  const readsAt = at('reads')
  const reads = readsAt < 0 ? [] : lines.splice(readsAt).slice(1)
  const changesAt = at('changes')
  const changes = changesAt < 0 ? [] : lines.splice(changesAt).slice(1)
  const turnAt = at('turn')
  const turn = turnAt < 0 ? [] : lines.splice(turnAt).slice(1)
  const history = lines.join('\n')
  const prefix = ALL.find((words) => history.startsWith(words.prefix))?.prefix ?? ''
  return {
    history: history.slice(prefix.length).trim(),
    turn: turn.join('\n').trim(),
    changes: changes.filter((line) => line.startsWith('- ')),
    reads: reads.filter((line) => line.startsWith('- ')),
    files: [],
  }
}

/** A text of a summariser in which no line is one of our headings. */
function inert(text: string): string {
  const isOurs = (line: string) =>
    ALL.some((words) => [words.prefix, ...HEADINGS.map((key) => words[key])].includes(line.trim()))
  return text
    .split('\n')
    .map((line) => (isOurs(line) ? `> ${line.trim()}` : line))
    .join('\n')
    .trim()
}
