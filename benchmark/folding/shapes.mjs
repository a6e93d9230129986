// Shapes results when they first enter the context: by Spillway, and by the rules of others.

import foldEntry from '../../dist/entries/fold.js'

const { FoldSession } = foldEntry

/** The messages of a session with other texts in the place of results. `make` is asked once per session. */
const shaped = (make) => (messages) => {
  const { text, clear } = make()
  const calls = new Map()
  return messages.map((message) => {
    for (const { id, name, args } of message.toolCalls ?? []) calls.set(id, { name, args })
    if (message.boundary === 'compaction') clear?.()
    if (message.role !== 'tool' || typeof message.content !== 'string') return message
    const { name = message.toolName ?? 'tool', args } = calls.get(message.toolCallId) ?? {}
    return { ...message, content: text(message.content, { toolName: name, toolCallId: message.toolCallId, args }) }
  })
}

export const nothing = (messages) => messages

export const folds = (options = {}) =>
  shaped(() => {
    const session = new FoldSession(options)
    return { text: (content, call) => session.fold(content, call).content, clear: () => session.clear() }
  })

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
