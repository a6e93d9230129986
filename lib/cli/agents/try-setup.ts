/** Tries the setup of an agent as the agent uses it: a call for its hooks, a result for its plugin, a greeting for its servers. */

import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isArray } from '../../util/guards'
import { messageOf } from '../../util/message-of'
import { isRecord } from '../../validation/validate'
import { filled } from '../mcp-servers'
import { quoted } from '../parse-values'
import { typedCommand } from '../shared-options'
import { fileOf, type Scope, settingsOf } from './files'
import { storeIn, type WiredHook, wiredHooks } from './hook-settings'
import { isOwnPlugin, PACKAGE } from './own-paths'
import { type ProxiedServer, proxiedServers } from './server-settings'
import { runTrial, saidIn, type TrialEnd } from './trial-process'
import type { Agent, AgentSettings, HookEvent, Wiring } from './types'

/** The outcome for a part of a setup. */
export interface Tried {
  /** The server of MCP. */
  server?: string
  ms?: number
  problem?: string
}

/** Longer than every agent accepts. */
const LINES = 5000

/** Options of the processes of one setup, which are tried all at once, so that together they take no longer than the slowest. */
interface TrialOptions {
  /** The folder in which they save. */
  scratch: string
  timeoutMs: number
}

/** Tries what the settings in a file have of Spillway. @param file of these settings @param timeoutMs that each process has */
export async function trySetup(agent: Agent, file: string, timeoutMs: number): Promise<Tried[]> {
  const { wiring } = agent
  const scratch = mkdtempSync(join(tmpdir(), 'spillway-doctor-'))
  const trial = { scratch, timeoutMs }
  try {
    if (wiring.kind === 'file') return [await tryExtension(agent, file, trial)]
    const settings = await settingsOf(file)
    switch (wiring.kind) {
      case 'hooks':
        return [(await switchedOff(agent, wiring, file)) ?? (await tryHooks(agent, settings, trial))]
      case 'plugin':
        return [await tryPlugin(agent, settings[wiring.list], trial)]
      case 'servers':
        return await Promise.all(proxiedServers(agent, settings).map((server) => tryServer(server, timeoutMs)))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Hooks = Extract<Wiring, { kind: 'hooks' }>

/** Finds the setting that keeps an agent from calling its hooks: the last of its files that says something counts. */
async function switchedOff(agent: Agent, { off = [], alsoRead = [] }: Hooks, file: string): Promise<Tried | undefined> {
  const own = (scope: Scope) => (agent.files[scope].length === 0 ? [] : [fileOf(agent, scope)])
  const known = [...own('user'), ...alsoRead.map((path) => join(process.cwd(), path)), ...own('project')]
  const files = (known.includes(file) ? known : [...known, file]).filter((path) => existsSync(path))
  const all = await Promise.all(
    files.map(async (path) => ({ path, settings: await settingsOf(path).catch(() => ({})) })),
  )
  for (const [names, value] of off) {
    const said = all.findLast(({ settings }) => memberOf(settings, names) !== undefined)
    const member = said && memberOf(said.settings, names)
    if (said === undefined || !(member === value || (isArray(member) && member.includes(value)))) continue
    const where = said.path === file ? '' : ` in ${said.path}`
    return { problem: `${names.join('.')} is ${JSON.stringify(member)}${where}: ${agent.title} does not call the hook` }
  }
  return undefined
}

function memberOf(settings: AgentSettings, names: readonly string[]): unknown {
  return names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), settings)
}

async function tryHooks(agent: Agent, settings: AgentSettings, trial: TrialOptions): Promise<Tried> {
  const tried = await Promise.all(wiredHooks(agent, settings).map((hook) => tryHook(agent, hook, trial)))
  const failed = tried.find(({ problem }) => problem !== undefined)
  if (failed !== undefined) return failed
  const times = tried.flatMap(({ ms }) => (ms === undefined ? [] : [ms]))
  return times.length === 0 ? {} : { ms: Math.min(...times) }
}

async function tryHook(agent: Agent, hook: WiredHook, { scratch, timeoutMs }: TrialOptions): Promise<Tried> {
  const { event, line } = hook
  const kind = agent.hook?.events[event] ?? 'other'
  // The last one counts.
  const command = `${line} --store ${quoted(scratch)}`
  const end = await runTrial({ command, input: JSON.stringify(payloadFor(agent, event, kind)), timeoutMs })
  const problem = problemOf(agent, end, hook) ?? storeProblem(line)
  return problem === undefined ? { ms: end.ms } : { problem }
}

/** A call that asks for nothing and prints too much. */
function payloadFor({ hook }: Agent, event: string, kind: HookEvent): object {
  const call = { hook_event_name: event, session_id: 'doctor', cwd: process.cwd() }
  switch (kind) {
    case 'before':
      return { ...call, tool_name: hook?.wraps?.tool ?? 'Bash', tool_input: { command: 'true' } }
    case 'after':
      return {
        ...call,
        tool_name: 'mcp__doctor__print',
        tool_input: {},
        tool_use_id: 'doctor',
        tool_response: { content: [{ type: 'text', text: 'doctor\n'.repeat(LINES) }] },
      }
    default:
      return { ...call, source: 'compact' }
  }
}

function problemOf({ name, hook }: Agent, end: TrialEnd, { event, line }: WiredHook): string | undefined {
  const again = `run ${typedCommand()} init ${name} again`
  if (end.isLate) return `its command for ${event} gave ${end.problem}`
  if (end.problem !== undefined) return `its command fails (${end.problem}); ${again}`
  const said = end.stderr.trim()
  // A fault of the settings that --config names.
  const [, found] = /^spillway: (?:error|warning): (.*)/m.exec(said) ?? []
  if (found !== undefined) return found
  // A hook that failed and left the call unchanged ends with 0, and says why.
  if (said !== '') return `its command fails (${saidIn(said)}); ${again}`
  const isLeft =
    hook?.events[event] === 'after' && hook.replaces !== 'none' && end.stdout === '' && !/ --config /.test(line)
  return isLeft ? `its command leaves a long result as it is; ${again}` : undefined
}

function storeProblem(line: string): string | undefined {
  const store = storeIn(line)
  const problem = store === undefined ? undefined : unwritable(store)
  return problem === undefined ? undefined : `nothing can be saved in ${store}: ${problem}`
}

/** The reason why nothing can be written to a folder, or to the one that it would be made in. */
export function unwritable(folder: string): string | undefined {
  let path = folder
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`
    accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Loads the plugin as OpenCode does, and gives it a long result of a server. */
const PLUGIN_TRIAL = `
const { server } = require(require('node:module').createRequire(process.argv[1] + '/package.json').resolve('spillway/server'))
server({}).then(async (hooks) => {
  const result = { content: [{ type: 'text', text: 'doctor\\n'.repeat(${LINES}) }] }
  await hooks['tool.execute.after']({ tool: 'doctor_print', sessionID: 'doctor', callID: 'doctor', args: {} }, result)
  console.log(JSON.stringify(result))
})`

/** Loads the extension as pi does, and gives it a long result of a tool. */
const EXTENSION_TRIAL = `
const module = require('node:module')
const { readFileSync, writeFileSync } = require('node:fs')
const [, file, copy] = process.argv
const text = readFileSync(file, 'utf8')
writeFileSync(copy, module.stripTypeScriptTypes?.(text) ?? text)
import(require('node:url').pathToFileURL(copy)).then(async (loaded) => {
  const handlers = new Map()
  const pi = new Proxy({}, { get: (_, name) => name === 'on' ? (event, handler) => handlers.set(event, handler) : () => {} })
  await loaded.default(pi)
  const content = [{ type: 'text', text: 'doctor\\n'.repeat(${LINES}) }]
  const event = { toolName: 'doctor', toolCallId: 'doctor', input: {}, content, isError: false }
  console.log(JSON.stringify(await handlers.get('tool_result')(event, {})))
})`

async function tryPlugin(agent: Agent, list: unknown, trial: TrialOptions): Promise<Tried> {
  const plugin = isArray(list) ? list.find(isOwnPlugin) : undefined
  // OpenCode installs what has only a name by itself.
  const folder = typeof plugin === 'string' && existsSync(plugin) ? plugin : PACKAGE
  if (plugin !== 'spillway' && folder !== plugin) return { problem: goneFile(agent, String(plugin)) }
  return tryScript(agent, PLUGIN_TRIAL, [folder], trial)
}

async function tryExtension(agent: Agent, file: string, trial: TrialOptions): Promise<Tried> {
  const missing = [...readFileSync(file, 'utf8').matchAll(/from "(\/[^"\n]+)"/g)].find(
    ([, path = '']) => !existsSync(path),
  )
  if (missing !== undefined) return { problem: goneFile(agent, missing[1] ?? '') }
  return tryScript(agent, EXTENSION_TRIAL, [file, join(trial.scratch, 'extension.mjs')], trial)
}

const goneFile = ({ name }: Agent, path: string) => `${path} does not exist; run ${typedCommand()} init ${name} again`

async function tryScript({ name }: Agent, script: string, args: string[], trial: TrialOptions): Promise<Tried> {
  const { scratch, timeoutMs } = trial
  const command = [process.execPath, '--no-warnings', '-e', script, ...args]
  const env = { SPILLWAY_STORAGE_DIR: join(scratch, 'outputs') }
  const { problem, stdout, isLate } = await runTrial({ command, input: '', env, timeoutMs })
  if (isLate) return { problem: `the process that loads it gave ${problem}` }
  if (problem !== undefined)
    return { problem: `it cannot be loaded (${problem}); run ${typedCommand()} init ${name} again` }
  return stdout.includes('saved to: ')
    ? {}
    : { problem: `it leaves a long result as it is; run ${typedCommand()} init ${name} again` }
}

/** The first request of a host. */
const GREETING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'spillway-doctor', version: '1' } },
}

/** Starts a server through its proxy, and waits for its answer to the greeting of a host. */
async function tryServer({ name: server, words, cwd, env }: ProxiedServer, timeoutMs: number): Promise<Tried> {
  let answer: { error?: { message?: string } } | undefined
  const until = (stdout: string) => {
    answer = stdout
      .split('\n')
      .slice(0, -1)
      .map(answerIn)
      .find((each) => each !== undefined)
    return answer !== undefined
  }
  try {
    const texts = Object.entries(env).map(([name, value]) => [name, filled(String(value))])
    const end = await runTrial({
      command: words.map(filled),
      input: `${JSON.stringify(GREETING)}\n`,
      until,
      timeoutMs,
      ...(cwd !== undefined && { cwd }),
      env: Object.fromEntries(texts),
    })
    if (end.isLate) {
      const more = 'a server that is downloaded first needs a longer --timeout'
      return { server, problem: `the server gave ${end.problem}; ${more}` }
    }
    const [, found] = /^spillway: error: (.*)/m.exec(end.stderr) ?? []
    const refused =
      answer?.error &&
      `it answers with an error (${[answer.error.message, saidIn(end.stderr)].filter(Boolean).join('; ')})`
    const failed = end.problem && `it cannot be reached through the proxy (${end.problem})`
    const problem = failed ?? refused ?? found
    return problem === undefined ? { server, ms: end.ms } : { server, problem }
  } catch (error) {
    return { server, problem: messageOf(error) }
  }
}

function answerIn(line: string): { error?: { message?: string } } | undefined {
  try {
    const message = JSON.parse(line)
    return message.id === GREETING.id && message.method === undefined ? message : undefined
  } catch {
    return undefined
  }
}
