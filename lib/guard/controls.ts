/** The controls of a tool, and their validation. */

import type { GateCall } from '../approval/gate-options'
import type { GateDecision } from '../approval/gate-state'
import type { AuditEvent } from '../audit/audit-log'
import { checkHooks, type HookRunner } from '../hooks/runner'
import type { Hooks } from '../hooks/types'
import type { DoomLoopCall, DoomLoopResult, DoomLoopVerdict } from '../loop-detection/detector'
import { PERMISSION_MODES, type PermissionCall, type PermissionMode, type PermissionVerdict } from '../permission/types'
import type { ResultFolder } from '../tools/fold-result'
import type { OutputService, ToolResultRecorder, TruncationMiddleware } from '../types'
import { outputService } from '../validation/options'
import { checkKeys, checkOneOf, hasFunctions, invalid, isRecord, wrong } from '../validation/validate'

/** The user must decide if a loop may continue. */
export interface DoomLoopQuestion {
  tool: string
  toolCallId: string
  sessionId?: string
  args: unknown
  verdict: DoomLoopVerdict
  signal?: AbortSignal
}

/** Controls of a tool. Each is optional. */
export interface ToolControls {
  /** Functions around the tool, or a runner that has them. Only the tool hooks of a set are run here. */
  hooks?: Hooks | ToolHookRunner
  /** A `PermissionGate`, or a `PermissionPolicy`, which cannot ask a user: calls that need approval are then denied. */
  permission?:
    | { request(call: GateCall): Promise<GateDecision> }
    | { evaluate(call: PermissionCall): PermissionVerdict }
  /** A `DoomLoopDetector`. */
  doomLoop?: {
    check(call: DoomLoopCall): DoomLoopVerdict
    record(result: DoomLoopResult): void
    forget?(toolCallIds: readonly string[]): void
    approve(toolCallId: string, approval: 'once' | 'always'): boolean
  }
  /** Asks the user if a loop may continue. Without it, a question stops the call; so does a function that throws or answers anything else, with a warning. */
  askDoomLoop?: (question: DoomLoopQuestion) => DoomLoopAnswer | Promise<DoomLoopAnswer>
  /** An `AuditLog`. With `onFailure: 'block'`, the tool does not run if the log cannot be written. */
  audit?: { append(event: AuditEvent): Promise<unknown> | unknown }
  /** A `TruncationService`, or the middleware of one. */
  truncation?: OutputService | TruncationMiddleware
  /**
   * Returns the question that the output of a call is to answer, such as the `description` in its arguments or the latest request
   * of the user; `undefined` for none. The strategy `smart` keeps the lines that hold its rarest words.
   */
  query?: (call: { tool: string; args: unknown }) => string | undefined
  /**
   * A `FoldSession` of the session that the tool is called in: lines of an earlier result are not repeated. Give the `ledger` to
   * the `HistoryPruner` or `ContextManager` as well, so that a result gets its text back when its target is pruned.
   */
  fold?: ResultFolder
  /** A `ToolResultLedger`. */
  ledger?: ToolResultRecorder
  /** The session of calls that do not name theirs. */
  sessionId?: string | undefined
  /** The mode of calls, used unless `permission` is a gate with a `ModeController`. */
  mode?: PermissionMode
  /**
   * Form of a refused result: an object like those of tools, plain text, or an MCP result.
   * @default 'result'
   */
  refusal?: 'result' | 'text' | 'mcp'
  /** Milliseconds that a hook may take; a runner as `hooks` has its own limit. @default 5000 */
  hookTimeoutMs?: number
}

/** Runner of the hooks around a tool, such as a {@link HookRunner}. Its methods never reject. */
export type ToolHookRunner = Pick<HookRunner, 'toolBefore' | 'toolAfter' | 'toolFinal'>

/** Answer of a user about a loop. */
export type DoomLoopAnswer = 'once' | 'always' | 'stop'

/** @internal */
export const CONTROL_KEYS = [
  ...['hooks', 'permission', 'doomLoop', 'askDoomLoop', 'audit', 'truncation', 'ledger', 'sessionId', 'mode'],
  ...['fold', 'query', 'refusal', 'hookTimeoutMs'],
]

const RUNNER_METHODS = ['toolBefore', 'toolAfter', 'toolFinal'] as const

/**
 * Validates controls before there is a tool.
 * @internal
 */
export function checkToolControls(controls: ToolControls): void {
  if (!isRecord(controls)) throw wrong('controls', controls, 'an object')
  checkKeys('controls', controls, CONTROL_KEYS)
  const { hooks, permission, doomLoop, askDoomLoop, audit, truncation, fold, query, ledger, refusal } =
    controls as ToolControls
  const { hookTimeoutMs, sessionId } = controls
  if (hooks !== undefined && !isToolHookRunner(hooks)) checkHooks('controls.hooks', hooks)
  const has = (key: keyof ToolControls, ...names: string[]) => hasFunctions(`controls.${key}`, controls[key], names)
  if (permission !== undefined && !has('permission', 'request') && !has('permission', 'evaluate')) {
    throw wrong('controls.permission', permission, 'a PermissionGate or a PermissionPolicy')
  }
  if (doomLoop !== undefined && !has('doomLoop', 'check', 'record', 'approve')) {
    throw wrong('controls.doomLoop', doomLoop, 'a DoomLoopDetector')
  }
  if (askDoomLoop !== undefined && typeof askDoomLoop !== 'function') {
    throw wrong('controls.askDoomLoop', askDoomLoop, 'a function')
  }
  if (audit !== undefined && !has('audit', 'append')) throw wrong('controls.audit', audit, 'an AuditLog')
  if (truncation !== undefined && typeof truncation !== 'function' && !has('truncation', 'output')) {
    throw wrong('controls.truncation', truncation, outputService[0])
  }
  if (fold !== undefined && !has('fold', 'fold')) throw wrong('controls.fold', fold, 'a FoldSession')
  if (query !== undefined && typeof query !== 'function') throw wrong('controls.query', query, 'a function')
  if (ledger !== undefined && !has('ledger', 'record')) throw wrong('controls.ledger', ledger, 'a ToolResultLedger')
  if (sessionId !== undefined && typeof sessionId !== 'string') throw wrong('controls.sessionId', sessionId, 'a string')
  checkOneOf('controls.mode', controls.mode, PERMISSION_MODES)
  checkOneOf('controls.refusal', refusal, ['result', 'text', 'mcp'])
  if (hookTimeoutMs !== undefined && !(typeof hookTimeoutMs === 'number' && hookTimeoutMs > 0)) {
    throw wrong('controls.hookTimeoutMs', hookTimeoutMs, 'a number above 0')
  }
  if (hookTimeoutMs !== undefined && isToolHookRunner(hooks)) {
    throw invalid('controls.hookTimeoutMs', 'has no effect on a HookRunner; pass timeoutMs to new HookRunner instead')
  }
}

/** @internal */
export function isToolHookRunner(hooks: unknown): hooks is ToolHookRunner {
  return hasFunctions('controls.hooks', hooks, RUNNER_METHODS)
}
