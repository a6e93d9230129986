/** How much of a model's context its input may use, and whether a history uses more. */

import { call, native } from '../native/native'
import { isArray } from '../util/guards'
import { amount, checkGiven, checkOption, checkOptions, flag, object } from '../validation/options'

/** Limits of a model. */
export interface ModelLimits {
  /** Input and output together, in tokens. 0 if unknown. */
  context: number
  /**
   * Output limit in tokens.
   * @default 0, which is not known
   */
  output?: number
  /** Input limit in tokens, where the provider has one besides the context. */
  input?: number
}

/** The tokens of a request as providers count them. */
export interface TokenUsage {
  /** Everything together; if it is missing or 0, the sum of the others. */
  total?: number
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
}

/** Options of {@link isContextFull}. */
export interface ContextFullOptions {
  model: ModelLimits
  /** The tokens of the last request, not the sum over several. */
  usage: TokenUsage
  /**
   * Tokens that stay free for the next answer. The output limit stays free in any case.
   * @default 20000, or the output limit if that is less; a fifth of a window that is not larger
   */
  reservedTokens?: number
  /**
   * `false` turns compaction off: then the result is always false.
   * @default true
   */
  auto?: boolean
}

const CHECKS = {
  model: object,
  usage: object,
  reservedTokens: amount,
  auto: flag,
} as const
const MODEL = { context: amount, output: amount, input: amount } as const
const USAGE_KEYS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
const USAGE = Object.fromEntries(['total', ...USAGE_KEYS].map((key) => [key, amount]))

/**
 * Returns the tokens that the input of a request may have: the context minus the output limit or the reserved tokens, whichever is
 * more, and at most the provider's input limit minus the reserved tokens.
 *
 * @returns `undefined` if the context is unknown, or if nothing would be left
 * @throws SpillwayError `INVALID_ARGUMENT` if a number is not allowed
 */
export function usableTokens(model: ModelLimits, reservedTokens?: number): number | undefined {
  checkOptions('model', model, MODEL)
  checkOption('reservedTokens', reservedTokens, amount)
  const { context, output = 0, input } = model
  checkGiven('model.context', context, amount)
  return call(() => native.usableTokens(context, output, input, reservedTokens)) ?? undefined
}

/**
 * Returns true if the next request would be too long, judging by the last one, so that it is time to compact. Always false if the
 * model's context is unknown.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` if an option is not allowed
 */
export function isContextFull(options: ContextFullOptions): boolean {
  checkOptions('options', options, CHECKS)
  const { model, usage, reservedTokens, auto = true } = options
  checkOptions('options.usage', usage, isArray(usage) ? {} : USAGE)
  const usable = usableTokens(model, reservedTokens)
  const used = usage.total || USAGE_KEYS.reduce((sum, key) => sum + (usage[key] ?? 0), 0)
  return auto && usable !== undefined && used >= usable
}
