/** Sessions of Claude Code: a record a line, in which blocks of one answer are apart, each with the id of the answer. */

import { asText, isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage, SessionUsage } from '../types'
import {
  blockText,
  countIn,
  isEmptyAnswer,
  type LogFormat,
  type LogReader,
  type LogRecord,
  Models,
  recordIn,
  sumOf,
  textIn,
  timestamped,
} from './reader'

const TYPES = new Set(['user', 'assistant', 'system', 'summary', 'file-history-snapshot', 'attachment', 'progress'])
const FIELDS = ['uuid', 'leafUuid', 'messageId', 'sessionId']

export const claudeCode: LogFormat = {
  has: (record) => TYPES.has(asText(record.type)) && FIELDS.some((field) => typeof record[field] === 'string'),
  open: () => new ClaudeCodeReader(),
}

class ClaudeCodeReader implements LogReader {
  private readonly messages: LoggedMessage[] = []
  /** A resumed session repeats lines. */
  private readonly seen = new Set<string>()
  private readonly answers = new Map<string, LoggedMessage>()
  private readonly names = new Map<string, string>()
  private readonly usage = new Map<string, Omit<SessionUsage, 'requests'>>()
  private readonly models = new Models()
  private version: string | undefined

  read(record: LogRecord): void {
    const { type, uuid, isSidechain, message } = record
    if ((type !== 'user' && type !== 'assistant') || isSidechain === true || !isRecord(message)) return
    if (typeof uuid === 'string') {
      if (this.seen.has(uuid)) return
      this.seen.add(uuid)
    }
    this.version = textIn(record, 'version') ?? this.version
    if (type === 'assistant') this.readAnswer(record, message)
    else this.readUser(record, message)
  }

  private readAnswer(record: LogRecord, message: LogRecord): void {
    const id = textIn(message, 'id')
    // The program writes its own notes as answers of no model.
    if (message.model === '<synthetic>') return
    this.models.add(message.model)
    let answer = id === undefined ? undefined : this.answers.get(id)
    if (answer === undefined) {
      answer = { role: 'assistant', content: '', ...timestamped(record.timestamp) }
      this.messages.push(answer)
      if (id !== undefined) this.answers.set(id, answer)
    }
    // Each block repeats the usage of the whole answer; the last has the output.
    const usage = recordIn(message, 'usage')
    this.usage.set(id ?? `#${this.messages.length}`, {
      input: countIn(usage, 'input_tokens'),
      cacheRead: countIn(usage, 'cache_read_input_tokens'),
      cacheWrite: countIn(usage, 'cache_creation_input_tokens'),
      output: countIn(usage, 'output_tokens'),
    })
    const blocks = isArray(message.content) ? message.content : []
    const text = blockText(message.content)
    if (text !== '') answer.content = answer.content === '' ? text : `${answer.content}\n${text}`
    for (const block of blocks) {
      if (!isRecord(block) || block.type !== 'tool_use') continue
      const call = { id: asText(block.id), name: asText(block.name), args: block.input ?? {} }
      answer.toolCalls = [...(answer.toolCalls ?? []), call]
      this.names.set(call.id, call.name)
    }
  }

  private readUser(record: LogRecord, message: LogRecord): void {
    const time = timestamped(record.timestamp)
    const blocks: readonly unknown[] = isArray(message.content) ? message.content : []
    for (const block of blocks) {
      if (!isRecord(block) || block.type !== 'tool_result') continue
      const toolCallId = asText(block.tool_use_id)
      const toolName = this.names.get(toolCallId)
      this.messages.push({
        role: 'tool',
        content: blockText(block.content),
        toolCallId,
        ...(toolName !== undefined && { toolName }),
        ...(block.is_error === true && { isError: true }),
        ...time,
      })
    }
    const content = blockText(message.content)
    const isSummary = record.isCompactSummary === true
    if (content === '' && !isSummary) return
    this.messages.push({ role: 'user', content, ...time, ...(isSummary && { boundary: 'compaction' }) })
  }

  end() {
    const { messages, models, version, usage } = this
    return {
      messages: messages.filter((message) => !isEmptyAnswer(message)),
      usage: sumOf(usage.values()),
      model: models.mostUsed,
      version,
    }
  }
}
