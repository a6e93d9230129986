/** What a tool of a server of MCP is called where tools of more than one server meet. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`
}
