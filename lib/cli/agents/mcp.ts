import type { Agent } from './types'

export const mcp: Agent = {
  name: 'mcp',
  title: 'servers of MCP',
  source: { from: 'https://modelcontextprotocol.io/docs/develop/connect-local-servers', date: '2026-11-25' },
  files: { user: [], project: ['.mcp.json'] },
  // Most hosts; VS Code; OpenCode.
  wiring: { kind: 'servers', keys: ['mcpServers', 'servers', 'mcp'] },
}
