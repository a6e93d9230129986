import type { Agent } from './types'

export const pi: Agent = {
  name: 'pi',
  title: 'pi',
  source: {
    from: 'https://www.npmjs.com/package/@earendil-works/pi-coding-agent (docs/extensions.md)',
    date: '2026-11-25',
    version: '0.87.1',
  },
  files: { user: ['.pi/agent/extensions/spillway.ts'], project: ['.pi/extensions/spillway.ts'] },
  variable: ['PI_CODING_AGENT_DIR', '.pi/agent'],
  wiring: { kind: 'file' },
}
