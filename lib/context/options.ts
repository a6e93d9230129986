/** The options of {@link ContextManager}, and what they mean for its parts. */

import { COMPACT_CHECKS, type CompactOptions, readCompactOptions } from '../compaction/options'
import type { CompactionState } from '../compaction/report'
import type { SpillwayError } from '../errors'
import { recordsOf, type ToolResultKnowledge } from '../history/ledger'
import type { OverflowProfile } from '../overflow/limits'
import { type HistoryPrunerOptions, PRUNER_CHECKS, pruningError, readPrunerOptions } from '../pruning/options'
import { type PolicyName, type PrunePolicy, readPolicy } from '../pruning/policies'
import { type OutputOwner, owner } from '../storage/saved-outputs'
import type { NoticeLanguage } from '../types'
import { definedOf } from '../util/defined'
import {
  aboveZero,
  anything,
  type Check,
  checkOptions,
  fn,
  isAboveZero,
  object,
  objectOrOff,
} from '../validation/options'
import { isRecord, readable } from '../validation/validate'

/** The settings of a policy, without its type. */
type PolicySettings<Name extends PolicyName> = Omit<Extract<PrunePolicy, { type: Name }>, 'type'>

/** Options that all steps share. */
type SharedOption =
  | 'contextWindow'
  | 'reserveTokens'
  | 'environment'
  | 'estimateTokens'
  | 'language'
  | 'ledger'
  | 'storage'

/** Options of {@link ContextManager}. */
export interface ContextManagerOptions<M = unknown> {
  /** The model's window in tokens; 0 or nothing: unknown. */
  contextWindow?: number
  /**
   * Maximum bytes of a request: of the JSON of its messages and of `environment`, with binary data in base64. Above this limit the oldest
   * images and files are replaced by notes, down to three quarters of it; a `storage` with `saveBytes` saves them. Those in messages
   * after the model's last answer stay, and if these are too large `fits` is false.
   * @default the documented limit of the provider that `prepare` is given, if it has one; without a provider that of the format: 32 MB
   * for `anthropic`, 50 MB for `openai-responses` and `openai-agents`, 20 MB for `gemini`, none for others
   */
  maxRequestBytes?: number
  /**
   * Maximum number of images in a request; the oldest are replaced in the same way.
   * @default in the same way: 100 for `anthropic`, 500 for `openai-responses` and `openai-agents`, none for others
   */
  maxImages?: number
  /** Tokens that stay free in addition to the room for an answer. @default 0 */
  reserveTokens?: number
  /** Parts of the request besides the history: they count as tokens, and the summariser receives them. */
  environment?: CompactOptions['environment']
  /** Tokens of a text. @default the built-in estimate */
  estimateTokens?: (text: string) => number
  /**
   * The language of the texts that Spillway adds to the history. @default that of what the user said; of placeholders English
   */
  language?: NoticeLanguage
  /** Metadata recorded when the tools finished: preferred over the messages. */
  ledger?: ToolResultKnowledge
  /** The storage that full outputs were saved in: with it, only paths that it owns are named. */
  storage?: OutputOwner
  /** Prunes results of terminal tools that are older than 15 minutes. @default true */
  outdated?: boolean | PolicySettings<'outdated'>
  /** Prunes reads of a file that newer reads cover, and results of commands that were run again. @default true */
  superseded?: boolean | PolicySettings<'superseded'>
  /** Prunes results beyond the newest 40,000 tokens of results. @default true */
  budget?: boolean | PolicySettings<'budget'>
  /** Further options of these three: when they prune, and what they may prune. None of them reads `keepUsed`. */
  pruning?: Omit<
    HistoryPrunerOptions,
    'policies' | 'profile' | 'contextWindow' | 'ledger' | 'storage' | 'estimateTokens' | 'language' | 'onError'
  >
  /**
   * `false`: no compaction. Without `summarize`, only old outputs are replaced. Its `thinking` follows that of `pruning` by default.
   * @default old outputs are replaced when the window is nearly full
   */
  compaction?:
    | false
    | Omit<CompactOptions<M>, SharedOption | 'state' | 'signal' | 'force' | 'targetTokens' | 'usedTokens'>
  /**
   * Profile that truncates the results of a history that still does not fit; `false` sends it unchanged.
   * @default 'openclaw'
   */
  overflow?: false | OverflowProfile
  /**
   * Receives the calls whose results left the request, by pruning, a compaction or the provider, so that reading them again does
   * not count as a loop: a `DoomLoopDetector`.
   */
  doomLoop?: { forget(toolCallIds: readonly string[]): void }
  /**
   * Receives the same calls, so that later pointers do not refer to them: a `FoldSession`. With `callsStay` the calls are still sent. A session
   * is restored from the first request if that has results of another process.
   */
  fold?: { forget(toolCallIds: readonly string[], options?: { callsStay?: boolean }): void }
  /** Receives every error; the messages are returned regardless. @default a warning of the process */
  onError?: (error: SpillwayError) => void
}

const settings: Check = ['true, false or an object', (value) => typeof value === 'boolean' || isRecord(value)]
const forgets = (value: unknown) => typeof (value as { forget?: unknown } | null)?.forget === 'function'

/** The limits of a request. */
export const LIMIT_CHECKS: { readonly [K in 'maxRequestBytes' | 'maxImages']: Check } = {
  maxRequestBytes: ['a number of bytes above 0', isAboveZero],
  maxImages: aboveZero,
}

export const CONTEXT_CHECKS: { readonly [K in keyof ContextManagerOptions]-?: Check } = {
  ...LIMIT_CHECKS,
  contextWindow: anything,
  reserveTokens: anything,
  environment: anything,
  estimateTokens: anything,
  language: anything,
  ledger: anything,
  storage: owner,
  outdated: settings,
  superseded: settings,
  budget: settings,
  pruning: object,
  compaction: objectOrOff,
  overflow: [
    "false, 'openclaw' or 'openclaw-2026-02'",
    (value) => [false, 'openclaw', 'openclaw-2026-02'].includes(value as never),
  ],
  doomLoop: ['an object with forget', forgets],
  fold: ['an object with forget', forgets],
  onError: fn,
}

/** The policies of the pruner, in the order in which they are asked. */
export const POLICIES = ['outdated', 'superseded', 'budget'] as const

/** Options of the manager are not options of a part: a single step would follow them. */
const BESIDE = ['contextWindow', 'reserveTokens', 'environment', 'estimateTokens', 'language', 'ledger', 'storage']
const COMPACTION = without(COMPACT_CHECKS, [...BESIDE, 'state', 'signal', 'force', 'targetTokens', 'usedTokens'])
const PRUNING = without(PRUNER_CHECKS, [...BESIDE, 'policies', 'profile', 'onError'])

function without(checks: Readonly<Record<string, Check>>, keys: readonly string[]): Record<string, Check> {
  return Object.fromEntries(Object.entries(checks).filter(([key]) => !keys.includes(key)))
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the option by its path */
export function checkParts<M>(options: ContextManagerOptions<M>): void {
  const { compaction, pruning } = options
  if (compaction) {
    checkOptions('options.compaction', compaction, COMPACTION)
    readCompactOptions(compaction, 'options.compaction')
  }
  if (pruning !== undefined) {
    checkOptions('options.pruning', pruning, PRUNING)
    readPrunerOptions(pruning, 'options.pruning')
  }
  for (const type of POLICIES) {
    const own = options[type]
    if (typeof own === 'object')
      readPolicy({ ...readable(`options.${type}`, () => ({ ...own })), type }, `options.${type}`)
  }
}

function shared<M>({
  contextWindow,
  reserveTokens,
  environment,
  estimateTokens,
  language,
  ledger,
  storage,
}: ContextManagerOptions<M>): Pick<CompactOptions<M>, SharedOption> {
  const all = { contextWindow, reserveTokens, environment, estimateTokens, language, ledger, storage }
  return definedOf(all)
}

/** The options of a compaction. */
export function compactOptions<M>(
  options: ContextManagerOptions<M>,
  state: CompactionState | undefined,
): CompactOptions<M> {
  const { pruning: { thinking: own } = {}, compaction } = options
  // A compaction that says nothing else follows the pruner.
  const thinking = own === 'ignore' || own === 'provider-drops' ? 'ignore' : 'keep-prefix'
  return { thinking, ...definedOf(compaction || {}), ...shared(options), ...(state && { state }) }
}

/** The options of the pruner; `counts` receives the facts of the ledger. */
export function prunerOptions<M>(
  options: ContextManagerOptions<M>,
  onError: (error: SpillwayError) => void,
  counts: { known: number },
): HistoryPrunerOptions {
  const policies = POLICIES.filter((type) => options[type] !== false).map((type): PrunePolicy => {
    const own = options[type]
    return typeof own === 'object' ? ({ ...own, type } as PrunePolicy) : type
  })
  const { estimateTokens, language, ledger, storage } = options
  const counting = ledger && {
    get: (id: string) => ledger.get(id),
    getAll: (id: string) => {
      const known = recordsOf(ledger, id, (thrown) => onError(pruningError('ledger', thrown)))
      if (known.length > 0) counts.known++
      return known
    },
  }
  return {
    ...options.pruning,
    policies,
    onError,
    ...(estimateTokens && { estimateTokens }),
    ...(language && { language }),
    ...(counting && { ledger: counting }),
    ...(storage && { storage }),
  }
}
