/** Questions that the SDK itself asks the user. */

import { isRecord } from '../../validation/validate'
import { judge } from '../shared/approvals'
import { checkControls, folderOf } from '../shared/controls'
import { type AiSdkControls, OWN_CONTROLS, sessionOf } from './controls'

/** Approval state of a call, as the AI SDK 7 names it. */
export type ApprovalStatus =
  | { type: 'not-applicable' }
  | { type: 'denied'; reason?: string }
  | { type: 'user-approval'; reason?: string }

/** A call that is judged. */
export interface ApprovalRequest {
  toolCall: { toolCallId: string; toolName: string; input: unknown }
  /** All tools of the request, by their names. */
  tools?: object | undefined
  runtimeContext?: unknown
}

/**
 * `toolApproval` of the AI SDK 7: what `permission` allows runs, what it denies is denied with its reasons, and where it asks
 * the SDK puts the question to the user. The same call has one decision, however often the SDK asks; the user's consent
 * reaches a `PermissionGate` as "once". Give `guardTools` the same `permission`.
 *
 * Judged is what the model wrote, before `tool.before`. If judging fails, the call is denied.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function approvalPolicy(controls: AiSdkControls): (request: ApprovalRequest) => Promise<ApprovalStatus> {
  checkControls(controls, OWN_CONTROLS)
  return async (request) => {
    const { toolCall, tools, runtimeContext } = Object(request) as ApprovalRequest
    const { toolCallId, toolName: tool, input: args } = Object(toolCall) as ApprovalRequest['toolCall']
    const sessionId = sessionOf(controls, { context: runtimeContext })
    const cwd = folderOf(controls, isRecord(tools) && Object.hasOwn(tools, tool) ? tools[tool] : undefined)
    const { decision, reason } = await judge(controls, { tool, args, toolCallId, sessionId, cwd })
    if (decision === 'allow') return { type: 'not-applicable' }
    return { type: decision === 'ask' ? 'user-approval' : 'denied', ...(reason !== '' && { reason }) }
  }
}
