/** Options of the AI SDK adapter besides the common ones. */

import { type Check, flag, fn } from '../../validation/options'
import { isRecord } from '../../validation/validate'
import { sessionFrom } from '../shared/controls'
import type { AdapterControls } from '../shared/types'

/** Where a session may be named: parameters of a model's call, or options of a tool's. */
export interface AiSdkSource {
  providerOptions?: unknown
  context?: unknown
  experimental_context?: unknown
}

/** Options of {@link guardTools}, {@link contextMiddleware} and {@link approvalPolicy}; give all three the same. */
export interface AiSdkControls extends AdapterControls {
  /**
   * The session of a model's call or a tool's.
   * @default `providerOptions.spillway.sessionId` of a model's call, else `sessionId`
   */
  sessionOf?: (source: AiSdkSource) => string | undefined
  /**
   * Each tool gets `needsApproval`, so that the SDK asks the user where `permission` says so. For version 6; version 7 has
   * {@link approvalPolicy} for it, and version 5 has nothing: there a `PermissionGate` waits for its answer.
   * @default false
   */
  hostApproval?: boolean
}

export const OWN_CONTROLS: Readonly<Record<string, Check>> = { sessionOf: fn, hostApproval: flag }

/** The session that a call belongs to. Never throws. */
export function sessionOf(controls: AiSdkControls, source: AiSdkSource): string | undefined {
  return sessionFrom(controls, () => (controls.sessionOf ? controls.sessionOf(source) : ownSession(source)))
}

function ownSession({ providerOptions }: AiSdkSource): unknown {
  const own = isRecord(providerOptions) ? providerOptions.spillway : undefined
  return isRecord(own) ? own.sessionId : undefined
}
