/**
 * Spillway for the Model Context Protocol: around a client, around the tool of a server, or between any host and any server.
 * No SDK is needed; what is guarded only has to look like one.
 */

import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { PermissionPolicy, SpillwayError, TruncationStorage } from 'spillway'
import { checkNoNul, checkProgram, checkProgramArguments, checkVariables } from '../command/validate'
import { type Check, checkOptions, flag, strings } from '../validation/options'
import { invalid, isRecord, wrong } from '../validation/validate'
import { HOSTS, hostOf } from './mcp/hosts'
import type { McpProxy, McpProxyOptions } from './mcp/options'
import { ServerProxy } from './mcp/proxy'
import { STRUCTURED_CONTENT } from './mcp/truncate-result'

export { guardMcpClient, guardMcpTool, type McpControls } from './mcp/guard'
export { HOSTS as MCP_HOSTS, type HostProfile as McpHostProfile } from './mcp/hosts'
export type { McpProcessOptions, McpProxy, McpProxyOptions, McpServerExit, McpTruncation } from './mcp/options'
export type { StructuredContent } from './mcp/truncate-result'
export type { McpCallParams, McpClientLike, McpContentBlock, McpToolResult } from './mcp/types'

/**
 * Starts an MCP server, or connects to one over HTTP, and proxies it for the host: long results of tools are truncated and saved, two more tools are
 * listed with which a model reads the rest, and, with `permission`, calls are judged. Every other message passes
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
    const problem = `${JSON.stringify(options.command ?? String(options.url))} cannot be started: ${(cause as Error).message}`
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

/** Settings of truncation that are not read where a storage is given, or are ours to say. */
const OF_STORAGE = new Set([
  ...['storage', 'storageDir', 'storageDirs', 'durability', 'maxStoreBytes', 'maxStoreFiles', 'maxFileBytes'],
  ...['sweepOnSave', 'retentionDays', 'availableTools', 'skipTools', 'shouldTruncate', 'ledger'],
])

const name: Check = ['a string that is not empty', (value) => typeof value === 'string' && value !== '']
const record: Check = ['an object', isRecord]

/** Headers that each request has of its own. */
const OWN_HEADERS = new Set([
  ...['accept', 'content-type', 'content-length', 'transfer-encoding', 'connection', 'host'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'],
])

const OPTIONS: Readonly<Record<keyof McpProxyOptions, Check>> = {
  command: ['the name of a program', name[1]],
  args: strings,
  cwd: name,
  env: record,
  url: ['an address with http: or https:', (value) => typeof value === 'string' || value instanceof URL],
  headers: record,
  input: ['a stream to read', (value) => typeof (value as Readable | null)?.pipe === 'function'],
  output: ['a stream to write', (value) => typeof (value as Writable | null)?.write === 'function'],
  server: name,
  truncation: record,
  host: [
    `one of ${HOSTS.map((host) => host.name).join(', ')}`,
    (value) => typeof value === 'string' && hostOf(value) !== undefined,
  ],
  storage: ['a TruncationStorage', (value) => value instanceof TruncationStorage],
  sessionId: name,
  outputTools: flag,
  structuredContent: STRUCTURED_CONTENT,
  permission: ['a PermissionPolicy', (value) => value instanceof PermissionPolicy],
  configFile: name,
  judgeUnnamed: flag,
}

function check(options: McpProxyOptions): void {
  checkOptions('options', options, OPTIONS)
  const { command, url, headers, args = [], env = {}, cwd, server, truncation, permission, judgeUnnamed } = options
  if (url !== undefined) checkAddress(options)
  else checkProgram('options.command', command)
  if (url === undefined && headers !== undefined) throw wrong('options.headers', headers, 'nothing, without url')
  checkProgramArguments('options.args', args)
  checkVariables('options.env', env)
  if (cwd !== undefined) checkNoNul('options.cwd', cwd)
  const misplaced = Object.keys(truncation ?? {}).find((key) => OF_STORAGE.has(key))
  if (misplaced !== undefined) {
    const value = (truncation as Record<string, unknown>)[misplaced]
    throw wrong(`options.truncation.${misplaced}`, value, 'nothing: it belongs to options.storage')
  }
  if (permission !== undefined && server === undefined && judgeUnnamed !== true) {
    // The name that a server gives itself is no reason to trust it.
    throw wrong('options.server', server, 'the name of the server, with permission')
  }
}

/** A server is either a program or an address. */
function checkAddress({ url = '', headers = {}, ...options }: McpProxyOptions): void {
  for (const field of ['command', 'args', 'cwd', 'env'] as const) {
    if (options[field] !== undefined) throw wrong(`options.${field}`, options[field], 'nothing, with url')
  }
  const { protocol, username, password } = URL.canParse(String(url)) ? new URL(url) : new URL('none:')
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw wrong('options.url', url, 'an address with http: or https:, such as "https://example.com/mcp"')
  }
  if (username !== '' || password !== '')
    throw wrong('options.url', url, 'an address without credentials: they belong to headers')
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value)
}

function checkHeader(name: string, value: unknown): void {
  const field = `options.headers.${name.toWellFormed()}`
  if (OWN_HEADERS.has(name.toLowerCase())) throw wrong(field, value, 'nothing: the proxy sends this header itself')
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value as string)
  } catch (cause) {
    throw invalid(field, (cause as Error).message.replaceAll('\n', ' '), { cause })
  }
  if (typeof value !== 'string') throw wrong(field, value, 'a string')
}
