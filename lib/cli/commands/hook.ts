/** `spillway hook`: the command that an agent runs before and after its tools. */

import { existsSync } from 'node:fs'
import { PermissionPolicy } from 'spillway'
import { containsTruncationMarker } from 'spillway/truncation'
import { hostOf } from '../../adapters/mcp/hosts'
import { AGENTS, agentOf } from '../agents'
import type { Agent, HookFacts } from '../agents/types'
import { lineOf, program } from '../agents/wire'
import { type Command, type Parsed, UsageError } from '../command'
import { afterAnswer, type Before, beforeAnswer, startAnswer, tellAnswer } from '../hook/answers'
import { callOf, type HookCall, parsed, textOf } from '../hook/payload'
import { listedOutputs } from '../outputs'
import { oneOf, sizeOf, text } from '../parse-values'
import { CONFIG, configOf, READERS, STORE, serviceOf, storageOf, withReaders } from '../shared-options'
import { EXIT, note, print } from '../terminal'

const command: Command = {
  name: 'hook',
  summary: 'Answers a hook of an agent; spillway init writes it into the settings.',
  usage: '[options] <agent> [event]',
  about: `Reads the JSON of the agent from standard input. Before a tool: a decision, with --permission; a command of the shell
runs under spillway run where the agent lets no hook replace its output. After a tool: a result that is too long is replaced by
a preview, with the whole saved. After a compaction: the saved outputs of the session. It says nothing where there is
nothing to change. A hook that fails, or is not done after 2 s, lets the call through and says so.`,
  options: {
    permission: {
      type: 'string',
      value: 'WHICH',
      help: 'What to say about calls: deny (only what is denied), ask, none. Default: none.',
    },
    ...STORE,
    ...CONFIG,
  },
  positionals: [1, 2],
  exits: [
    ['0', 'answered, or nothing to say'],
    ['1', 'wrong usage: agents take 2 for a refusal'],
  ],
  examples: [
    ['spillway hook claude-code < payload.json', 'what Claude Code would be told'],
    ['spillway hook copilot preToolUse < payload.json', 'an agent that does not name the event'],
  ],
  run,
}

export default command

const TIME_LIMIT_MS = 2000

async function run({ values, positionals }: Parsed): Promise<number> {
  const agent = agentOf(positionals[0] ?? '')
  const { hook } = agent
  if (hook === undefined) {
    const names = AGENTS.filter((each) => each.hook !== undefined).map(({ name }) => name)
    throw new UsageError(`${agent.title}: has no hooks that run a command; agents with such hooks: ${names.join(', ')}`)
  }
  const letThrough = (problem: string) => {
    const said = `spillway hook ${agent.name}: ${problem}; the call goes on unchanged`
    const told = tellAnswer(hook.dialect, said)
    if (told !== undefined) process.stdout.write(`${JSON.stringify(told)}\n`)
    note(said)
  }
  // The agent waits, whatever a disk or a lock does.
  const late = setTimeout(() => {
    letThrough(`not done after ${TIME_LIMIT_MS / 1000} s`)
    process.exit(EXIT.ok)
  }, TIME_LIMIT_MS)
  let answer: object | undefined
  try {
    const payload: unknown = JSON.parse(await input())
    answer = await answerOf(agent, hook, callOf(hook, payload, positionals[1]), values)
  } catch (error) {
    clearTimeout(late)
    letThrough(error instanceof Error ? error.message : String(error))
    return EXIT.ok
  }
  clearTimeout(late)
  if (answer !== undefined) await print(`${JSON.stringify(answer)}\n`)
  return EXIT.ok
}

async function input(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function answerOf(
  agent: Agent,
  hook: HookFacts,
  call: HookCall,
  values: Parsed['values'],
): Promise<object | undefined> {
  switch (call.event) {
    case 'before':
      return beforeAnswer(hook.dialect, before(hook, call, values), call)
    case 'after':
      return hook.dialect === 'claude' ? afterClaude(agent, hook, call, values) : after(agent, hook, call, values)
    case 'started':
      return call.source === 'compact' || call.source === 'compaction' ? started(hook, call, values) : undefined
    default:
      return undefined
  }
}

function before(hook: HookFacts, call: HookCall, values: Parsed['values']): Before {
  const decided = decisionOf(hook, call, values)
  if (decided.decision === 'deny') return decided
  const args = wrapped(hook, call, values)
  return args === undefined ? decided : { ...decided, args }
}

function decisionOf(hook: HookFacts, call: HookCall, values: Parsed['values']): Before {
  const wanted = oneOf(values, 'permission', ['deny', 'ask', 'none']) ?? 'none'
  if (wanted === 'none') return {}
  const { options } = configOf(values)
  const policy = new PermissionPolicy({ ...options.permission, vault: call.cwd, storage: storageOf(values) })
  const { tool, args, cwd, sessionId } = call
  const { decision, reasons } = policy.explain({ tool, args, cwd, sessionId, mode: options.mode })
  if (decision === 'allow' || (decision === 'ask' && (wanted === 'deny' || !hook.asks))) return {}
  return { decision, reason: `Spillway: ${reasons.join('; ') || decision}` }
}

/** A preview of a command stays below what an agent cuts by itself. */
const MAX_LINES = 500
const MAX_BYTES = 9000

/** Arguments with the command under `spillway run`; nothing for what runs in the background, or changes the shell itself. */
function wrapped(hook: HookFacts, call: HookCall, values: Parsed['values']): Record<string, unknown> | undefined {
  const { tool, args, sessionId } = call
  const { command: line } = args
  if (hook.wraps !== tool || typeof line !== 'string' || line.trim() === '' || process.platform === 'win32')
    return undefined
  if (args.is_background === true || args.run_in_background === true || args.mode === 'async' || args.detach === true) {
    return undefined
  }
  if (changesShell(line) || isOwn(line)) return undefined
  const store = text(values, 'store')
  const words = [
    ...[...program(), 'run', '--max-bytes', String(MAX_BYTES), '--max-lines', String(MAX_LINES)],
    ...(store === undefined ? [] : ['--store', store]),
    ...(sessionId === undefined ? [] : ['--session', sessionId]),
    ...['--', 'bash', '-c', line],
  ]
  return { ...args, command: lineOf(words) }
}

/** True for a line that runs this command itself, as notices name it. */
const isOwn = (line: string): boolean => /^\s*(\S*spillway|\S+\s+\S*dist\/cli\/main\.js)\s/.test(line)

/** True for a line that may leave something in a shell that lives on: another folder, variables, functions, jobs. */
function changesShell(line: string): boolean {
  return (
    /(^|[\n;&|({])\s*(cd|pushd|popd|export|unset|source|\.|alias|unalias|set|shopt|declare|eval|exec|trap|umask|ulimit|nvm|conda|deactivate)(\s|$)/.test(
      line,
    ) || /(^|[^&])&\s*$/.test(line)
  )
}

/** Through the adapter, which knows the shapes of Claude Code's tools. */
async function afterClaude(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (hook.leaves?.includes(call.tool) || !isLong(call.result)) return undefined
  if (await isPreview(JSON.stringify(call.result), values)) return undefined
  const { claudeOptions } = await import('spillway/claude-agent-sdk')
  const service = serviceFor(agent, hook, values)
  const [group] = claudeOptions({ truncation: service }).hooks.PostToolUse
  const payload = {
    ...{ session_id: call.sessionId, tool_name: call.tool, tool_input: call.args, tool_use_id: call.toolCallId },
    tool_response: call.result,
  }
  const answer = await group?.hooks[0]?.(payload, call.toolCallId, { signal: AbortSignal.timeout(TIME_LIMIT_MS) })
  await service.close()
  return Object.keys(answer ?? {}).length > 0 ? (answer as object) : undefined
}

async function after(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  const isMcp = /^(mcp__|MCP:)/.test(call.tool)
  if (hook.replaces === 'none' || (hook.replaces === 'mcp' && !isMcp)) return undefined
  if (hook.leaves?.includes(call.tool) || !isLong(call.result)) return undefined
  const found = textOf(hook.dialect === 'cursor' ? parsed(call.result) : call.result)
  if (found === undefined || (await isPreview(found.text, values))) return undefined
  const service = serviceFor(agent, hook, values)
  const result = await service.output(found.text, {
    toolName: call.tool,
    ...(call.sessionId !== undefined && { sessionId: call.sessionId }),
    ...(call.toolCallId !== '' && { toolCallId: call.toolCallId }),
  })
  await service.close()
  if (result.content === found.text) return undefined
  const { content } = hook.readers === undefined ? withReaders(result) : result
  return afterAnswer(hook.dialect, found.with(content), content)
}

/** Shorter results fit any limit, and need no service. */
const SHORT = 4000

const isLong = (result: unknown): boolean => (JSON.stringify(result)?.length ?? 0) > SHORT

function serviceFor({ name }: Agent, { readers, maxBytes }: HookFacts, values: Parsed['values']) {
  return serviceOf(values, {
    availableTools: [...(readers ?? READERS)],
    // The user's own limits count.
    ...(values.config === undefined && { maxBytes: maxBytes ?? hostOf(name)?.maxBytes ?? 15_000 }),
  })
}

/** UTF-16 units of the longest preview that another process makes by default, with its notice. */
const LONGEST_PREVIEW = 64 * 1024

/**
 * True for a text in the form of a preview that names an output in the store: it is not cut again. A tool that knows the path of
 * one can imitate this, and gets no more than the length of a preview through by it.
 */
async function isPreview(shown: string, values: Parsed['values']): Promise<boolean> {
  // The store is only looked into for what has the form.
  if (shown.length > LONGEST_PREVIEW || !containsTruncationMarker(shown)) return false
  const { dirs } = await storageOf(values).usage()
  return dirs.some(({ dir }) => {
    const at = shown.indexOf(dir)
    const path = at === -1 ? undefined : /^.*?\.txt/.exec(shown.slice(at))?.[0]
    return path !== undefined && existsSync(path)
  })
}

const LISTED = 10

/** The saved outputs of a session, whose previews a compaction has taken out of the context. */
async function started(hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (call.sessionId === undefined) return undefined
  const outputs = (await listedOutputs(storageOf(values), call.sessionId)).slice(0, LISTED)
  if (outputs.length === 0) return undefined
  const lines = outputs.map(({ path, command: line, toolName, bytes }) => {
    return `- ${path} (${sizeOf(bytes)}): ${(line ?? toolName).slice(0, 120)}`
  })
  return startAnswer(
    hook.dialect,
    `Full outputs of earlier tool calls are saved, the newest first:\n${lines.join('\n')}`,
    call,
  )
}
