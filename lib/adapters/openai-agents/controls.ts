/** Options of the Agents SDK adapter besides the common ones. */

import { type Check, fn } from '../../validation/options'
import { sessionFrom } from '../shared/controls'
import type { AdapterControls } from '../shared/types'

/** Where a session may be named. */
export interface AgentsSource {
  /** The run's own context, as the caller gave it. */
  context?: unknown
  /** The id under which the provider keeps the conversation. */
  conversationId?: string | undefined
}

/** Options of everything in `spillway/openai-agents`; give all of it the same. */
export interface AgentsControls extends AdapterControls {
  /**
   * The session of a call, from the run's context.
   * @default sessionId
   */
  sessionOf?: (source: AgentsSource) => string | undefined
}

export const OWN_CONTROLS: Readonly<Record<string, Check>> = { sessionOf: fn }

/** The session that something belongs to. Never throws. */
export function sessionOf(controls: AgentsControls, source: AgentsSource): string | undefined {
  return sessionFrom(controls, () => controls.sessionOf?.(source))
}
