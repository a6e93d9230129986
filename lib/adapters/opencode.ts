/**
 * Spillway for OpenCode: a plugin (`@opencode-ai/plugin` 1). The types are checked; OpenCode itself is not run by the tests of
 * this package.
 */

import type { GateCall, GateDecision, ToolControls } from 'spillway'
import { isArray, isRecord } from '../context'
import { SpillwayError } from '../errors'
import { chatOf, withOutputs } from './opencode/messages'
import { checkControls, tellError, toolControls } from './shared/controls'
import { Requests } from './shared/requests'
import { Recent } from './shared/sessions'
import { replaceArgs, SplitCalls } from './shared/split'
import type { AdapterControls } from './shared/types'

export type * from './shared/types'

/** Options of {@link plugin}. */
export interface OpenCodeControls extends Omit<AdapterControls, 'recovery' | 'sessionId'> {}

/** A call, as OpenCode names it. */
interface HookInput {
  tool: string
  sessionID: string
  callID: string
}

/** The hooks of the plugin. */
export interface OpenCodeHooks {
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own type of arguments
  'tool.execute.before'(input: HookInput, output: { args: any }): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own types; of MCP servers a result of MCP comes here
  'tool.execute.after'(input: HookInput & { args?: any }, output: any): Promise<void>
  'permission.ask'(
    // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own type
    permission: any,
    output: { status: 'ask' | 'deny' | 'allow' },
  ): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: OpenCode's own types
  'experimental.chat.messages.transform'(input: object, output: { messages: any[] }): Promise<void>
}

/**
 * A plugin with everything around the tools that `guardTool` knows, and requests that leave out what they can do without
 * (`history`). Sessions are OpenCode's. What OpenCode itself has shortened is left alone up to the hard ceiling; results of MCP
 * servers come before that, and are bounded here.
 *
 * OpenCode asks the user where its own settings say so, and `permission` adds to that, before it: what it denies does not
 * run; where it asks, a `PermissionGate` asks by itself, and of a `PermissionPolicy` what it would ask is denied. What somebody
 * allowed at the gate OpenCode does not ask about again.
 *
 * @example
 * export const Spillway = plugin({ truncation: new TruncationService(), history: () => new HistoryPruner() })
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no control
 */
export function plugin(controls: OpenCodeControls): () => Promise<OpenCodeHooks> {
  checkControls(controls, {
    recovery: ['nothing: OpenCode recovers by itself', () => false],
    sessionId: ['nothing: sessions are those of OpenCode', () => false],
  })
  const around: ToolControls = toolControls(controls)
  const { permission } = controls
  const decided = new Recent<string, Pick<GateDecision, 'by'> & { sessionId: string | undefined }>()
  if (permission !== undefined && 'request' in permission) {
    const request = async (call: GateCall) => {
      const decision = await permission.request(call)
      decided.set(call.toolCallId, { by: decision.by, sessionId: call.sessionId })
      return decision
    }
    around.permission = { request }
  }
  const calls = new SplitCalls(around)
  const requests = new Requests(controls)
  const callOf = ({ tool, sessionID: sessionId, callID: toolCallId }: HookInput, args: unknown) => ({
    ...{ tool, args, toolCallId, sessionId },
  })

  const hooks: OpenCodeHooks = {
    async 'tool.execute.before'(input, output) {
      const { args } = output
      const outcome = await calls.before(callOf(input, args))
      if (outcome.kind === 'refused') {
        const { refusal } = outcome
        throw new SpillwayError('REFUSED', refusal.output, { report: refusal })
      }
      // OpenCode calls the tool with the object that it showed.
      if (!replaceArgs(args, outcome.args))
        throw new SpillwayError('REFUSED', 'The arguments could not be changed as they should.')
    },

    async 'tool.execute.after'(input, output) {
      if (!isRecord(output)) return
      const isMcp = isArray(output.content)
      const given = isMcp
        ? { content: output.content, ...(output.isError === true && { isError: true }) }
        : { output: output.output, metadata: output.metadata }
      const outcome = await calls.after(callOf(input, input.args), { value: given })
      if (outcome.kind !== 'value' || !isRecord(outcome.shown)) return
      const { shown } = outcome
      if (isMcp) {
        if (isArray(shown.content)) output.content = [...shown.content]
      } else if (shown.output !== output.output) {
        const { truncationPath } = Object(shown.metadata) as { truncationPath?: unknown }
        output.output = shown.output
        output.metadata = { ...(output.metadata as object), truncated: true, outputPath: truncationPath }
      }
    },

    async 'permission.ask'(asked, output) {
      const { callID, sessionID } = Object(asked) as { callID?: unknown; sessionID?: unknown }
      const known = typeof callID === 'string' ? decided.get(callID) : undefined
      const by = sessionID === undefined || sessionID === known?.sessionId ? known?.by : undefined
      // Somebody has just said so; one question is enough.
      if (by === 'once' || by === 'always' || by === 'full_access') output.status = 'allow'
    },

    async 'experimental.chat.messages.transform'(_input, output) {
      const { messages } = Object(output) as { messages?: unknown }
      if (!isArray(messages)) return
      const { sessionID } = Object(Object(messages[0]).info) as { sessionID?: unknown }
      try {
        const chat = chatOf(messages)
        const sent = await requests.prepare(chat, typeof sessionID === 'string' ? sessionID : undefined)
        // OpenCode reads the array that it gave, not what is put in its place.
        for (const [at, message] of withOutputs(messages, sent.messages)) (messages as unknown[])[at] = message
      } catch (thrown) {
        tellError(controls, 'history', thrown)
      }
    },
  }
  return async () => hooks
}
