/** The messages of a stored history with their state in a request, for a person who looks at it. */

import { isDeepStrictEqual } from 'node:util'
import { Estimate } from '../history/estimate'
import { hasPointers } from '../history/fold-records'
import { FoldTexts } from '../history/fold-texts'
import { formatOf, viewsIn } from '../history/formats'
import type { ToolResultKnowledge } from '../history/ledger'
import { joinedText } from '../history/message-cache'
import type { MessageRole, MessageView } from '../history/message-view'
import { namedResults } from '../history/restore-folds'
import { isSummary } from '../history/summary'
import type { Inner, Request } from './manager-parts'

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

export function listedMessages<M>(
  { options, tell }: Inner<M>,
  { stored, sent, appliedSummary }: Request,
): ListedMessage[] {
  const estimate = new Estimate(options.estimateTokens, tell)
  const [before, after] = [described(stored, estimate), described(sent, estimate)]
  const folded = foldedResults(options.ledger, stored, estimate)
  const listed: ListedMessage[] = []
  let place = 0
  for (const [index, { tokens, isOwn, ...message }] of before.entries()) {
    if (index === appliedSummary?.summaryAt) {
      const { role, text, tokens: tokensAfter } = after[place++] as Described
      listed.push({ role, text, tokensBefore: 0, tokensAfter, state: 'summary' })
    }
    const folds = folded.get(index)
    const tokensBefore = tokens + (folds?.freed ?? 0)
    if (appliedSummary?.shows(index) === false) {
      listed.push({ ...message, tokensBefore, tokensAfter: 0, state: 'compacted' })
      continue
    }
    const [own, other] = [stored[index], sent[place]]
    const { tokens: tokensAfter } = after[place++] as Described
    const isStored = other === own
    const isWhole = isStored ? folds === undefined : folds !== undefined && isRestored(own, other, folds.texts)
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

/** The folded results of a message: their texts without pointers, by their places, and the tokens that the pointers free. */
interface Folded {
  readonly texts: Map<number, string>
  freed: number
}

/** The folded results of a history, by their messages. */
function foldedResults(
  ledger: ToolResultKnowledge | undefined,
  stored: readonly unknown[],
  estimate: Estimate,
): Map<number, Folded> {
  const folded = new Map<number, Folded>()
  if (ledger === undefined) return folded
  const texts = new FoldTexts()
  for (const { index, place, id, text, called, folds } of namedResults(stored, ledger)) {
    texts.note(id, text, called, folds)
    if (folds === undefined || !hasPointers(text, folds)) continue
    const whole = texts.instead(id, text, folds)
    const known = folded.get(index) ?? { texts: new Map<number, string>(), freed: 0 }
    known.texts.set(place, whole)
    known.freed += Math.max(0, estimate.text(whole) - estimate.text(text))
    folded.set(index, known)
  }
  return folded
}

/** True for a message in which only folded lines were written out again, because what their pointers name was pruned. */
function isRestored(stored: unknown, sent: unknown, texts: ReadonlyMap<number, string>): boolean {
  const { format: name } = viewsIn([stored])
  const whole = name && formatOf(name, stored)?.withResults(stored as object, texts)
  return whole !== undefined && isDeepStrictEqual(whole, sent)
}
