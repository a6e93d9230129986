/**
 * `guardTool` for hosts that run their tools themselves and ask before and after: the guard runs from the first question to
 * the second, and the tool that it thinks it runs is the wait between them.
 */

import type { RefusedResult, ToolControls } from 'spillway'
import { identityOf } from '../../approval/call-key'
import { LruCache } from '../../util/lru-cache'
import { safeStringify } from '../../util/safe-stringify'
import { isRecord } from '../../validation/validate'
import { guardCall, type HostCall, type HostOutcome, withoutBefore } from './guard'

/** True if a call may run, and with which arguments. */
export type BeforeOutcome = { kind: 'run'; args: unknown } | { kind: 'refused'; refusal: RefusedResult }

/** How a host's tool ended, and the limits for its result where the host has its own. */
export type HostResult = ({ value: unknown } | { error: unknown }) & Pick<HostCall, 'truncation'>

interface OpenCall {
  /** The call as it was asked about, and as it was allowed: a host may ask again about either. */
  readonly identities: Set<string | undefined>
  readonly before: Promise<BeforeOutcome>
  readonly done: Promise<HostOutcome>
  deliver(result: HostResult): void
}

/** Calls between the two questions; what a host never comes back about is forgotten. */
const MAX_OPEN = 1000

/** The calls of one host. */
export class SplitCalls {
  readonly #around: ToolControls
  readonly #open = new LruCache<string, OpenCall>(MAX_OPEN)

  constructor(around: ToolControls) {
    this.#around = around
  }

  /** Everything up to the tool. Asked again about the same call, the answer is the same. */
  before(call: HostCall & { toolCallId: string }): Promise<BeforeOutcome> {
    const key = keyOf(call)
    const known = this.#open.get(key)
    const identity = identityOf(call)
    if (identity !== undefined && known?.identities.has(identity)) return known.before
    const identities = new Set([identity])
    let deliver: OpenCall['deliver'] = () => {}
    const result = new Promise<HostResult>((resolve) => {
      deliver = resolve
    })
    let run: (outcome: BeforeOutcome) => void = () => {}
    const before = new Promise<BeforeOutcome>((resolve) => {
      run = resolve
    })
    const own = { ...call }
    const done = guardCall(own, this.#around, async (args) => {
      identities.add(identityOf({ ...call, args }))
      run({ kind: 'run', args })
      const ended = await result
      if (ended.truncation !== undefined) own.truncation = ended.truncation
      return unwrap(ended)
    })
    const answer = Promise.race([
      before,
      // A call that is over before the tool ran was refused.
      done.then((outcome): BeforeOutcome | Promise<BeforeOutcome> => {
        if (outcome.kind !== 'refused') return before
        if (this.#open.get(key)?.done === done) this.#open.delete(key)
        return { kind: 'refused', refusal: outcome.refusal }
      }),
    ])
    this.#open.set(key, { identities, before: answer, done, deliver })
    return answer
  }

  /** The steps from the tool on; for a call that was not judged before, the steps that are still possible. */
  async after(call: HostCall & { toolCallId: string }, result: HostResult): Promise<HostOutcome> {
    const open = this.#open.get(keyOf(call))
    this.#open.delete(keyOf(call))
    if (open !== undefined) {
      open.deliver(result)
      return open.done
    }
    const { permission: _, doomLoop: __, hooks, ...around } = this.#around
    const later = withoutBefore(hooks)
    const { truncation = call.truncation } = result
    return guardCall({ ...call, truncation }, { ...around, ...(later && { hooks: later }) }, () => unwrap(result))
  }
}

function keyOf({ toolCallId, sessionId }: HostCall): string {
  return JSON.stringify([sessionId ?? null, toolCallId])
}

function unwrap(result: HostResult): unknown {
  if ('error' in result) throw result.error
  return result.value
}

/** Puts the judged arguments into the object that the host showed, because it calls the tool with that. Returns true on success. */
export function replaceArgs(args: unknown, judged: unknown): boolean {
  if (safeStringify(args) === safeStringify(judged)) return true
  if (!isRecord(args) || !isRecord(judged) || Object.isFrozen(args)) return false
  for (const key of Object.keys(args)) if (!Object.hasOwn(judged, key)) delete args[key]
  Object.assign(args, judged)
  return true
}
