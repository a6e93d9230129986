/** One call of a host's tool with all controls of `guardTool`, split into the steps of the host. */

import { types } from 'node:util'
import type {
  AuditEvent,
  ExecutionContext,
  RefusedResult,
  ToolControls,
  ToolResultRecord,
  ToolTruncationConfig,
} from 'spillway'
import type { ToolHookResult } from 'spillway/extensions'
import { SpillwayError } from '../../errors'
import { isToolHookRunner } from '../../guard/controls'
import { guardTool } from '../../guard/guard-tool'
import { isArray } from '../../util/guards'
import { messageOf } from '../../util/message-of'

/** A call on its way to a host's tool. */
export interface HostCall {
  tool: string
  args: unknown
  toolCallId?: string | undefined
  sessionId?: string | undefined
  /** The folder that it runs in: permission judges relative paths there. */
  cwd?: string | undefined
  signal?: AbortSignal | undefined
  /** Judges this call in place of the controls'. */
  permission?: ToolControls['permission'] | undefined
  /** Options that the tool declares; read after the tool has run. */
  truncation?: ToolTruncationConfig | undefined
  /** True if what was thrown only suspends the call: it will come again, and nothing is noted of this time. */
  suspends?: (thrown: unknown) => boolean
}

/** Outcome. */
export type HostOutcome =
  /**
   * `value` is the tool's own, changed by `tool.after` at most; `shown` is what the model reads of it, with the `warning` of a loop
   * at its end if it is a text.
   */
  | { kind: 'value'; value: unknown; shown: unknown; warning?: string | undefined }
  /** The tool threw; `shown` is what the model reads of the message, and `metadata` says what is missing and where it is. */
  | { kind: 'threw'; error: unknown; shown: string; metadata?: Record<string, unknown> | undefined }
  /** The call was refused. */
  | { kind: 'refused'; refusal: RefusedResult }

/** Runs a call. Never rejects. */
export async function guardCall(
  call: HostCall,
  controls: ToolControls,
  execute: (args: never) => unknown,
): Promise<HostOutcome> {
  const { tool, args, toolCallId, sessionId, cwd, signal, permission, suspends } = call
  let suspended = false
  let ran: { value: unknown } | { error: unknown } | undefined
  const capture = (told: ToolHookResult) => {
    if (ran && 'value' in ran) ran = { value: told.result }
    return undefined
  }
  const own = seenBy(capture, controls.hooks)
  let warning: string | undefined
  const { doomLoop } = controls
  const heard =
    doomLoop &&
    doomLoopWith(doomLoop, {
      check: (one) => {
        const verdict = doomLoop.check(one)
        warning = verdict.warning
        return verdict
      },
    })
  const around = { ...controls, ...(heard && { doomLoop: heard }) }
  const guarded = guardTool(
    {
      name: tool,
      get truncation() {
        return call.truncation
      },
      execute: async (judged: never) => {
        try {
          const value = await execute(judged)
          ran = { value }
          return value
        } catch (error) {
          ran = { error }
          suspended = suspends?.(error) === true
          throw error
        }
      },
    },
    {
      ...(suspends ? unlessSuspended(around, () => suspended) : around),
      ...(own && { hooks: own }),
      ...(permission && { permission }),
      refusal: 'result',
    } as ToolControls,
  )
  const context = {
    ...(toolCallId && { toolCallId }),
    ...(sessionId && { sessionId }),
    ...(signal && { signal }),
    ...(cwd && { workingDirectory: cwd }),
  }
  const result = await guarded.execute(args as never, context as ExecutionContext)
  const outcome = ran as { value: unknown } | { error: unknown } | undefined
  if (outcome === undefined) return { kind: 'refused', refusal: result as RefusedResult }
  if ('value' in outcome) return { kind: 'value', value: outcome.value, shown: result, warning }
  const { output, metadata } = result as RefusedResult & { metadata?: Record<string, unknown> }
  return { kind: 'threw', error: outcome.error, shown: String(output), metadata }
}

type HooksOfTools = ToolControls['hooks']

/** Returns the same hooks; `capture` receives the result that they return. */
function seenBy(capture: (told: ToolHookResult) => undefined, hooks: HooksOfTools): HooksOfTools {
  if (hooks === undefined) return undefined
  if (!isToolHookRunner(hooks)) {
    const after = hooks['tool.after']
    if (after === undefined) return hooks
    return { ...hooks, 'tool.after': [...(isArray(after) ? after : [after]), capture] }
  }
  return {
    toolBefore: (call) => hooks.toolBefore(call),
    toolAfter: async (call) => {
      const result = await hooks.toolAfter(call)
      capture({ ...call, result })
      return result
    },
    toolFinal: (call) => hooks.toolFinal(call),
  }
}

/** The same hooks but for `tool.before`. */
export function withoutBefore(hooks: HooksOfTools): HooksOfTools {
  if (hooks === undefined) return undefined
  if (!isToolHookRunner(hooks)) {
    const { 'tool.before': _, ...later } = hooks
    return later
  }
  return {
    toolBefore: async (call) => call.args,
    toolAfter: (call) => hooks.toolAfter(call),
    toolFinal: (call) => hooks.toolFinal(call),
  }
}

/** Controls that note the end of a call only if it has one. */
function unlessSuspended(controls: ToolControls, suspended: () => boolean): ToolControls {
  const { audit, ledger, doomLoop } = controls
  return {
    ...controls,
    ...(audit && {
      audit: {
        append: (event: AuditEvent) => (suspended() && event.type === 'outcome' ? undefined : audit.append(event)),
      },
    }),
    ...(ledger && {
      ledger: {
        begin: (toolCallId: string) => ledger.begin?.(toolCallId),
        record: (entry: ToolResultRecord) => (suspended() ? undefined : ledger.record(entry)),
      },
    }),
    ...(doomLoop && {
      doomLoop: doomLoopWith(doomLoop, { record: (one) => (suspended() ? undefined : doomLoop.record(one)) }),
    }),
  }
}

type DoomLoop = NonNullable<ToolControls['doomLoop']>

/** The same detector but for what is given. */
function doomLoopWith(doomLoop: DoomLoop, own: Partial<DoomLoop>): DoomLoop {
  return {
    check: (call) => doomLoop.check(call),
    approve: (toolCallId, approval) => doomLoop.approve(toolCallId, approval),
    record: (result) => doomLoop.record(result),
    ...own,
  }
}

/** The error that a host is thrown: the tool's own if a host shows no more of it than `shown`, else one with what the model reads. */
export function errorFor(outcome: Exclude<HostOutcome, { kind: 'value' }>): unknown {
  if (outcome.kind === 'refused') {
    const { refusal } = outcome
    return new SpillwayError('REFUSED', refusal.output, { report: refusal })
  }
  const { error, shown } = outcome
  if (messageOf(error) === shown && isShownAs(error, shown)) return error
  const shorter = new Error(shown, { cause: error })
  const { name } = Object(error) as { name?: unknown }
  if (typeof name === 'string') shorter.name = name
  return shorter
}

/** UTF-16 units of the name of an error, with the colon after it. */
const MAX_NAME_UNITS = 256

/** True if a host shows no more of an error than this text and a name: an `Error` by its message or as a string, anything else as JSON. */
function isShownAs(error: unknown, shown: string): boolean {
  if (typeof error === 'string' || error === undefined || error === null) return true
  if (!(error instanceof Error) && !types.isNativeError(error)) return false
  try {
    const { length } = String(error)
    return length <= shown.length + MAX_NAME_UNITS
  } catch {
    return false
  }
}
