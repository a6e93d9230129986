/**
 * `spillway hook`: the command that an agent runs before and after its tools. Most calls need nothing, so the package is loaded only
 * where there is something to do.
 */

import { deepJsonOf } from '../../util/deep-json'
import { AGENTS, agentOf } from '../agents'
import { lineOf } from '../agents/hook-settings'
import { program } from '../agents/own-paths'
import type { Agent, HookFacts } from '../agents/types'
import { type Command, type Parsed, UsageError } from '../command'
import { type Before, beforeAnswer, tellAnswer } from '../hook/answers'
import { readInput } from '../hook/input'
import { type HookCall, isLong, readHookCall, TIME_LIMIT_MS } from '../hook/payload'
import { readOf, recordRead } from '../hook/read-files'
import type { Said } from '../hook/time-limit'
import { choice, text } from '../parse-values'
import { CONFIG, STORE } from '../store-options'
import { EXIT, errorAtOnce, printAtOnce } from '../terminal'

const command: Command = {
  name: 'hook',
  summary: 'Answers a hook of an agent; spillway init writes it into the settings.',
  usage: '[options] <agent> [event]',
  about: `Reads the JSON of the agent from standard input. Before a tool: with --permission, a decision; a shell command runs
under spillway run if the agent does not let hooks replace its output. After a tool: a result that is too long is saved
and replaced by a preview, and lines that an earlier result of the session has are replaced by a pointer. After a
compaction: the saved outputs of the session and the files that were read in it are listed. Nothing is printed if there
is nothing to change. A hook that fails or takes more than 2 s leaves the call unchanged and says so.`,
  options: {
    permission: {
      type: 'string',
      value: 'WHICH',
      help: 'Decisions about calls: deny (only denials), ask (also questions), none. Default: none.',
    },
    redact: {
      type: 'boolean',
      help: 'Replace secrets in results with asterisks, if the agent accepts changed results.',
    },
    'wrap-commands': {
      type: 'boolean',
      help: 'Run commands of Claude Code under spillway run, so that the output of a command that fails is saved, too.',
    },
    'no-fold': {
      type: 'boolean',
      help: 'Do not fold lines that an earlier result of the session has: by default, a pointer replaces them.',
    },
    ...STORE,
    ...CONFIG,
  },
  names: AGENTS.filter(({ hook }) => hook !== undefined).map(({ name }) => name),
  positionals: [1, 2],
  exits: [
    ['0', 'answered, or nothing to change'],
    ['1', 'wrong usage; not 2, because agents take 2 for a refusal'],
  ],
  examples: [
    ['spillway hook claude-code < payload.json', 'the answer to Claude Code'],
    ['spillway hook copilot preToolUse < payload.json', 'for an agent that does not name the event in its JSON'],
  ],
  run,
}

export default command

async function run({ values, positionals }: Parsed): Promise<number> {
  const agent = agentOf(positionals[0] ?? '')
  const { hook } = agent
  if (hook === undefined) {
    const names = AGENTS.filter((each) => each.hook !== undefined).map(({ name }) => name)
    throw new UsageError(`${agent.title}: has no hooks that run a command; agents with such hooks: ${names.join(', ')}`)
  }
  const unchanged = (problem: string): Said => {
    const sentence = `spillway hook ${agent.name}: ${problem.split('\n', 1)[0]}; the call continues unchanged`
    const told = tellAnswer(hook.dialect, sentence)
    return { stdout: told === undefined ? '' : `${JSON.stringify(told)}\n`, stderr: `${sentence}\n` }
  }
  const input = readInput()
  // It is awaited below, unless the time limit cannot be loaded.
  input.catch(() => {})
  let end = () => {}
  let said: Said
  try {
    // Before anything else is loaded, while the payload is read: whatever a disk or a lock does, the agent waits.
    const { startTimeLimit } = await import('../hook/time-limit')
    end = startTimeLimit(TIME_LIMIT_MS, unchanged(`not done after ${TIME_LIMIT_MS / 1000} s`))
    const payload = payloadOf(await input)
    const answer = await answerOf(agent, hook, readHookCall(hook, payload, positionals[1]), values)
    said = { stdout: answer === undefined ? '' : `${deepJsonOf(answer)}\n`, stderr: '' }
  } catch (error) {
    said = unchanged(error instanceof Error ? error.message : String(error))
  }
  end()
  printAtOnce(said.stdout)
  errorAtOnce(said.stderr)
  return EXIT.ok
}

/** The message of the parser quotes the input, of any length and number of lines. */
function payloadOf(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    throw new Error(input.trim() === '' ? 'standard input is empty' : 'standard input is not JSON')
  }
}

async function answerOf(
  agent: Agent,
  hook: HookFacts,
  call: HookCall,
  values: Parsed['values'],
): Promise<object | undefined> {
  switch (call.event) {
    case 'before':
      return beforeAnswer(hook.dialect, await before(hook, call, values), call)
    case 'after':
      await noteRead(call, values)
      if (values.redact !== true && !isLong(call.result)) return undefined
      return (await import('../hook/after-tool')).afterTool(agent, hook, call, values)
    case 'started':
      if (call.source !== 'compact' && call.source !== 'compaction') return undefined
      return (await import('../hook/session-start')).afterCompaction(hook, call, values)
    default:
      return undefined
  }
}

async function noteRead(call: HookCall, values: Parsed['values']): Promise<void> {
  const read = readOf(call)
  if (read === undefined || call.sessionId === undefined) return
  const { openStorage } = await import('../shared-options')
  recordRead(openStorage(values).getStorageDir(), call.sessionId, read)
}

async function before(hook: HookFacts, call: HookCall, values: Parsed['values']): Promise<Before> {
  const decided = await decisionOf(hook, call, values)
  if (decided.decision === 'deny') return decided
  const args = wrapped(hook, call, values)
  return args === undefined ? decided : { ...decided, args }
}

async function decisionOf(hook: HookFacts, call: HookCall, values: Parsed['values']): Promise<Before> {
  const wanted = choice(values, 'permission', ['deny', 'ask', 'none']) ?? 'none'
  if (wanted === 'none') return {}
  return (await import('../hook/permission')).decisionOf(hook, call, wanted, values)
}

/** A preview of a command stays below what an agent cuts by itself. */
const MAX_LINES = 500
const MAX_BYTES = 9000

/** Arguments with the command under `spillway run`; nothing for what runs in the background, or changes the shell itself. */
function wrapped(hook: HookFacts, call: HookCall, values: Parsed['values']): Record<string, unknown> | undefined {
  const { tool, args, sessionId } = call
  const { command: line } = args
  if (hook.wraps?.tool !== tool || typeof line !== 'string' || line.trim() === '' || process.platform === 'win32')
    return undefined
  if (hook.wraps.onDemand === true && values['wrap-commands'] !== true) return undefined
  if (args.is_background === true || args.run_in_background === true || args.mode === 'async' || args.detach === true) {
    return undefined
  }
  const staysIn = hook.wraps.fresh === true ? NEEDS_SHELL : CHANGES_SHELL
  if (staysIn.test(line) || IN_BACKGROUND.test(line) || EDITS.test(line) || isOwn(line)) return undefined
  const store = text(values, 'store')
  const words = [
    ...[...program(), 'run', '--max-bytes', String(MAX_BYTES), '--max-lines', String(MAX_LINES)],
    ...(store === undefined ? [] : ['--store', store]),
    ...(sessionId === undefined ? [] : ['--session', sessionId]),
    ...(hook.wraps.watched === true ? ['--watched'] : []),
    ...['--', 'bash', '-c', line],
  ]
  return { ...args, command: lineOf(words) }
}

/** A line that Codex takes for an edit of files, and runs in no shell. */
const EDITS = /(^|[\s;&|(])(apply_?patch)(\s|$)/

/** True for a line that runs this command itself, as notices name it. */
const isOwn = (line: string): boolean => /^\s*(\S*spillway|\S+\s+\S*dist\/cli\/main\.js)\s/.test(line)

/** A line that leaves something in a shell that lives on: another folder, variables, functions. */
const CHANGES_SHELL =
  /(^|[\n;&|({])\s*(cd|pushd|popd|export|unset|source|\.|alias|unalias|set|shopt|declare|eval|exec|trap|umask|ulimit|nvm|conda|deactivate)(\s|$)/

/** A line with functions that only the user's own shell has. */
const NEEDS_SHELL = /(^|[\n;&|({])\s*(nvm|conda|deactivate)(\s|$)/

/** A line whose last command runs on without it. */
const IN_BACKGROUND = /(^|[^&])&\s*$/
