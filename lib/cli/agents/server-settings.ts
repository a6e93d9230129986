/** The servers of MCP in the settings of a host, with and without the proxy before them. Nothing here writes a file. */

import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import { type Address, addressIn, headersIn, MCP_HEADERS, MCP_URL_MEMBER, urlMember } from '../mcp-addresses'
import { program, runsOwn } from './own-paths'
import type { Agent, AgentSettings, Patch, Wanted } from './types'

/** Puts the proxy before servers: programs, and those with an address as far as they are wanted. */
export function serversPatch(keys: readonly string[], settings: AgentSettings, wanted: Wanted | undefined): Patch {
  const patch: Patch = {}
  for (const key of keys) {
    const servers = settings[key]
    if (!isRecord(servers)) continue
    const changed: Patch = {}
    for (const [name, server] of Object.entries(servers)) {
      if (!isRecord(server)) continue
      const change = serverPatch(key, name, server, wanted)
      if (!isMadeOf(server, change)) changed[name] = change
    }
    if (Object.keys(changed).length > 0) patch[key] = changed
  }
  return patch
}

function serverPatch(key: string, name: string, server: AgentSettings, wanted: Wanted | undefined): Patch {
  const words = wordsOf(server)
  const proxy = proxyIn(words)
  if (wanted === undefined) return proxy === undefined ? {} : withoutProxy(key, server, proxy)
  if (proxy !== undefined) {
    const options = withOptions(proxy.options, wanted.options)
    return asCommand(server, [...program(), 'mcp', ...options, ...proxy.program])
  }
  const before = [...program(), 'mcp', '--server', name, ...wanted.options]
  if (words !== undefined) return asCommand(server, [...before, '--', ...words])
  if (reasonToLeave(server, wanted) !== undefined) return {}
  const { member, url } = addressIn(server) as Address
  const headers = server.headers as Record<string, string> | undefined
  const line = [...before, '--url', url]
  const lines = Object.entries(headers ?? {}).map(([header, value]) => `${header}: ${value}`)
  const { local, environment } = wordsFor(key)
  const env = {
    ...(lines.length > 0 && { [MCP_HEADERS]: lines.join('\n') }),
    ...(member !== 'url' && { [MCP_URL_MEMBER]: member }),
  }
  return {
    ...(server.type !== undefined && { type: local }),
    ...(key === OPENCODE ? { command: line } : { command: line[0], args: line.slice(1) }),
    ...(Object.keys(env).length > 0 && { [environment]: env }),
    [member]: null,
    ...(headers !== undefined && { headers: null }),
  }
}

/** OpenCode has its servers under this name, and other words for them than the other hosts. */
const OPENCODE = 'mcp'

const wordsFor = (key: string) =>
  key === OPENCODE
    ? { local: 'local', remote: 'remote', environment: 'environment' }
    : { local: 'stdio', remote: 'http', environment: 'env' }

/** The reason why a server is left as it is; nothing for a program, and for what the proxy is wanted before. */
function reasonToLeave(server: AgentSettings, wanted: Pick<Wanted, 'hasUrls'>): string | undefined {
  if (wordsOf(server) !== undefined) return undefined
  let address: Address | undefined
  try {
    address = addressIn(server)
  } catch (error) {
    return (error as Error).message
  }
  const { url = '', member } = address ?? {}
  if (!/^https?:/i.test(url)) return 'it has no "command" and no "url"'
  const { type, headers } = server
  const saysHttp = member === 'httpUrl' || HTTP.test(String(type))
  if (!saysHttp && SSE_PATH.test(url)) return 'by its path it speaks the transport "sse", and the proxy does not'
  const isSent = isRecord(headers) && Object.values(headers).every((value) => typeof value === 'string')
  if (headers !== undefined && !isSent) return 'its "headers" are not an object of strings'
  const hasKey = isSent && Object.keys(headers).length > 0 && !LOGINS.some((login) => Boolean(server[login]))
  if (wanted.hasUrls === true || hasKey || isLoopback(url)) return undefined
  return 'a login of the host would not reach it through the proxy; with --urls, the proxy is put before it as well'
}

/** `http`, and as the specification or Cline writes it: `streamable-http`, `streamableHttp`. */
const HTTP = /^(streamable-?)?http$/i

/** The place of a server that speaks nothing newer, by custom. */
const SSE_PATH = /\/sse\/?(?:[?#]|$)/

/** Members about a login of the host. */
const LOGINS = ['oauth', 'authProviderType']

function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

/** Servers that stay without the proxy, each with the reason. */
export function leftServers(
  { wiring }: Agent,
  settings: AgentSettings,
  wanted: Wanted,
): [name: string, reason: string][] {
  if (wiring.kind !== 'servers') return []
  return serversOf(wiring.keys, settings).flatMap(({ name, server }): [string, string][] => {
    const reason = reasonToLeave(server, wanted)
    return reason === undefined ? [] : [[name, reason]]
  })
}

/** A server that runs behind the proxy, as a host starts it. */
export interface ProxiedServer {
  name: string
  words: readonly string[]
  cwd?: string
  env: AgentSettings
}

export function proxiedServers({ wiring }: Agent, settings: AgentSettings): ProxiedServer[] {
  if (wiring.kind !== 'servers') return []
  return serversOf(wiring.keys, settings).flatMap(({ key, name, server }) => {
    const words = wordsOf(server)
    if (words === undefined || proxyIn(words) === undefined) return []
    const env = server[wordsFor(key).environment]
    const { cwd } = server
    return [{ name, words, ...(typeof cwd === 'string' && { cwd }), env: isRecord(env) ? env : {} }]
  })
}

export function serversOf(keys: readonly string[], settings: AgentSettings) {
  return keys.flatMap((key) => {
    const servers = settings[key]
    const entries = isRecord(servers) ? Object.entries(servers) : []
    return entries.flatMap(([name, server]) => (isRecord(server) ? [{ key, name, server }] : []))
  })
}

/** The words of the command of a server. OpenCode has them in one list. */
function wordsOf({ command, args }: AgentSettings): string[] | undefined {
  const words: readonly unknown[] = isArray(command) ? command : [command, ...(isArray(args) ? args : [])]
  return words[0] && words.every((word) => typeof word === 'string') ? [...words] : undefined
}

/** The words of the proxy: its options, and from `--` or `--url` on what it is for. */
interface Proxy {
  options: readonly string[]
  program: readonly string[]
}

function proxyIn(words: readonly string[] | undefined): Proxy | undefined {
  if (words === undefined || !runsOwn(words, 'mcp')) return undefined
  const own = words.slice(words.indexOf('mcp') + 1)
  const at = own.findIndex((word) => word === '--' || word === '--url')
  return at === -1 ? undefined : { options: own.slice(0, at), program: own.slice(at) }
}

/** The options with others in their places, and those after them that were not given. */
function withOptions(given: readonly string[], wanted: readonly string[]): string[] {
  const options = [...given]
  for (let at = 0; at < wanted.length; at += 2) {
    const [name = '', value = ''] = wanted.slice(at)
    const place = options.indexOf(name)
    if (place === -1) options.push(name, value)
    else options[place + 1] = value
  }
  return options
}

function asCommand(server: AgentSettings, words: readonly string[]): Patch {
  if (isArray(server.command)) return { command: words }
  const [command, ...args] = words
  return { command, args: args.length > 0 ? args : null }
}

function withoutProxy(key: string, server: AgentSettings, { program: [first, ...words] }: Proxy): Patch {
  if (first === '--') return asCommand(server, words)
  const { remote, environment } = wordsFor(key)
  const { [MCP_HEADERS]: lines, [MCP_URL_MEMBER]: member, ...others } = Object(server[environment]) as AgentSettings
  const headers = typeof lines === 'string' ? headersIn(lines) : []
  const isOwn = lines !== undefined || member !== undefined
  const isEmpty = Object.keys(others).length === 0
  return {
    ...(server.type !== undefined && { type: remote }),
    command: null,
    [urlMember(member)]: words[0],
    ...(server.args !== undefined && { args: null }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(isOwn && { [environment]: isEmpty ? null : { [MCP_HEADERS]: null, [MCP_URL_MEMBER]: null } }),
  }
}

/** True if the patch changes nothing. */
function isMadeOf(settings: AgentSettings, patch: Patch): boolean {
  return Object.entries(patch).every(([key, value]) =>
    isRecord(value) && isRecord(settings[key])
      ? isMadeOf(settings[key], value)
      : same(value ?? undefined, settings[key]),
  )
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
