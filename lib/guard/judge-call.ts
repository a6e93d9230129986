/** Decides if a call may run: permission, then loops. */

import type { GateDecision } from '../approval/gate-state'
import { SpillwayError } from '../errors'
import type { PermissionMode, PermissionVerdict } from '../permission/types'
import type { Tool } from '../tools/registry'
import { CANCELLED } from '../tools/tool-result'
import { isArray } from '../util/guards'
import { warn } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { isRecord, listed, wrong } from '../validation/validate'
import type { DoomLoopAnswer, DoomLoopQuestion, ToolControls } from './controls'
import { type Call, facts, type Guard } from './guarded-call'
import { denied, loopRefusal, type RefusedResult, refusal, withMore } from './refusals'

/** Permission, then loops; the answer is the refusal. */
export async function judgeCall({ tool, controls }: Guard, call: Call): Promise<RefusedResult | undefined> {
  if (call.signal?.aborted) return cancelled()
  const { permission, doomLoop, askDoomLoop, mode } = controls
  const { toolCallId, sessionId, args, signal, turn } = call
  if (permission !== undefined) {
    const request = { tool: tool.name, args, sessionId, mode: mode || undefined, cwd: call.workingDirectory }
    try {
      const decision: unknown =
        'request' in permission
          ? await permission.request({ ...request, toolCallId, ...(signal && { signal }) })
          : byRule(permission.evaluate({ ...request, headless: true }), mode)
      if (!isDecision(decision)) throw wrong('decision', decision, 'the decision of a PermissionGate')
      call.decision = decision
    } catch (error) {
      warn('permission', error)
      return refusal('permission_denied', 'The call was not judged and did not run.')
    }
    if (call.decision.decision !== 'allow') {
      const refused = denied(tool, call.decision)
      // A call that was cancelled, or that the user could not be asked about, was not denied.
      const isUndecided = call.decision.by === 'abort' || call.decision.by === 'error'
      return isUndecided ? refused : noteDenial(tool, controls, call, refused)
    }
  }
  // The user may have been asked for long.
  if (signal?.aborted) return cancelled()
  if (doomLoop === undefined) return undefined
  try {
    const verdict = doomLoop.check({ toolCallId, tool: tool.name, args, ...(turn !== undefined && { turn }) })
    call.warning = verdict.warning
    if (verdict.action === 'allow') return undefined
    const question = { ...facts(tool, call), args, verdict, ...(signal && { signal }) }
    const ask = verdict.action === 'ask' ? askDoomLoop : undefined
    const answer = ask === undefined ? 'stop' : await answerOf(ask, question, signal)
    if (signal?.aborted) return cancelled()
    if (answer !== 'stop' && doomLoop.approve(toolCallId, answer)) return undefined
    return refusal('doom_loop', loopRefusal(verdict, ask === undefined))
  } catch (error) {
    // The call itself is wrong, such as an id that is not text.
    if (error instanceof SpillwayError) throw error
    warn('doomLoop', error)
    return refusal('doom_loop', 'The call could not be checked for a loop and did not run.')
  }
}

/** Only what the steps after it read: a gate may be the caller's own. */
function isDecision(value: unknown): value is GateDecision {
  if (!isRecord(value)) return false
  const { decision, verdict } = value
  return decision === 'allow' || (decision === 'deny' && isRecord(verdict) && isArray(verdict.reasons))
}

function cancelled(): RefusedResult {
  return refusal('aborted', CANCELLED)
}

/** A call that is denied again and again is a loop like any other: the refusal says so to the model. */
function noteDenial({ name }: Tool, { doomLoop }: ToolControls, call: Call, refused: RefusedResult): RefusedResult {
  if (doomLoop === undefined) return refused
  const { toolCallId, args, turn } = call
  try {
    const verdict = doomLoop.check({ toolCallId, tool: name, args, ...(turn !== undefined && { turn }) })
    doomLoop.record({ toolCallId, result: refused.output, isError: true })
    if (verdict.action !== 'allow') return withMore({ ...refused, kind: 'doom_loop' }, loopRefusal(verdict))
    return verdict.warning === undefined ? refused : withMore(refused, verdict.warning)
  } catch (error) {
    warn('doomLoop', error)
    return refused
  }
}

function byRule(verdict: PermissionVerdict, mode: PermissionMode = 'agent'): GateDecision {
  return { decision: verdict.decision === 'allow' ? 'allow' : 'deny', by: 'rule', mode, verdict }
}

const ANSWERS: readonly DoomLoopAnswer[] = ['once', 'always', 'stop']

async function answerOf(
  askUser: NonNullable<ToolControls['askDoomLoop']>,
  question: DoomLoopQuestion,
  signal: AbortSignal | undefined,
): Promise<DoomLoopAnswer> {
  try {
    const answer = await withTimeout(Number.POSITIVE_INFINITY, () => askUser(question), { signal })
    if (!ANSWERS.includes(answer)) throw wrong('answer', answer, listed(ANSWERS))
    return answer
  } catch (error) {
    if (!signal?.aborted) warn('askDoomLoop', error)
    return 'stop'
  }
}
