/** One call of a guarded tool, shared by the steps around it. */

import type { GateDecision } from '../approval/gate-state'
import type { Tool } from '../tools/registry'
import type { FoldRecord, TruncationMiddleware } from '../types'
import type { ToolControls, ToolHookRunner } from './controls'

export interface Guard {
  tool: Tool
  controls: ToolControls
  hooks: ToolHookRunner | undefined
  bound: TruncationMiddleware | undefined
}

/** One call on its way. */
export interface Call {
  toolCallId: string
  sessionId: string | undefined
  args: unknown
  /** The folder that it runs in. */
  workingDirectory: string | undefined
  signal: AbortSignal | undefined
  /** The answer of the model that the call is in. */
  turn: string | number | undefined
  decision: GateDecision | undefined
  /** Warning of the loop detector for the model. */
  warning: string | undefined
  /** The folded parts of the result. */
  folds: FoldRecord | undefined
  /** Where the full result was saved. */
  outputPath: string | undefined
}

export function facts({ name }: Tool, { toolCallId, sessionId }: Call) {
  return { tool: name, toolCallId, ...(sessionId === undefined ? {} : { sessionId }) }
}
