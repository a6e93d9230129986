/** Checks of the options of the proxy. */

import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { PermissionPolicy, type TruncationStorage } from 'spillway'
import { checkNoNul, checkProgram, checkProgramArguments, checkVariables } from '../../command/validate'
import {
  type Check,
  checkOptions,
  flag,
  fn,
  isNonEmptyString,
  nonEmptyString,
  object,
  oneOf,
  strings,
} from '../../validation/options'
import { invalid, isRecord, wrong } from '../../validation/validate'
import { HOSTS } from './hosts'
import type { McpProxyOptions, McpServerOptions } from './options'
import { STRUCTURED_CONTENT } from './truncate-result'

/** Settings of truncation that are not read where a storage is given, or are ours to say. */
const OF_STORAGE = new Set([
  ...['storage', 'storageDir', 'storageDirs', 'durability', 'maxStoreBytes', 'maxStoreFiles', 'maxFileBytes'],
  ...['sweepOnSave', 'retentionDays', 'availableTools', 'skipTools', 'shouldTruncate', 'ledger'],
])

/** By its functions, so that `spillway/remote` is loaded only by those who use it. */
function isStorage(value: unknown): boolean {
  const { saveStream, readRange, search, close } = (value ?? {}) as Partial<TruncationStorage>
  return [saveStream, readRange, search, close].every((method) => typeof method === 'function')
}

/** Headers that each request has of its own. */
const OWN_HEADERS = new Set([
  ...['accept', 'content-type', 'content-length', 'transfer-encoding', 'connection', 'host'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'],
])

const OPTIONS: Readonly<Record<keyof McpProxyOptions, Check>> = {
  command: ['the name of a program', isNonEmptyString],
  args: strings,
  cwd: nonEmptyString,
  env: object,
  url: ['an address with http: or https:', (value) => typeof value === 'string' || value instanceof URL],
  headers: object,
  servers: ['an object with a server for each name', (value) => isRecord(value) && Object.keys(value).length > 0],
  tools: oneOf('all', 'lazy'),
  input: ['a stream to read', (value) => typeof (value as Readable | null)?.pipe === 'function'],
  output: ['a stream to write', (value) => typeof (value as Writable | null)?.write === 'function'],
  server: nonEmptyString,
  truncation: object,
  host: oneOf(...HOSTS.map((host) => host.name)),
  storage: ['a TruncationStorage or a RemoteStorage', isStorage],
  sessionId: nonEmptyString,
  outputTools: flag,
  structuredContent: STRUCTURED_CONTENT,
  permission: ['a PermissionPolicy', (value) => value instanceof PermissionPolicy],
  configFile: nonEmptyString,
  approvalsDir: nonEmptyString,
  ask: fn,
}

/** Options that say where a server is. */
const PLACE = ['command', 'args', 'cwd', 'env', 'url', 'headers'] as const

const SERVER: Readonly<Record<string, Check>> = Object.fromEntries(PLACE.map((field) => [field, OPTIONS[field]]))

/** @throws SpillwayError `INVALID_ARGUMENT` or `INVALID_CONFIG` for a wrong option */
export function checkProxyOptions(options: McpProxyOptions): void {
  checkOptions('options', options, OPTIONS)
  const { servers, server, truncation, permission } = options
  if (servers === undefined) checkPlace('options', options)
  else checkServers(options, servers)
  const misplaced = Object.keys(truncation ?? {}).find((key) => OF_STORAGE.has(key))
  if (misplaced !== undefined) {
    const value = (truncation as Record<string, unknown>)[misplaced]
    throw wrong(`options.truncation.${misplaced}`, value, 'nothing: it belongs to options.storage')
  }
  for (const field of ['approvalsDir', 'ask'] as const) {
    if (options[field] !== undefined && permission === undefined)
      throw wrong(`options.${field}`, options[field], 'nothing, without permission')
  }
  if (permission !== undefined && servers === undefined && server === undefined) {
    // The name that a server reports cannot be trusted.
    throw wrong('options.server', server, 'the name of the server, with permission')
  }
}

function checkServers(options: McpProxyOptions, servers: Readonly<Record<string, McpServerOptions>>): void {
  for (const field of [...PLACE, 'server'] as const) {
    if (options[field] !== undefined) throw wrong(`options.${field}`, options[field], 'nothing, with servers')
  }
  for (const [name, server] of Object.entries(servers)) {
    if (name === '') throw wrong('options.servers', name, 'names that are not empty')
    checkOptions(`options.servers.${name}`, server, SERVER)
    checkPlace(`options.servers.${name}`, server)
  }
}

/** A server is either a program or an address. */
function checkPlace(of: string, server: McpServerOptions): void {
  const { command, url, headers, args = [], env = {}, cwd } = server
  if (url !== undefined) {
    checkAddress(of, server)
    return
  }
  checkProgram(`${of}.command`, command)
  if (headers !== undefined) throw wrong(`${of}.headers`, headers, 'nothing, without url')
  checkProgramArguments(`${of}.args`, args)
  checkVariables(`${of}.env`, env)
  if (cwd !== undefined) checkNoNul(`${of}.cwd`, cwd)
}

function checkAddress(of: string, { url = '', headers = {}, ...others }: McpServerOptions): void {
  for (const field of ['command', 'args', 'cwd', 'env'] as const) {
    if (others[field] !== undefined) throw wrong(`${of}.${field}`, others[field], 'nothing, with url')
  }
  const { protocol, username, password } = URL.canParse(String(url)) ? new URL(url) : new URL('none:')
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw wrong(`${of}.url`, url, 'an address with http: or https:, such as "https://example.com/mcp"')
  }
  if (username !== '' || password !== '')
    throw wrong(`${of}.url`, url, 'an address without credentials: they belong to headers')
  for (const [name, value] of Object.entries(headers)) checkHeader(of, name, value)
}

function checkHeader(of: string, name: string, value: unknown): void {
  const field = `${of}.headers.${name.toWellFormed()}`
  if (OWN_HEADERS.has(name.toLowerCase())) throw wrong(field, value, 'nothing: the proxy sends this header itself')
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value as string)
  } catch (cause) {
    throw invalid(field, (cause as Error).message.replaceAll('\n', ' '), { cause })
  }
  if (typeof value !== 'string') throw wrong(field, value, 'a string')
}
