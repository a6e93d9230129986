/** The hooks around a compaction: `compaction.before` and `compaction.after`. */

import { isArray } from '../util/guards'
import { warn } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import { isRecord } from '../validation/validate'
import type { CompactionReport } from './report'
import type { SummaryRequest } from './types'

/** Changes of a hook to the summariser's prompt. Values that are not strings are ignored. */
export interface CompactionEdit {
  /** Instructions that replace the built-in ones; the prompt is built from them. */
  instructions?: string
  /** A text added after the instructions. */
  context?: string
  /** A prompt that replaces everything. */
  prompt?: string
}

/** Input of `compaction.before`: the request that the summariser will get. */
export type CompactionBeforeInfo<M = unknown> = Readonly<Omit<SummaryRequest<M>, 'signal'>>

/** Called before each summary. Several hooks are called in order; each sees the changes of those before it. */
export type CompactionBeforeHook<M = unknown> = (
  request: CompactionBeforeInfo<M>,
) => CompactionEdit | undefined | Promise<CompactionEdit | undefined>

/** Called after each compaction that changed something. Its return value is ignored. */
export type CompactionAfterHook = (report: Readonly<CompactionReport>) => unknown

/**
 * The hooks around a compaction, by their names:
 * `{ 'compaction.before': (request) => ({ context: '…' }), 'compaction.after': (report) => { … } }`.
 * If one throws or takes too long, a warning is issued and it changes nothing.
 */
export interface CompactionHooks<M = unknown> {
  'compaction.before'?: CompactionBeforeHook<M> | readonly CompactionBeforeHook<M>[]
  'compaction.after'?: CompactionAfterHook | readonly CompactionAfterHook[]
}

/** Lets the hooks change the prompt; `build` makes it again if they change the instructions. */
export async function askBefore<M>(
  hooks: CompactionHooks<M> | undefined,
  ms: number,
  request: SummaryRequest<M>,
  build: (instructions: string) => string,
): Promise<SummaryRequest<M>> {
  let current = request
  let hasOwnPrompt = false
  for (const hook of hooksOf(hooks?.['compaction.before'])) {
    const { signal: _, ...info } = current
    const told = isRunner(hooks) ? { ...info, promptOf: build } : info
    const edit: unknown = await answerOf('compaction.before', timeFor(hooks, ms), () => hook(told))
    if (!isRecord(edit)) continue
    const { instructions = current.instructions, context, prompt } = edit
    let text = typeof instructions === 'string' ? instructions : current.instructions
    if (typeof context === 'string') text = `${text}\n\n${context}`
    const whole = hasOwnPrompt || text === current.instructions ? current.prompt : build(text)
    hasOwnPrompt ||= typeof prompt === 'string'
    current = { ...current, instructions: text, prompt: typeof prompt === 'string' ? prompt : whole }
  }
  return current
}

/** Tells the hooks what came of it. */
export async function tellAfter<M>(
  hooks: CompactionHooks<M> | undefined,
  ms: number,
  report: CompactionReport,
): Promise<void> {
  for (const hook of hooksOf(hooks?.['compaction.after'])) {
    await answerOf('compaction.after', timeFor(hooks, ms), () => hook({ ...report }))
  }
}

/** A `HookRunner` gives each of its hooks its time; all of them together may take longer. */
function timeFor(hooks: object | undefined, ms: number): number {
  return isRunner(hooks) ? Number.POSITIVE_INFINITY : ms
}

/** True if these are all the hooks of a `HookRunner` as one. */
function isRunner(hooks: object | undefined): boolean {
  return typeof (hooks as { compactionBefore?: unknown } | undefined)?.compactionBefore === 'function'
}

async function answerOf<T>(name: string, ms: number, hook: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await withTimeout(ms, hook)
  } catch (error) {
    warn(name, error)
    return undefined
  }
}

function hooksOf<T>(hooks: T | readonly T[] | undefined): readonly T[] {
  if (hooks === undefined) return []
  return isArray(hooks) ? (hooks as readonly T[]) : [hooks as T]
}
