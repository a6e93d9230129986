/** The middleware that truncates the result of a tool. */

import type { TruncationContext, TruncationOptions } from './config'
import type { ContentOf, TruncationContent } from './content'
import type { ToolResultRecorder } from './records'
import type { TruncationResult } from './result'

/** The fields of a tool result that middleware needs; the host's own type is returned. */
export interface ToolResultLike {
  /** The text for the model, or any other value. */
  output?: unknown
  success?: boolean
  isError?: boolean
  /** The message of a failed call. A long one is truncated too. */
  error?: unknown
  metadata?: Record<string, unknown>
}

/** Options of `createTruncationMiddleware`. */
export interface TruncationMiddlewareConfig<R extends ToolResultLike = ToolResultLike> {
  service: OutputService
  /** Tools whose output is never changed. */
  skipTools?: readonly string[]
  /** Decides for each result: `false` returns it unchanged; options override the configuration for this call. */
  shouldTruncate?: (toolName: string, result: R) => boolean | TruncationOptions
  /** Records every finished call that has a `toolCallId`: a `ToolResultLedger`. */
  ledger?: ToolResultRecorder
}

/** Facts about a call of a tool; without `toolName` the tool is the one that the middleware was called for. */
export type MiddlewareContext = Omit<TruncationContext, 'toolName'> & Partial<Pick<TruncationContext, 'toolName'>>

/**
 * Runs after a tool and returns its result, truncated to the limits, with facts about that in `metadata`. Never throws. A long
 * `output` that is not text becomes text or parts of a message.
 */
export type TruncationMiddleware<R extends ToolResultLike = ToolResultLike> = <T extends R>(
  toolName: string,
  result: T,
  context?: MiddlewareContext,
) => Promise<T & Pick<ToolResultLike, 'metadata'>>

/** The part of `TruncationService` that middleware uses. */
export interface OutputService {
  output<C extends TruncationContent>(content: C, context: TruncationContext): Promise<TruncationResult<ContentOf<C>>>
}
