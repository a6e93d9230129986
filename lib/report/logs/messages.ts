/** The neutral form: one message a line, in the fields of {@link LoggedMessage}. */

import { asText, isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import type { LoggedMessage } from '../types'
import { blockText, countIn, type LogFormat, type LogReader, type LogRecord, textIn, timestamped } from './reader'

const ROLES = new Set(['system', 'user', 'assistant', 'tool'])

export const neutral: LogFormat = {
  has: (record) => ROLES.has(asText(record.role)) && record.content !== undefined,
  open: () => new MessagesReader(),
}

class MessagesReader implements LogReader {
  private readonly messages: LoggedMessage[] = []

  read(record: LogRecord): void {
    if (!ROLES.has(asText(record.role))) return
    const [toolCallId, toolName] = [textIn(record, 'toolCallId'), textIn(record, 'toolName')]
    const calls = (isArray(record.toolCalls) ? record.toolCalls : []).filter(isRecord)
    const toolCalls = calls.map(({ id, name, args }) => ({ id: asText(id), name: asText(name), args }))
    this.messages.push({
      ...{ role: record.role as LoggedMessage['role'], content: blockText(record.content) },
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(toolName !== undefined && { toolName }),
      ...(record.isError === true && { isError: true }),
      ...timestamped(record.timestamp),
      ...(record.boundary === 'compaction' && { boundary: 'compaction', kept: countIn(record, 'kept') }),
    })
  }

  end() {
    return { messages: this.messages }
  }
}
