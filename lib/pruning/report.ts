/** The report of a pruned request, and its wording. */

import type { HistoryFormatName } from '../history/message-view'
import type { PrunedInfo } from './options'
import { infoOf } from './placeholder'
import type { PolicyName } from './policies'
import type { HistoryItem } from './prunable-item'

/** The reason why something was pruned or not. */
export type PruneReason =
  /** There is nothing that may be pruned. */
  | 'nothing-to-free'
  /** The cache has expired anyway, or the change costs less than it saves at once. */
  | 'free'
  /** The accumulated carry cost has reached a fifth of the cost of the change. */
  | 'pays'
  /** The schedule is `always`. */
  | 'always'
  /** It has not been carried long enough. */
  | 'too-early'
  /** The schedule is `cold`, and the cache is not. */
  | 'warm'
  /** It would pay, but the savings so far and `maxLoss` do not cover the cost yet. */
  | 'savings-too-small'
  /** The messages could not be read; they are returned unchanged. */
  | 'unreadable'
  /** The messages are in no known format; they are returned unchanged. */
  | 'unknown-format'

/** The reasons in short, as parts of a sentence; {@link explainReport} has them with their numbers. */
export const REASON_WORDS: Readonly<Record<PruneReason, string>> = {
  'nothing-to-free': 'there was nothing to free',
  free: 'the change cost nothing',
  pays: 'the change pays',
  always: 'the schedule prunes at once',
  'too-early': 'the change would not pay yet',
  warm: 'the schedule waits until the cache is cold',
  'savings-too-small': 'the savings so far do not cover the change',
  unreadable: 'the history could not be read',
  'unknown-format': 'the format of the history is not known',
}

/** An item that was pruned for the first time. */
export interface PrunedItem extends PrunedInfo {
  /** Index of the message. */
  index: number
  /** The policy that selected it; the first if there are several. */
  policy: PolicyName
  /** True if its start and its end stay; it can still be pruned later. */
  trimmed?: true
}

/** Ids of the calls whose results are pruned as a whole. */
export function leftResults(pruned: readonly PrunedItem[]): string[] {
  return pruned.flatMap(({ kind, toolCallId, trimmed }) =>
    kind === 'result' && toolCallId !== undefined && trimmed === undefined ? [toolCallId] : [],
  )
}

/** Report of one call of `HistoryPruner.prune`. Priced tokens are tokens times their price. */
export interface PruneReport {
  reason: PruneReason
  /** Items pruned or trimmed for the first time. */
  pruned: PrunedItem[]
  /** Number of items that are pruned or trimmed by now. */
  total: number
  /** Tokens of all messages, estimated. */
  tokensBefore: number
  /** Tokens of the messages that are sent, estimated. */
  tokensAfter: number
  /** True if the provider's cache had expired. */
  cold: boolean
  /** Tokens that were freed, or, if nothing was pruned, that could have been freed. */
  freed: number
  /** Priced tokens that freeing them costs at this request; negative if it saves at once. */
  price: number
  /** Priced tokens that carrying them has cost so far. */
  carried: number
  /** Priced tokens that may be spent on a change: the savings so far and the share of `maxLoss`. */
  savings: number
  /** Priced tokens of all requests so far, and what they would have been without pruning. */
  cost: { paid: number; unpruned: number }
  /** Number of messages at the start in which nothing changes, because signed reasoning is bound to them; missing if there are none. */
  bound?: number
  /** Number of results that the provider left out by itself, as `accept` read; missing if there are none. */
  clearedByProvider?: number
  /** Format of the history; `undefined` if no message is in a known format. */
  format?: HistoryFormatName
}

export function prunedItem(item: HistoryItem, policy: PolicyName): PrunedItem {
  const pruned = infoOf(item) as PrunedItem
  pruned.index = item.index
  pruned.policy = policy
  return pruned
}

/** The report of a history that could not be read. */
export function unreadReport(): PruneReport {
  const nothing = { freed: 0, price: 0, carried: 0, savings: 0, cold: false, tokensBefore: 0, tokensAfter: 0, total: 0 }
  return { reason: 'unreadable', pruned: [], ...nothing, cost: { paid: 0, unpruned: 0 } }
}

/** Returns a decision, as sentences for a person. */
export function explainReport(report: PruneReport): string {
  const { reason, freed, price, carried, savings, cost, cold } = report
  const [tokens, costs, rent, available] = [freed, price, carried, savings].map((value) => round(value))
  const sentences: Record<PruneReason, string> = {
    'nothing-to-free':
      report.bound === undefined
        ? 'Nothing could be pruned.'
        : `Nothing could be pruned: signed reasoning is bound to the first ${report.bound} messages.`,
    free: cold
      ? `The cache was cold, so ${tokens} tokens were pruned at once.`
      : `${tokens} tokens were pruned, because nothing after them had to be paid again.`,
    pays: `${tokens} tokens were pruned: carrying them had cost ${rent} priced tokens, and the change costs ${costs}.`,
    always: `${tokens} tokens were pruned, as the schedule prunes at once.`,
    'too-early': `${tokens} tokens could be pruned, but the change would cost ${costs} priced tokens, and carrying them has cost ${rent} so far.`,
    warm: `${tokens} tokens could be pruned, and will be when the cache is cold.`,
    'savings-too-small': `${tokens} tokens could be pruned and that would pay, but the change costs ${costs} priced tokens, and only ${available} may be spent.`,
    unreadable: 'The history could not be read and is sent unchanged.',
    'unknown-format': 'The history is in no known format and is sent unchanged.',
  }
  const share = cost.unpruned > 0 ? (100 * cost.paid) / cost.unpruned : 100
  const cleared = report.clearedByProvider
    ? ` The provider has cleared ${report.clearedByProvider} results by itself.`
    : ''
  return `${sentences[reason]}${cleared} So far the session has cost ${share.toFixed(1)} % of what it would have cost without pruning.`
}

function round(value: number): string {
  return String(Math.round(value))
}
