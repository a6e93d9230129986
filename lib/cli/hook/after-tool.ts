/** Answers after a tool: a preview in the place of a result that is too long, and stars in that of secrets. */

import { hostOf } from '../../adapters/mcp/hosts'
import type { Agent, HookFacts } from '../agents/types'
import type { Parsed } from '../command'
import { dirsOf } from '../outputs'
import { recordPreview } from '../preview-log'
import { openStorage, READERS, serviceOf, withReaders } from '../shared-options'
import { afterAnswer } from './answers'
import { allTexts, editableText, type HookCall, isLong, parsed, TIME_LIMIT_MS } from './payload'
import { isPreview } from './previews'
import { redacted } from './redact'

const isMcp = ({ tool }: HookCall): boolean => /^(mcp__|MCP:)/.test(tool)

/** True if the agent takes another result of a call. */
function isReplaced({ replaces }: HookFacts, call: HookCall): boolean {
  return replaces !== 'none' && (replaces !== 'mcp' || isMcp(call))
}

const foundIn = ({ dialect }: HookFacts, { result }: HookCall) =>
  editableText(dialect === 'cursor' ? parsed(result) : result)

/** The answer for a result that may be too long, or may have secrets. */
export async function afterTool(agent: Agent, hook: HookFacts, call: HookCall, values: Parsed['values']) {
  const isClaude = hook.dialect === 'claude'
  const result = values.redact === true && isReplaced(hook, call) ? await redacted(call.result) : call.result
  const shown = { ...call, result }
  const answer = await (isClaude ? afterClaude : after)(agent, hook, shown, values)
  if (answer !== undefined || result === call.result) return answer
  if (isClaude) return { hookSpecificOutput: { hookEventName: call.eventName, updatedToolOutput: result } }
  const found = foundIn(hook, shown)
  return found && afterAnswer(hook.dialect, found.with(found.text), found.text)
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
  await ended(allTexts(answer))
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

const dirs = (values: Parsed['values']) => dirsOf(openStorage(values))
