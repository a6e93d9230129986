/** `spillway doctor`: lists the agents that have Spillway in their settings, and tests each setup. */

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AGENTS, agentOf } from '../agents'
import { fileOf, isWiredIn, settingsOf } from '../agents/files'
import { linesIn } from '../agents/hook-settings'
import type { Agent } from '../agents/types'
import type { Command, Parsed } from '../command'
import { openStorage } from '../shared-options'
import { STORE } from '../store-options'
import { EXIT, green, print, printable, printJson, red } from '../terminal'

const command: Command = {
  name: 'doctor',
  summary: 'Lists the agents that Spillway is set up for, and tests each setup.',
  usage: '[options] [agent]...',
  about: `Reads the settings of the user and of the project in the current folder, runs the command of each hook with a harmless payload,
checks that files named in other settings exist, and that the folder of saved outputs is writable.`,
  options: { ...STORE },
  positionals: [0, Number.POSITIVE_INFINITY],
  exits: [
    ['0', 'every setup works'],
    ['1', 'something does not'],
    ['2', 'wrong usage'],
    ['3', 'it could not be done'],
  ],
  examples: [
    ['spillway doctor', 'all agents'],
    ['spillway doctor codex --json', 'one of them, for programs'],
  ],
  run,
}

export default command

interface Finding {
  agent: string
  file: string
  state: 'works' | 'broken'
  problem?: string
  ms?: number
}

async function run({ values, positionals, json }: Parsed): Promise<number> {
  const agents = positionals.length > 0 ? positionals.map(agentOf) : AGENTS
  const found: Finding[] = []
  for (const agent of agents) {
    const scopes = (['user', 'project'] as const).filter((scope) => agent.files[scope].length > 0)
    // In the home folder both are one file.
    for (const file of new Set(scopes.map((scope) => fileOf(agent, scope)))) {
      if (existsSync(file)) found.push(...(await tried(agent, file)))
    }
  }
  const { dirs } = await openStorage(values).usage()
  const [store] = dirs
  const problem = store === undefined ? 'there is none' : unwritable(store.dir)
  const isBad = problem !== undefined || found.some(({ state }) => state === 'broken')
  if (json) {
    await printJson({ store: store?.dir, problem, agents: found })
    return isBad ? EXIT.no : EXIT.ok
  }
  const said = (isGood: boolean) => (isGood ? green('ok') : red('broken'))
  await print(
    `${said(problem === undefined)}: saved outputs in ${printable(store?.dir ?? '')}${problem ? `: ${printable(problem)}` : ''}\n`,
  )
  for (const { agent, file, state, problem: why, ms } of found) {
    const more = why === undefined ? (ms === undefined ? '' : ` (${ms} ms)`) : `: ${printable(why)}`
    await print(`${said(state === 'works')}: ${agent} in ${printable(file)}${more}\n`)
  }
  const missing = agents.filter(({ name }) => !found.some(({ agent }) => agent === name)).map(({ name }) => name)
  if (positionals.length > 0)
    for (const name of missing) await print(`${name} is not set up; spillway init ${name} does that.\n`)
  else if (found.length === 0) await print('No agent is set up; spillway init <agent> does that.\n')
  return isBad ? EXIT.no : EXIT.ok
}

/** The reason why nothing can be written to a folder, or to the one that it would be made in. */
function unwritable(folder: string): string | undefined {
  let path = folder
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`
    accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

async function tried(agent: Agent, file: string): Promise<Finding[]> {
  const { name } = agent
  try {
    if (!(await isWiredIn(agent, file))) return []
    const lines = agent.wiring.kind === 'file' ? [] : linesIn(agent, await settingsOf(file))
    const results = lines.map((line) => tryHook(agent, line))
    const failed = results.find(({ problem }) => problem !== undefined)
    if (failed?.problem !== undefined) return [{ agent: name, file, state: 'broken', problem: failed.problem }]
    const missing = missingFile(agent, file)
    if (missing !== undefined) {
      return [
        { agent: name, file, state: 'broken', problem: `${missing} is not there; run spillway init ${name} again` },
      ]
    }
    const [first] = results
    return [{ agent: name, file, state: 'works', ...(first && { ms: first.ms }) }]
  } catch (error) {
    const { message } = error as Error
    // The line begins with the file.
    const problem = message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message
    return [{ agent: name, file, state: 'broken', problem }]
  }
}

/** A payload that asks for nothing. */
const PAYLOAD = JSON.stringify({ hook_event_name: 'doctor', session_id: 'doctor', cwd: process.cwd() })

function tryHook({ name }: Agent, line: string): { ms: number; problem?: string } {
  const startedAt = Date.now()
  const { status, stderr, error } = spawnSync(line, { shell: true, input: PAYLOAD, encoding: 'utf8', timeout: 10_000 })
  const ms = Date.now() - startedAt
  // A hook that lets a call through because it failed ends with 0, and says why.
  if (status === 0 && !error && stderr.trim() === '') return { ms }
  // Node says what is wrong in the middle of a trace.
  const said = stderr.trim().split('\n')
  const why = error?.message ?? (said.find((line) => /^\w*Error\b/.test(line)) || said.at(-1) || `exit code ${status}`)
  return { ms, problem: `its command fails (${why}); run spillway init ${name} again` }
}

/** The first file of the package that the settings name and that is not there. */
function missingFile({ wiring }: Agent, file: string): string | undefined {
  if (wiring.kind === 'hooks') return undefined
  const paths = readFileSync(file, 'utf8').matchAll(/["'](\/[^"'\n]*(?:main\.js|index\.js|pi\.js|[\\/]spillway))["']/g)
  return Array.from(paths, ([, path]) => path as string).find((path) => !existsSync(path))
}
