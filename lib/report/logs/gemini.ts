/** Chats of Gemini CLI: one object with its messages, or a message a line with corrections of what came before. */

import { deepJsonOf } from '../../util/deep-json'
import { asText, isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage } from '../types'
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

export const gemini: LogFormat = {
  has: (record) => typeof record.sessionId === 'string' && typeof record.projectHash === 'string',
  open: () => new GeminiReader(),
}

class GeminiReader implements LogReader {
  /** By their ids: a line with the id of an earlier one takes its place. */
  private readonly records = new Map<string, LogRecord>()

  read(record: LogRecord): void {
    const set = recordIn(record, '$set')
    if (typeof record.$rewindTo === 'string') this.rewind(record.$rewindTo)
    else if (isArray(set.messages)) {
      this.records.clear()
      this.add(set.messages)
    } else if (isArray(record.messages)) this.add(record.messages)
    else if (typeof record.id === 'string') this.records.set(record.id, record)
  }

  private add(messages: readonly unknown[]): void {
    for (const message of messages) {
      if (isRecord(message)) this.records.set(textIn(message, 'id') ?? `#${this.records.size}`, message)
    }
  }

  private rewind(id: string): void {
    const ids = [...this.records.keys()]
    for (const each of ids.slice(Math.max(0, ids.indexOf(id)))) this.records.delete(each)
  }

  end() {
    const records = [...this.records.values()]
    const models = new Models()
    for (const { model } of records) models.add(model)
    const usage = records.map((record) => usageOf(recordIn(record, 'tokens')))
    return {
      messages: records.flatMap(messagesOf).filter((message) => !isEmptyAnswer(message)),
      usage: sumOf(usage),
      model: models.mostUsed,
    }
  }
}

/** The cached tokens are among the input; thoughts are paid as output. */
function usageOf(tokens: LogRecord) {
  const cacheRead = countIn(tokens, 'cached')
  return {
    input: Math.max(0, countIn(tokens, 'input') - cacheRead) + countIn(tokens, 'tool'),
    cacheRead,
    cacheWrite: 0,
    output: countIn(tokens, 'output') + countIn(tokens, 'thoughts'),
  }
}

function messagesOf(record: LogRecord): LoggedMessage[] {
  const content = blockText(record.content)
  const time = timestamped(record.timestamp)
  if (record.type === 'user') return [{ role: 'user', content, ...time }]
  if (record.type !== 'gemini') return []
  const calls = (isArray(record.toolCalls) ? record.toolCalls : []).filter(isRecord)
  const toolCalls = calls.map(({ id, name, args }) => ({
    id: asText(id),
    name: asText(name),
    args: args ?? {},
  }))
  const answer: LoggedMessage = { role: 'assistant', content, ...(calls.length > 0 && { toolCalls }), ...time }
  const results = calls.filter(({ result }) => isArray(result))
  return [answer, ...results.map(resultOf)]
}

function resultOf({ id, name, result, status, timestamp }: LogRecord): LoggedMessage {
  const parts = (result as unknown[]).filter(isRecord)
  const texts = parts.map((part) => {
    const response = recordIn(recordIn(part, 'functionResponse'), 'response')
    return textIn(response, 'output') ?? textIn(response, 'error') ?? textIn(part, 'text') ?? deepJsonOf(response) ?? ''
  })
  return {
    role: 'tool',
    content: texts.join('\n'),
    toolCallId: asText(id),
    toolName: asText(name),
    ...(status === 'error' && { isError: true }),
    ...timestamped(timestamp),
  }
}
