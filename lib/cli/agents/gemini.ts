import type { Agent } from './types'

const BACKGROUND = ['list_background_processes', 'read_background_output']

export const gemini: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  source: { from: 'https://geminicli.com/docs/hooks/reference', date: '2026-11-25', version: '0.61.0' },
  files: { user: ['.gemini/settings.json'], project: ['.gemini/settings.json'] },
  wiring: {
    kind: 'hooks',
    events: { BeforeTool: undefined },
    shape: 'groups',
    command: 'command',
    timeout: ['timeout', 10_000],
    fields: { name: 'spillway' },
    off: [
      [['hooksConfig', 'enabled'], false],
      [['hooksConfig', 'disabled'], 'spillway'],
    ],
  },
  hook: {
    dialect: 'gemini',
    events: { BeforeTool: 'before', AfterTool: 'after', SessionStart: 'started' },
    wraps: { tool: 'run_shell_command', fresh: true },
    // It takes a text in place of a result for an error of the tool.
    replaces: 'none',
    asks: true,
    harmless: [
      'write_todos',
      'update_topic',
      'ask_user',
      'enter_plan_mode',
      'exit_plan_mode',
      'activate_skill',
      ...BACKGROUND,
    ],
  },
}
