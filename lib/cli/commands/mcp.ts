/** `spillway mcp`: a proxy between an MCP host and its servers. */

import { PermissionPolicy } from 'spillway'
import {
  MCP_HOSTS,
  type McpProxy,
  type McpProxyOptions,
  type McpServerExit,
  type McpServerOptions,
  startMcpProxy,
} from 'spillway/mcp'
import { exitCodeOf } from '../../util/exit-code'
import { LANGUAGES } from '../../util/languages'
import { messageOf } from '../../util/message-of'
import { type Command, type Parsed, UsageError, wrongOption } from '../command'
import { askElsewhere } from '../deferred-questions'
import { headerIn, headersIn, MCP_HEADERS } from '../mcp-addresses'
import { filled, serversIn } from '../mcp-servers'
import { openBucket } from '../output-storage'
import { choice, text, texts } from '../parse-values'
import { nameOf, readServerLine, type ServerLine, serverOfLine, serversByName } from '../server-lines'
import { configOf, LIMITS, openStorage, truncationOptions, WIDE_VAULT, WORDING } from '../shared-options'
import { COORDINATION, SPOOL, STORE_OR_BUCKET } from '../store-options'
import { note } from '../terminal'

type McpTarget = Pick<McpProxyOptions, 'command' | 'args' | 'url' | 'headers' | 'servers' | 'server'>

const HOST_NAMES = MCP_HOSTS.map(({ name }) => name)
const OTHER_BYTES = MCP_HOSTS.at(-1)?.maxBytes

const command: Command = {
  name: 'mcp',
  summary: 'Proxies MCP servers for a host: long tool results are truncated and saved.',
  usage: '[options] (--servers FILE | --server NAME=COMMAND … | --url URL | -- <server> [arguments])',
  about: `Speaks MCP over standard input and output, like the server. Adds two tools, read_output and search_output. Every
other message passes unchanged. With --permission, or rules in --config, calls are checked, and if the
rules ask, the user is asked by elicitation.`,
  options: {
    ...LIMITS,
    server: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'The name of the server in rules and file names. Default: with rules, a name taken from its command or URL; else the name that the server reports. Or defines a server: NAME=COMMAND, in quotes, or NAME=URL; without NAME=, it is named after its command. Can be repeated.',
    },
    url: {
      type: 'string',
      value: 'URL',
      help: 'The URL of a server that speaks Streamable HTTP, instead of a program. No request is sent to another host.',
    },
    servers: {
      type: 'string',
      value: 'FILE',
      help: 'A file with several servers, as mcpServers in the format of hosts. A tool that several servers have is listed as SERVER_TOOL.',
    },
    tools: {
      type: 'string',
      value: 'WHICH',
      help: 'The list of tools: all (default) has all definitions; lazy has names, and a tool that returns definitions.',
    },
    header: {
      type: 'string',
      multiple: true,
      value: 'HEADER',
      help: `Sent with each request to --url, such as 'Authorization: Bearer \${TOKEN}'; \${NAME} is a variable of the environment. Can be repeated. ${MCP_HEADERS} has more of them, one on each line.`,
    },
    host: {
      type: 'string',
      value: 'NAME',
      help: `The host whose limits apply: ${HOST_NAMES.join(', ')}. Default: the name that the host reports; for unknown hosts, ${OTHER_BYTES} bytes.`,
    },
    permission: {
      type: 'boolean',
      help: 'Check calls as mcp:NAME/TOOL, with the NAME of --server: by default, the user is asked about tools that no rule allows.',
    },
    'ask-in-view': {
      type: 'boolean',
      help: 'With --permission: questions that the host cannot show wait in spillway view. By default such calls are denied.',
    },
    'answer-timeout': {
      type: 'string',
      value: 'TIME',
      help: 'With --ask-in-view: deny a call whose question was not answered in this time: 90s, 10m, 2h. Default: 1h.',
    },
    ...COORDINATION,
    ...WIDE_VAULT,
    'no-output-tools': { type: 'boolean', help: 'Do not offer read_output and search_output.' },
    'structured-content': {
      type: 'string',
      value: 'WHAT',
      help: 'Structured content of a truncated result: drop (default; schemas are not listed either), keep.',
    },
    session: { type: 'string', value: 'ID', help: 'Save outputs in the folder of this session, and read only those.' },
    ...STORE_OR_BUCKET,
    ...SPOOL,
    ...WORDING,
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  passesOn: true,
  speaks: true,
  exits: [
    ['N', 'the exit code of the server; 128 plus the number of the signal that ended it'],
    ['2', 'wrong usage'],
    ['3', 'Spillway itself failed'],
    ['126, 127', 'it cannot be executed; it was not found'],
  ],
  examples: [
    ['spillway mcp -- npx -y @modelcontextprotocol/server-filesystem .', 'in front of a server'],
    ['spillway mcp --max-tokens 4000 --server github -- docker run -i github-mcp', 'with a limit in tokens'],
    [`spillway mcp --url https://example.com/mcp --header 'Authorization: Bearer \${TOKEN}'`, 'for a server over HTTP'],
    ["spillway mcp --server files='node files.mjs' --server docs=https://example.com/mcp", 'for several servers'],
    ['spillway mcp --servers servers.json --tools lazy', 'for the servers of a file, with a short list of tools'],
    ['spillway mcp --config agent.jsonc --server files -- node server.js', 'with settings and rules'],
    [
      'spillway mcp --permission --ask-in-view --coordination redis://host:6379 --server files -- node server.js',
      'with questions that a person answers on another machine',
    ],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  if (json) throw new UsageError('--json: spillway mcp prints MCP messages; leave out --json')
  const given = targetOf(values, positionals)
  const { options, config } = configOf(values)
  const { truncation, permission } = options
  const { retentionDays, storageDir, ...limits } = truncation === false ? { enabled: false } : truncation
  const configFile = text(values, 'config')
  // Unreadable rules are no reason to skip questions.
  const hasRules = config.agents?.runtime?.permission !== undefined || (permission.failClosed ?? []).length > 0
  const isJudged = values.permission === true || hasRules
  const target = isJudged ? named(given) : given
  const language = choice(values, 'language', LANGUAGES)
  const storage = (await openBucket(values)) ?? openStorage(values, { storageDir, retentionDays })
  const isAskedInView = values['ask-in-view'] === true
  const idle = ['answer-timeout', 'coordination'].find((name) => !isAskedInView && values[name] !== undefined)
  if (idle !== undefined) throw new UsageError(`--${idle} needs --ask-in-view: it is about questions that wait`)
  const elsewhere = isJudged && isAskedInView ? await askElsewhere(values, storage) : undefined
  const proxy = startMcpProxy({
    ...target,
    truncation: { ...limits, ...truncationOptions(values), ...(language !== undefined && { language }) },
    storage,
    host: choice(values, 'host', HOST_NAMES),
    sessionId: text(values, 'session'),
    tools: choice(values, 'tools', ['all', 'lazy']),
    outputTools: values['no-output-tools'] !== true,
    structuredContent: choice(values, 'structured-content', ['drop', 'keep']),
    ...(isJudged && {
      permission: new PermissionPolicy({ ...permission, allowWideVault: values['allow-wide-vault'] === true }),
    }),
    ...elsewhere?.options,
    ...(isJudged && configFile !== undefined && { configFile }),
  })
  const restore = passSignalsOn(proxy)
  try {
    return codeOf(await proxy.ended)
  } finally {
    restore()
    await elsewhere?.close()
  }
}

/**
 * The target with the name that rules know it by. The name that a server reports cannot be trusted; the user chose its command.
 *
 * @throws UsageError for a command that names no server
 */
function named(target: McpTarget): McpTarget {
  if (target.server !== undefined || target.servers !== undefined) return target
  const server = nameOf(target as McpServerOptions)
  if (server === undefined) {
    const rules = 'rules are for mcp:NAME/TOOL, and the command of this server tells no name'
    throw new UsageError(`${rules}; add --server NAME before --`)
  }
  note(
    `spillway mcp: calls are checked as mcp:${server}/TOOL, named after the command; --server NAME gives another name.`,
  )
  return { ...target, server }
}

/** A program, an address with headers, or several of them. */
function targetOf(values: Parsed['values'], positionals: readonly string[]): McpTarget {
  const file = text(values, 'servers')
  if (file !== undefined) {
    const other = ['url', 'header', 'server'].find((name) => values[name] !== undefined)
    if (other !== undefined) throw new UsageError(`--servers FILE has the servers: --${other} is not for several`)
    if (positionals[0] !== undefined)
      throw new UsageError(`--servers FILE has the servers: ${JSON.stringify(positionals[0])} cannot be one, too`)
    return { servers: serversIn(file) }
  }
  const given = (texts(values, 'server') ?? []).map(readServerLine)
  const place = placeOf(values, positionals)
  // A word alone is the name of the program or the address that is given beside it.
  const isName = ({ name, line }: ServerLine) =>
    name === undefined && (place !== undefined || (given.length === 1 && !/[\s/]/.test(line)))
  const names = given.filter(isName)
  const lines = given.filter((each) => !isName(each))
  if (names.length > 1) {
    const all = names.map(({ line }) => JSON.stringify(line)).join(' and ')
    throw new UsageError(
      `--server: ${all} cannot both be the name of one server; define other servers as --server NAME=COMMAND`,
    )
  }
  const server = names[0]?.line
  if (lines.length === 0) {
    if (place === undefined) throw new UsageError(`missing argument <server>; usage: spillway mcp ${command.usage}`)
    return { ...place, server }
  }
  const servers = serversByName([
    ...lines.map(serverOfLine),
    ...(place === undefined ? [] : [{ name: server, server: place }]),
  ])
  const [[name, only] = ['', {}], ...others] = Object.entries(servers)
  return others.length === 0 ? { ...only, server: name } : { servers }
}

/** The program after the options, or the address of `--url`. */
function placeOf(values: Parsed['values'], [file, ...args]: readonly string[]): McpServerOptions | undefined {
  const url = text(values, 'url')
  const headers = texts(values, 'header')
  const inherited = process.env[MCP_HEADERS]
  if (url === undefined) {
    if (headers !== undefined) throw new UsageError('--header needs --url: headers are only sent to a URL')
    return file === undefined ? undefined : { command: file, args }
  }
  if (file !== undefined)
    throw new UsageError(`--url has the server: the program ${JSON.stringify(file)} cannot be one, too`)
  const all = [...(headers ?? []).map(headerOf), ...(inherited === undefined ? [] : headersIn(inherited)).map(filledOf)]
  return { url, headers: Object.fromEntries(all) }
}

function headerOf(given: string): [name: string, value: string] {
  const header = headerIn(given)
  // The value may be a secret without a name.
  if (header === undefined)
    throw wrongOption('header', "expected a name and a value, such as 'Authorization: Bearer …'")
  return filledOf(header)
}

function filledOf([name, value]: [name: string, value: string]): [name: string, value: string] {
  try {
    return [name, filled(value)]
  } catch (error) {
    throw new UsageError(`--header ${name}: ${messageOf(error)}`)
  }
}

function codeOf({ code, signal }: McpServerExit): number {
  return exitCodeOf(code, signal)
}

function passSignalsOn(proxy: McpProxy): () => void {
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
    (signal) => [signal, () => proxy.stop(signal)] as const,
  )
  for (const [signal, listener] of listeners) process.on(signal, listener)
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
}
