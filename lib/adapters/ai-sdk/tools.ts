/** Tools with controls around them. */

import type { ToolControls, ToolTruncationConfig } from 'spillway'
import { bodyOf, editText } from '../../tools/tool-result'
import { textOfValue } from '../../truncation/content'
import { shortenUnsaved } from '../../truncation/strategies'
import { isArray } from '../../util/guards'
import { isRecord, wrong } from '../../validation/validate'
import { approvalsOf, judge } from '../shared/approvals'
import { checkControls, folderOf, toolControls } from '../shared/controls'
import { errorFor, guardCall } from '../shared/guard'
import { copyWith } from '../shared/override-methods'
import { boundBy, type TruncateValue } from '../shared/truncate-value'
import { Steps } from './async-queue'
import { type AiSdkControls, type AiSdkSource, OWN_CONTROLS, sessionOf } from './controls'
import { boundOutput, type ModelOutput, modelOutput } from './output'
import { Shown } from './shown-results'

/** A tool of the AI SDK, as far as it is read here. */
interface AnyTool {
  type?: unknown
  execute?: (input: unknown, options: unknown) => unknown
  toModelOutput?: (...given: unknown[]) => unknown
  needsApproval?: unknown
  truncation?: unknown
}

/** Options of a call of a tool, as far as they are read here. */
interface CallOptions extends AiSdkSource {
  toolCallId?: string
  abortSignal?: AbortSignal
  messages?: unknown
}

/** The kit that all tools of one call of {@link guardTools} share. */
interface Kit {
  readonly controls: AiSdkControls
  readonly around: ToolControls
  readonly bound: TruncateValue
  readonly shown: Shown
}

/**
 * Returns the tools with all controls of `guardTool`, in its order. The application gets the full result, and the model the
 * truncated one. Error messages are truncated as well. A refused call throws a `SpillwayError` with code `REFUSED`, which the SDK
 * reports to the model.
 *
 * A tool that streams is one whose `execute` is an `async function*`: each value is passed on at once, and the model reads a
 * preview of the last one. A tool that has a `toModelOutput` keeps it; its output is truncated, and `tool.final` receives its
 * input. For tools without `execute` only the output is truncated, and tools that the provider runs stay unchanged.
 *
 * Pass the returned tools to `convertToModelMessages` as well, or the SDK sends full results again.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for invalid tools or controls
 */
export function guardTools<T extends Record<string, object>>(tools: T, controls: AiSdkControls): T {
  checkControls(controls, OWN_CONTROLS)
  if (!isRecord(tools)) throw wrong('tools', tools, 'an object of tools')
  const { permission } = controls
  const around = toolControls(controls)
  if (permission !== undefined) around.permission = approvalsOf(permission).permission(false)
  const kit: Kit = { controls, around, bound: boundBy(controls), shown: new Shown() }
  const guarded = Object.entries(tools).map(([name, tool]) => [name, guardOne(kit, name, tool)])
  return Object.fromEntries(guarded) as T
}

function guardOne(kit: Kit, name: string, tool: AnyTool): object {
  if (!isRecord(tool)) throw wrong(`tools.${name}`, tool, 'a tool')
  const { execute, toModelOutput, needsApproval } = tool as AnyTool
  const providers = typeof tool.type === 'string' && tool.type.startsWith('provider')
  if (typeof execute !== 'function' && providers) return tool
  const members: Record<string, unknown> = {}
  if (typeof execute === 'function') {
    const streams = execute.constructor.name === 'AsyncGeneratorFunction'
    const own = typeof toModelOutput === 'function'
    const call = (input: unknown, options: CallOptions, run: (input: unknown) => unknown) =>
      runOne(kit, name, tool, own, input, options, run)
    const plain = (input: unknown, options: CallOptions) =>
      call(input, options, (judged) => execute.call(tool, judged, options))
    members.execute = streams ? streamed(tool, execute, call) : plain
    if (kit.controls.hostApproval && kit.controls.permission !== undefined) {
      members.needsApproval = approvalOf(kit, name, tool, needsApproval)
    }
  }
  members.toModelOutput = outputOf(kit, name, tool as AnyTool)
  return copyWith(tool, members)
}

/** One call; answers what the application gets. */
async function runOne(
  kit: Kit,
  tool: string,
  declared: AnyTool,
  own: boolean,
  args: unknown,
  options: CallOptions,
  run: (input: unknown) => unknown,
): Promise<unknown> {
  const { controls, shown } = kit
  const { toolCallId, abortSignal: signal } = options ?? {}
  const { hostApproval } = controls
  let permission: ToolControls['permission']
  if (controls.permission !== undefined && toolCallId !== undefined) {
    const call = callOf(kit, tool, declared, args, options)
    // The SDK calls a tool only after the user has agreed.
    if (hostApproval && wasApproved(options.messages, toolCallId)) await judge(controls, call)
    const approvals = approvalsOf(controls.permission)
    permission = approvals.permission(approvals.approve(call))
  }
  const truncation = isRecord(declared.truncation) ? (declared.truncation as ToolTruncationConfig) : undefined
  const { noted, unfolded } = notingFolds(kit.around)
  const { truncation: _, ...unbounded } = noted
  const outcome = await guardCall(
    { ...callOf(kit, tool, declared, args, options), toolCallId, signal, permission, truncation },
    // The output that a tool makes for the model by itself is bounded after it is made.
    own ? unbounded : noted,
    async (input: never) => lastOf(await run(input)),
  )
  if (outcome.kind !== 'value') throw errorFor(await withBoundedMessage(kit, tool, outcome, own, toolCallId))
  const { value } = outcome
  if (own) return outcome.shown
  const output = outcome.shown === value ? undefined : modelOutput(outcome.shown)
  shown.remember(toolCallId, value, output, output && modelOutput(unfolded(outcome.shown)))
  return value
}

/** The controls of one call, and a function that returns its result with the lines that `fold` replaced by pointers. */
function notingFolds(controls: ToolControls) {
  const { fold } = controls
  let folded = { text: '', content: '' }
  const unfolded = (shown: unknown): unknown => {
    const body = bodyOf(shown)
    if (folded.content === '' || typeof body !== 'string') return shown
    return editText(shown, { output: body.replace(folded.content, () => folded.text) })
  }
  if (fold === undefined) return { noted: controls, unfolded }
  const noting: ToolControls['fold'] = {
    begin: (call) => fold.begin?.(call),
    end: (toolCallId) => fold.end?.(toolCallId),
    fold(text, call) {
      const answer = fold.fold(text, call)
      if (answer.record !== undefined) folded = { text, content: answer.content }
      return answer
    },
  }
  return { noted: { ...controls, fold: noting }, unfolded }
}

type Failed = Exclude<Awaited<ReturnType<typeof guardCall>>, { kind: 'value' }>

/** Errors never pass `toModelOutput`. */
async function withBoundedMessage(
  { bound }: Kit,
  toolName: string,
  outcome: Failed,
  own: boolean,
  toolCallId: string | undefined,
): Promise<Failed> {
  if (!own || outcome.kind !== 'threw') return outcome
  const { value } = await bound(outcome.shown, { toolName, ...(toolCallId && { toolCallId }), failed: true })
  return { ...outcome, shown: String(value) }
}

/** A function that answers a stream without saying so before is read to its end. */
async function lastOf(value: unknown): Promise<unknown> {
  if (typeof (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] !== 'function') return value
  let last: unknown
  for await (const step of value as AsyncIterable<unknown>) last = step
  return last
}

/** The steps of a tool that streams, and then what the application gets. */
function streamed(
  tool: object,
  execute: NonNullable<AnyTool['execute']>,
  call: (input: unknown, options: CallOptions, run: (input: unknown) => unknown) => Promise<unknown>,
) {
  return async function* (input: unknown, options: CallOptions): AsyncGenerator<unknown> {
    const steps = new Steps()
    let last: unknown
    const done = call(input, options, (judged) =>
      steps.from(execute.call(tool, judged, options) as AsyncIterable<unknown>),
    )
    done.then(
      () => steps.end(),
      () => steps.end(),
    )
    try {
      for await (const step of steps) {
        last = step
        yield step
      }
    } finally {
      steps.stop()
    }
    const value = await done
    if (value !== last) yield value
  }
}

/** Returns the text of a result for the model. */
function outputOf(kit: Kit, toolName: string, tool: AnyTool) {
  const { toModelOutput } = tool
  return (...given: unknown[]): unknown => {
    const [first] = given
    const { toolCallId, output, named } = readGiven(first)
    if (typeof toModelOutput === 'function') {
      const made = toModelOutput.apply(tool, given)
      if (!named && !isThenable(made)) return boundAtOnce(kit, made as ModelOutput)
      return Promise.resolve(made).then((answer) =>
        boundOutput(answer as ModelOutput, kit.bound, {
          toolName,
          ...(toolCallId && { toolCallId }),
          sessionId: kit.controls.sessionId,
        }),
      )
    }
    const known = kit.shown.recall(toolCallId, output)
    if (known === 'as it is') return modelOutput(output)
    if (known !== undefined) return known
    // Version 5 does not wait for an answer.
    if (!named) return boundAtOnce(kit, modelOutput(output))
    return boundOutput(modelOutput(output), kit.bound, {
      toolName,
      ...(toolCallId && { toolCallId }),
      sessionId: kit.controls.sessionId,
    })
  }
}

/** Version 5 hands over the output alone. */
function readGiven(first: unknown): { toolCallId: string | undefined; output: unknown; named: boolean } {
  if (isRecord(first) && typeof first.toolCallId === 'string' && 'output' in first && 'input' in first) {
    return { toolCallId: first.toolCallId, output: first.output, named: true }
  }
  return { toolCallId: undefined, output: first, named: false }
}

/** Without waiting nothing can be saved; the application has the full output, and the model learns that it was cut. */
function boundAtOnce({ controls }: Kit, output: ModelOutput): ModelOutput {
  const { type, value } = output ?? {}
  if (controls.truncation === undefined) return output
  if (type === 'content' && isArray(value)) return { ...output, value: value.map(shortPart) }
  if (type !== 'text' && type !== 'json' && type !== 'error-text') return output
  const shorter = shortenUnsaved(textOfValue(value))
  return shorter === undefined ? output : { ...output, type: type === 'json' ? 'text' : type, value: shorter }
}

function shortPart(part: unknown): unknown {
  const { type, text } = Object(part) as { type?: unknown; text?: unknown }
  const shorter = type === 'text' && typeof text === 'string' ? shortenUnsaved(text) : undefined
  return shorter === undefined ? part : { ...(part as object), text: shorter }
}

function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}

function callOf({ controls }: Kit, name: string, tool: AnyTool, args: unknown, options: CallOptions) {
  const { toolCallId = '' } = options ?? {}
  return {
    tool: name,
    args,
    toolCallId,
    sessionId: sessionOf(controls, options ?? {}),
    cwd: folderOf(controls, tool),
  }
}

/** `needsApproval`: the tool's own, or true if `permission` asks. A denied call is refused when it is made. */
function approvalOf(kit: Kit, name: string, tool: AnyTool, own: unknown) {
  return async (input: unknown, options: CallOptions): Promise<boolean> => {
    const wanted = typeof own === 'function' ? await own(input, options) : own
    const { decision } = await judge(kit.controls, callOf(kit, name, tool, input, options))
    return wanted === true || decision === 'ask'
  }
}

/** True if the messages that a call resumes from contain the user's consent to it. */
function wasApproved(messages: unknown, toolCallId: string): boolean {
  const parts = (isArray(messages) ? messages : []).flatMap((message) => {
    const { content } = Object(message) as { content?: unknown }
    return isArray(content) ? (content as Record<string, unknown>[]) : []
  })
  let approvalId: unknown
  let isApproved = false
  for (const part of parts) {
    if (part?.type === 'tool-approval-response') {
      isApproved ||= part.approved === true && approvalId !== undefined && part.approvalId === approvalId
    } else if (part?.toolCallId === toolCallId) {
      // A call that has its result, and one before this under the same id, had consents of their own.
      approvalId = part.type === 'tool-approval-request' ? part.approvalId : undefined
      isApproved = false
    }
  }
  return isApproved
}
