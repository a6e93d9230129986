/** Options of the LangChain adapter besides the common ones. */

import { type Check, fn } from '../../validation/options'
import { sessionFrom } from '../shared/controls'
import type { AdapterControls } from '../shared/types'

/** Where a session may be named: the runtime of an agent. */
export interface LangChainRuntime {
  context?: unknown
  configurable?: { thread_id?: string }
  signal?: AbortSignal
}

/** Options of `contextControl` and `needsApproval`; give both the same. */
export interface LangChainControls extends AdapterControls {
  /**
   * The session of a request or a call.
   * @default the `thread_id`, else `sessionId`
   */
  sessionOf?: (runtime: LangChainRuntime) => string | undefined
}

export const OWN_CONTROLS: Readonly<Record<string, Check>> = { sessionOf: fn }

/** The session that something belongs to. Never throws. */
export function sessionOf(controls: LangChainControls, runtime: LangChainRuntime | null = {}): string | undefined {
  return sessionFrom(controls, () =>
    controls.sessionOf ? controls.sessionOf(runtime ?? {}) : runtime?.configurable?.thread_id,
  )
}
