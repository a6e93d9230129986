import type { Agent } from './types'

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  source: { from: 'https://developers.openai.com/codex/hooks', date: '2026-11-25', version: '0.169.0' },
  files: { user: ['.codex/hooks.json'], project: ['.codex/hooks.json'] },
  variable: ['CODEX_HOME', '.codex'],
  wiring: {
    kind: 'hooks',
    events: { PreToolUse: undefined, PostToolUse: 'mcp__.*', SessionStart: 'compact' },
    shape: 'groups',
    command: 'command',
    timeout: ['timeout', 10],
  },
  hook: {
    dialect: 'codex',
    events: { PreToolUse: 'before', PostToolUse: 'after', SessionStart: 'started' },
    // Its own limit has cut the output of a command before the hook after it reads it.
    wraps: { tool: 'Bash', fresh: true, watched: true },
    replaces: 'all',
    tellsCompaction: true,
    asks: false,
    harmless: ['update_plan', 'request_user_input', 'get_goal', 'create_goal', 'update_goal', 'wait_agent'],
    judges: { apply_patch: { tool: 'apply_patch', patch: 'command' } },
    // It cuts what a hook says in the middle of 10,000 bytes.
    maxBytes: 9000,
  },
  advice: 'Codex asks once whether it may run new hooks: /hooks shows them.',
}
