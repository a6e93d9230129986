import type { Agent } from './types'

// Made from descriptions of others: the page itself was not read, and no Cursor was at hand.
export const cursor: Agent = {
  name: 'cursor',
  title: 'Cursor',
  source: { from: 'https://cursor.com/docs/agent/hooks', date: '2026-11-25' },
  files: { user: ['.cursor/hooks.json'], project: ['.cursor/hooks.json'] },
  wiring: {
    kind: 'hooks',
    events: { preToolUse: undefined, postToolUse: undefined },
    shape: 'flat',
    command: 'command',
    timeout: ['timeout', 10],
    file: { version: 1 },
  },
  hook: {
    dialect: 'cursor',
    events: { preToolUse: 'before', postToolUse: 'after', sessionStart: 'started' },
    replaces: 'mcp',
    asks: true,
    harmless: ['TodoWrite', 'AskQuestion'],
  },
}
