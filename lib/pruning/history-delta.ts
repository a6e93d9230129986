/** The part of a history that is new, while it is read. */

import type { ResultText } from '../history/message-cache'
import type { MessageView, ResultView } from '../history/message-view'
import type { Columns } from './history-columns'

/** State of the reader. */
export interface News {
  readonly columns: Columns
  /** Facts about the texts of all results, as the core encodes them, and how many are consumed; `undefined` if not needed. */
  readonly facts: readonly number[] | undefined
  next: number
  /** Words of each result that its placeholder lists, and how many are consumed; `undefined` if it lists none. */
  readonly words: readonly string[] | undefined
  nextWords: number
}

/** Returns the words of the next result. */
export function nextWords(news: News): string {
  return news.words?.[news.nextWords++] ?? ''
}

/** The texts of all results. */
export function textsOfResults(views: readonly MessageView[]): string[] {
  const texts: string[] = []
  for (const { results } of views) {
    for (let place = 0; place < results.length; place++) {
      const { text } = results[place] as ResultView
      if (typeof text === 'string') texts.push(text)
      else for (const part of text) texts.push(part)
    }
  }
  return texts
}

/** Returns the facts about the texts of the next result. */
export function nextFacts(text: ResultText, news: News): number {
  if (news.facts === undefined) return 0
  let facts = 0
  for (let part = typeof text === 'string' ? 1 : text.length; part > 0; part--)
    facts |= news.facts[news.next++] as number
  return facts
}
