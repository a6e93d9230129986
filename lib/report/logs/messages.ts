/**
 * One message a line: in the neutral form of {@link LoggedMessage}, or in any format that histories have. Session files of
 * `JsonlSession` are read as well: entries of a tree, of which the path to the last one counts.
 */

import { detectFormat, formatNamed, viewOf } from '../../history/formats'
import { joinedText } from '../../history/message-cache'
import type { HistoryFormatName } from '../../history/message-view'
import { asText, isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedCall, LoggedMessage } from '../types'
import {
  blockText,
  countIn,
  type LogFormat,
  type LogReader,
  type LogRecord,
  pathToLast,
  textIn,
  timestamped,
} from './reader'

const ROLES = new Set(['system', 'user', 'assistant', 'tool'])

export const messageLines: LogFormat = {
  has: (record) =>
    isEntry(record) || (ROLES.has(asText(record.role)) && (record.content ?? record.parts) !== undefined),
  open: () => new MessagesReader(),
}

/** An entry of a session file, with or without a message. */
function isEntry({ type, id, parentId }: LogRecord): boolean {
  return typeof type === 'string' && typeof id === 'string' && (parentId === null || typeof parentId === 'string')
}

class MessagesReader implements LogReader {
  private readonly records: LogRecord[] = []

  read(record: LogRecord): void {
    this.records.push(record)
  }

  end() {
    const messages = this.records.some(isEntry)
      ? pathToLast(this.records)
          .map(({ message }) => message)
          .filter(isRecord)
      : this.records
    if (messages.some(isNeutral)) return { messages: messages.flatMap(neutralMessage) }
    const format = detectFormat(messages)
    return { messages: format === undefined ? messages.flatMap(neutralMessage) : viewed(format, messages) }
  }
}

/** True for a message that only the neutral form has. */
function isNeutral({ role, toolCalls, toolCallId, boundary }: LogRecord): boolean {
  return isArray(toolCalls) || (role === 'tool' && typeof toolCallId === 'string') || boundary === 'compaction'
}

function neutralMessage(record: LogRecord): LoggedMessage[] {
  if (!ROLES.has(asText(record.role))) return []
  const [toolCallId, toolName] = [textIn(record, 'toolCallId'), textIn(record, 'toolName')]
  const calls = (isArray(record.toolCalls) ? record.toolCalls : []).filter(isRecord)
  const toolCalls = calls.map(({ id, name, args }) => ({ id: asText(id), name: asText(name), args }))
  return [
    {
      role: record.role as LoggedMessage['role'],
      content: blockText(record.content),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(toolName !== undefined && { toolName }),
      ...(record.isError === true && { isError: true }),
      ...timestamped(record.timestamp),
      ...(record.boundary === 'compaction' && { boundary: 'compaction', kept: countIn(record, 'kept') }),
    },
  ]
}

/** The messages of a history in one of the formats. */
function viewed(name: HistoryFormatName, messages: readonly LogRecord[]): LoggedMessage[] {
  const { flat } = formatNamed(name)
  const toolNames = new Map<string, string>()
  const logged: LoggedMessage[] = []
  for (const message of messages) {
    const { role, text, calls, results, time } = viewOf(name, message)
    const at = timestamped(message.timestamp ?? time)
    for (const { callId = '', toolName = toolNames.get(callId), text, isError, time } of results) {
      logged.push({
        role: 'tool',
        content: joinedText(text),
        toolCallId: callId,
        ...(toolName !== undefined && { toolName }),
        ...(isError === true && { isError }),
        ...(time === undefined ? at : timestamped(time)),
      })
    }
    const content = joinedText(text)
    const toolCalls = calls.map((call): LoggedCall => {
      const { id = '', name = '', argsText } = call
      toolNames.set(id, name)
      return { id, name, args: call.args() ?? argsText }
    })
    if (content === '' && toolCalls.length === 0) continue
    if (role !== 'assistant') {
      if (role === 'system' || role === 'user') logged.push({ role, content, ...at })
      continue
    }
    const last = logged.at(-1)
    const more = toolCalls.length > 0 && { toolCalls }
    // An answer is several items there, and must not count as several requests.
    if (flat && last?.role === 'assistant') logged[logged.length - 1] = joined(last, content, toolCalls)
    else logged.push({ role, content, ...more, ...at })
  }
  return logged
}

function joined(answer: LoggedMessage, text: string, calls: readonly LoggedCall[]): LoggedMessage {
  const content = [answer.content, text].filter((part) => part !== '').join('\n')
  const toolCalls = [...(answer.toolCalls ?? []), ...calls]
  return { ...answer, content, ...(toolCalls.length > 0 && { toolCalls }) }
}
