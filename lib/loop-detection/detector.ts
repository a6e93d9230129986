/** Detects that an agent repeats itself. */

import { call, native } from '../native/native'
import { encode, wellFormed } from '../settings/settings'
import type { TruncationProfile } from '../types'
import { isArray } from '../util/guards'
import { safeStringify } from '../util/safe-stringify'
import { parsedState } from '../validation/options'
import { isRecord, listed, notAnInstance, openKnowing, readable, wrong } from '../validation/validate'
import { comparedTexts } from './compared-text'

/** Options of {@link DoomLoopDetector}. A threshold of `Infinity` turns its rule off. */
export interface DoomLoopOptions {
  /**
   * Number of loops that may be approved in a run; the next one is stopped. Approvals of the call budget do not count, because the
   * hard cap limits them.
   * @default 3
   */
  maxAttempts?: number
  /**
   * Number of calls in a run at which the user is asked, and again after as many calls since an approval. Five times this
   * number is the hard cap of a run, which nothing resets.
   * @default 60
   */
  maxToolCalls?: number
  /**
   * Number of calls with the same arguments and, if results are recorded, the same result, at which the user is asked. Other calls
   * may come in between if they changed nothing.
   * @default 5
   */
  sameToolThreshold?: number
  /**
   * Number of consecutive turns in which every call failed and one error was the same; then the user is asked at the next call.
   * @default 4
   */
  sameErrorThreshold?: number
  /** Number of answers without a call to the same message, passed to `observe`. @default 3 */
  sameAnswerThreshold?: number
  /** Number of calls after an approval that are not checked. Budget and hard cap still apply. @default 3 */
  cooldownToolCalls?: number
  /** True if the user cannot be asked: a question becomes a stop. @default false */
  headless?: boolean
  /** The language of messages. @default 'en' */
  language?: 'en' | 'zh-CN'
  /**
   * Names of fields that are ignored when two calls or two results are compared, at any depth: for every tool, or by tool (`*` is
   * every tool). Durations and process ids of terminals are always ignored.
   */
  volatileFields?: readonly string[] | Readonly<Record<string, readonly string[]>>
  /** Further tools that wait for something: they may repeat, and the user is asked from the 20th call on. */
  pollTools?: readonly string[]
  /**
   * Returns a key that distinguishes calls of a tool, instead of its arguments; `undefined` for the arguments. If it throws, the
   * arguments are used.
   */
  identity?: (call: DoomLoopCall) => unknown
  /** The thresholds of another agent. @default none */
  profile?: TruncationProfile
}

/** A call that is about to run. */
export interface DoomLoopCall {
  /** The provider's id of the call. */
  toolCallId: string
  /** The name of the tool. */
  tool: string
  /** The arguments, of any kind and size: the object, or the JSON text of the model. */
  args?: unknown
  /**
   * Names the turn of the model: calls of one turn run in parallel and do not count as repetitions of each other. Without it, a
   * call after a result begins a new turn.
   */
  turn?: string | number
}

/** How a call went. */
export interface DoomLoopResult {
  toolCallId: string
  /**
   * Result of the tool, of any type and size. Texts of more than 4 million characters are compared by their ends and by lines
   * at equal distances.
   */
  result?: unknown
  /** True if it failed. @default what the text says */
  isError?: boolean
}

/** Pattern that was detected. */
export type DoomLoopReason =
  /** The same call, and as far as is known the same result. */
  | 'same_tool'
  /** The same two to five calls in turn. */
  | 'cycle'
  /** The same error, turn after turn. */
  | 'same_error'
  /** Calls of a tool that does not exist. */
  | 'unknown_tool'
  /** The same exchange of words without a call. */
  | 'no_tool_call'
  /** The same passage again and again in one answer. */
  | 'repeated_text'
  /** More calls than the budget. */
  | 'max_tool_calls'
  /** More approvals than a run has. */
  | 'max_attempts'
  /** More calls than any approval allows. */
  | 'hard_cap'

/** Decision about a call. */
export interface DoomLoopVerdict {
  /** `allow` it, `ask` the user first, or `stop`: it must not run. */
  action: 'allow' | 'ask' | 'stop'
  /** The reason, also of a warning. */
  reason?: DoomLoopReason
  /** With `max_attempts`: the loop that would have been asked about. */
  detector?: DoomLoopReason
  /** How often it was detected. */
  count?: number
  /** A sentence for the user. With `stop` it can be the result of the tool, for people and models. */
  message?: string
  /** The call may run, but the model should get this text with its result. */
  warning?: string
  /** The language of `message` and `warning`. */
  language?: 'en' | 'zh-CN'
  /** With `ask`: the argument of `approve`. For a call its own id. */
  toolCallId?: string
}

/** A detector of the core, and the options that are read here. */
interface Inner extends Pick<DoomLoopOptions, 'identity' | 'language'> {
  handle: object
}

const detectors = new WeakMap<DoomLoopDetector, Inner>()

/** Hands a saved state to the constructor without an argument that callers could see. */
let resumed: string | undefined

/**
 * Detects that an agent repeats itself: the same call with the same result, a few calls in turn, the same error for different
 * calls, or answers without calls. Use one detector per session.
 *
 * Call `check` before every call, `record` with its outcome, and `observe` with answers. It does
 * not read a clock and starts no work of its own.
 */
export class DoomLoopDetector {
  /** @throws SpillwayError `INVALID_CONFIG` that names the option */
  constructor(options: DoomLoopOptions = {}) {
    const state = resumed
    resumed = undefined
    checkRecord(options)
    const { identity, ...rest } = readable('options', () => ({ ...options }), 'INVALID_CONFIG')
    if (identity !== undefined && typeof identity !== 'function') {
      throw wrong('identity', identity, 'a function', 'INVALID_CONFIG')
    }
    const handle = openKnowing(['identity'], () => call(() => native.doomLoopOpen(encode(rest), state)))
    detectors.set(this, { handle, identity, language: rest.language })
  }

  /**
   * Begins a run, usually with each message of the user. Resets counts and open questions; approvals by `always` stay.
   */
  startRun(): void {
    native.doomLoopStartRun(of(this).handle)
  }

  /**
   * Decides about a call before it runs. For the same call it returns the same verdict and counts nothing, until the result is
   * recorded. The same id in another turn, or after other calls or messages, is another call; open questions stay open.
   *
   * @throws SpillwayError `INVALID_ARGUMENT` if `toolCallId` or `tool` is not a string; arguments of any kind are fine
   */
  check(toCheck: DoomLoopCall): DoomLoopVerdict {
    const inner = of(this)
    const { handle, identity } = inner
    checkObject('call', toCheck)
    const id = text('call.toolCallId', read(toCheck, 'toolCallId'))
    const name = text('call.tool', read(toCheck, 'tool'))
    const turn = read(toCheck, 'turn')
    if (turn !== undefined && typeof turn !== 'string' && typeof turn !== 'number') {
      throw wrong('call.turn', turn, 'a string or a number')
    }
    const args = safeStringify(read(toCheck, 'args'))
    const own = identify(identity, toCheck)
    const answer = call(() => native.doomLoopCheck(handle, id, name, args, turn?.toString(), own))
    return verdict(answer, inner)
  }

  /**
   * Records the result of a call, so that repeated calls that make progress do not count as a loop. The result of a call that was
   * not allowed or is unknown is ignored.
   */
  record(toRecord: DoomLoopResult): void {
    checkObject('result', toRecord)
    const id = text('result.toolCallId', read(toRecord, 'toolCallId'))
    const isError = read(toRecord, 'isError')
    if (isError !== undefined && typeof isError !== 'boolean') {
      throw wrong('result.isError', isError, 'true or false')
    }
    const result = read(toRecord, 'result')
    const textOf = comparedTexts()
    const plain = typeof result === 'string' ? textOf(result) : safeStringify(result, { textOf })
    call(() => native.doomLoopRecord(of(this).handle, id, wellFormed(plain), isError))
  }

  /**
   * Records that the results of these calls left the context: they were pruned, cleared by the provider, or replaced by a summary.
   * A call that
   * only reads and gets such a result again is not a repetition; failed calls and calls that change something stay counted. Ids that are
   * not known change nothing.
   *
   * @throws SpillwayError `INVALID_ARGUMENT` if the argument is not an array of strings
   */
  forget(toolCallIds: readonly string[]): void {
    const ids = readable('toolCallIds', () => (isArray(toolCallIds) ? [...toolCallIds] : undefined))
    if (ids === undefined) throw wrong('toolCallIds', toolCallIds, 'an array of ids')
    const known = ids.map((id, at) => text(`toolCallIds[${at}]`, id))
    call(() => native.doomLoopForget(of(this).handle, known))
  }

  /**
   * Approves a call that the detector asked about: `once`, or `always` for this loop until the session ends.
   * @returns false if there is no open question with this id
   */
  approve(toolCallId: string, approval: 'once' | 'always'): boolean {
    if (approval !== 'once' && approval !== 'always') throw wrong('approval', approval, listed(['once', 'always']))
    return native.doomLoopApprove(of(this).handle, text('toolCallId', toolCallId), approval === 'always')
  }

  /**
   * Records a message to or from the model, to detect loops without calls: repeated answers without a call to the same message.
   * The verdict is like that of `check`; with `ask`, pass its `toolCallId` to `approve`.
   */
  observe(said: { role: 'user' | 'assistant'; text: string }): DoomLoopVerdict {
    checkObject('message', said)
    const [role, words] = [read(said, 'role'), read(said, 'text')]
    if (role !== 'user' && role !== 'assistant') throw wrong('message.role', role, listed(['user', 'assistant']))
    const spoken = text('message.text', typeof words === 'string' ? comparedTexts()(words) : words)
    const inner = of(this)
    return verdict(
      call(() => native.doomLoopObserve(inner.handle, role === 'user', spoken)),
      inner,
    )
  }

  /** The ids of unanswered questions, oldest first. */
  pending(): string[] {
    return native.doomLoopPending(of(this).handle)
  }

  /** Returns the state that another detector needs to continue, for `JSON.stringify`. It contains hashes and ids, but no arguments. */
  toJSON(): object {
    return JSON.parse(call(() => native.doomLoopState(of(this).handle))) as object
  }

  /**
   * Returns a detector that continues where another was saved.
   * @throws SpillwayError `INVALID_ARGUMENT` if the value was not returned by `toJSON`
   */
  static fromJSON(state: object | string, options: DoomLoopOptions = {}): DoomLoopDetector {
    resumed = safeStringify(parsedState(state))
    try {
      return new DoomLoopDetector(options)
    } finally {
      resumed = undefined
    }
  }
}

function checkRecord(options: object): void {
  if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
}

function of(detector: DoomLoopDetector): Inner {
  const found = detectors.get(detector)
  if (found === undefined) throw notAnInstance('DoomLoopDetector')
  return found
}

function verdict(json: string | null, { language = 'en' }: Inner): DoomLoopVerdict {
  if (json === null) return { action: 'allow' }
  const { callId, ...rest }: Omit<DoomLoopVerdict, 'toolCallId'> & { callId?: string } = JSON.parse(json)
  return { ...rest, language, ...(callId !== undefined && { toolCallId: callId }) }
}

function checkObject(field: string, value: unknown): asserts value is object {
  if (!isRecord(value)) throw wrong(field, value, 'an object')
}

/** Returns a field of an argument; a getter may throw. */
function read(value: object, name: string): unknown {
  try {
    return (value as Record<string, unknown>)[name]
  } catch {
    return undefined
  }
}

function text(field: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(field, value, 'a string')
  return wellFormed(value)
}

function identify(identity: DoomLoopOptions['identity'], toCheck: DoomLoopCall): string | undefined {
  try {
    const own = identity?.(toCheck)
    return own === undefined ? undefined : safeStringify(own)
  } catch {
    return undefined
  }
}
