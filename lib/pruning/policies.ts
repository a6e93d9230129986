/** The policies of {@link HistoryPruner}, checked. */

import { definedOf } from '../util/defined'
import { type Check, checkOptions, count, finite, flag, milliseconds, oneOf } from '../validation/options'
import { listed, wrong } from '../validation/validate'

/**
 * Policies select the items that may be pruned. An item may be pruned if one of them selects it.
 * - `results`: results of tools, all but the newest `keepRecent`, once all together have more than 4,000 tokens;
 * - `outdated`: results of terminal tools older than 15 minutes, as `simplifyOutdatedTerminalResults` judges them;
 * - `superseded`: reads of a file that 5 newer reads of it cover, and results of a command that was run 5 times more;
 * - `budget`: results beyond the newest 40,000 tokens of them, when that frees more than 20,000 tokens;
 * - `pressure`: when the context window fills up, long results are trimmed to their start and end, and if that does not help,
 * results are pruned, oldest first; all but the newest `keepRecent`;
 * - `arguments`: long arguments of old writes and edits.
 */
export type PrunePolicy =
  | 'results'
  | 'outdated'
  | 'superseded'
  | 'budget'
  | 'pressure'
  | 'arguments'
  | {
      type: 'results'
      /**
       * Tokens of all results of the history together, those already pruned included: with no more than this, nothing is pruned.
       * @default 4000; 0 with `schedule: 'always'`, or if placeholders have no `index`
       */
      minTokens?: number
    }
  | {
      type: 'outdated'
      /** Milliseconds, at least 0; results of exactly this age stay. @default 900000 */
      maxAgeMs?: number
    }
  | {
      type: 'superseded'
      /** Number of newer reads of a file that make an older one prunable, if they show the same lines or more. @default 5 */
      keepReads?: number
      /** True if the same command in the same folder counts as a read of the same file, whatever it prints. @default true */
      commands?: boolean
    }
  | {
      type: 'budget'
      /** The newest results stay as long as they have no more tokens than this together. @default 40000 */
      protectTokens?: number
      /** Tokens of the results that would be pruned at once, together: with no more than this, nothing is pruned. @default 20000 */
      minTokens?: number
      /** Number of newest user messages whose results stay. @default 2 */
      protectTurns?: number
      /** Prunes until this number of tokens of results remains. @default prunes all that are not protected */
      targetTokens?: number
      /** Which results are pruned first until `targetTokens` is reached. @default 'oldest' */
      order?: 'oldest' | 'largest'
    }
  | {
      type: 'pressure'
      /** Long results are trimmed from this share of `contextWindow` on. The numbers here are OpenClaw's. @default 0.3 */
      trimAt?: number
      /** From this share on results are pruned, until less is used. @default 0.5 */
      clearAt?: number
      /**
       * Tokens of all results that may be pruned, together and as they are after trimming: with fewer, none is pruned. OpenClaw's number is
       * 50,000 characters.
       * @default 12500
       */
      minTokens?: number
      /** Longest result that is not trimmed, in UTF-16 units. @default 4000 */
      maxChars?: number
      /** Number of units kept at the start. @default 1500 */
      headChars?: number
      /** Number of units kept at the end. @default 1500 */
      tailChars?: number
    }
  | {
      type: 'arguments'
      /** Tokens of the arguments of one call: with fewer, they stay. @default 500 */
      minTokens?: number
    }

/** The types of policies. */
export type PolicyName = Extract<PrunePolicy, string>

/** A policy with its defaults. */
export type Policy = { readonly type: string } & Readonly<Record<string, unknown>>

/** How long a result is too long, in UTF-16 units, and what stays of it. */
export interface TrimRule {
  readonly maxChars: number
  readonly headChars: number
  readonly tailChars: number
}

export const tokens = finite(0, 'tokens')

const type: Check = ['the type of a policy', (value) => typeof value === 'string']

const POLICIES: Readonly<Record<string, { fields: Readonly<Record<string, Check>>; defaults: object }>> = {
  // The default of `minTokens` depends on other options.
  results: { fields: { type, minTokens: tokens }, defaults: {} },
  outdated: { fields: { type, maxAgeMs: milliseconds }, defaults: { maxAgeMs: 15 * 60 * 1000 } },
  superseded: { fields: { type, keepReads: count, commands: flag }, defaults: { keepReads: 5, commands: true } },
  budget: {
    fields: {
      type,
      protectTokens: tokens,
      minTokens: tokens,
      protectTurns: count,
      targetTokens: tokens,
      order: oneOf('oldest', 'largest'),
    },
    // The numbers of OpenCode: what is protected, the least that is worth it, and the turns that stay.
    defaults: { protectTokens: 40_000, minTokens: 20_000, protectTurns: 2, order: 'oldest' },
  },
  pressure: {
    fields: {
      type,
      trimAt: finite(0),
      clearAt: finite(0),
      minTokens: tokens,
      maxChars: count,
      headChars: count,
      tailChars: count,
    },
    // The numbers of OpenClaw.
    defaults: { trimAt: 0.3, clearAt: 0.5, minTokens: 12_500, maxChars: 4000, headChars: 1500, tailChars: 1500 },
  },
  arguments: { fields: { type, minTokens: tokens }, defaults: { minTokens: 500 } },
}

/** @throws SpillwayError `INVALID_ARGUMENT` that names the field */
export function readPolicy(policy: unknown, field: string): Policy {
  const given = typeof policy === 'string' ? { type: policy } : policy
  const name = (given as { type?: unknown } | null | undefined)?.type
  if (typeof name !== 'string') throw wrong(field, policy, listed(Object.keys(POLICIES)))
  if (!Object.hasOwn(POLICIES, name)) {
    throw wrong(typeof policy === 'string' ? field : `${field}.type`, name, listed(Object.keys(POLICIES)))
  }
  const { fields, defaults } = POLICIES[name] as { fields: Readonly<Record<string, Check>>; defaults: object }
  checkOptions(field, given, fields)
  const all: Record<string, unknown> = { ...defaults, ...definedOf(given as Record<string, unknown>), type: name }
  for (const key of ['keepReads', 'protectTurns']) {
    if (all[key] === Number.POSITIVE_INFINITY) all[key] = Number.MAX_SAFE_INTEGER
  }
  if (all.maxAgeMs === Number.POSITIVE_INFINITY) all.maxAgeMs = Number.MAX_VALUE
  return all as unknown as Policy
}
