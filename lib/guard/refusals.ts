/** Results of calls that did not run, or whose tool threw. */

import type { GateDecision } from '../approval/gate-state'
import type { DoomLoopVerdict } from '../loop-detection/detector'
import { native } from '../native/native'
import type { Tool } from '../tools/registry'
import { CANCELLED } from '../tools/tool-result'
import type { ToolResultLike } from '../types'
import { messageOf } from '../util/message-of'
import type { ToolControls } from './controls'

/** Why a call gave no result of its tool. */
export type RefusalKind = 'permission_denied' | 'doom_loop' | 'audit_failed' | 'aborted' | 'tool_failed'

/** The result of a call that was refused or that threw. */
export interface RefusedResult extends ToolResultLike {
  kind: RefusalKind
  success: false
  isError: true
  /** A sentence for people and models; the same in `error` and `message`. */
  output: string
  error: string
  message: string
  domain?: string
  targets?: string[]
}

/** The same as an MCP result. */
export interface RefusedMcpResult {
  content: [{ type: 'text'; text: string }]
  isError: true
}

/**
 * The sentence of a verdict for a model: the call did not run, and something else has to be done. A user who has answered, or could
 * not be asked, is not to be asked again.
 */
export function loopRefusal({ action, message, language }: DoomLoopVerdict, mayAsk = true): string {
  // A detector of the caller's own may answer anything.
  const said = message === undefined || message === null ? undefined : textOf(message).toWellFormed()
  // The message of a stop says already that the call did not run.
  if (action === 'stop' && said !== undefined) return said
  return native.doomLoopRefused(language === 'zh-CN' ? 'zh-CN' : 'en', said, mayAsk)
}

/** A message as a text, also one that cannot become a text by itself. */
function textOf(message: unknown): string {
  try {
    return String(message)
  } catch {
    return messageOf(message)
  }
}

/** Joins two sentences with a space, except after the full stop `。`. */
function joined(sentence: string, more: string): string {
  return sentence.endsWith('。') ? sentence + more : `${sentence} ${more}`
}

export function withMore(refused: RefusedResult, more: string): RefusedResult {
  const text = joined(refused.output, more)
  return { ...refused, output: text, error: text, message: text }
}

export function denied({ name }: Tool, { by, message, verdict }: GateDecision): RefusedResult {
  if (by === 'abort') return refusal('aborted', CANCELLED)
  const said = message ? [message] : []
  // A warning for the host says what is wrong with its `ask`.
  const unasked = ['the user could not be asked']
  const why = by === 'reject' ? ['the user rejected it', ...said] : by === 'error' ? unasked : verdict.reasons
  const text = `The call of ${name} was denied and did not run${why.length > 0 ? `: ${why.join('; ')}` : ''}.`
  return {
    ...refusal('permission_denied', text),
    ...(verdict.domain && { domain: verdict.domain }),
    targets: verdict.targets,
  }
}

export function refusal(kind: RefusalKind, message: string): RefusedResult {
  return { kind, success: false, isError: true, output: message, error: message, message }
}

export function shaped(refused: RefusedResult, shape: ToolControls['refusal'] = 'result'): unknown {
  if (shape === 'text') return refused.output
  if (shape === 'mcp')
    return { content: [{ type: 'text', text: refused.output }], isError: true } satisfies RefusedMcpResult
  return { ...refused, message: refused.output }
}
