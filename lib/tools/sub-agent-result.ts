/** The result of a sub-agent, for the agent that called it. */

import { types } from 'node:util'
import { middlewareOf } from '../service/middleware'
import { textOfValue } from '../truncation/content'
import type { OutputService, ToolResultLike, TruncationMiddleware } from '../types'
import { messageOf } from '../util/message-of'
import { anything, type Check, checkOptions, oneOf, outputService, signal, string } from '../validation/options'
import { isRecord, wrong } from '../validation/validate'

/** How a sub-agent ended: `incomplete` used up its turns or its budget, `aborted` was stopped from outside. */
export type SubAgentStatus = 'completed' | 'incomplete' | 'failed' | 'aborted'

const STATUSES: readonly SubAgentStatus[] = ['completed', 'incomplete', 'failed', 'aborted']

/** The status and the answer of a sub-agent. */
export interface SubAgentOutcome {
  /**
   * Its answer, or its error, of which the message is shown: a text or any other value, also the result of a command or of another
   * sub-agent. `undefined` if it was ended before it had one.
   */
  answer?: unknown
  /** @default 'completed' */
  status?: SubAgentStatus
  /** Its name or kind, at most 100 UTF-16 units of it are shown. */
  agent?: string | undefined
}

/** The call that started the sub-agent, and the limits of its answer. */
export interface SubAgentResultOptions {
  /** A `TruncationService`, or the middleware of one. */
  truncation: OutputService | TruncationMiddleware
  /** @default 'task' */
  toolName?: string
  sessionId?: string | undefined
  toolCallId?: string | undefined
  signal?: AbortSignal | undefined
}

/** The result of a sub-agent. `metadata` has `truncated`, and the path of the saved output as `truncationPath`. */
export interface SubAgentResult extends ToolResultLike {
  /** True for a sub-agent that completed its task. */
  success: boolean
  status: SubAgentStatus
  agent?: string
  /** A line with the status, and the answer or its preview. */
  output: string
  metadata: Record<string, unknown> & { truncated: boolean }
}

const OUTCOME: { readonly [K in keyof Required<SubAgentOutcome>]: Check } = {
  answer: anything,
  status: oneOf(...STATUSES),
  agent: string,
}

const OPTIONS: { readonly [K in keyof Required<SubAgentResultOptions>]: Check } = {
  truncation: outputService,
  toolName: string,
  sessionId: string,
  toolCallId: string,
  signal,
}

/** How the line with the status begins. */
const OPENING = '[Sub-agent'
const MAX_NAME_UNITS = 100

/**
 * Truncates the answer of a sub-agent like the output of any tool: a long answer is saved in full, and the result has its preview
 * below a line with the status. A result that passes through another service, `guardTool`, an adapter or this function again stays
 * as it is.
 *
 * @example
 * const { text } = await generateText({ model, tools, prompt })
 * const result = await subAgentResult({ agent: 'reviewer', answer: text }, { truncation: service, toolCallId })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the field, its value and what is allowed
 */
export async function subAgentResult(
  outcome: SubAgentOutcome,
  options: SubAgentResultOptions,
): Promise<SubAgentResult> {
  checkOptions('outcome', outcome, OUTCOME)
  checkOptions('options', options, OPTIONS)
  if (options.truncation === undefined) throw wrong('options.truncation', undefined, OPTIONS.truncation[0])
  const { status = 'completed', agent } = outcome
  // The model needs no stack.
  const answer = types.isNativeError(outcome.answer) ? messageOf(outcome.answer) : (outcome.answer ?? '')
  const { truncation, toolName = 'task', ...call } = options
  const bound = middlewareOf(truncation)
  const context = { ...call, toolName, failed: status !== 'completed' }
  // It has its line already; that it says what is true of it does not count beyond the hard ceiling.
  if (isResult(answer)) return (await bound(toolName, answer, context)) as SubAgentResult
  const line = `${OPENING}${nameOf(agent)}: ${status}]`
  const alone = await bound(toolName, { output: answer }, context)
  const said = textOfValue(alone.output)
  const joined = said === '' ? line : `${line}\n${said}`
  // Together with its line an answer can pass a limit that it keeps alone.
  const whole =
    alone.metadata?.truncated === true
      ? { ...alone, output: joined }
      : await bound(toolName, { output: joined }, context)
  const shown = String(whole.output)
  return {
    success: status === 'completed',
    status,
    ...(agent !== undefined && { agent }),
    // A preview of the end of a text does not have its first line.
    output: shown.startsWith(line) ? shown : `${line}\n${shown}`,
    metadata: { ...alone.metadata, ...whole.metadata, truncated: whole.metadata?.truncated === true },
  }
}

/** True for what {@link subAgentResult} made, also in a copy. */
function isResult(value: unknown): value is SubAgentResult {
  try {
    if (!isRecord(value) || !isRecord(value.metadata)) return false
    const { status, output } = value
    const isKnown = STATUSES.includes(status as SubAgentStatus) && typeof value.metadata.truncated === 'boolean'
    return isKnown && typeof output === 'string' && output.startsWith(OPENING)
  } catch {
    // An answer may be anything, also what cannot be read.
    return false
  }
}

/** A name on the line of the status: of several lines, one. */
function nameOf(agent: string | undefined): string {
  const name = agent?.toWellFormed().replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_UNITS) ?? ''
  return name === '' ? '' : ` ${name.toWellFormed()}`
}
