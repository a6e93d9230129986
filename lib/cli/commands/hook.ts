/** `spillway hook`: the command that an agent runs before and after its tools. */

import { PermissionPolicy } from 'spillway'
import { hostOf } from '../../adapters/mcp/hosts'
import { AGENTS, agentOf } from '../agents'
import type { Agent, HookFacts } from '../agents/types'
import { lineOf, program } from '../agents/wire'
import { type Command, type Parsed, UsageError } from '../command'
import { afterAnswer, type Before, beforeAnswer, startAnswer, tellAnswer } from '../hook/answers'
import { callOf, type HookCall, parsed, textOf, textsOf } from '../hook/payload'
import { isPreview } from '../hook/previews'
import { readOf, recordedReads, recordRead } from '../hook/read-files'
import { dirsOf, listedOutputs } from '../outputs'
import { oneOf, sizeOf, text } from '../parse-values'
import { recordPreview } from '../preview-log'
import { CONFIG, configOf, READERS, STORE, serviceOf, storageOf, withReaders } from '../shared-options'
import { EXIT, note, print } from '../terminal'

const command: Command = {
  name: 'hook',
  summary: 'Answers a hook of an agent; spillway init writes it into the settings.',
  usage: '[options] <agent> [event]',
  about: `Reads the JSON of the agent from standard input. Before a tool: a decision, with --permission; a command of the shell
runs under spillway run where the agent lets no hook replace its output. After a tool: a result that is too long is replaced by
a preview, with the whole saved. After a compaction: the saved outputs of the session, and the files that were read in it. It says nothing where there is
nothing to change. A hook that fails, or is not done after 2 s, lets the call through and says so.`,
  options: {
    permission: {
      type: 'string',
      value: 'WHICH',
      help: 'What to say about calls: deny (only what is denied), ask, none. Default: none.',
    },
    redact: {
      type: 'boolean',
      help: 'Put stars in the place of secrets in results, where the agent takes other results.',
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
      return afterTool(agent, hook, call, values)
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

const isMcp = ({ tool }: HookCall): boolean => /^(mcp__|MCP:)/.test(tool)

/** True if the agent takes another result of a call. */
function isReplaced({ replaces }: HookFacts, call: HookCall): boolean {
  return replaces !== 'none' && (replaces !== 'mcp' || isMcp(call))
}

const foundIn = ({ dialect }: HookFacts, { result }: HookCall) => textOf(dialect === 'cursor' ? parsed(result) : result)

async function afterTool(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  noteRead(call, values)
  const isClaude = hook.dialect === 'claude'
  const result = values.redact === true && isReplaced(hook, call) ? await redactedResult(call) : call.result
  const shown = { ...call, result }
  const answer = await (isClaude ? afterClaude : after)(agent, hook, shown, values)
  if (answer !== undefined || result === call.result) return answer
  if (isClaude) return { hookSpecificOutput: { hookEventName: call.eventName, updatedToolOutput: result } }
  const found = foundIn(hook, shown)
  return found && afterAnswer(hook.dialect, found.with(found.text), found.text)
}

/** Loaded only where it is asked for: most hooks have nothing to redact. */
async function redactedResult({ result }: HookCall): Promise<unknown> {
  const { redacted } = await import('../hook/redact')
  return redacted(result)
}

function noteRead(call: HookCall, values: Parsed['values']): void {
  const read = readOf(call)
  if (read === undefined || call.sessionId === undefined) return
  recordRead(storageOf(values).getStorageDir(), call.sessionId, read)
}

/** Through the adapter, which knows the shapes of Claude Code's tools. */
async function afterClaude(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (hook.leaves?.includes(call.tool) || !isLong(call.result)) return undefined
  if (await isPreview(call.result, isMcp(call), () => dirs(values))) return undefined
  const { claudeOptions } = await import('spillway/claude-agent-sdk')
  const { service, ended } = serviceFor(agent, hook, values)
  const [group] = claudeOptions({ truncation: service }).hooks.PostToolUse
  const payload = {
    ...{ session_id: call.sessionId, tool_name: call.tool, tool_input: call.args, tool_use_id: call.toolCallId },
    tool_response: call.result,
  }
  const answer = await group?.hooks[0]?.(payload, call.toolCallId, { signal: AbortSignal.timeout(TIME_LIMIT_MS) })
  await ended(textsOf(answer))
  return Object.keys(answer ?? {}).length > 0 ? (answer as object) : undefined
}

async function after(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (!isReplaced(hook, call) || hook.leaves?.includes(call.tool) || !isLong(call.result)) return undefined
  const found = foundIn(hook, call)
  if (found === undefined || (await isPreview(found.text, isMcp(call), () => dirs(values)))) return undefined
  const { service, ended } = serviceFor(agent, hook, values)
  const result = await service.output(found.text, {
    toolName: call.tool,
    ...(call.sessionId !== undefined && { sessionId: call.sessionId }),
    ...(call.toolCallId !== '' && { toolCallId: call.toolCallId }),
  })
  const { content } = hook.readers === undefined ? withReaders(result) : result
  await ended([content])
  if (content === found.text) return undefined
  return afterAnswer(hook.dialect, found.with(content), content)
}

/** Shorter results fit any limit, and need no service. */
const SHORT = 4000

const isLong = (result: unknown): boolean => (JSON.stringify(result)?.length ?? 0) > SHORT

/** A service for one result; `ended` closes it, and notes the digests of the previews among these texts. */
function serviceFor({ name }: Agent, { readers, maxBytes }: HookFacts, values: Parsed['values']) {
  const paths: string[] = []
  const service = serviceOf(values, {
    onEvent: ({ type, outputPath }) => {
      if (type === 'truncated' && outputPath) paths.push(outputPath)
    },
    availableTools: [...(readers ?? READERS)],
    // The user's own limits count.
    ...(values.config === undefined && { maxBytes: maxBytes ?? hostOf(name)?.maxBytes ?? 15_000 }),
  })
  const ended = async (texts: readonly string[]) => {
    const dir = service.storage.getStorageDir()
    for (const path of paths) {
      const preview = texts.find((text) => text.includes(path))
      if (preview !== undefined) recordPreview(dir, path, preview)
    }
    await service.close()
  }
  return { service, ended }
}

const dirs = (values: Parsed['values']) => dirsOf(storageOf(values))

const LISTED = 10

/** The saved outputs of a session, whose previews a compaction has taken out of the context. */
async function started(hook: HookFacts, call: HookCall, values: Parsed['values']) {
  if (call.sessionId === undefined) return undefined
  const storage = storageOf(values)
  const outputs = (await listedOutputs(storage, call.sessionId)).slice(0, LISTED)
  const reads = recordedReads(storage.getStorageDir(), call.sessionId)
  if (outputs.length + reads.length === 0) return undefined
  const lines = outputs.map(({ path, command: line, toolName, bytes }) => {
    return `- ${path} (${sizeOf(bytes)}): ${(line ?? toolName).slice(0, 120)}`
  })
  const saved = 'Full outputs of earlier tool calls are saved, the newest first:'
  const read = 'Files that were read before the compaction, the newest first; their text is not in view any more:'
  const parts = [
    ...(lines.length === 0 ? [] : [saved, ...lines]),
    ...(reads.length === 0 ? [] : [read, ...reads.map((each) => `- ${each}`)]),
  ]
  return startAnswer(hook.dialect, parts.join('\n'), call)
}
