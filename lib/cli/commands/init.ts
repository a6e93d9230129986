/** `spillway init`: writes Spillway into the settings of an installed agent. */

import { resolve } from 'node:path'
import { structuredPatch } from 'diff'
import { isStoreUrl } from '../../util/store-url'
import { AGENTS, agentOf } from '../agents'
import { type Change, fileOf, planned, type Scope, settingsOf, written } from '../agents/files'
import { leftServers, serversOf } from '../agents/server-settings'
import type { Agent, AgentSettings, Wanted } from '../agents/types'
import { type Command, type Parsed, UsageError } from '../command'
import { choice, quoted, text } from '../parse-values'
import { configFile, openStorage, typedCommand } from '../shared-options'
import { CONFIG, STORE } from '../store-options'
import { EXIT, green, print, printable, printJson, red } from '../terminal'

const command: Command = {
  name: 'init',
  summary: 'Writes Spillway into the settings of an agent.',
  usage: '[options] <agent>',
  about: `Agents: ${AGENTS.map(({ name }) => name).join(', ')}. The changes are shown, and the original file is kept next to it as
FILE.spillway-backup. Comments and other settings stay. A second run changes nothing; if the package was moved, it
writes the new paths. init mcp puts spillway mcp in front of each server in a file.`,
  options: {
    'dry-run': { type: 'boolean', help: 'Only show what would change.' },
    undo: { type: 'boolean', help: 'Remove Spillway from the settings.' },
    user: { type: 'boolean', help: 'Change the settings of the user. Default.' },
    project: { type: 'boolean', help: 'Change the settings of the project in the current folder. Default of mcp.' },
    file: { type: 'string', value: 'FILE', help: 'Change this file.' },
    permission: {
      type: 'string',
      value: 'WHICH',
      help: 'Decisions of the hook about calls: deny (only denials), ask (also questions), none. Default: none.',
    },
    redact: {
      type: 'boolean',
      help: 'The hook replaces secrets in results with asterisks, if the agent accepts changed results.',
    },
    'wrap-commands': {
      type: 'boolean',
      help: 'The hook of Claude Code runs commands under spillway run, so that the output of a command that fails is saved, too. Rules such as Bash(npm test:*) do not match wrapped commands.',
    },
    'no-fold': {
      type: 'boolean',
      help: 'The hook does not fold lines that an earlier result of the session has: by default, a pointer replaces them.',
    },
    urls: {
      type: 'boolean',
      help: 'With mcp: put the proxy before servers with a URL and no headers as well. The login of a host (OAuth) does not pass through the proxy.',
    },
    ...STORE,
    ...CONFIG,
  },
  names: AGENTS.map(({ name }) => name),
  positionals: [1, 1],
  examples: [
    ['spillway init claude-code', 'for all projects'],
    ['spillway init codex --project --dry-run', 'the changes that it would make here'],
    ['spillway init mcp --file ~/.cursor/mcp.json', 'the proxy before each server of a host'],
    ['spillway init claude-code --undo', 'removes it again'],
  ],
  run,
}

export default command

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const agent = agentOf(positionals[0] ?? '')
  const file = text(values, 'file')
  if ([values.user === true, values.project === true, file !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('--user, --project and --file cannot be combined')
  }
  const isProject = values.project === true || (agent.files.user.length === 0 && values.user !== true)
  const scope: Scope = isProject ? 'project' : 'user'
  const isUndo = values.undo === true
  const isProxy = agent.wiring.kind === 'servers'
  const ofHook = ['permission', 'redact', 'wrap-commands', 'no-fold', ...(isProxy ? [] : ['store', 'config'])]
  const useless = ofHook.find((name) => values[name] !== undefined)
  if (!isUndo && useless !== undefined && agent.hook === undefined)
    throw new UsageError(`--${useless} goes into the command of a hook, and ${agent.title} has none`)
  if (!isUndo && values.urls === true && !isProxy)
    throw new UsageError(`--urls is an option of spillway init mcp; ${agent.title} has no servers in its settings`)
  if (!isUndo && values['wrap-commands'] === true && agent.hook?.wraps?.onDemand !== true) {
    const why =
      agent.hook?.wraps === undefined ? 'takes no other command from a hook' : 'gets its commands wrapped without it'
    throw new UsageError(`--wrap-commands: ${agent.title} ${why}`)
  }
  const wanted = isUndo ? undefined : await wantedOf(agent, values)
  const path = fileOf(agent, scope, file === undefined ? undefined : resolve(file))
  const plan = await planned(agent, path, wanted)
  if (!isUndo && agent.wiring.kind === 'servers' && plan.before === undefined)
    throw new UsageError(`${path}: does not exist; --file names the file with the servers of a host`)
  const isChanged = plan.before !== plan.after
  const isDry = values['dry-run'] === true
  const { backup } = isDry ? plan : await written(agent, plan, wanted)
  const settings = wanted === undefined || !isProxy ? {} : await settingsOf(path)
  const left = wanted === undefined ? [] : leftServers(agent, settings, wanted)
  const tellLeft = () =>
    print(left.map(([name, reason]) => printable(`${name} is left as it is: ${reason}.\n`)).join(''))
  if (json) {
    await printJson({ agent: agent.name, file: path, changed: isChanged, written: isChanged && !isDry, backup, left })
    return EXIT.ok
  }
  if (!isChanged) {
    await print(`${printable(path)}: ${unchanged(agent, settings, wanted)}\n`)
    await tellLeft()
    return EXIT.ok
  }
  await print(`${printable(path)}${plan.after === undefined ? ' (removed)' : ''}\n`)
  for (const line of differenceOf(plan)) {
    const shown = printable(line)
    await print(`${line.startsWith('+') ? green(shown) : line.startsWith('-') ? red(shown) : shown}\n`)
  }
  if (isDry) await print('Nothing was written (--dry-run).\n')
  if (backup !== undefined) await print(`Before: ${printable(backup)}\n`)
  await tellLeft()
  if (!isUndo && values.permission === 'ask' && agent.hook?.asks === false)
    await print(`${agent.title} lets no hook ask: with --permission ask it denies what is denied, and asks nothing.\n`)
  if (!isDry && !isUndo && agent.advice !== undefined) await print(`${agent.advice}\n`)
  const named = file === undefined ? '' : ` ${agent.name} --file ${quoted(file)}`
  if (!isDry && !isUndo) await print(`${typedCommand()} doctor${named} tries it.\n`)
  return EXIT.ok
}

/** The reason why nothing changes. */
function unchanged({ wiring }: Agent, settings: AgentSettings, wanted: Wanted | undefined): string {
  if (wanted === undefined) return 'nothing of Spillway is in it'
  const isEmpty = wiring.kind === 'servers' && serversOf(wiring.keys, settings).length === 0
  return isEmpty ? 'has no server' : 'nothing to change'
}

/** The lines that change, with `-` or `+` before them, and those around them. */
function differenceOf({ before = '', after = '' }: Change): string[] {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 2, stripTrailingCr: true })
  const isNote = (line: string) => line.startsWith('\\')
  return hunks.flatMap(({ lines }) =>
    lines.filter((line) => !isNote(line)).map((line) => `${line[0]} ${line.slice(1)}`),
  )
}

/** Returns the values for the settings. */
async function wantedOf({ wiring }: Agent, values: Parsed['values']): Promise<Wanted> {
  const permission = choice(values, 'permission', ['deny', 'ask', 'none'])
  // The agent may be started without the variable.
  const store = text(values, 'store') ?? (process.env.SPILLWAY_STORAGE_DIR || undefined)
  const config = text(values, 'config')
  // A proxy saves to a bucket as well.
  const { dirs } = wiring.kind === 'servers' ? { dirs: [] } : await openStorage(values).usage()
  return {
    options: [
      ...(permission === undefined || permission === 'none' ? [] : ['--permission', permission]),
      ...(values.redact === true ? ['--redact'] : []),
      ...(values['wrap-commands'] === true ? ['--wrap-commands'] : []),
      ...(values['no-fold'] === true ? ['--no-fold'] : []),
      ...(store === undefined ? [] : ['--store', isStoreUrl(store) ? store : resolve(store)]),
      ...(config === undefined ? [] : ['--config', resolve(configFile(config))]),
    ],
    store: dirs[0]?.dir ?? '',
    hasUrls: values.urls === true,
  }
}
