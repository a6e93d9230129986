/** Rollouts of Codex: items of the Responses API, one a line, with events of the program between them. */

import { deepJsonOf } from '../../util/deep-json'
import { asText, isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage, SessionUsage } from '../types'
import {
  blockText,
  countIn,
  type LogFormat,
  type LogReader,
  type LogRecord,
  Models,
  recordIn,
  sumOf,
  textIn,
  timestamped,
} from './reader'

const TYPES = new Set(['session_meta', 'response_item', 'turn_context', 'event_msg', 'compacted', 'world_state'])

export const codex: LogFormat = {
  has: (record) => TYPES.has(asText(record.type)) && isRecord(record.payload),
  open: () => new CodexReader(),
}

class CodexReader implements LogReader {
  private messages: LoggedMessage[] = []
  private readonly names = new Map<string, string>()
  private readonly usage: Omit<SessionUsage, 'requests'>[] = []
  private readonly models = new Models()
  private version: string | undefined
  private counted = ''
  private hasInstructions = false

  read(record: LogRecord): void {
    const payload = recordIn(record, 'payload')
    switch (record.type) {
      case 'session_meta':
        this.version = textIn(payload, 'cli_version') ?? this.version
        this.readInstructions(record, payload)
        break
      case 'turn_context':
        this.models.add(payload.model)
        break
      case 'event_msg':
        if (payload.type === 'token_count') this.readUsage(recordIn(payload, 'info'))
        break
      case 'compacted':
        this.readCompaction(record, payload)
        break
      case 'response_item':
        this.readItem(record, payload)
    }
  }

  /** A resumed session has them again. */
  private readInstructions(record: LogRecord, payload: LogRecord): void {
    const base = payload.base_instructions ?? payload.instructions
    const content = typeof base === 'string' ? base : isRecord(base) ? textIn(base, 'text') : undefined
    if (content === undefined || content === '' || this.hasInstructions) return
    this.hasInstructions = true
    this.messages.push({ role: 'system', content, ...timestamped(record.timestamp) })
  }

  /** An event comes again whenever the limits of the account were looked up. */
  private readUsage(info: LogRecord): void {
    const total = deepJsonOf(info.total_token_usage)
    const last = recordIn(info, 'last_token_usage')
    if (total === undefined || total === this.counted) return
    this.counted = total
    const cacheRead = countIn(last, 'cached_input_tokens')
    const input = Math.max(0, countIn(last, 'input_tokens') - cacheRead)
    this.usage.push({ input, cacheRead, cacheWrite: 0, output: countIn(last, 'output_tokens') })
  }

  private readCompaction(record: LogRecord, { message, replacement_history: replacement }: LogRecord): void {
    const texts = isArray(replacement)
      ? replacement.filter(isRecord).map((item) => blockText(item.content))
      : [typeof message === 'string' ? message : '']
    const content = texts.filter((text) => text !== '').join('\n')
    this.messages.push({ role: 'user', content, ...timestamped(record.timestamp), boundary: 'compaction' })
  }

  private readItem(record: LogRecord, item: LogRecord): void {
    const time = timestamped(record.timestamp)
    const { type } = item
    if (type === 'message') {
      const content = blockText(item.content)
      const role = item.role === 'assistant' ? 'assistant' : item.role === 'user' ? 'user' : 'system'
      if (role === 'assistant') this.answer(time, content)
      else this.messages.push({ role, content, ...time })
    } else if (type === 'function_call' || type === 'custom_tool_call' || type === 'local_shell_call') {
      const args = item.arguments ?? item.input ?? item.action ?? {}
      const call = { id: textIn(item, 'call_id') ?? '', name: textIn(item, 'name') ?? 'shell', args }
      const answer = this.answer(time, '')
      answer.toolCalls = [...(answer.toolCalls ?? []), call]
      this.names.set(call.id, call.name)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      const toolCallId = textIn(item, 'call_id') ?? ''
      const toolName = this.names.get(toolCallId)
      const content = outputOf(item.output)
      this.messages.push({ role: 'tool', content, toolCallId, ...(toolName !== undefined && { toolName }), ...time })
    }
  }

  /** The answer that is being written: items of one follow each other. */
  private answer(time: { timestamp?: number }, content: string): LoggedMessage {
    const last = this.messages.at(-1)
    if (last?.role !== 'assistant') {
      const answer: LoggedMessage = { role: 'assistant', content, ...time }
      this.messages.push(answer)
      return answer
    }
    if (content !== '') last.content = last.content === '' ? content : `${last.content}\n${content}`
    return last
  }

  end() {
    const { messages, models, version, usage } = this
    return { messages, usage: sumOf(usage), model: models.mostUsed, version }
  }
}

/** Some versions write the output of a command with its exit code, as JSON in a text. */
function outputOf(output: unknown): string {
  if (typeof output === 'string') return output
  if (isRecord(output)) return textIn(output, 'content') ?? textIn(output, 'output') ?? deepJsonOf(output) ?? ''
  return blockText(output)
}
