/**
 * Spillway for the AI SDK (`ai` 5, 6 and 7): tools with controls around them, a middleware around the model, and a function
 * that says which calls the user must approve. `ai` itself is never loaded; its shapes are read as they are.
 */

import type { OutputSource, OutputSourceHolder, OutputToolsOptions } from 'spillway'
import { createOutputTools } from '../tools/output-tools'
import { type AiSdkControls, OWN_CONTROLS, sessionOf } from './ai-sdk/controls'
import { judge } from './shared/approvals'
import { checkControls } from './shared/controls'

export type { AiSdkControls, AiSdkSource } from './ai-sdk/controls'
export { type ContextMiddleware, contextMiddleware, type ModelCall } from './ai-sdk/middleware'
export { guardTools } from './ai-sdk/tools'
export type * from './shared/types'

/** Approval state of a call, as the AI SDK 7 names it. */
export type ApprovalStatus =
  | { type: 'not-applicable' }
  | { type: 'denied'; reason?: string }
  | { type: 'user-approval'; reason?: string }

/** A call that is judged. */
export interface ApprovalRequest {
  toolCall: { toolCallId: string; toolName: string; input: unknown }
  runtimeContext?: unknown
}

/**
 * `toolApproval` of the AI SDK 7: what `permission` allows runs, what it denies is denied with its reasons, and where it asks
 * the SDK puts the question to the user. The same call has one decision, however often the SDK asks; the user's consent
 * reaches a `PermissionGate` as "once". Give {@link guardTools} the same `permission`.
 *
 * Judged is what the model wrote, before `tool.before`. If judging fails, the call is denied.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no control
 */
export function approvalPolicy(controls: AiSdkControls): (request: ApprovalRequest) => Promise<ApprovalStatus> {
  checkControls(controls, OWN_CONTROLS)
  return async ({ toolCall, runtimeContext }) => {
    const { toolCallId, toolName: tool, input: args } = toolCall
    const sessionId = sessionOf(controls, { context: runtimeContext })
    const { decision, reason } = await judge(controls, { tool, args, toolCallId, sessionId })
    if (decision === 'allow') return { type: 'not-applicable' }
    return { type: decision === 'ask' ? 'user-approval' : 'denied', ...(reason !== '' && { reason }) }
  }
}

/** The marks by which the versions of the SDK know a schema that is JSON Schema; the tools check their arguments themselves. */
const SCHEMA = {
  [Symbol.for('vercel.ai.schema')]: true,
  [Symbol.for('vercel.ai.validator')]: true,
  validate: undefined,
}

/**
 * `read_output` and `search_output` as tools of the AI SDK, to put beside guarded tools. They show the outputs of
 * `options.sessionId`, or of all sessions without it. `source` is the storage that the `TruncationService` was given, or the service.
 *
 * @example
 * const tools = { ...guardTools(myTools, { truncation }), ...outputTools(truncation) }
 * @throws SpillwayError `INVALID_ARGUMENT` for what is no storage or no option
 */
export function outputTools(
  source: OutputSource | OutputSourceHolder,
  options: OutputToolsOptions = {},
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has another type of a tool
): Record<string, any> {
  const tools = createOutputTools(source, options).map(({ name, description, inputSchema, execute }) => {
    const schema = { ...SCHEMA, jsonSchema: inputSchema }
    const run = async (args: unknown, { abortSignal: signal }: { abortSignal?: AbortSignal } = {}) =>
      (await execute(args, { ...(signal && { signal }) })).output
    return [name, { description, inputSchema: schema, execute: run }] as const
  })
  return Object.fromEntries(tools)
}
