/** The usage that a provider reports with a response, in the names of each provider and framework. */

import { definedOf } from '../util/defined'
import { isCount } from '../util/guards'
import { messageOf } from '../util/message-of'
import { describe, isRecord } from '../validation/validate'

/** Tokens of a request, as its provider counted them. */
export interface PromptUsage {
  /** All tokens of the prompt, those read from the cache included. */
  promptTokens: number
  /** Tokens read from the cache; missing if the usage does not say. */
  cacheReadTokens?: number
  /** Tokens written to the cache; missing if the usage does not say. */
  cacheWriteTokens?: number
  /** Why the usage was not used, or only in part. */
  problem?: string
}

/** The same with what only some providers report. */
export interface ReadUsage extends PromptUsage {
  /** True if most of what was written to the cache stays there for an hour. */
  isLongLived: boolean
  /** Price of a token, in any currency, where the usage has costs. */
  prices?: { read?: number; write?: number; input?: number }
}

/** Field names of a usage. A path has `.` between its names. */
interface UsageShape {
  /** The prompt with what was read from the cache, or without it: one of the two. */
  all?: string
  fresh?: string
  read?: readonly string[]
  write?: string
  /** Tokens that stay in the cache for an hour. */
  long?: string
  /** Prefix of the costs. */
  cost?: string
  /** The usage has one of these fields; shapes with the same names otherwise differ by it. */
  has?: string
}

/** The first one that fits counts. */
const SHAPES: readonly UsageShape[] = [
  // Gemini.
  { all: 'promptTokenCount', read: ['cachedContentTokenCount'] },
  // Chat completions; DeepSeek has names of its own for hits, gateways one for writes.
  {
    all: 'prompt_tokens',
    read: ['prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens'],
    write: 'prompt_tokens_details.cache_write_tokens',
  },
  // Responses.
  { all: 'input_tokens', read: ['input_tokens_details.cached_tokens'], has: 'input_tokens_details' },
  // LangChain.
  {
    all: 'input_tokens',
    read: ['input_token_details.cache_read'],
    write: 'input_token_details.cache_creation',
    has: 'input_token_details',
  },
  // Anthropic.
  {
    fresh: 'input_tokens',
    read: ['cache_read_input_tokens'],
    write: 'cache_creation_input_tokens',
    long: 'cache_creation.ephemeral_1h_input_tokens',
  },
  // AI SDK: models since version 6, its results since version 6, version 5.
  { all: 'inputTokens.total', read: ['inputTokens.cacheRead'], write: 'inputTokens.cacheWrite' },
  {
    all: 'inputTokens',
    read: ['inputTokenDetails.cacheReadTokens'],
    write: 'inputTokenDetails.cacheWriteTokens',
    has: 'inputTokenDetails',
  },
  { all: 'inputTokens', read: ['cachedInputTokens'], has: 'cachedInputTokens' },
  // OpenAI Agents SDK.
  {
    all: 'inputTokens',
    read: ['inputTokensDetails.cached_tokens', 'inputTokensDetails.0.cached_tokens'],
    has: 'inputTokensDetails',
  },
  // Bedrock's Converse; without the names of its cache it is any of those above.
  { fresh: 'inputTokens', read: ['cacheReadInputTokens'], write: 'cacheWriteInputTokens' },
  // OpenCode.
  { fresh: 'input', read: ['cache.read'], write: 'cache.write', has: 'cache' },
  // pi.
  { fresh: 'input', read: ['cacheRead'], write: 'cacheWrite', cost: 'cost' },
]

/** Reads a usage. Never throws: what cannot be used says so in `problem`. */
export function readUsage(usage: unknown): ReadUsage {
  try {
    return countsOf(usage)
  } catch (thrown) {
    // A proxy or a getter threw.
    return unused(`it could not be read: ${messageOf(thrown)}`)
  }
}

function countsOf(usage: unknown): ReadUsage {
  const shape = isRecord(usage) ? SHAPES.find((candidate) => fits(usage, candidate)) : undefined
  if (shape === undefined) return unused('no field of it names the tokens of a prompt')
  const { all, fresh, read = [], write, long } = shape
  const counts = {
    prompt: valueAt(usage, all ?? fresh),
    read: read.map((path) => valueAt(usage, path)).find((value) => value !== undefined),
    write: valueAt(usage, write),
    long: valueAt(usage, long),
  }
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !isCount(value)) return unused(`the number of its ${name} tokens is ${describe(value)}`)
  }
  const { prompt = 0, read: hits, write: written, long: lasting = 0 } = counts as Record<string, number | undefined>
  const promptTokens = all === undefined ? prompt + (hits ?? 0) + (written ?? 0) : prompt
  if (promptTokens === 0) return unused('the prompt has 0 tokens')
  const cacheReadTokens = hits === undefined ? undefined : Math.min(hits, promptTokens)
  const cacheWriteTokens = written === undefined ? undefined : Math.min(written, promptTokens - (cacheReadTokens ?? 0))
  const problem = problemOf({ hits, written, promptTokens })
  const prices = shape.cost === undefined ? undefined : pricesIn(usage, shape.cost, { prompt, hits, written })
  return {
    promptTokens,
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(problem !== undefined && { problem }),
    ...(prices && { prices }),
    isLongLived: lasting > (written ?? 0) / 2,
  }
}

/** Why counts of a cache cannot be right. */
function problemOf(counts: {
  hits: number | undefined
  written: number | undefined
  promptTokens: number
}): string | undefined {
  const { hits = 0, written = 0, promptTokens } = counts
  if (hits > promptTokens) return `${hits} tokens read from the cache are more than the prompt has`
  if (hits + written > promptTokens) return `${hits + written} tokens read and written are more than the prompt has`
  return undefined
}

function unused(problem: string): ReadUsage {
  return { promptTokens: 0, isLongLived: false, problem }
}

function fits(usage: object, { all, fresh, has }: UsageShape): boolean {
  const prompt = valueAt(usage, all ?? fresh)
  return typeof prompt === 'number' && (has === undefined || Object.hasOwn(usage, has))
}

/** `null` stands for what a provider does not say. */
function valueAt(usage: unknown, path: string | undefined): unknown {
  if (path === undefined) return undefined
  let value = usage
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? undefined
}

function isAmount(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0
}

/** Cost of each kind of token, for each kind that was used. */
function pricesIn(
  usage: unknown,
  prefix: string,
  { prompt, hits, written }: { prompt: number; hits: number | undefined; written: number | undefined },
): ReadUsage['prices'] {
  const per = (name: string, tokens: number | undefined) => {
    const cost = valueAt(usage, `${prefix}.${name}`)
    return isAmount(cost) && cost !== 0 && tokens ? (cost as number) / tokens : undefined
  }
  const all = { read: per('cacheRead', hits), write: per('cacheWrite', written), input: per('input', prompt) }
  const known = definedOf(all)
  return Object.keys(known).length > 0 ? known : undefined
}
