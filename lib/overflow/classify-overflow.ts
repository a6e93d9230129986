/** Classification of a provider's error or answer: did the request overflow the context? */

import { call, native } from '../native/native'
import { checkKeys, isRecord, wrong } from '../validation/validate'
import { type ErrorFacts, gather } from './parse-error'

/** Kind of an error. */
export type OverflowKind =
  /** The request is too long for the model's context, or for the provider. */
  | 'overflow'
  /** Too much in a time: requests, or tokens per minute. Wait; shortening the request does not help for good. */
  | 'rate'
  /** One field of the request is too long by itself: shorten that one. */
  | 'field'
  /** Signed reasoning stands behind a message that has changed since it was made: leave it out. */
  | 'thinking-binding'
  /** Encrypted reasoning is of another organisation or model: leave it out. */
  | 'encrypted-reasoning'
  /** A call lacks the signature that the model gave it, or has another's. */
  | 'thought-signature'
  /** Something else, or nothing that is known. */
  | 'other'

/** Facts about the request from other sources. */
export interface ClassifyOverflowOptions {
  /** Our own estimate of the request, in tokens. Decides about refusals that say nothing. */
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
   * `'low'`: nothing speaks for it but the circumstances, or nothing was recognised.
   */
  confidence: 'high' | 'medium' | 'low'
  /** Tokens of the request as the provider counted them, with those reserved for the answer if it counts them in. */
  actualTokens?: number
  /** Tokens that there are: of an overflow the model's window, of a rate limit the tokens per time. */
  limitTokens?: number
  /** Tokens of {@link actualTokens} that the request reserved for the answer: asking for fewer may be enough. */
  outputTokens?: number
  /** Length of a field, in the units in which the provider counts it. */
  actualLength?: number
  /** Limit of a field, in the same units. */
  limitLength?: number
  /** Whose wording it is, such as `'anthropic'`. A proxy passes on the words of others. */
  provider?: string
  /** Evidence: a code, or the name of a rule. For logs. */
  matched?: string
}

const OPTIONS = ['estimatedTokens', 'contextWindow'] as const

/**
 * Says whether an error, or an answer, means that the request did not fit into the model's context.
 *
 * Takes whatever a client throws or gives back: errors of the providers' packages, of the AI SDK and LangChain, events of
 * a stream, bodies as objects or JSON, a message, an answer with its stop reason and usage. It looks into causes, and
 * changes nothing. Never throws for what it is given, however odd.
 *
 * In order: rate limits, limits of single fields, codes, wordings, the status 413, a status 400 or 413 without a body
 * (an overflow only if the estimate is at least 80 % of the window), and answers that were cut off at once.
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
