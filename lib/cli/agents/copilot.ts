import type { Agent } from './types'

export const copilot: Agent = {
  name: 'copilot',
  title: 'Copilot CLI',
  source: {
    from: 'https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference',
    date: '2026-11-25',
    version: '1.0.102',
  },
  files: { user: ['.copilot/hooks/spillway.json'], project: ['.github/hooks/spillway.json'] },
  variable: ['COPILOT_HOME', '.copilot'],
  wiring: {
    kind: 'hooks',
    events: { preToolUse: undefined, postToolUse: undefined },
    shape: 'flat',
    command: 'bash',
    timeout: ['timeoutSec', 10],
    fields: { type: 'command' },
    file: { version: 1 },
    namesEvent: true,
    off: [[['disableAllHooks'], true]],
  },
  hook: {
    dialect: 'copilot',
    events: { preToolUse: 'before', postToolUse: 'after', sessionStart: 'started' },
    wraps: { tool: 'bash', fresh: true, watched: true },
    replaces: 'all',
    asks: true,
    harmless: [
      'report_intent',
      'update_todo',
      'ask_user',
      'read_bash',
      'stop_bash',
      'list_bash',
      'skill',
      'list_agents',
    ],
    judges: { create: { tool: 'create_file' } },
    readers: ['grep', 'view'],
    leaves: ['view'],
  },
}
