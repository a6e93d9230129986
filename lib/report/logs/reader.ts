/** Helpers of all readers. */

import { timeOf } from '../../history/formats/safe-read'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage, SessionUsage } from '../types'

/** A line of a log: an object of JSON. */
export type LogRecord = Readonly<Record<string, unknown>>

/** Reads the records of one session in their order. */
export interface LogReader {
  read(record: LogRecord): void
  /** The session, once everything was read. */
  end(): { messages: LoggedMessage[]; usage?: SessionUsage; model?: string; version?: string }
}

/** A format of session logs. */
export interface LogFormat {
  /** True if a record can only be of this format. */
  has(record: LogRecord): boolean
  open(): LogReader
}

/** The texts of a content: a text, or blocks of which those with text count. Images become a word. */
export function blockText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!isArray(content)) return ''
  return content
    .map((block) => {
      if (typeof block === 'string') return block
      if (!isRecord(block)) return undefined
      if (typeof block.text === 'string' && block.type !== 'thinking') return block.text
      return block.type === 'image' || block.type === 'input_image' ? '[image]' : undefined
    })
    .filter((text) => text !== undefined)
    .join('\n')
}

/** A time of a message, as a field that is absent where there is none. */
export function timestamped(value: unknown): { timestamp?: number } {
  const timestamp = timeOf(value)
  return timestamp === undefined ? {} : { timestamp }
}

/** The record in a field; an empty one if there is none. */
export function recordIn(record: LogRecord, field: string): LogRecord {
  const value = record[field]
  return isRecord(value) ? value : {}
}

/** A text in a field. */
export function textIn(record: LogRecord, field: string): string | undefined {
  const value = record[field]
  return typeof value === 'string' ? value : undefined
}

/** Number of tokens in a field; 0 for any other value. */
export function countIn(record: LogRecord, field: string): number {
  const value = record[field]
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

/** True for an answer that was stopped before it said anything. */
export function isEmptyAnswer({ role, content, toolCalls }: LoggedMessage): boolean {
  return role === 'assistant' && content === '' && toolCalls === undefined
}

/** The entries from the root to the last one; all of them where none has a parent. */
export function pathToLast(entries: readonly LogRecord[]): LogRecord[] {
  if (!entries.some(({ id }) => typeof id === 'string')) return [...entries]
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const path: LogRecord[] = []
  let entry = entries.at(-1)
  // A broken file may hold a circle.
  while (entry !== undefined && path.length < entries.length) {
    path.push(entry)
    entry = byId.get(entry.parentId)
  }
  return path.reverse()
}

/** Which model gave most of the answers. */
export class Models {
  private readonly counts = new Map<string, number>()

  add(model: unknown): void {
    if (typeof model === 'string' && model !== '') this.counts.set(model, (this.counts.get(model) ?? 0) + 1)
  }

  get mostUsed(): string | undefined {
    let mostUsed: string | undefined
    for (const [model, count] of this.counts) if (count > (this.counts.get(mostUsed ?? '') ?? 0)) mostUsed = model
    return mostUsed
  }
}

/** The sum of the usage of requests; `undefined` if nothing was counted. */
export function sumOf(usages: Iterable<Omit<SessionUsage, 'requests'>>): SessionUsage | undefined {
  const sum: SessionUsage = { requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
  for (const { input, cacheRead, cacheWrite, output } of usages) {
    if (input + cacheRead + cacheWrite + output === 0) continue
    sum.requests++
    sum.input += input
    sum.cacheRead += cacheRead
    sum.cacheWrite += cacheWrite
    sum.output += output
  }
  return sum.requests === 0 ? undefined : sum
}
