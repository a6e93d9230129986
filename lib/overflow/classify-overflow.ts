/** Classification of a provider's error or answer: did the request overflow the context? */

import { call, native } from '../native/native'
import { checkKeys, isRecord, wrong } from '../validation/validate'
import { type ErrorFacts, gather } from './parse-error'

/** Kind of an error. */
export type OverflowKind =
  /** The request is too long for the model's context, or for the provider. */
  | 'overflow'
  /** A rate limit was exceeded: requests or tokens per minute. Wait; shortening the request does not help permanently. */
  | 'rate'
  /** A single field of the request is too long: shorten it. */
  | 'field'
  /** Signed reasoning comes after a message that has changed since: remove the reasoning. */
  | 'thinking-binding'
  /** Encrypted reasoning comes from another organisation or model: remove it. */
  | 'encrypted-reasoning'
  /** A call lacks the signature that the model gave it, or has another's. */
  | 'thought-signature'
  /** Another error, or an unknown one. */
  | 'other'

/** Facts about the request from other sources. */
export interface ClassifyOverflowOptions {
  /** Your estimate of the request, in tokens. It decides about refusals without a message. */
  estimatedTokens?: number
  /** The model's context window, in tokens. An answer whose usage is above it is an unreported overflow. */
  contextWindow?: number
}

/** Result of {@link classifyOverflow}. */
export interface OverflowClass {
  /** True if `kind` is `'overflow'`. */
  overflow: boolean
  kind: OverflowKind
  /**
   * `'high'`: a code, a status or a wording that has one meaning. `'medium'`: a wording of no known provider, or a status.
   * `'low'`: only circumstances suggest it, or nothing was recognised.
   */
  confidence: 'high' | 'medium' | 'low'
  /** Tokens of the request as the provider counted them, including those reserved for the answer if it counts them. */
  actualTokens?: number
  /** The limit in tokens: for an overflow the model's window, for a rate limit the tokens per time. */
  limitTokens?: number
  /** Tokens of {@link actualTokens} that the request reserved for the answer: asking for fewer may be enough. */
  outputTokens?: number
  /** Length of a field, in the units in which the provider counts it. */
  actualLength?: number
  /** Limit of a field, in the same units. */
  limitLength?: number
  /** The provider whose wording was recognised, such as `'anthropic'`; a proxy may pass on the message of another provider. */
  provider?: string
  /** Evidence: a code, or the name of a rule. For logs. */
  matched?: string
}

const OPTIONS = ['estimatedTokens', 'contextWindow'] as const

/**
 * Determines if an error, or an answer, means that the request was too long for the model's context window.
 *
 * Takes any value that a client throws or returns: errors of the providers' packages, of the AI SDK and LangChain, events of
 * a stream, bodies as objects or JSON, a message, an answer with its stop reason and usage. It follows `cause`, changes nothing,
 * and never throws because of the value.
 *
 * In order: rate limits, limits of single fields, codes, wordings, the status 413, a status 400 or 413 without a body
 * (an overflow only if the estimate is at least 80 % of the window), and answers that ended at once because of their length.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for a wrong option
 */
export function classifyOverflow(errorOrResponse: unknown, options: ClassifyOverflowOptions = {}): OverflowClass {
  checkOptions(options)
  const candidates: ErrorFacts[] = gather(errorOrResponse)
  const { estimatedTokens, contextWindow } = options
  const request = JSON.stringify({ candidates, estimatedTokens, contextWindow })
  return JSON.parse(call(() => native.classifyOverflow(request))) as OverflowClass
}

function checkOptions(options: ClassifyOverflowOptions): void {
  const given: unknown = options
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  checkKeys('options', options, OPTIONS)
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || (typeof value === 'number' && value >= 0 && Number.isFinite(value))) continue
    throw wrong(`options.${key}`, value, 'a number of tokens of at least 0')
  }
}
