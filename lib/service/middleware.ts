/** Truncates tool results of any structure before the model reads them, and never throws. */

import { SpillwayError } from '../errors'
import { rememberOutput } from '../storage/saved-outputs'
import { opened } from '../truncation/bounded-output'
import { failureOf } from '../truncation/call-outcome'
import { boundValue, fromResult, sound, textOfValue } from '../truncation/content'
import { emit } from '../truncation/events'
import { rememberPreview } from '../truncation/previews'
import { observe } from '../truncation/record-result'
import { shortenUnsaved } from '../truncation/strategies'
import type {
  ITruncationStorage,
  MiddlewareContext,
  OutputService,
  ToolResultLike,
  TruncatedResult,
  TruncationContext,
  TruncationMiddleware,
  TruncationMiddlewareConfig,
  TruncationOptions,
  TruncationResult,
  UntouchedResult,
} from '../types'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { catchLater, warn } from '../util/warn'
import { checkKeys, hasFunctions, isRevoked, wrong } from '../validation/validate'
import { TruncationService } from './service'

/** The middleware of what bounds results: itself, or one around the service. */
export function middlewareOf(truncation: OutputService | TruncationMiddleware): TruncationMiddleware
export function middlewareOf(
  truncation: OutputService | TruncationMiddleware | undefined,
): TruncationMiddleware | undefined
export function middlewareOf(truncation: OutputService | TruncationMiddleware | undefined) {
  if (truncation === undefined || typeof truncation === 'function') return truncation
  return createTruncationMiddleware({ service: truncation })
}

/**
 * Middleware for a host's tool executor. Results within limits keep their output; longer ones get a preview, and
 * `metadata` describes the saved output: `truncated`, `truncationPath`, `truncationRemovedLines`, `truncationRemovedBytes`.
 *
 * A result with its own `metadata.truncated` stays unchanged up to the hard ceiling. If anything fails, the result is still
 * returned, truncated, and an `error` event has the reason.
 *
 * @throws SpillwayError `INVALID_CONFIG` for invalid options, at once
 */
export function createTruncationMiddleware<R extends ToolResultLike = ToolResultLike>(
  config: TruncationMiddlewareConfig<R>,
): TruncationMiddleware<R> {
  const { service, skipTools, shouldTruncate, ledger } = checkConfig(config)
  const skipped = new Set(skipTools)

  /** The error of a result reaches the model or a log like any other text. */
  const boundError = async (
    result: R,
    toolName: string,
    context: MiddlewareContext | undefined,
    handled: boolean,
  ): Promise<R> => {
    const error = result?.error
    if (!isLong(error)) return isTorn(error) ? { ...result, error: error.toWellFormed() } : result
    const full: TruncationContext = { ...context, toolName: nameOf(service, toolName, context), failed: true }
    if (handled) full.handled ??= true
    const { value, result: answer } = await boundSafely(service, error, full)
    if (!answer?.truncated) return result
    const metadata = result.metadata?.truncated === true ? undefined : truncatedMetadata(answer)
    return { ...result, error: value, metadata: { ...result.metadata, ...metadata } }
  }

  const decide = (ask: NonNullable<typeof shouldTruncate>, toolName: string, result: R) => {
    try {
      const decision: unknown = ask(toolName, result)
      if (catchLater('shouldTruncate', decision)) {
        throw new SpillwayError('CALLBACK', 'shouldTruncate must answer at once')
      }
      return typeof decision === 'object' && decision !== null ? (decision as TruncationOptions) : decision !== false
    } catch (error) {
      reportTo(service, { toolName }, error)
      return true
    }
  }

  const bound = async (toolName: string, result: R, context?: MiddlewareContext): Promise<R> => {
    try {
      const output = result?.output
      const handled = result?.metadata?.truncated !== undefined
      if (output === undefined || output === null || output === '') {
        return await boundError(result, toolName, context, handled)
      }
      if (skipped.size > 0 && skipped.has(toolName)) return withOutput(result, sound(opened(output).value))
      const { metadata } = result
      const decision = shouldTruncate && !handled ? decide(shouldTruncate, toolName, result) : true
      if (decision === false) return withOutput(result, sound(opened(output).value))
      const full: TruncationContext = { ...context, toolName: nameOf(service, toolName, context) }
      if (failureOf(result, full) === true) full.failed = true
      if (handled) full.handled ??= true
      if (typeof decision === 'object') full.options = decision
      const { value, result: answer } = await boundSafely(service, output, full)
      if (answer?.truncated) {
        const bounded = { ...result, output: value, metadata: { ...metadata, ...truncatedMetadata(answer) } }
        // Executors put the message of an error into both fields.
        return result.error === output
          ? { ...bounded, error: value }
          : await boundError(bounded, toolName, context, handled)
      }
      const whole = handled
        ? withOutput(result, value)
        : { ...result, output: value, metadata: { ...metadata, ...wholeMetadata(answer) } }
      const { error } = result
      return isLong(error) || isTorn(error) ? await boundError(whole, toolName, context, handled) : whole
    } catch (error) {
      // Only the result itself can get us here, by a getter that throws: there is nothing to bound.
      reportTo(service, { ...context, toolName: context?.toolName ?? toolName }, error)
      return result
    }
  }
  if (ledger === undefined) return bound as TruncationMiddleware<R>
  const recorded = async (toolName: string, result: R, context?: MiddlewareContext): Promise<R> => {
    const bounded = await bound(toolName, result, context)
    const { toolCallId, toolName: named = toolName, failed, exitCode } = context ?? {}
    observe(ledger, { toolCallId, toolName: named, result, bounded, failed, exitCode })
    return bounded
  }
  return recorded as TruncationMiddleware<R>
}

/** Errors are rarely longer than a few lines; shorter ones need no second look. */
const MAX_ERROR_UNITS = 1000

function isLong(error: unknown): error is string {
  return typeof error === 'string' && error.length > MAX_ERROR_UNITS
}

/** One lone surrogate in a request makes providers refuse the whole session. */
function isTorn(error: unknown): error is string {
  return typeof error === 'string' && !error.isWellFormed()
}

/** The tool's name for the context; an invalid name is reported once and replaced. */
function nameOf(service: OutputService, toolName: unknown, context: MiddlewareContext | undefined): string {
  const name: unknown = context?.toolName ?? toolName
  if (typeof name === 'string') return name
  reportTo(service, undefined, wrong('context.toolName', name, 'a string'))
  return typeof toolName === 'string' ? toolName : 'tool'
}

function withOutput<R extends ToolResultLike>(result: R, output: unknown): R {
  return output === result.output ? result : { ...result, output }
}

function wholeMetadata(answer: UntouchedResult<unknown> | undefined): Record<string, unknown> {
  return { truncated: false, ...(answer?.raw?.outputPath && { truncationPath: answer.raw.outputPath }) }
}

function truncatedMetadata(answer: TruncatedResult<unknown>): Record<string, unknown> {
  // A service of the caller's has a storage of its own.
  rememberOutput(answer.outputPath)
  return {
    truncated: true,
    truncationPath: answer.outputPath,
    truncationRemovedLines: answer.removedLines,
    truncationRemovedBytes: answer.removedBytes,
  }
}

/**
 * Bounds a value and never throws: a wrong option or a wrong context is reported, and the next simpler call is tried.
 * The plainest one is by the defaults, without saving. The signal of the call has no effect: what is there already is saved.
 */
export async function boundSafely(
  service: OutputService,
  value: unknown,
  { signal: _, ...context }: TruncationContext,
): Promise<{ value: unknown; result?: TruncationResult<unknown> }> {
  try {
    // Most outputs are text, and one promise less is a good part of what a small one costs.
    if (typeof value === 'string') return fromResult(await service.output(value, context))
    const { value: content, made } = opened(value)
    const bounded = await boundValue(service, content, context)
    if (made === undefined || bounded.result?.truncated !== false) return bounded
    return { ...bounded, result: { ...made, content: bounded.value } }
  } catch (error) {
    reportTo(service, context, error)
  }
  const plain: TruncationContext = { toolName: 'tool', failed: context.failed === true }
  const { options: _wrong, ...withoutOptions } = context
  const simpler: (() => ReturnType<typeof boundValue>)[] = [
    () => boundValue(service, value, withoutOptions),
    () => boundValue(service, value, plain),
    () => boundValue(new TruncationService({ storage: [NOWHERE] }), value, plain),
  ]
  for (const attempt of simpler) {
    try {
      return await attempt()
    } catch (error) {
      reportTo(service, context, error)
    }
  }
  return boundUnsaved(value)
}

/**
 * If a service fails, its outputs are not saved: only it knows where they may be saved, and what must be redacted in them.
 */
const NOWHERE: ITruncationStorage = {
  save: () => Promise.reject(new SpillwayError('STORAGE_WRITE', 'truncation failed')),
  read: () => Promise.reject(new SpillwayError('STORAGE_NOT_OWNED', 'nothing is kept')),
  cleanup: () => Promise.resolve(0),
  getStorageDir: () => '',
}

/** When saving is out of the question, a value that is too long is still bounded, and says that the rest is lost. */
function boundUnsaved(value: unknown): { value: unknown; result?: TruncationResult<unknown> } {
  const content = shortenUnsaved(textOfValue(value))
  if (content === undefined) return { value: sound(value) }
  const result = { content, truncated: true as const, outputPath: '' }
  rememberPreview({ ...result, hint: content })
  return { value: content, result }
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
  if (isRevoked(config)) throw wrong('config', config, 'an object', 'INVALID_CONFIG')
  const service: unknown = config?.service
  if (!hasFunctions('service', service, ['output'], 'INVALID_CONFIG')) {
    throw wrong('service', service, 'an object with an output function', 'INVALID_CONFIG')
  }
  checkKeys('', config, ['service', 'skipTools', 'shouldTruncate', 'ledger'], 'INVALID_CONFIG')
  const { skipTools, shouldTruncate, ledger } = config
  if (skipTools !== undefined && !(isArray(skipTools) && skipTools.every((name) => typeof name === 'string'))) {
    throw wrong('skipTools', skipTools, 'an array of tool names', 'INVALID_CONFIG')
  }
  if (shouldTruncate !== undefined && typeof shouldTruncate !== 'function') {
    throw wrong('shouldTruncate', shouldTruncate, 'a function', 'INVALID_CONFIG')
  }
  if (ledger !== undefined && !hasFunctions('ledger', ledger, ['record'], 'INVALID_CONFIG')) {
    throw wrong('ledger', ledger, 'a ToolResultLedger', 'INVALID_CONFIG')
  }
  return config
}
