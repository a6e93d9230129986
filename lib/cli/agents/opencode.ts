import type { Agent } from './types'

export const opencode: Agent = {
  name: 'opencode',
  title: 'OpenCode',
  source: { from: 'https://opencode.ai/docs/plugins', date: '2026-11-25', version: '1.18.33' },
  files: {
    user: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
  },
  variable: ['XDG_CONFIG_HOME', '.config'],
  wiring: { kind: 'plugin', list: 'plugin' },
}
