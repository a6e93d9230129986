// MCP: between any host and any server. In the host's configuration: node mcp-proxy.ts COMMAND [ARGUMENT…]
// Without code, `spillway mcp -- COMMAND` does the same.
import { startMcpProxy } from 'spillway/mcp'

const [command, ...args] = process.argv.slice(2)
if (command) {
  const proxy = startMcpProxy({ command, args, truncation: { maxTokens: 4000 } })
  process.exitCode = (await proxy.ended).code ?? 1
}
