/** MCP servers given as command-line values: `--server files='npx -y server-files .'`. */

import type { McpServerOptions } from 'spillway/mcp'
import { badValue, UsageError } from './command'
import { serverOf } from './mcp-servers'

const NAMED = /^([\w.-]+)=(.*)$/s
const ADDRESS = /^https?:\/\//i
const EXPECTED =
  "NAME=COMMAND, NAME=URL, a command or an address; a command's quotes and backslashes are read as a shell reads them"

/** A value of `--server`: the name of a server that is given elsewhere, or a server with or without a name. */
export interface ServerLine {
  name?: string
  line: string
}

/** A server, and the name that it was given. */
export interface GivenServer {
  name?: string
  server: McpServerOptions
}

/** Splits the name from the line. */
export function readServerLine(value: string): ServerLine {
  const [, name, line] = NAMED.exec(value) ?? []
  return name === undefined || line === undefined ? { line: value } : { name, line }
}

/** @throws UsageError for a line that cannot be read */
export function serverOfLine({ name, line }: ServerLine): GivenServer {
  return { name, server: optionsOf(ADDRESS.test(line) ? [line] : wordsOf(line)) }
}

/**
 * The servers by name; one without a name is called as what it starts.
 *
 * @throws UsageError for two servers with one name, and for one that nothing names
 */
export function serversByName(given: readonly GivenServer[]): Record<string, McpServerOptions> {
  const found = new Map<string, McpServerOptions>()
  for (const { name: own, server } of given) {
    const name = own ?? nameOf(server)
    if (name === undefined) {
      const line = [server.command, ...(server.args ?? [])].join(' ')
      throw new UsageError(`--server: ${JSON.stringify(line)} names no server; give its name, as --server NAME=COMMAND`)
    }
    if (found.has(name)) {
      const twice = `--server: two servers are called ${JSON.stringify(name)}`
      throw new UsageError(`${twice}; give each a name of its own, as --server NAME=COMMAND`)
    }
    found.set(name, server)
  }
  return Object.fromEntries(found)
}

function optionsOf([first = '', ...args]: readonly string[]): McpServerOptions {
  try {
    return serverOf(ADDRESS.test(first) ? { url: first } : { command: first, args })
  } catch (error) {
    throw new UsageError(`--server ${first}: ${(error as Error).message}`)
  }
}

/** The words of a line as a shell reads them; nothing else of a shell holds, so that its operators are refused, not passed on. */
function wordsOf(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  // On Windows a backslash is part of a path.
  const escaped = process.platform === 'win32' ? /^(?!)/ : /^\\([\s\S])/
  for (let rest = line; rest !== ''; ) {
    const [all, ...groups] =
      /^'([^']*)'/.exec(rest) ??
      /^"((?:[^"\\]|\\[\s\S])*)"/.exec(rest) ??
      escaped.exec(rest) ??
      /^[^\s'"]/.exec(rest) ??
      []
    if (all === undefined) {
      if (!/^\s/.test(rest)) throw badValue('server', line, `a line whose quotes are closed: ${EXPECTED}`)
      if (word !== undefined) words.push(word)
      word = undefined
      rest = rest.trimStart()
      continue
    }
    if (/^[|&;<>`]$/.test(all)) {
      throw badValue('server', line, `no ${all} outside quotes, because no shell runs the line; give sh -c '…' for one`)
    }
    const inside = groups[0] ?? all
    word = (word ?? '') + (all.startsWith('"') ? inside.replace(/\\(["\\$`])/g, '$1') : inside)
    rest = rest.slice(all.length)
  }
  if (word !== undefined) words.push(word)
  if ((words[0] ?? '') === '') throw badValue('server', line, EXPECTED)
  return words
}

/** Programs that start what one of their arguments names, and the words in front of it. */
const STARTERS = new Set(
  (
    'npx bunx uvx pipx npm pnpm yarn bun uv deno docker podman nerdctl ' +
    'node tsx python python3 py ruby java dotnet env cmd exec run dlx x tool container'
  ).split(' '),
)
/** Options of theirs with a value in the next word. */
const WITH_VALUE = new Set(
  (
    '-e --env --env-file -v --volume --mount -p --publish --package --name --network --net ' +
    '-w --workdir -u --user --entrypoint --platform --from --with --python --directory --project -r --require --import --loader --config'
  ).split(' '),
)
/** Parts of a path that do not tell one server from another. */
const COMMON = /^(index|main|server|cli|app|run|start|mcp|dist|build|out|src|bin|lib|\.{0,2})$/i
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u
const AFFIXES = /^(mcp[-_])?server[-_]|^mcp[-_]|[-_](mcp[-_])?server$|[-_]mcp$/gi

/** Programs that run a text: its words are not the name of a server. */
const SHELLS = new Set('sh bash zsh fish dash pwsh powershell'.split(' '))

/**
 * Names a server after what it starts: `files` for `npx -y @scope/mcp-server-files .`. Returns nothing for words that say nothing
 * about it, such as `node server.js`.
 */
export function nameOf({ command: first = '', args = [], url }: McpServerOptions): string | undefined {
  if (url !== undefined) return hostName(String(url))
  const words = [first, ...args]
  let at = 0
  while (at < words.length - 1) {
    const word = words[at] as string
    if (word.startsWith('-') || /^\w+=/.test(word)) at += WITH_VALUE.has(word) ? 2 : 1
    else if (STARTERS.has(lastOf(word).toLowerCase())) at += 1
    else break
  }
  const started = words[at] ?? ''
  const known = lastOf(started).toLowerCase()
  if (STARTERS.has(known) || SHELLS.has(known)) return undefined
  const told = started
    .split(/[\\/]/)
    .map(bare)
    .findLast((part) => !COMMON.test(part))
  if (told === undefined || !NAME.test(told)) return undefined
  return told.replace(AFFIXES, '') || told
}

/** The last part of a path, without the ending of a program. */
const lastOf = (path: string): string => bare(path.split(/[\\/]/).at(-1) ?? path)

/** A part of a path without a version, a tag or an ending. */
const bare = (part: string): string =>
  part.replace(/(?<=.)[@:].*$/, '').replace(/\.(exe|cmd|bat|[cm]?[jt]s|py|rb|jar|dll)$/i, '')

function hostName(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : url
  if (/^[\d.]+$|:/.test(host)) return host
  return host.split('.').find((label) => !/^(www|mcp|api)$/i.test(label)) ?? host
}
