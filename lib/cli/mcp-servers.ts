/** The servers in a file of MCP hosts, as options of the proxy. */

import { realpathSync } from 'node:fs'
import { loadConfig } from 'spillway/config'
import type { McpServerOptions } from 'spillway/mcp'
import { describe, isRecord } from '../validation/validate'
import { UsageError } from './command'
import { addressIn } from './mcp-addresses'
import { configFile } from './shared-options'
import { note, printable } from './terminal'

/** Names the file whose servers this process is one of. */
const STARTED_FROM = 'SPILLWAY_MCP_SERVERS'

/**
 * Reads the `mcpServers` of a file, with comments or without. A server that cannot be used is reported and left out.
 *
 * @throws UsageError for a file without a server that can be used, and for one whose servers include this process
 */
export function serversIn(path: string): Record<string, McpServerOptions> {
  const file = realpathSync(configFile(path, 'servers'))
  if (process.env[STARTED_FROM] === file) throw new UsageError(`--servers ${path}: the file starts this proxy itself`)
  // Its servers inherit it.
  process.env[STARTED_FROM] = file
  const { config, problems } = loadConfig({ userFile: file })
  for (const { severity, message } of problems) note(`spillway: ${severity}: ${printable(message)}`)
  const { mcpServers } = config
  const found: Record<string, McpServerOptions> = {}
  for (const [name, entry] of Object.entries(isRecord(mcpServers) ? mcpServers : {})) {
    if (!isRecord(entry) || entry.disabled === true || entry.enabled === false) continue
    try {
      found[name] = serverOf(entry)
    } catch (error) {
      note(`spillway: ${printable(`${path}: mcpServers.${name}: ${(error as Error).message}; it is ignored`)}`)
    }
  }
  if (Object.keys(found).length > 0) return found
  throw new UsageError(`--servers ${path}: expected an object "mcpServers" with at least one usable server`)
}

/**
 * A server as hosts describe it, with the variables of the environment in it. Members that only hosts read, such as `autoApprove`,
 * are not looked at.
 *
 * @throws Error for one that cannot be used
 */
export function serverOf(entry: Record<string, unknown>): McpServerOptions {
  const { command, args, cwd, env, headers } = entry
  const { url } = addressIn(entry) ?? {}
  if (url !== undefined) return { url: filled(url), ...(headers !== undefined && { headers: allFilled(headers) }) }
  if (typeof command !== 'string') throw new Error('expected a "command", a "url", an "httpUrl" or a "serverUrl"')
  return {
    command: filled(command),
    ...(Array.isArray(args) && { args: args.map((arg, at) => filled(plain(`args[${at}]`, arg))) }),
    ...(typeof cwd === 'string' && { cwd: filled(cwd) }),
    ...(env !== undefined && { env: allFilled(env) }),
  }
}

function allFilled(values: unknown): Record<string, string> {
  if (!isRecord(values)) throw new Error('expected "env" and "headers" to be objects')
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, filled(plain(name, value))]))
}

/** The text of a value that is written without quotes, too. */
function plain(name: string, value: unknown): string {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  throw new Error(`${JSON.stringify(name)} is ${describe(value)}; expected a string`)
}

/**
 * The text with the variables of the environment in it: `${NAME}`, or `${NAME:-default}`.
 * @throws Error for one that is not set
 */
export function filled(text: string): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, instead?: string) => {
    const value = process.env[name] ?? instead
    if (value === undefined) throw new Error(`the environment variable ${name} is not set`)
    return value
  })
}
