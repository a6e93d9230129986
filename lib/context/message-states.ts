/** The state of each message of a stored history in a request, for a person who looks at it. */

import { hasPointers } from '../fold/restore'
import { Estimate } from '../history/estimate'
import { FoldTexts } from '../history/fold-texts'
import { viewsIn } from '../history/formats'
import { joinedText } from '../history/message-cache'
import type { MessageRole, MessageView } from '../history/message-view'
import { foldsOf, namedResults } from '../history/restore-folds'
import { isSummary } from '../history/summary'
import { wrong } from '../validation/validate'
import type { Inner } from './manager-parts'

/** A message of a stored history, or the summary of some of them. */
export interface ContextMessage {
  role: MessageRole
  /** The beginning of its text, or of the calls in it, in one line. */
  text: string
  /** Estimated tokens as it is stored, with the lines that were folded when it was added; 0 for a summary that is not stored. */
  tokensBefore: number
  /** Estimated tokens of what is sent of it. */
  tokensAfter: number
  /**
   * - `kept`: it is sent as it is stored.
   * - `pruned`: something of it is left out or shortened: a result, arguments, images, signed reasoning.
   * - `folded`: some lines of it are pointers to an earlier result.
   * - `summarised`: a summary replaces it.
   * - `summary`: it is one.
   */
  state: 'kept' | 'pruned' | 'folded' | 'summarised' | 'summary'
}

/** UTF-16 units of the text of a message. */
const MAX_TEXT = 200

/** @throws SpillwayError `INVALID_ARGUMENT` if `sent` was not made of this history by the last request */
export function messageStates<M>(inner: Inner<M>, stored: readonly M[], sent: readonly M[]): ContextMessage[] {
  const { fold } = inner
  const shows = (index: number) => fold?.shows(index) !== false
  const count = stored.filter((_, index) => shows(index)).length + (fold === undefined ? 0 : 1)
  if (sent.length !== count) throw wrong('prepared', sent, 'the result of the last request, for these messages')
  const estimate = new Estimate(inner.options.estimateTokens, inner.tell)
  const [before, after] = [described(stored, estimate), described(sent, estimate)]
  const freed = freedByFolds(inner, stored, estimate)
  const states: ContextMessage[] = []
  let place = 0
  for (const [index, { tokens, isOwn, ...message }] of before.entries()) {
    if (index === fold?.summaryAt) {
      const { role, text, tokens: tokensAfter } = after[place++] as Described
      states.push({ role, text, tokensBefore: 0, tokensAfter, state: 'summary' })
    }
    const folded = freed.get(index)
    const stateOf = () => {
      if (!shows(index)) return 'summarised'
      if (sent[place] !== stored[index]) return 'pruned'
      if (folded !== undefined) return 'folded'
      return isOwn ? 'summary' : 'kept'
    }
    const state = stateOf()
    const tokensAfter = shows(index) ? (after[place++] as Described).tokens : 0
    states.push({ ...message, tokensBefore: tokens + (folded ?? 0), tokensAfter, state })
  }
  return states
}

interface Described extends Pick<ContextMessage, 'role' | 'text'> {
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
function freedByFolds<M>({ options }: Inner<M>, stored: readonly M[], estimate: Estimate): Map<number, number> {
  const freed = new Map<number, number>()
  const { ledger } = options
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
