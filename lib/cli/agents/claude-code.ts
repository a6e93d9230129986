import { HARMLESS_TOOLS } from '../../adapters/shared/harmless'
import type { Agent } from './types'

export const claudeCode: Agent = {
  name: 'claude-code',
  title: 'Claude Code',
  source: { from: 'https://code.claude.com/docs/en/hooks', date: '2026-11-25', version: '2.1.331' },
  // The project's file is the personal one, which is not committed: the command has paths of this machine.
  files: { user: ['.claude/settings.json'], project: ['.claude/settings.local.json'] },
  variable: ['CLAUDE_CONFIG_DIR', '.claude'],
  wiring: {
    kind: 'hooks',
    events: {
      PreToolUse: undefined,
      // The names of earlier and later versions for sub-agents, and for the output of what runs in the background.
      PostToolUse: 'Agent|AgentOutput|Bash|BashOutput|Grep|Read|Task|TaskOutput|WebFetch|WebSearch|mcp__.*',
      SessionStart: 'compact',
    },
    shape: 'groups',
    command: 'command',
    timeout: ['timeout', 10],
    folders: ['permissions', 'additionalDirectories'],
    off: [[['disableAllHooks'], true]],
    alsoRead: ['.claude/settings.json'],
  },
  hook: {
    dialect: 'claude',
    events: { PreToolUse: 'before', PostToolUse: 'after', SessionStart: 'started' },
    // It lets no hook replace the message of a command that failed.
    wraps: { tool: 'Bash', onDemand: true },
    replaces: 'all',
    tellsCompaction: true,
    asks: true,
    // The last two are answered by the user in any case.
    harmless: [...HARMLESS_TOOLS.claude, 'AskUserQuestion', 'ExitPlanMode'],
    readers: ['Grep', 'Read'],
    leaves: ['Read', 'Edit', 'Write', 'NotebookEdit'],
    // It saves more than 30,000 characters of a command by itself.
    maxBytes: 16_000,
  },
}
