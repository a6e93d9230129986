/** Sessions of pi: a tree of entries, one a line, of which the path to the last one counts. The first version was a list. */

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
  pathToLast,
  recordIn,
  sumOf,
  textIn,
  timestamped,
} from './reader'

export const pi: LogFormat = {
  has: (record) => record.type === 'session' && typeof record.cwd === 'string',
  open: () => new PiReader(),
}

class PiReader implements LogReader {
  private readonly entries: LogRecord[] = []
  private version: string | undefined

  read(record: LogRecord): void {
    if (record.type === 'session') this.version = `format ${asText(record.version ?? 1)}`
    else this.entries.push(record)
  }

  end() {
    const path = pathToLast(this.entries)
    const messages: LoggedMessage[] = []
    /** How many messages stood before an entry, by its id or its place in the file. */
    const before = new Map<unknown, number>()
    const usage: Omit<SessionUsage, 'requests'>[] = []
    const models = new Models()
    for (const [at, entry] of path.entries()) {
      // The first version counted the line of the session as well.
      before.set(entry.id ?? at + 1, messages.length)
      const message = recordIn(entry, 'message')
      if (message.role === 'assistant') {
        models.add(message.model)
        usage.push(usageOf(recordIn(message, 'usage')))
      }
      const found = messagesOf(entry, (first) => messages.length - (before.get(first) ?? messages.length))
      messages.push(...found.filter((message) => !isEmptyAnswer(message)))
    }
    return { messages, usage: sumOf(usage), model: models.mostUsed, version: this.version }
  }
}

function usageOf(usage: LogRecord): Omit<SessionUsage, 'requests'> {
  return {
    input: countIn(usage, 'input'),
    cacheRead: countIn(usage, 'cacheRead'),
    cacheWrite: countIn(usage, 'cacheWrite'),
    output: countIn(usage, 'output'),
  }
}

/** The messages of an entry; `keptFrom` says how many messages a compaction kept. */
function messagesOf(entry: LogRecord, keptFrom: (first: unknown) => number): LoggedMessage[] {
  const { type } = entry
  if (type === 'compaction') {
    const content = textIn(entry, 'summary') ?? ''
    const kept = keptFrom(entry.firstKeptEntryId ?? entry.firstKeptEntryIndex)
    return [{ role: 'user', content, ...timestamped(entry.timestamp), boundary: 'compaction', kept }]
  }
  if (type === 'branch_summary') {
    return [{ role: 'user', content: textIn(entry, 'summary') ?? '', ...timestamped(entry.timestamp) }]
  }
  if (type === 'custom_message') {
    return [{ role: 'user', content: blockText(entry.content), ...timestamped(entry.timestamp) }]
  }
  return type === 'message' ? messageOf(recordIn(entry, 'message'), entry.timestamp) : []
}

function messageOf(message: LogRecord, written: unknown): LoggedMessage[] {
  const time = timestamped(message.timestamp ?? written)
  const content = blockText(message.content)
  switch (message.role) {
    case 'assistant': {
      const blocks: readonly unknown[] = isArray(message.content) ? message.content : []
      const calls = blocks.filter((block): block is LogRecord => isRecord(block) && block.type === 'toolCall')
      const toolCalls = calls.map(({ id, name, arguments: args }) => ({
        id: asText(id),
        name: asText(name),
        args: args ?? {},
      }))
      return [{ role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }), ...time }]
    }
    case 'toolResult': {
      const [toolCallId, toolName] = [textIn(message, 'toolCallId') ?? '', textIn(message, 'toolName')]
      const named = { toolCallId, ...(toolName !== undefined && { toolName }) }
      return [{ role: 'tool', content, ...named, ...(message.isError === true && { isError: true }), ...time }]
    }
    case 'bashExecution':
      return [{ role: 'user', content: `Ran \`${asText(message.command)}\`\n${asText(message.output)}`, ...time }]
    case 'user':
    case 'system':
      return [{ role: message.role, content, ...time }]
    default:
      return content === '' ? [] : [{ role: 'user', content, ...time }]
  }
}
