/** The hooks of the plugin. */

import type { ToolControls, ToolTruncationConfig } from 'spillway'
import { SpillwayError } from '../../errors'
import { TruncationService } from '../../service/service'
import { rememberOutput } from '../../storage/saved-outputs'
import { folderFor } from '../../tools/working-folder'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import { checkControls, storageDirOf, tellError, tellUnheard, toolControls } from '../shared/controls'
import { withHarmlessTools } from '../shared/harmless'
import { Requests } from '../shared/prepare-request'
import { recipientOf } from '../shared/recipient'
import { replaceArgs, SplitCalls } from '../shared/split-guard'
import type { AdapterControls } from '../shared/types'
import { chatOf, withOutputs } from './messages'

/** Options of {@link plugin}. */
export interface OpenCodeControls extends Omit<AdapterControls, 'recovery' | 'sessionId'> {}

/** A call, as OpenCode names it. */
interface HookInput {
  tool: string
  sessionID: string
  callID: string
}

/** The input of a plugin, as far as it is read here. */
export interface OpenCodeInput {
  /** The folder that OpenCode's tools work in. */
  directory?: string
  /** The root of its repository. */
  worktree?: string
}

/** The plugin. OpenCode calls it once for each folder that it works in. */
export type OpenCodePlugin = (input?: OpenCodeInput) => Promise<OpenCodeHooks>

/** The hooks of the plugin. */
export interface OpenCodeHooks {
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own type of a configuration
  config(config: any): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own type of arguments
  'tool.execute.before'(input: HookInput, output: { args: any }): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own types; the result of an MCP server's tool comes as the server sent it
  'tool.execute.after'(input: HookInput & { args?: any }, output: any): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own types
  'experimental.chat.messages.transform'(input: object, output: { messages: any[] }): Promise<void>
}

/** OpenCode truncates what is longer, after the hooks, and keeps the beginning: a notice at the end would be lost. */
const HOST_LINES = 2000
const HOST_BYTES = 51_200
/** Room for the notice, the lines of a gap and the warning of a loop. */
const NOTICE_LINES = 20
const NOTICE_BYTES = 2048

/**
 * Makes a plugin that puts all controls of `guardTool` around the tools and prunes each request (`history`). Sessions are
 * OpenCode's.
 *
 * - Results of MCP servers are truncated here, below OpenCode's own limits (`tool_output` of its configuration), so that the
 *   notice arrives. An output that OpenCode has truncated and saved by itself is left alone: its file has the whole output.
 * - The folder of saved outputs is allowed in OpenCode's configuration (`external_directory`) unless that denies it, so that
 *   its `read` and `grep` open a saved output without a question.
 * - `permission` is asked before a tool runs, in addition to OpenCode's own settings. A call that it denies does not run, and the
 *   model reads why. A `PermissionGate` asks on its own; with a `PermissionPolicy`, `ask` becomes `deny`.
 *
 * @example
 * export const Spillway = plugin({ truncation: new TruncationService(), history: () => new HistoryPruner() })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function plugin(controls: OpenCodeControls): OpenCodePlugin {
  checkControls(controls, {
    recovery: ['nothing: OpenCode recovers by itself', () => false],
    sessionId: ['nothing: sessions are those of OpenCode', () => false],
  })
  tellUnheard(controls)
  const around: ToolControls = toolControls(withHarmlessTools(controls, 'opencode'))
  const calls = new SplitCalls(around)
  const requests = new Requests(controls)
  return async (input) => {
    const { directory, worktree } = Object(input) as OpenCodeInput
    const cwd = folderFor({ workingDirectory: directory }, { workingDirectory: worktree }, controls)
    return hooksIn(cwd, controls, calls, requests)
  }
}

/** The hooks for one folder. */
function hooksIn(
  cwd: string | undefined,
  controls: OpenCodeControls,
  calls: SplitCalls,
  requests: Requests,
): OpenCodeHooks {
  let limits = { maxLines: HOST_LINES, maxBytes: HOST_BYTES }
  const callOf = (input: HookInput, args: unknown) => {
    const { tool, sessionID: sessionId, callID: toolCallId } = input
    return { tool, args, toolCallId, sessionId, cwd }
  }

  return {
    async config(config) {
      if (!isRecord(config)) return
      limits = hostLimits(config)
      const folder = storageDirOf(controls)
      if (folder !== undefined) allowFolder(config, folder)
    },

    async 'tool.execute.before'(input, output) {
      const { args } = Object(output) as typeof output
      const outcome = await calls.before(callOf(Object(input) as HookInput, args))
      if (outcome.kind === 'refused') {
        const { refusal } = outcome
        throw new SpillwayError('REFUSED', refusal.output, { report: refusal })
      }
      // OpenCode calls the tool with the object that it showed.
      if (!replaceArgs(args, outcome.args))
        throw new SpillwayError('REFUSED', 'The arguments could not be changed as they should.')
    },

    async 'tool.execute.after'(given, output) {
      if (!isRecord(output)) return
      const input = Object(given) as typeof given
      const isMcp = isArray(output.content)
      const call = callOf(input, input.args)
      if (isMcp) {
        const truncation = belowHost(controls.truncation, input.tool, limits, output.content as unknown[])
        const value = { content: output.content, ...(output.isError === true && { isError: true }) }
        const outcome = await calls.after(call, { value, truncation })
        const { content } = Object(outcome.kind === 'value' ? outcome.shown : undefined) as { content?: unknown }
        if (isArray(content)) output.content = [...content]
        return
      }
      const value = { output: output.output, metadata: withPath(output.metadata) }
      const outcome = await calls.after(call, { value })
      if (outcome.kind !== 'value' || !isRecord(outcome.shown)) return
      const { shown } = outcome
      if (shown.output === output.output) return
      const { truncationPath } = Object(shown.metadata) as { truncationPath?: unknown }
      output.output = shown.output
      output.metadata = { ...(output.metadata as object), truncated: true, outputPath: truncationPath }
    },

    async 'experimental.chat.messages.transform'(_input, output) {
      const { messages } = Object(output) as { messages?: unknown }
      if (!isArray(messages)) return
      const { sessionID } = Object(Object(messages[0]).info) as { sessionID?: unknown }
      const sessionId = typeof sessionID === 'string' ? sessionID : undefined
      const { id, tokens, modelID: model, providerID: provider } = lastAnswerIn(messages)
      try {
        const chat = chatOf(messages)
        requests.observe(sessionId, tokens, id)
        const sent = await requests.prepare(chat, sessionId, recipientOf({ model, provider }))
        // OpenCode reads the array that it gave, not what is put in its place.
        for (const [at, message] of withOutputs(messages, sent.messages)) (messages as unknown[])[at] = message
      } catch (thrown) {
        tellError(controls, 'history', thrown)
      }
    },
  }
}

/** The last answer of a model, as far as it is read here: its id, its model and its usage. */
function lastAnswerIn(messages: readonly unknown[]): {
  id?: unknown
  tokens?: unknown
  modelID?: unknown
  providerID?: unknown
} {
  const infos = messages.map((message) => Object(Object(message).info) as { role?: unknown; modelID?: unknown })
  return infos.findLast(({ role }) => role === 'assistant') ?? {}
}

/** Output limits of OpenCode's configuration, with its defaults. */
function hostLimits({ tool_output: given }: Record<string, unknown>): { maxLines: number; maxBytes: number } {
  const { max_lines, max_bytes } = Object(given) as { max_lines?: unknown; max_bytes?: unknown }
  return {
    maxLines: typeof max_lines === 'number' ? max_lines : HOST_LINES,
    maxBytes: typeof max_bytes === 'number' ? max_bytes : HOST_BYTES,
  }
}

/** Limits for a result of MCP, so that OpenCode, which joins the blocks with an empty line between them, truncates nothing. */
function belowHost(
  truncation: ToolControls['truncation'],
  toolName: string,
  limits: { maxLines: number; maxBytes: number },
  content: readonly unknown[],
): ToolTruncationConfig {
  const ceiling = {
    maxLines: Math.max(limits.maxLines - NOTICE_LINES - content.length, 1),
    maxBytes: Math.max(limits.maxBytes - NOTICE_BYTES - 2 * content.length, 1),
  }
  if (!(truncation instanceof TruncationService)) return ceiling
  const { maxLines, maxBytes } = truncation.effectiveConfig({ toolName }).config
  return { maxLines: Math.min(maxLines, ceiling.maxLines), maxBytes: Math.min(maxBytes, ceiling.maxBytes) }
}

/** OpenCode says where it saved an output in `outputPath`. */
function withPath(metadata: unknown): unknown {
  const { truncated, outputPath } = Object(metadata) as { truncated?: unknown; outputPath?: unknown }
  if (truncated !== true || typeof outputPath !== 'string') return metadata
  // OpenCode writes both itself, whatever the tool says.
  rememberOutput(outputPath)
  return { ...(metadata as object), truncationPath: outputPath }
}

/** Lets OpenCode read a folder without a question, unless its user has decided about it. */
function allowFolder(config: Record<string, unknown>, folder: string): void {
  const { permission = {} } = config
  // A single word applies to everything.
  if (!isRecord(permission)) return
  const { external_directory: outside = {} } = permission
  if (outside === 'deny' || outside === 'allow') return
  const rules = isRecord(outside) ? outside : { '*': outside }
  const pattern = `${folder}/*`
  if (pattern in rules) return
  config.permission = { ...permission, external_directory: { ...rules, [pattern]: 'allow' } }
}
