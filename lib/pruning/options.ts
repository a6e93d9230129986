/** The options of {@link HistoryPruner}, checked, and what they mean for the binary. */

import { SpillwayError } from '../errors'
import type { ThinkingMode } from '../history/bound-thinking'
import { LEDGER_CHECK, type ToolResultKnowledge } from '../history/ledger'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import type { NoticeLanguage } from '../types'
import { definedOf } from '../util/defined'
import { isArray } from '../util/guards'
import { messageOf } from '../util/message-of'
import { tellCaller, warn } from '../util/warn'
import {
  amount,
  type Check,
  checkOptions,
  count,
  flag,
  fn,
  isNonEmptyString,
  milliseconds,
  noticeLanguage,
  oneOf,
  stringOrFn,
  strings,
} from '../validation/options'
import { isRecord, listed, wrong } from '../validation/validate'
import { type PolicyName, type PrunePolicy, readPolicy, type TrimRule, tokens } from './policies'
import { isPrice, type KnownPrices, MAX_PRICE, type PrunePrices, pricesOf, warnOfUnknownModel } from './prices'
import { type EditingRules, editingRules } from './provider-editing'

/** Facts about a pruned item, for its placeholder. */
export interface PrunedInfo {
  kind: 'result' | 'arguments'
  toolName?: string
  toolCallId?: string
  /** Its size in tokens, estimated. */
  tokens: number
  /** Path of the saved output, if the ledger, the message or the notice in its text names it. */
  outputPath?: string
}

/** Options of {@link HistoryPruner}. */
export interface HistoryPrunerOptions {
  /**
   * The numbers and words of a known agent, as defaults of the other options: `opencode` has its budget, its placeholder,
   * its estimate of tokens and its protected tool, and prunes whenever it can; `openclaw` has its pressure, keeps 3
   * messages of the model and the preamble, and waits for a cold cache; `snow` prunes superseded reads at once.
   */
  profile?: 'opencode' | 'openclaw' | 'snow'
  /**
   * Policies that select what may be pruned.
   * @default ['results']
   */
  policies?: readonly PrunePolicy[]
  /**
   * Number of newest results that are kept. A whole number of at least 0, or `Infinity`. Results that the model has not seen
   * yet always stay, however many they are.
   * @default 5; 1 for the policy `results` if placeholders have an `index`
   */
  keepRecent?: number
  /**
   * Older results are also kept while fewer than this number of results followed their last use. A use is an answer that contains
   * a path, an identifier or a number of the result for the first time. For the policies `results`, `pressure` and `arguments`. A
   * whole number of at least 0, or
   * `Infinity`; 0 turns it off.
   * @default 0; 3 for the policy `results` if placeholders have an `index`
   */
  keepUsed?: number
  /**
   * Number of newest model messages that are kept, with everything after the first of them. Nothing is pruned until there are that
   * many. A whole number of at least 0, or `Infinity`.
   * @default 0
   */
  keepMessages?: number
  /**
   * True if everything before the first user message is kept, such as the agent's identity. Without a user message nothing is pruned.
   * @default false
   */
  keepPreamble?: boolean
  /**
   * Results of failed calls stay.
   * @default false
   */
  keepErrors?: boolean
  /**
   * Results of these tools stay. `*` stands for any characters; case and `-`, `_`, `.` between words do not matter.
   * @default []
   */
  protectedTools?: readonly string[]
  /**
   * Prunes only results of these tools, with `*` as above; a tool that is protected as well stays.
   * @default all tools
   */
  onlyTools?: readonly string[]
  /**
   * When to prune. `cache`: when it pays, given what the provider's prompt cache saves. `cold`: only when the cache has expired
   * because nothing was sent for `cacheLifetimeMs`; then everything that may be pruned is pruned. `always`: prunes at once; for
   * providers without a cache, or if only the room counts.
   * @default 'cache'
   */
  schedule?: 'cache' | 'cold' | 'always'
  /**
   * The size of the context window, required by the policy `pressure`: tokens, above 0.
   * @default 200000
   */
  contextWindow?: number
  /**
   * Prices of tokens, relative to each other, or the id of the model, whose prices are looked up in a dated table
   * (`docs/pruning.md`). Without a cache all three are the same. By default, and for a model that is not in the table, a read counts
   * 0.05 and a write 1.25, and `maxLoss` holds for every price of a read from 0.025 up. An id that resembles one in the table is warned
   * of once.
   * @default { read: 0.05, write: 1.25, miss: 1.25 }
   */
  prices?: PrunePrices | string
  /**
   * Lifetime of the provider's cache after its last use: milliseconds, or `Infinity`.
   * @default 300000, or that of the model named in `prices`
   */
  cacheLifetimeMs?: number
  /**
   * Maximum extra cost of all requests together compared with no pruning, as a fraction: 0.1 is 10 %. Guaranteed by construction,
   * as far as the estimates of tokens and the prices are right.
   * @default 0.1
   */
  maxLoss?: number
  /**
   * Treatment of signed reasoning. `keep-prefix`: nothing before the last signed block changes, because current Claude models
   * refuse a request in which the messages before a block have changed; results left out before the block was created stay left
   * out. `remove`: with a change all signed blocks after it are removed, and those before it stay. `provider-drops`: the
   * provider drops the blocks after a change, as the request of `toProvider('anthropic')` asks it to. `ignore`: signed blocks have
   * no influence, for models that do not check them.
   * @default 'keep-prefix'
   */
  thinking?: ThinkingMode | 'remove' | 'provider-drops'
  /**
   * Placeholder of a pruned item, or a function that returns one. If the function throws or does not return a string, an error is
   * reported, and the default is used. An item that is shorter than its
   * placeholder is not pruned.
   * @default a sentence that names the file with the full output, if there is one
   */
  placeholder?: string | ((info: PrunedInfo) => string)
  /**
   * The default placeholder of a result lists words of the result that occur nowhere else in the request: paths, identifiers and
   * numbers that agents are likely to use again. `long`: at most 6,000 bytes. `short`: at most 2,000 bytes. `false`: no list, and
   * `keepRecent` is 5. A custom `placeholder`, or that of a profile, has no list.
   * @default 'long'
   */
  index?: 'short' | 'long' | false
  /**
   * The language of the default placeholder.
   * @default 'en'
   */
  language?: NoticeLanguage
  /**
   * Metadata recorded when the tools finished. It is more reliable than the message about the tool of a result, whether the
   * call failed, when it finished, and where the full output was saved. Read once for each result.
   */
  ledger?: ToolResultKnowledge
  /**
   * The storage that full outputs were saved in: only paths that it owns are used. Without it, a path printed by the tool is used
   * only if this process saved it, and a path that the host wrote into a message is trusted.
   */
  storage?: OutputOwner
  /**
   * Returns the tokens of a text. If it throws or returns no number, the error is reported and the built-in estimate is used.
   * @default the built-in estimate
   */
  estimateTokens?: (text: string) => number
  /**
   * Called for every error while pruning; the messages are returned regardless.
   * @default a warning of the process
   */
  onError?: (error: SpillwayError) => void
}

/** The options with their defaults, as the facade reads them. */
export interface PrunerSettings {
  readonly rules: object
  /** Prices before anything was observed. */
  readonly known: KnownPrices
  /** True if the caller gave the prices by number. */
  readonly hasOwnPrices: boolean
  /** True if a policy needs to know if a result failed or comes from a terminal. */
  readonly needsFacts: boolean
  /** True if a policy needs to know which file was read. */
  readonly needsReads: boolean
  /** True if a policy needs to know which command was run. */
  readonly needsCommands: boolean
  readonly prunesArguments: boolean
  /** True if nothing in front of signed reasoning may change. */
  readonly keepsPrefix: boolean
  /** True if signed reasoning after a change is removed with it. */
  readonly removesThinking: boolean
  /** The types of the policies, in their order. */
  readonly policies: readonly PolicyName[]
  /** The same rules for the provider's own editing. */
  readonly editing: EditingRules
  /** How results are trimmed, if they are. */
  readonly trim: TrimRule | undefined
  readonly protectedTools: readonly string[]
  readonly onlyTools: readonly string[] | undefined
  readonly ledger: ToolResultKnowledge | undefined
  readonly storage: OutputOwner | undefined
  readonly placeholder: string | ((info: PrunedInfo) => string) | undefined
  /** True if results that the agent uses stay longer. */
  readonly keepsUsed: boolean
  /** How many words of their result placeholders list. */
  readonly index: 'short' | 'long' | false
  readonly language: NoticeLanguage
  readonly estimateTokens: ((text: string) => number) | undefined
  /** Says that something went wrong; never throws. */
  readonly tell: (error: SpillwayError) => void
}

export const pricesOrModel: Check = [
  'an object, or the id of a model that is not empty',
  (value) => isRecord(value) || isNonEmptyString(value),
]

/** Validation of each option. */
export const PRUNER_CHECKS: { readonly [K in keyof HistoryPrunerOptions]-?: Check } = {
  profile: oneOf('opencode', 'openclaw', 'snow'),
  policies: ['an array of policies', isArray],
  keepRecent: count,
  keepUsed: count,
  keepMessages: count,
  keepPreamble: flag,
  keepErrors: flag,
  protectedTools: strings,
  onlyTools: strings,
  schedule: oneOf('cache', 'cold', 'always'),
  contextWindow: ['a number of tokens above 0', (value) => tokens[1](value) && value !== 0],
  prices: pricesOrModel,
  cacheLifetimeMs: milliseconds,
  maxLoss: amount,
  thinking: oneOf('keep-prefix', 'remove', 'provider-drops', 'ignore'),
  placeholder: stringOrFn,
  index: [`${listed(['short', 'long'])}, or false`, (value) => ['short', 'long', false].includes(value as never)],
  language: noticeLanguage,
  ledger: LEDGER_CHECK,
  storage: owner,
  estimateTokens: fn,
  onError: fn,
}

const price: Check = [`a number from 0 to ${MAX_PRICE}`, isPrice]

/** The policies that pass over the results of failed calls. */
const COUNTS_ERRORS: readonly string[] = ['outdated', 'superseded', 'budget']

const PRICES: { readonly [K in keyof PrunePrices]: Check } = { read: price, write: price, miss: price }

const PROFILES: Readonly<Record<NonNullable<HistoryPrunerOptions['profile']>, HistoryPrunerOptions>> = {
  opencode: {
    policies: ['budget'],
    schedule: 'always',
    protectedTools: ['skill'],
    placeholder: '[Old tool result content cleared]',
    estimateTokens: (text) => Math.round(text.length / 4),
  },
  openclaw: {
    policies: ['pressure'],
    schedule: 'cold',
    keepRecent: 0,
    keepMessages: 3,
    keepPreamble: true,
    placeholder: '[Old tool result content cleared]',
    estimateTokens: (text) => text.length / 4,
  },
  snow: {
    policies: [{ type: 'superseded', commands: false }],
    schedule: 'always',
    placeholder: '[该文件的历史读取内容已压缩,请参看最新读取结果]',
  },
}

/** Tokens of results that are too few to be worth a placeholder in place of most of them. */
const FEW = 4000

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option */
export function readPrunerOptions(given: HistoryPrunerOptions = {}, of = 'options'): PrunerSettings {
  checkOptions(of, given, PRUNER_CHECKS)
  const set = definedOf(given)
  const options: HistoryPrunerOptions = { ...(given.profile && PROFILES[given.profile]), ...set }
  const { placeholder, thinking = 'keep-prefix' } = options
  const removesThinking = thinking === 'remove'
  const { prices, cheapest, lifetimeMs } = readPrices(options.prices, `${of}.prices`)
  const cacheLifetimeMs = options.cacheLifetimeMs ?? lifetimeMs
  const schedule = options.schedule ?? 'cache'
  const index = placeholder === undefined && (options.index ?? 'long')
  const policies = (options.policies ?? ['results']).map((policy, at) => {
    const read = readPolicy(policy, `${of}.policies[${at}]`)
    if (read.type === 'pressure') return { ...read, contextWindow: options.contextWindow ?? 200_000 }
    return read.type === 'results' ? { minTokens: index === false || schedule === 'always' ? 0 : FEW, ...read } : read
  })
  const types = policies.map(({ type }) => type)
  const keepErrors = options.keepErrors ?? false
  // An index of words stands for the others.
  const isIndexed = index !== false && types.includes('results')
  const keepUsed = options.keepUsed ?? (isIndexed ? 3 : 0)
  return {
    rules: {
      removesThinking,
      policies,
      keepRecent: wholeOrNull(options.keepRecent ?? (isIndexed ? 1 : 5)),
      keepMessages: wholeOrNull(options.keepMessages ?? 0),
      keepPreamble: options.keepPreamble ?? false,
      keepErrors,
      keepUsed: wholeOrNull(keepUsed),
      prices,
      cheapest,
      cacheLifetimeMs: finiteOrNull(cacheLifetimeMs),
      maxLoss: finiteOrNull(options.maxLoss ?? 0.1),
      schedule,
    },
    known: { prices, cheapest, lifetimeMs: cacheLifetimeMs },
    hasOwnPrices: isRecord(options.prices),
    needsFacts: keepErrors || types.some((type) => COUNTS_ERRORS.includes(type)),
    needsReads: types.includes('superseded'),
    needsCommands: policies.some(({ type, commands }) => type === 'superseded' && commands === true),
    keepsUsed: keepUsed > 0,
    keepsPrefix: thinking === 'keep-prefix',
    removesThinking,
    prunesArguments: types.includes('arguments'),
    policies: types as PolicyName[],
    editing: editingRules(options, policies),
    // With several trim rules the first one applies: a result is trimmed once.
    trim: policies.find(({ type }) => type === 'pressure') as unknown as TrimRule | undefined,
    protectedTools: options.protectedTools ?? [],
    onlyTools: options.onlyTools,
    ledger: options.ledger,
    storage: options.storage,
    placeholder: typeof placeholder === 'string' ? placeholder.toWellFormed() : placeholder,
    index,
    language: options.language ?? 'en',
    estimateTokens: options.estimateTokens,
    tell: (error) => (options.onError ? tellCaller('onError', options.onError, error) : warn('pruning', error)),
  }
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the price */
export function readPrices(given: PrunePrices | string | undefined, of: string): KnownPrices {
  if (typeof given === 'string') warnOfUnknownModel(of, given)
  if (typeof given === 'string' || given === undefined) return pricesOf(given)
  checkOptions(of, given, PRICES)
  const { read, write, miss } = given
  for (const [name, value] of Object.entries({ read, write, miss })) {
    if (value === undefined) throw wrong(`${of}.${name}`, undefined, price[0])
  }
  const prices = { read, write, miss }
  return { ...pricesOf(undefined), prices, cheapest: prices }
}

/** JSON has no infinity. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function wholeOrNull(value: number): number | null {
  return Number.isSafeInteger(value) ? value : null
}

/** Wraps a problem in `SpillwayError`. */
export function pruningError(what: string, thrown: unknown): SpillwayError {
  return new SpillwayError('CALLBACK', `${what}: ${messageOf(thrown)}`, { cause: thrown })
}
