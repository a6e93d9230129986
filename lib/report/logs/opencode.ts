/** Sessions of OpenCode, as `opencode export` prints them: one object with the messages and their parts. */

import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage } from '../types'
import {
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

export const openCode: LogFormat = {
  has: (record) => typeof recordIn(record, 'info').id === 'string' && isArray(record.messages),
  open: () => new OpenCodeReader(),
}

class OpenCodeReader implements LogReader {
  private readonly exported: LogRecord[] = []
  private version: string | undefined

  read(record: LogRecord): void {
    this.version = textIn(recordIn(record, 'info'), 'version') ?? this.version
    if (isArray(record.messages)) this.exported.push(...record.messages.filter(isRecord))
  }

  end() {
    const models = new Models()
    const infos = this.exported.map((message) => recordIn(message, 'info'))
    for (const { modelID } of infos) models.add(modelID)
    const usage = infos.map(({ tokens }) => usageOf(isRecord(tokens) ? tokens : {}))
    const messages = this.exported.flatMap(messagesOf).filter((message) => !isEmptyAnswer(message))
    return { messages, usage: sumOf(usage), model: models.mostUsed, version: this.version }
  }
}

function usageOf(tokens: LogRecord) {
  const cache = recordIn(tokens, 'cache')
  return {
    input: countIn(tokens, 'input'),
    cacheRead: countIn(cache, 'read'),
    cacheWrite: countIn(cache, 'write'),
    output: countIn(tokens, 'output') + countIn(tokens, 'reasoning'),
  }
}

function messagesOf(message: LogRecord): LoggedMessage[] {
  const info = recordIn(message, 'info')
  const parts = (isArray(message.parts) ? message.parts : []).filter(isRecord)
  const texts = parts.filter(({ type, ignored }) => type === 'text' && ignored !== true)
  const content = texts.map((part) => textIn(part, 'text') ?? '').join('\n')
  const time = timestamped(recordIn(info, 'time').created)
  if (info.role === 'user') return content === '' ? [] : [{ role: 'user', content, ...time }]
  const isSummary = info.summary === true
  if (isSummary) return [{ role: 'user', content, ...time, boundary: 'compaction' }]
  const calls = parts.filter(({ type }) => type === 'tool')
  const toolCalls = calls.map((part) => ({
    id: textIn(part, 'callID') ?? '',
    name: textIn(part, 'tool') ?? '',
    args: recordIn(part, 'state').input ?? {},
  }))
  const answer: LoggedMessage = { role: 'assistant', content, ...(calls.length > 0 && { toolCalls }), ...time }
  return [answer, ...calls.flatMap(resultOf)]
}

function resultOf(part: LogRecord): LoggedMessage[] {
  const state = recordIn(part, 'state')
  const content = textIn(state, 'output') ?? textIn(state, 'error')
  if (content === undefined) return []
  return [
    {
      role: 'tool',
      content,
      toolCallId: textIn(part, 'callID') ?? '',
      toolName: textIn(part, 'tool') ?? '',
      ...(state.status === 'error' && { isError: true }),
      ...timestamped(recordIn(state, 'time').end),
    },
  ]
}
