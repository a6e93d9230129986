// Shapes results when they first enter the context: by Spillway, and by the rules of others.

import foldEntry from '../../dist/entries/fold.js'
import spillway from '../../index.js'

const { FoldSession } = foldEntry
const { ToolResultLedger } = spillway

/**
 * The messages of a session with other texts in place of results; `says` is the text that a model can infer from a result. `make` is
 * called once per session; `restart` is called in the middle of it with the messages in view.
 */
const shaped = (make) => (messages) => {
  const { text, clear, restart } = make()
  const calls = new Map()
  let view = []
  return messages.map((message, at) => {
    for (const { id, name, args } of message.toolCalls ?? []) calls.set(id, { name, args })
    if (at === Math.floor(messages.length / 2)) restart?.(view)
    if (message.boundary === 'compaction') {
      clear?.()
      view = []
    }
    const shaped = withText(message, calls, text)
    view.push(shaped)
    return shaped
  })
}

function withText(message, calls, text) {
  if (message.role !== 'tool' || typeof message.content !== 'string') return message
  const { name = message.toolName ?? 'tool', args } = calls.get(message.toolCallId) ?? {}
  const result = text(message.content, { toolName: name, toolCallId: message.toolCallId, args })
  const { content, says = content } = typeof result === 'string' ? { content: result } : result
  return { ...message, content, ...(content !== message.content && { says }) }
}

export const nothing = (messages) => messages

export const folds = (options = {}) =>
  shaped(() => {
    const session = new FoldSession(options)
    return {
      text: (text, call) => {
        const { content, record } = session.fold(text, call)
        return { content, says: [content, ...hitsIn(text, record)].join('\n') }
      },
      clear: () => session.clear(),
    }
  })

/** Search hits whose path stands above them only once: a model reads each with its path. */
function hitsIn(text, record) {
  const lines = text.split('\n')
  const grouped = record?.edits.filter(({ toolCallId }) => toolCallId === undefined) ?? []
  return grouped.flatMap(({ fromLine, toLine }) => lines.slice(fromLine, toLine))
}

/** The same where another process continues each session, and restores what is in view or does not. */
export const restarted = (isRestored) =>
  shaped(() => {
    let session = new FoldSession()
    const ledger = new ToolResultLedger()
    return {
      text: (content, call) => {
        const { content: shown, record: folds } = session.fold(content, call)
        if (folds !== undefined) ledger.record({ toolCallId: call.toolCallId, toolName: call.toolName, folds })
        return shown
      },
      clear: () => session.clear(),
      restart: (view) => {
        session = new FoldSession()
        if (isRestored) session.restore(view.map(chatMessage), { ledger })
      },
    }
  })

/** A message of chat completions. */
function chatMessage({ role, content, toolCalls, toolCallId }) {
  const calls = toolCalls?.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) ?? '{}' },
  }))
  return {
    role,
    content,
    ...(calls?.length > 0 && { tool_calls: calls }),
    ...(toolCallId && { tool_call_id: toolCallId }),
  }
}

/** An equal result is not said again. */
export const wholeResults = shaped(() => {
  const seen = new Set()
  return {
    text: (content) => {
      if (content.length < 200 || !seen.has(content)) return seen.add(content) && content
      return '[the same as an earlier result]'
    },
    clear: () => seen.clear(),
  }
})

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g')
const NOISE =
  /^\s*(Compiling|Downloading|Downloaded|Checking|Fetching|Collecting|Requirement already)\b|( \.\.\. ok|PASSED)\s*$/

/** Lines without news are dropped, as filters by command do. Nothing gives them back. */
export const filters = shaped(() => ({
  text: (content) =>
    content
      .replace(COLOURS, '')
      .split('\n')
      .filter((line) => !NOISE.test(line))
      .join('\n'),
}))
