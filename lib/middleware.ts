/** Bounds the results of tools on their way from a tool to the model, whatever their shape, and never throws. */

import { boundValue } from './content'
import { messageOf, SpillwayError } from './errors'
import { emit, warn } from './report'
import { TruncationService } from './service'
import { wellFormed } from './settings'
import type {
  OutputService,
  ToolResultLike,
  TruncationContext,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationOptions,
  TruncationResult,
} from './types'

/**
 * Middleware for a host's tool executor. Results within limits keep their output; longer ones get a preview, and
 * `metadata` says where the rest is: `truncated`, `truncationPath`, `truncationRemovedLines`, `truncationRemovedBytes`.
 *
 * A result that says `metadata.truncated` itself is left alone up to the hard ceiling. If anything goes wrong, the
 * result still comes back, bounded, and an `error` event says why.
 *
 * @throws SpillwayError `INVALID_CONFIG` for wrong options, at once
 */
export function createTruncationMiddleware<R extends ToolResultLike = ToolResultLike>(
  config: TruncationMiddlewareConfig<R>,
): TruncationMiddleware<R> {
  const { service, skipTools, shouldTruncate } = checkConfig(config)
  const skipped = new Set(skipTools)

  return async (toolName, result, context) => {
    const output = result?.output
    if (output === undefined || output === null || output === '') return result
    if (skipped.has(toolName)) return sound(result)
    const handled = result.metadata?.truncated !== undefined
    let options: TruncationOptions | undefined
    if (shouldTruncate && !handled) {
      try {
        const decision = shouldTruncate(toolName, result)
        if (decision === false) return sound(result)
        if (typeof decision === 'object') options = decision
      } catch (error) {
        reportTo(service, context, error)
      }
    }
    const failed = context?.failed ?? (result.success === false || result.isError === true)
    const full: TruncationContext = { ...context, toolName: context?.toolName ?? toolName }
    if (failed) full.failed = true
    if (handled) full.handled ??= true
    if (options) full.options = options
    const { value, result: answer } = await boundSafely(service, output, full)
    if (handled && !answer?.truncated) return value === output ? result : { ...result, output: value }
    return { ...result, output: value, metadata: { ...result.metadata, ...metadataOf(answer) } }
  }
}

function metadataOf(answer: TruncationResult<unknown> | undefined): Record<string, unknown> {
  if (!answer?.truncated) return { truncated: false }
  return {
    truncated: true,
    truncationPath: answer.outputPath,
    truncationRemovedLines: answer.removedLines,
    truncationRemovedBytes: answer.removedBytes,
  }
}

/** Even a result that is left alone must not brick the session: one lone surrogate makes providers refuse every request. */
function sound<R extends ToolResultLike>(result: R): R {
  const { output } = result
  if (typeof output !== 'string') return result
  const fixed = wellFormed(output)
  return fixed === output ? result : { ...result, output: fixed }
}

/**
 * Bounds a value and never throws: a wrong option or a wrong context is reported, and the next simpler call is tried.
 * The plainest one is by the defaults, without saving.
 */
export async function boundSafely(
  service: OutputService,
  value: unknown,
  context: TruncationContext,
): Promise<{ value: unknown; result?: TruncationResult<unknown> }> {
  try {
    return await boundValue(service, value, context)
  } catch (error) {
    if (context.signal?.aborted && error === context.signal.reason) return { value: last(value) }
    reportTo(service, context, error)
  }
  const plain: TruncationContext = { toolName: 'tool', failed: context.failed === true }
  const { options: _wrong, ...withoutOptions } = context
  const simpler: (() => ReturnType<typeof boundValue>)[] = [
    () => boundValue(service, value, withoutOptions),
    () => boundValue(service, value, plain),
    () => boundValue(new TruncationService(), value, plain),
  ]
  for (const attempt of simpler) {
    try {
      return await attempt()
    } catch (error) {
      reportTo(service, context, error)
    }
  }
  return { value: last(value) }
}

/** Nothing works, not even saving to a temporary folder: the end of the text, which says most about what went wrong. */
function last(value: unknown): unknown {
  const KEPT_UNITS = 16 * 1024
  if (typeof value !== 'string') return value
  return wellFormed(value.length > KEPT_UNITS ? `...output truncated...\n\n${value.slice(-KEPT_UNITS)}` : value)
}

function reportTo(service: OutputService, context: TruncationContext | undefined, error: unknown): void {
  const onEvent = service instanceof TruncationService ? service.options.onEvent : undefined
  if (!onEvent) {
    warn('truncation', error)
    return
  }
  const toolName = typeof context?.toolName === 'string' ? context.toolName : 'tool'
  const errorCode = error instanceof SpillwayError ? error.code : 'CALLBACK'
  const details = { originalSize: 0, truncatedSize: 0, error: messageOf(error), errorCode }
  emit(onEvent, { ...context, toolName }, { type: 'error', ...details })
}

function checkConfig<R extends ToolResultLike>(config: TruncationMiddlewareConfig<R>): TruncationMiddlewareConfig<R> {
  const refuse = (field: string, allowed: string) =>
    new SpillwayError('INVALID_CONFIG', `${field}: allowed is ${allowed}`, { field })
  if (typeof config?.service?.output !== 'function') throw refuse('service', 'an object with an output function')
  const { skipTools = [], shouldTruncate } = config
  if (!Array.isArray(skipTools) || !skipTools.every((name) => typeof name === 'string')) {
    throw refuse('skipTools', 'an array of tool names')
  }
  if (shouldTruncate !== undefined && typeof shouldTruncate !== 'function') throw refuse('shouldTruncate', 'a function')
  const unknown = Object.keys(config).find((key) => !['service', 'skipTools', 'shouldTruncate'].includes(key))
  if (unknown !== undefined) throw refuse(unknown, 'one of service, skipTools, shouldTruncate')
  return config
}
