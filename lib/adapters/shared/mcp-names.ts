/** Names of MCP tools where tools of several servers are used together. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`
}
