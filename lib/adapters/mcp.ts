/**
 * Spillway for the Model Context Protocol: around a client, around the tool of a server, or between any host and any server.
 * No SDK is needed; a guarded client or tool only needs the same methods.
 */

import { SpillwayError } from 'spillway'
import { checkProxyOptions } from './mcp/check-options'
import { Gateway } from './mcp/gateway/gateway'
import type { McpProxy, McpProxyOptions } from './mcp/options'
import { ServerProxy } from './mcp/proxy'

export { guardMcpClient, guardMcpTool, type McpControls } from './mcp/guard'
export { HOSTS as MCP_HOSTS, type HostProfile as McpHostProfile } from './mcp/hosts'
export type {
  McpProcessOptions,
  McpProxy,
  McpProxyOptions,
  McpServerExit,
  McpServerOptions,
  McpTruncation,
} from './mcp/options'
export type { StructuredContent } from './mcp/truncate-result'
export type { McpCallParams, McpClientLike, McpContentBlock, McpToolResult } from './mcp/types'

/**
 * Starts an MCP server, or several, or connects to them over HTTP, and proxies them for the host: long tool results are truncated
 * and saved, two tools for reading saved outputs are added to the list, and, with `permission`, calls are checked. Every other
 * message passes byte for byte, with any method, in both directions and of any length.
 *
 * @example
 * const proxy = startMcpProxy({ command: 'node', args: ['server.js'] })
 * const { code } = await proxy.ended
 * @throws SpillwayError `INVALID_ARGUMENT` or `INVALID_CONFIG` for an invalid option; `ended` rejects with `COMMAND` if the server
 * cannot be started
 */
export function startMcpProxy(options: McpProxyOptions): McpProxy {
  checkProxyOptions(options)
  const { command, url, servers } = options
  const proxy = servers || options.tools === 'lazy' ? new Gateway(options) : new ServerProxy(options)
  const ended = proxy.ended.catch((cause: unknown) => {
    const program =
      command ??
      url ??
      Object.values(servers ?? {})
        .map((server) => server.command)
        .join(', ')
    const problem = `${JSON.stringify(String(program))} cannot be started: ${(cause as Error).message}`
    throw new SpillwayError('COMMAND', problem, { cause })
  })
  return {
    get pid() {
      return proxy.pid
    },
    ended,
    stop: (signal) => proxy.stop(signal),
  }
}
