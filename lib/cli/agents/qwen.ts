import type { Agent } from './types'

export const qwen: Agent = {
  name: 'qwen',
  title: 'Qwen Code',
  source: {
    from: 'https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks',
    date: '2026-11-25',
    version: '0.24.4',
  },
  files: { user: ['.qwen/settings.json'], project: ['.qwen/settings.json'] },
  wiring: {
    kind: 'hooks',
    events: { PreToolUse: undefined, SessionStart: 'compact' },
    shape: 'groups',
    command: 'command',
    timeout: ['timeout', 10_000],
    fields: { name: 'spillway' },
    off: [[['disableAllHooks'], true]],
  },
  hook: {
    dialect: 'qwen',
    events: { PreToolUse: 'before', PostToolUse: 'after', SessionStart: 'started' },
    // It ignores changed arguments and results.
    replaces: 'none',
    asks: true,
    harmless: [
      'todo_write',
      'ask_user_question',
      'enter_plan_mode',
      'exit_plan_mode',
      'skill',
      'get_goal',
      'update_goal',
      'list_agents',
      'task_stop',
    ],
  },
  advice:
    'Qwen Code takes decisions from hooks, but no other output: results of servers of MCP are truncated by spillway init mcp.',
}
