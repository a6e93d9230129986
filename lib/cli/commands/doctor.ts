/** `spillway doctor`: lists the agents that have Spillway in their settings, and tests each setup. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { TruncationStorage } from 'spillway'
import { messageOf } from '../../util/message-of'
import { AGENTS, agentOf } from '../agents'
import { fileOf, isWiredIn } from '../agents/files'
import { type Tried, trySetup, unwritable } from '../agents/try-setup'
import type { Agent } from '../agents/types'
import { type Command, type Parsed, UsageError } from '../command'
import { duration, text } from '../parse-values'
import { openStorage, typedCommand } from '../shared-options'
import { STORE } from '../store-options'
import { EXIT, green, print, printable, printJson, red } from '../terminal'

const command: Command = {
  name: 'doctor',
  summary: 'Lists the agents that Spillway is set up for, and tests each setup.',
  usage: '[options] [agent]...',
  about: `Reads the settings of the user and of the project in the current folder, runs the command of each hook with harmless
calls, gives the plugin of OpenCode and the extension of pi a long result, and starts each MCP server through its proxy. The tests
run at the same time, so --timeout bounds them all; anything that they save is removed. Settings that switch hooks off, errors in the
file of --config and folders that cannot be written to are reported, too.`,
  options: {
    ...STORE,
    file: { type: 'string', value: 'FILE', help: 'Test the setup of one agent in this file.' },
    timeout: {
      type: 'string',
      value: 'TIME',
      help: 'Report a hook, a plugin or a server that gives no answer in this time: 5s, 1m. Default: 5s.',
    },
  },
  names: AGENTS.map(({ name }) => name),
  positionals: [0, Number.POSITIVE_INFINITY],
  exits: [
    ['0', 'every setup works'],
    ['1', 'something does not work'],
    ['2', 'wrong usage'],
    ['3', 'the operation failed'],
  ],
  examples: [
    ['spillway doctor', 'all agents'],
    ['spillway doctor codex --json', 'one of them, for programs'],
    ['spillway doctor mcp --timeout 1m', 'servers that are downloaded first'],
  ],
  run,
}

export default command

const TIMEOUT_MS = 5000

interface Finding extends Tried {
  agent: string
  file: string
  state: 'works' | 'broken'
}

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const agents = positionals.length > 0 ? positionals.map(agentOf) : AGENTS
  const named = text(values, 'file')
  if (named !== undefined && (positionals.length !== 1 || !existsSync(named)))
    throw new UsageError(
      positionals.length === 1 ? `--file ${named}: does not exist` : '--file is for one agent; name it as the argument',
    )
  const timeoutMs = duration(values, 'timeout') ?? TIMEOUT_MS
  const setups = agents.flatMap((agent) => {
    const scopes = (['user', 'project'] as const).filter((scope) => agent.files[scope].length > 0)
    // In the home folder both are one file.
    const files = named === undefined ? scopes.map((scope) => fileOf(agent, scope)) : [resolve(named)]
    return [...new Set(files)].filter((file) => existsSync(file)).map((file) => ({ agent, file }))
  })
  const found = (await Promise.all(setups.map(({ agent, file }) => tried(agent, file, timeoutMs)))).flat()
  const storage = openStorage(values)
  const { dirs } = await storage.usage()
  const [store] = dirs
  const problem =
    store === undefined ? 'there is none' : (unwritable(store.dir) ?? (await unsavable(storage, store.dir)))
  const isBad = problem !== undefined || found.some(({ state }) => state === 'broken')
  if (json) {
    await printJson({ store: store?.dir, problem, agents: found })
    return isBad ? EXIT.no : EXIT.ok
  }
  const said = (isGood: boolean) => (isGood ? green('ok') : red('broken'))
  await print(
    `${said(problem === undefined)}: saved outputs in ${printable(store?.dir ?? '')}${problem ? `: ${printable(problem)}` : ''}\n`,
  )
  for (const { agent, file, server, state, problem: why, ms } of found) {
    const more = why === undefined ? (ms === undefined ? '' : ` (${ms} ms)`) : `: ${printable(why)}`
    const what = server === undefined ? agent : `${agent} server ${printable(server)}`
    await print(`${said(state === 'works')}: ${what} in ${printable(file)}${more}\n`)
  }
  const missing = agents.filter(({ name }) => !found.some(({ agent }) => agent === name)).map(({ name }) => name)
  if (positionals.length > 0)
    for (const name of missing) await print(`${name} is not set up; ${typedCommand()} init ${name} does that.\n`)
  else if (found.length === 0) await print(`No agent is set up; ${typedCommand()} init <agent> does that.\n`)
  return isBad ? EXIT.no : EXIT.ok
}

/** Saves an output in a folder that is there, and removes it again. Returns why it cannot be saved. */
async function unsavable(storage: TruncationStorage, dir: string): Promise<string | undefined> {
  if (!existsSync(dir)) return undefined
  try {
    const path = await storage.save('An output of spillway doctor.\n', { toolName: 'doctor' })
    await storage.remove(path)
    return dirname(path) === dir ? undefined : `outputs are saved in ${dirname(path)} instead`
  } catch (error) {
    return messageOf(error)
  }
}

async function tried(agent: Agent, file: string, timeoutMs: number): Promise<Finding[]> {
  const found = (result: Tried): Finding => ({
    agent: agent.name,
    file,
    state: result.problem === undefined ? 'works' : 'broken',
    ...result,
  })
  try {
    return (await isWiredIn(agent, file)) ? (await trySetup(agent, file, timeoutMs)).map(found) : []
  } catch (error) {
    const { message } = error as Error
    // The line begins with the file.
    return [found({ problem: message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message })]
  }
}
