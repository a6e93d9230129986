/** Answers after a tool: a preview of a result that is too long, stars for secrets, and pointers for lines that are in view. */

import { dirname } from 'node:path'
import { hostOf } from '../../adapters/mcp/hosts'
import { recordPreview } from '../../storage/printed-previews'
import { withCommand } from '../../tools/command-of'
import type { TruncationContext } from '../../types'
import { jsonOrSame } from '../../util/json'
import { isRecord } from '../../validation/validate'
import type { Agent, HookFacts } from '../agents/types'
import type { Parsed } from '../command'
import { recordCommand } from '../command-log'
import { dirsOf } from '../outputs'
import { openStorage, READERS, serviceOf, withReaders } from '../shared-options'
import { note, printable } from '../terminal'
import { afterAnswer } from './answers'
import { allTexts, editableText, findOnlyText, findText, type HookCall, isLong, TIME_LIMIT_MS } from './payload'
import { isPreview } from './previews'
import { redacted } from './redact'
import { foldShown } from './shown-results'

/** Bytes that pointers save at least: a result with pointers names its saved output as well. */
const MIN_SAVED = 1000

/** A result in place of another one. */
interface Cut {
  result: unknown
  /** The saved output that it names. */
  path?: string | undefined
}

const isMcp = ({ tool }: HookCall): boolean => /^(mcp__|MCP:)/.test(tool)

/** True if the agent takes another result of a call. */
function isReplaced({ replaces, leaves }: HookFacts, call: HookCall): boolean {
  return replaces !== 'none' && (replaces !== 'mcp' || isMcp(call)) && leaves?.includes(call.tool) !== true
}

/** True for an output that Claude Code has saved: its model reads the beginning alone, and the path of the file. */
const isSavedByAgent = (call: HookCall): boolean =>
  !isMcp(call) && isRecord(call.result) && typeof call.result.persistedOutputPath === 'string'

/** The answer for a result that may be too long, may have secrets, or may have lines that are in view already. */
export async function afterTool(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  const isRedacted = values.redact === true && hook.replaces !== 'none' && (hook.replaces !== 'mcp' || isMcp(call))
  const result = isRedacted ? await redacted(call.result) : call.result
  const given = { ...call, result }
  const isAsItIs = !isReplaced(hook, call) || isSavedByAgent(call) || !isLong(result)
  if (isAsItIs || (await isPreview(result, isMcp(call), () => dirs(values)))) {
    return result === call.result ? undefined : answerWith(hook, call, result)
  }
  const cut = await cutText(agent, hook, given, values)
  const shown = await withPointers(hook, { ...call, result: cut.result }, cut.path, values)
  return shown === call.result ? undefined : answerWith(hook, call, shown)
}

function answerWith({ dialect }: HookFacts, { eventName }: HookCall, result: unknown) {
  if (dialect === 'claude') return { hookSpecificOutput: { hookEventName: eventName, updatedToolOutput: result } }
  const found = editableText(dialect === 'cursor' ? jsonOrSame(result) : result)
  return found && afterAnswer(dialect, found.with(found.text), found.text)
}

/** Through the adapter, which knows all shapes of Claude Code's tools. */
async function cutByAdapter(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']): Promise<Cut> {
  const { claudeOptions } = await import('spillway/claude-agent-sdk')
  const { service, ended } = serviceFor(agent, hook, call, values)
  const [group] = claudeOptions({ truncation: service }).hooks.PostToolUse
  const payload = {
    session_id: call.sessionId,
    tool_name: call.tool,
    tool_input: call.args,
    tool_use_id: call.toolCallId,
    tool_response: call.result,
  }
  const answer = await group?.hooks[0]?.(payload, call.toolCallId, { signal: AbortSignal.timeout(TIME_LIMIT_MS) })
  const { updatedToolOutput = call.result } = (answer?.hookSpecificOutput ?? {}) as { updatedToolOutput?: unknown }
  const path = await ended(allTexts(updatedToolOutput))
  return updatedToolOutput === call.result || path !== undefined ? { result: updatedToolOutput, path } : unsaved(call)
}

/** The agent has the whole output: a preview of what could not be saved would lose the rest. */
function unsaved(call: HookCall): Cut {
  note(`spillway: the output of ${printable(call.tool)} could not be saved, so it was not shortened`)
  return { result: call.result }
}

async function cutText(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']): Promise<Cut> {
  const isClaude = hook.dialect === 'claude'
  const found = isClaude
    ? findOnlyText(call.result)
    : editableText(hook.dialect === 'cursor' ? jsonOrSame(call.result) : call.result)
  // Most results are one text, and the adapter costs as much time as everything else together.
  if (found === undefined) return isClaude ? cutByAdapter(agent, hook, call, values) : { result: call.result }
  const { service, ended } = serviceFor(agent, hook, call, values)
  const result = await service.output(found.text, contextOf(call))
  const { content } = hook.readers === undefined ? withReaders(result) : result
  const path = await ended([content])
  if (result.truncated && result.outputPath === '') return unsaved(call)
  return { result: content === found.text ? call.result : found.with(content), path }
}

function contextOf({ tool, args, sessionId, toolCallId }: HookCall): TruncationContext {
  const about = {
    toolName: tool,
    ...(sessionId !== undefined && { sessionId }),
    ...(toolCallId !== '' && { toolCallId }),
  }
  return withCommand(about, args)
}

/** The result with pointers in place of lines that are in view; the value itself if that saves too little. */
async function withPointers(hook: HookFacts, call: HookCall, path: string | undefined, values: Parsed['values']) {
  const found = hook.tellsCompaction === true && values['no-fold'] !== true ? findText(call.result) : undefined
  if (found === undefined) return call.result
  const storage = openStorage(values)
  const folded = await foldShown(storage.getStorageDir(), call, found.text, path)
  if (Buffer.byteLength(found.text) - Buffer.byteLength(folded) < MIN_SAVED) return call.result
  if (path !== undefined) return found.with(folded)
  // An agent may drop what a pointer names: the whole can be read all the same.
  const saved = await storage.save(found.text, contextOf(call))
  recordCall(saved, call)
  return found.with(`${folded.trimEnd()}\n\n[Full output saved to: ${saved}]`)
}

/** A service for one result; `ended` closes it, notes the digest of the preview among these texts, and returns its path. */
function serviceFor({ name }: Agent, { readers, maxBytes }: HookFacts, call: HookCall, values: Parsed['values']) {
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
    for (const path of paths) {
      const preview = texts.find((text) => text.includes(path))
      if (preview !== undefined) recordPreview(folderOf(path, call), path, preview)
      recordCall(path, call)
    }
    await service.close()
    return paths[0]
  }
  return { service, ended }
}

/** The folder of a store that an output is in: that of a session is removed with its last output. */
const folderOf = (path: string, { sessionId }: HookCall): string =>
  sessionId === undefined ? dirname(path) : dirname(dirname(path))

/** Notes which command printed an output: its name says only the tool and the time. */
function recordCall(path: string, call: HookCall): void {
  const { args, cwd = '' } = call
  if (typeof args.command === 'string') recordCommand(folderOf(path, call), { path, command: args.command, cwd })
}

const dirs = (values: Parsed['values']) => dirsOf(openStorage(values))
