/**
 * Spillway for the Model Context Protocol: around a client, around the tool of a server, or between any host and any server.
 * No SDK is needed; what is guarded only has to look like one.
 */

import { PermissionPolicy, SpillwayError, TruncationStorage } from 'spillway'
import { type McpProxy, type McpProxyOptions, OPTION_NAMES } from './mcp/options'
import { ServerProxy } from './mcp/proxy'
import { isRecord } from './mcp/types'

export { guardMcpClient, guardMcpTool, type McpControls } from './mcp/guard'
export type { McpProxy, McpProxyOptions, McpServerExit, McpTruncation } from './mcp/options'
export type { StructuredContent } from './mcp/result'
export type { McpCallParams, McpClientLike, McpContentBlock, McpToolResult } from './mcp/types'

/**
 * Starts a server of MCP and stands between it and the host: long results of tools are bounded and kept, the host is told of
 * two more tools with which a model gets at the rest, and, with `permission`, calls are judged. Every other message passes
 * byte for byte, whatever its method, in both directions and of any length.
 *
 * @example
 * const proxy = startMcpProxy({ command: 'npx', args: ['-y', 'some-mcp-server'] })
 * const { code } = await proxy.ended
 * @throws SpillwayError `INVALID_ARGUMENT` or `INVALID_CONFIG` for a wrong option; `ended` rejects with `COMMAND` where the
 * server cannot be started
 */
export function startMcpProxy(options: McpProxyOptions): McpProxy {
  check(options)
  const proxy = new ServerProxy(options)
  const ended = proxy.ended.catch((cause: unknown) => {
    const problem = `${JSON.stringify(options.command)} cannot be started: ${(cause as Error).message}`
    throw new SpillwayError('COMMAND', problem, { cause })
  })
  return {
    get pid() {
      return proxy.child.pid ?? 0
    },
    ended,
    stop: (signal) => proxy.stop(signal),
  }
}

/** What is not read where a storage is given, or is ours to say. */
const OF_STORAGE = new Set([
  ...['storage', 'storageDir', 'storageDirs', 'durability', 'maxStoreBytes', 'maxStoreFiles', 'maxFileBytes'],
  ...['sweepOnSave', 'retentionDays', 'availableTools', 'skipTools', 'shouldTruncate', 'ledger'],
])

function check(options: McpProxyOptions): void {
  if (!isRecord(options)) throw wrong('options', 'an object with command')
  const unknown = Object.keys(options).find((key) => !(OPTION_NAMES as readonly string[]).includes(key))
  if (unknown !== undefined) throw wrong(`options.${unknown}`, `nothing: known are ${OPTION_NAMES.join(', ')}`)
  const { command, args, env, server, truncation, storage, sessionId, outputTools, structuredContent, permission } =
    options as McpProxyOptions
  if (typeof command !== 'string' || command === '') throw wrong('options.command', 'the name of a program')
  if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === 'string'))) {
    throw wrong('options.args', 'an array of strings')
  }
  for (const [name, value] of Object.entries({ env, truncation })) {
    if (value !== undefined && !isRecord(value)) throw wrong(`options.${name}`, 'an object')
  }
  for (const [name, value] of Object.entries({ server, sessionId, cwd: options.cwd, configFile: options.configFile })) {
    if (value !== undefined && (typeof value !== 'string' || value === '')) throw wrong(`options.${name}`, 'a string')
  }
  const misplaced = Object.keys(truncation ?? {}).find((key) => OF_STORAGE.has(key))
  if (misplaced !== undefined) throw wrong(`options.truncation.${misplaced}`, 'nothing: it belongs to options.storage')
  if (storage !== undefined && !(storage instanceof TruncationStorage)) {
    throw wrong('options.storage', 'a TruncationStorage')
  }
  if (permission !== undefined && server === undefined) {
    throw wrong('options.server', 'a string, with permission: what a server calls itself is no ground for trust')
  }
  if (outputTools !== undefined && typeof outputTools !== 'boolean') throw wrong('options.outputTools', 'true or false')
  if (structuredContent !== undefined && structuredContent !== 'drop' && structuredContent !== 'keep') {
    throw wrong('options.structuredContent', "'drop' or 'keep'")
  }
  if (permission !== undefined && !(permission instanceof PermissionPolicy)) {
    throw wrong('options.permission', 'a PermissionPolicy')
  }
}

function wrong(field: string, allowed: string): SpillwayError {
  return new SpillwayError('INVALID_ARGUMENT', `${field}: allowed is ${allowed}`, { field })
}
