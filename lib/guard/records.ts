/** Records what was decided and how a call went: audit log, ledger, loop detector. */

import { bodyOf } from '../tools/tool-result'
import { opened } from '../truncation/bounded-output'
import { previewOf } from '../truncation/previews'
import { observe, sizeOf } from '../truncation/record-result'
import { saidPaths } from '../truncation/said-path'
import type { ToolResultLike } from '../types'
import { messageOf } from '../util/message-of'
import { warn } from '../util/warn'
import { isRecord } from '../validation/validate'
import type { ToolControls } from './controls'
import type { Call, Guard } from './guarded-call'
import { type RefusedResult, refusal } from './refusals'

type AuditSink = NonNullable<ToolControls['audit']>

export async function auditDecision(
  audit: AuditSink,
  { tool, controls }: Guard,
  call: Call,
  refused: RefusedResult | undefined,
): Promise<RefusedResult | undefined> {
  const { decision } = call
  const { verdict } = decision ?? {}
  try {
    await audit.append({
      type: 'decision',
      tool: tool.name,
      toolCallId: call.toolCallId,
      sessionId: call.sessionId,
      mode: decision?.mode ?? controls.mode ?? 'agent',
      decision: refused === undefined ? 'allow' : 'deny',
      ...(verdict?.domain && { permissionDomain: verdict.domain }),
      ...(verdict && { targets: verdict.targets }),
      ...(verdict?.rule && { rulePattern: verdict.rule.pattern }),
      ...(decision && { approver: decision.by }),
      ...(refused && { reason: refused.message }),
    })
  } catch (error) {
    return refusal('audit_failed', `The call did not run, because it could not be recorded: ${messageOf(error)}`)
  }
  return undefined
}

export async function auditOutcome(
  audit: AuditSink,
  { tool }: Guard,
  call: Call,
  full: unknown,
  final: unknown,
  isError: boolean,
  durationMs: number,
): Promise<void> {
  const body = bodyOf(full)
  const outputPath = call.outputPath ?? (final as ToolResultLike | null)?.metadata?.truncationPath
  try {
    await audit.append({
      type: 'outcome',
      tool: tool.name,
      toolCallId: call.toolCallId,
      sessionId: call.sessionId,
      outcome: call.signal?.aborted && isError ? 'aborted' : isError ? 'error' : 'ok',
      durationMs,
      ...(typeof body === 'string' && { bytes: sizeOf(body) }),
      ...(typeof outputPath === 'string' && { outputPath }),
    })
  } catch (error) {
    // The tool has run: keeping its result from the model would not undo it.
    warn('audit', error)
  }
}

export function noteOutcome({ controls }: Guard, { toolCallId }: Call, result: unknown, isError: boolean): void {
  try {
    controls.doomLoop?.record({ toolCallId, result: withoutPath(result), isError })
  } catch (error) {
    warn('doomLoop', error)
  }
}

export function feed({ tool, controls }: Guard, call: Call, full: unknown, final: unknown, failed: boolean): void {
  if (controls.ledger === undefined) return
  const { outputPath } = call
  const asResult = (value: unknown): ToolResultLike =>
    isRecord(value) && 'output' in value ? value : { output: bodyOf(value) }
  observe(controls.ledger, {
    toolCallId: call.toolCallId,
    toolName: tool.name,
    result: asResult(full),
    bounded: outputPath === undefined ? asResult(final) : { metadata: { truncationPath: outputPath } },
    // A text may still say an exit code.
    ...(failed && { failed }),
    args: isRecord(call.args) ? call.args : undefined,
    folds: call.folds,
  })
}

/** Returns the text for the model without the path of the saved output, which differs each time and would hide a loop. */
function withoutPath(result: unknown): unknown {
  const { value: body, made } = opened(bodyOf(result))
  const [said] = isRecord(result) ? saidPaths(result.metadata) : []
  const known = made ?? (typeof body === 'string' ? previewOf(body) : undefined)
  const path = known?.outputPath || said
  return typeof body === 'string' && path ? body.replaceAll(path, '') : body
}
