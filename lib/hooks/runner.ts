/** Runs hooks in order; a failing hook changes nothing. */

import type { CompactionEdit } from '../compaction/hooks'
import { deepClone } from '../util/deep-clone'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { tellCaller, warn } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { checkKeys, isRecord, readable, wrong } from '../validation/validate'
import { editedInput, editedPrompt, editedResult, editedSummary } from './edits'
import { readParameters, withParameters } from './parameters'
import type {
  ChatHookContext,
  CompactionBeforeCall,
  HookName,
  HookProblem,
  HookRunnerOptions,
  Hooks,
  ToolHookCall,
  ToolHookResult,
} from './types'

/** The hooks that there are, in the order in which a request meets them. */
const HOOK_NAMES: readonly HookName[] = [
  ...(['chat.params', 'chat.system', 'tool.before', 'tool.after', 'tool.final'] as const),
  ...(['compaction.before', 'compaction.after'] as const),
]

const HOOK_TIMEOUT_MS = 5000

type AnyHook = (told: object) => unknown

interface Registered {
  hook: AnyHook
  source: HookProblem['source']
}

interface Inner {
  hooks: ReadonlyMap<HookName, readonly Registered[]>
  timeoutMs: number
  onProblem: HookRunnerOptions['onProblem']
}

const inners = new WeakMap<HookRunner, Inner>()

/**
 * Runs hooks: all built-in ones, then the user's, each in the order of its list; each sees what those before it changed.
 * A hook that throws, takes longer than `timeoutMs`, or returns an invalid value is reported and changes nothing. No
 * method rejects. Hooks receive copies.
 *
 * @example
 * const hooks = new HookRunner({ user: { 'chat.params': () => ({ temperature: 0.2 }) } })
 * const params = await hooks.chatParams({ temperature: 0.7, maxTokens: 100 }) // { temperature: 0.2, maxTokens: 100 }
 * const safe = guardTool(bash, { hooks, permission: gate })
 */
export class HookRunner {
  /** @throws SpillwayError `INVALID_ARGUMENT` for an option or a hook that is unknown or not allowed */
  constructor(options: HookRunnerOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object')
    checkKeys('options', options, ['builtIn', 'user', 'timeoutMs', 'onProblem'])
    const { builtIn, user, timeoutMs, onProblem } = options as HookRunnerOptions
    if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
      throw wrong('options.timeoutMs', timeoutMs, 'a number above 0')
    }
    if (onProblem !== undefined && typeof onProblem !== 'function') {
      throw wrong('options.onProblem', onProblem, 'a function')
    }
    const hooks = new Map<HookName, Registered[]>()
    const register = (field: string, sets: unknown, source: HookProblem['source']) => {
      for (const set of sets === undefined ? [] : isArray(sets) ? sets : [sets]) {
        checkHooks(field, set)
        for (const name of HOOK_NAMES) {
          const known = hooks.get(name) ?? []
          hooks.set(name, [...known, ...hooksOf(set, name).map((hook) => ({ hook, source }))])
        }
      }
    }
    register('options.builtIn', builtIn, 'builtIn')
    register('options.user', user, 'user')
    inners.set(this, { hooks, timeoutMs: timeoutMs ?? HOOK_TIMEOUT_MS, onProblem })
  }

  /** Returns true if a listener is registered, so that a host can skip the work otherwise. */
  has(name: HookName): boolean {
    return (inners.get(this)!.hooks.get(name)?.length ?? 0) > 0
  }

  /**
   * The parameters of a request. Only known and valid parameters are accepted from a hook (`ModelParameters`); parameters of the
   * host are always kept.
   */
  async chatParams<P extends object>(params: P, context: ChatHookContext = {}): Promise<P> {
    checkCall(params, 'params')
    return this.run(
      'chat.params',
      params,
      (told) => ({ ...context, params: told }),
      (current, answer, problem) => {
        if (!isRecord(answer)) throw new TypeError('answered no object')
        const { change, problems } = readParameters(answer, 'params')
        problems.forEach(problem)
        return withParameters(current, change)
      },
    )
  }

  /** The system prompt of a request. */
  async chatSystem(system: string, context: ChatHookContext = {}): Promise<string> {
    if (typeof system !== 'string') throw wrong('system', system, 'a string')
    return this.run('chat.system', system, (told) => ({ ...context, system: told }), editedPrompt)
  }

  /** Runs `tool.before` hooks and returns the arguments of a call, before permission is checked. */
  async toolBefore(call: ToolHookCall): Promise<unknown> {
    checkCall(call)
    return this.run('tool.before', call.args, (args) => ({ ...call, args }), editedInput)
  }

  /** The full result of a call. */
  async toolAfter(call: ToolHookResult): Promise<unknown> {
    checkCall(call)
    return this.run('tool.after', call.result, (result) => after(call, result), editedResult)
  }

  /** The result of a call as the model will read it. */
  async toolFinal(call: ToolHookResult): Promise<unknown> {
    checkCall(call)
    return this.run('tool.final', call.result, (result) => after(call, result), editedResult)
  }

  /** Returns the changes of all hooks to the summariser's prompt; nothing if there are none. */
  async compactionBefore(call: CompactionBeforeCall): Promise<CompactionEdit | undefined> {
    checkCall(call)
    const nothing: CompactionEdit = {}
    const { prompt, promptOf, ...rest } = call
    const edit = await this.run(
      'compaction.before',
      nothing,
      (current) => {
        const made = current.instructions === undefined ? prompt : promptOf?.(current.instructions)
        return { ...rest, prompt: made, ...current }
      },
      (current, answer) => editedSummary(current, call.instructions, answer),
    )
    return Object.keys(edit).length > 0 ? edit : undefined
  }

  /** Reports the result of a compaction. */
  async compactionAfter(report: object): Promise<void> {
    checkCall(report, 'report')
    await this.run(
      'compaction.after',
      report,
      (told) => told,
      (current) => current,
      true,
    )
  }

  /** All `compaction.before` hooks as one, for callers that take hooks by name. */
  get 'compaction.before'(): (call: CompactionBeforeCall) => Promise<CompactionEdit | undefined> {
    return (call) => this.compactionBefore(call)
  }

  /** All `compaction.after` hooks as one. */
  get 'compaction.after'(): (report: object) => Promise<void> {
    return (report) => this.compactionAfter(report)
  }

  private async run<T>(
    name: HookName,
    value: T,
    tell: (copy: T) => object,
    apply: (current: T, answer: unknown, problem: (message: string) => void) => unknown,
    onlyTold = false,
  ): Promise<T> {
    const inner = inners.get(this)!
    let current = value
    for (const { hook, source } of inner.hooks.get(name) ?? []) {
      const problem = (message: string, error?: unknown) =>
        report(inner, { hook: name, source, message, ...(error !== undefined && { error }) })
      try {
        const answer = await withTimeout(inner.timeoutMs, () => hook(tell(deepClone(current) as T)))
        if (onlyTold || answer === undefined || answer === null) continue
        current = apply(current, deepClone(answer), problem) as T
      } catch (error) {
        problem(messageOf(error), error)
      }
    }
    return current
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` for an invalid set of hooks */
export function checkHooks(field: string, hooks: unknown): asserts hooks is Hooks {
  if (!isRecord(hooks)) throw wrong(field, hooks, 'an object of hooks')
  checkKeys(field, hooks, HOOK_NAMES)
  for (const name of HOOK_NAMES) {
    if (hooksOf(hooks, name).some((hook) => typeof hook !== 'function')) {
      throw wrong(`${field}.${name}`, hooks[name], 'a function, or several')
    }
  }
}

function hooksOf(hooks: Hooks, name: HookName): AnyHook[] {
  const found = readable(`hooks.${name}`, (): unknown => hooks[name])
  return (found === undefined ? [] : isArray(found) ? [...found] : [found]) as AnyHook[]
}

function after(call: ToolHookResult, result: unknown): ToolHookResult {
  return { ...call, args: deepClone(call.args), result }
}

function report({ onProblem }: Inner, problem: HookProblem): void {
  const { hook, message } = problem
  if (onProblem === undefined) warn(hook, message)
  else tellCaller('onProblem', onProblem, problem)
}

/** @throws SpillwayError `INVALID_ARGUMENT` unless it is an object */
function checkCall(call: unknown, field = 'call'): void {
  if (!isRecord(call)) throw wrong(field, call, 'an object')
}
