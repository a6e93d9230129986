/** The messages of a stored history with their state in a request, for a person who looks at it. */

import type { Fold } from '../compaction/apply-summary'
import { hasPointers } from '../fold/restore'
import { Estimate } from '../history/estimate'
import { FoldTexts } from '../history/fold-texts'
import { viewsIn } from '../history/formats'
import type { ToolResultKnowledge } from '../history/ledger'
import { joinedText } from '../history/message-cache'
import type { MessageRole, MessageView } from '../history/message-view'
import { foldsOf, namedResults } from '../history/restore-folds'
import { isSummary } from '../history/summary'
import type { Inner } from './manager-parts'

/** A message of a stored history, or the summary of some of them. */
export interface ListedMessage {
  role: MessageRole
  /** The beginning of its text, or of the calls in it, in one line. */
  text: string
  /** Estimated tokens as it is stored, with the lines that were folded when it was added; 0 for a summary that is not stored. */
  tokensBefore: number
  /** Estimated tokens of what is sent of it. */
  tokensAfter: number
  /**
   * - `kept`: all of it is sent.
   * - `pruned`: something of it is left out or shortened: a result, arguments, images, signed reasoning.
   * - `folded`: some lines of it are pointers to an earlier result.
   * - `compacted`: a summary replaces it.
   * - `summary`: it is one.
   */
  state: 'kept' | 'pruned' | 'folded' | 'compacted' | 'summary'
}

/** UTF-16 units of the text of a message. */
const MAX_TEXT = 200

/** A history as it was stored when a request was made of it, what was sent, and the compaction that was in force. */
export interface Request {
  readonly stored: readonly unknown[]
  readonly sent: readonly unknown[]
  readonly fold: Pick<Fold<unknown>, 'summaryAt' | 'shows'> | undefined
}

export function listedMessages<M>({ options, tell }: Inner<M>, { stored, sent, fold }: Request): ListedMessage[] {
  const estimate = new Estimate(options.estimateTokens, tell)
  const [before, after] = [described(stored, estimate), described(sent, estimate)]
  const freed = freedByFolds(options.ledger, stored, estimate)
  const listed: ListedMessage[] = []
  let place = 0
  for (const [index, { tokens, isOwn, ...message }] of before.entries()) {
    if (index === fold?.summaryAt) {
      const { role, text, tokens: tokensAfter } = after[place++] as Described
      listed.push({ role, text, tokensBefore: 0, tokensAfter, state: 'summary' })
    }
    const folded = freed.get(index) ?? 0
    const tokensBefore = tokens + folded
    if (fold?.shows(index) === false) {
      listed.push({ ...message, tokensBefore, tokensAfter: 0, state: 'compacted' })
      continue
    }
    const isStored = sent[place] === stored[index]
    const { tokens: tokensAfter } = after[place++] as Described
    // Lines are written out again when what a pointer names is pruned.
    const isWhole = isStored ? folded === 0 : folded > 0 && tokensAfter >= tokensBefore
    const shortened = isStored ? 'folded' : 'pruned'
    listed.push({ ...message, tokensBefore, tokensAfter, state: isWhole ? (isOwn ? 'summary' : 'kept') : shortened })
  }
  return listed
}

interface Described extends Pick<ListedMessage, 'role' | 'text'> {
  tokens: number
  /** True for a summary. */
  isOwn: boolean
}

function described(messages: readonly unknown[], estimate: Estimate): Described[] {
  const { views } = viewsIn(messages)
  const tokens = estimate.each(messages, views)
  return views.map((view, index) => ({
    role: view.role,
    text: textOf(view),
    tokens: tokens[index] as number,
    isOwn: isSummary(messages[index], view),
  }))
}

function textOf({ text, calls, results }: MessageView): string {
  const parts = [
    text,
    ...calls.flatMap(({ name = '', argsText }) => [name, argsText]),
    ...results.map((each) => each.text),
  ]
  // Long texts are not joined for their beginning.
  const begins = parts.map((part) =>
    joinedText(part)
      .slice(0, 2 * MAX_TEXT)
      .trim(),
  )
  return begins.join(' ').replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT).toWellFormed()
}

/** Tokens of the lines that pointers stand for, by the message. */
function freedByFolds(
  ledger: ToolResultKnowledge | undefined,
  stored: readonly unknown[],
  estimate: Estimate,
): Map<number, number> {
  const freed = new Map<number, number>()
  if (ledger === undefined) return freed
  const texts = new FoldTexts()
  for (const { index, id, text, called } of namedResults(stored)) {
    const folds = foldsOf(ledger, id)
    texts.note(id, text, called, folds)
    if (folds === undefined || !hasPointers(text, folds)) continue
    const tokens = estimate.text(texts.instead(id, text, folds)) - estimate.text(text)
    freed.set(index, (freed.get(index) ?? 0) + Math.max(0, tokens))
  }
  return freed
}
