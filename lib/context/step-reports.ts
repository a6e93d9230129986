/** Reports of the steps of a manager. */

import type { CompactionReport } from '../compaction/report'
import type { ToolResultKnowledge } from '../history/ledger'
import type { MediaLimits } from '../overflow/provider-limits'
import { type PruneReport, REASON_WORDS } from '../pruning/report'
import { numberText } from '../util/format'
import type { POLICIES } from './options'

/** A step of {@link ContextManager.prepare}. */
export interface ContextStep {
  step: 'ledger' | 'media' | 'outdated' | 'superseded' | 'budget' | 'compaction' | 'overflow'
  /** `off`: turned off by an option. `nothing`: it had nothing to do. */
  outcome: 'done' | 'nothing' | 'off'
  /**
   * Results that it looked up, replaced or shortened at this request, and images; with a summary, the messages that it replaces.
   */
  items: number
  /** Tokens that it freed at this request. */
  freed: number
  /** Why, in words. */
  reason: string
}

/** Report of the overflow guard. */
export interface Guarded {
  texts: { index: number; place: number; text: string }[]
  freed: number
  problem: string | undefined
}

/** `1 result was`, `2 results were`, `No result was`. */
function counted(count: number, noun: string): string {
  if (count === 0) return `No ${noun} was`
  return count === 1 ? `1 ${noun} was` : `${count} ${noun}s were`
}

export function ledgerOutcome(ledger: ToolResultKnowledge | undefined, known: number): ContextStep {
  const outcome = ledger === undefined ? 'off' : known > 0 ? 'done' : 'nothing'
  const reason = ledger === undefined ? 'There is no ledger.' : `${counted(known, 'new result')} found in the ledger.`
  return { step: 'ledger', outcome, items: known, freed: 0, reason }
}

/** A request that exceeds its limits. */
export interface OverLimits {
  readonly size: MediaLimits
  readonly limits: MediaLimits
}

export function mediaOutcome({ items, freed }: { items: number; freed: number }, over?: OverLimits): ContextStep {
  const words =
    items > 1
      ? `${items} images and files were replaced by notes.`
      : `${counted(items, 'image or file')} replaced by a note.`
  const reason = [words, ...(over === undefined ? [] : overWords(over))].join(' ')
  return { step: 'media', outcome: items > 0 ? 'done' : 'nothing', items, freed, reason }
}

/** Says what is too much in a request. */
function overWords({ size, limits }: OverLimits): string[] {
  const isLong = size.bytes > limits.bytes
  const bytes = `The request has ${numberText(size.bytes)} bytes and may have ${numberText(limits.bytes)}.`
  const images = `The request has ${numberText(size.images)} images and may have ${numberText(limits.images)}.`
  return [...(isLong ? [bytes] : []), ...(size.images > limits.images ? [images] : [])]
}

/** `rounds`: what the pruner said each time it was asked at this request. */
export function policyOutcome(
  type: (typeof POLICIES)[number],
  isOn: boolean,
  rounds: readonly PruneReport[],
): ContextStep {
  if (!isOn) return { step: type, outcome: 'off', items: 0, freed: 0, reason: 'It is switched off.' }
  const took = rounds.filter(({ pruned }) => pruned.some(({ policy }) => policy === type))
  const mine = took.flatMap(({ pruned }) => pruned.filter(({ policy }) => policy === type))
  const freed = mine.reduce((sum, { tokens }) => sum + tokens, 0)
  const reasons = new Set((took.length > 0 ? took : rounds.slice(-1)).map(({ reason }) => reason))
  return {
    step: type,
    outcome: mine.length > 0 ? 'done' : 'nothing',
    items: mine.length,
    freed,
    reason: `${counted(mine.length, 'result')} pruned: ${[...reasons].map((reason) => REASON_WORDS[reason]).join('; ')}.`,
  }
}

const COMPACTED: Readonly<Record<CompactionReport['action'], string>> = {
  none: 'Nothing was replaced',
  outputs: 'Notes replaced old outputs',
  summary: 'A summary replaced old messages',
}

export function compactionOutcome(
  isOn: boolean,
  compaction: { report: CompactionReport; freed: number } | undefined,
): ContextStep {
  const step = 'compaction'
  if (!isOn) return { step, outcome: 'off', items: 0, freed: 0, reason: 'It is switched off.' }
  if (compaction === undefined) return { step, outcome: 'nothing', items: 0, freed: 0, reason: 'There is room.' }
  const { report, freed } = compaction
  const { action, reason, messagesBefore, messagesAfter, replacedOutputs, replacedMedia } = report
  const items = action === 'summary' ? messagesBefore - messagesAfter + 1 : replacedOutputs + replacedMedia
  const words = `${COMPACTED[action]} (${reason})${report.error ? `: ${report.error.message}` : ''}.`
  return { step, outcome: action === 'none' ? 'nothing' : 'done', items, freed, reason: words }
}

/** The outcome of a compaction that left too much, as part of a sentence. */
export function compactionWords(isOn: boolean, report: CompactionReport | undefined): string {
  if (!isOn) return 'compaction is switched off'
  if (report === undefined) return 'compaction was not due'
  const { action, reason, error } = report
  if (error !== undefined) return `compaction failed (${reason}): ${error.message}`
  return `${action === 'none' ? 'nothing was compacted' : 'compaction was not enough'} (${reason})`
}

export function overflowOutcome(isOn: boolean, guard: Guarded | undefined): ContextStep {
  const step = 'overflow'
  if (!isOn)
    return { step, outcome: 'off', items: 0, freed: 0, reason: 'It is switched off, or the window is unknown.' }
  if (guard === undefined) return { step, outcome: 'nothing', items: 0, freed: 0, reason: 'It fits.' }
  const { texts, freed, problem } = guard
  const outcome = texts.length > 0 ? 'done' : 'nothing'
  const words = `${counted(texts.length, 'result')} truncated`
  const reason = problem === undefined ? `${words}.` : texts.length > 0 ? `${words}; ${problem}` : problem
  return { step, outcome, items: texts.length, freed, reason }
}
