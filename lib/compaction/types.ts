/** The request to a summariser. */

import type { NoticeLanguage } from '../types'

/** Parts of the request besides the history. They count as tokens, and the summariser receives them. */
export interface CompactionEnvironment {
  systemPrompt?: string
  /** The definitions of tools, in whatever form they are sent. */
  tools?: unknown
  /** Skills, or other texts for the model. */
  skills?: unknown
}

/** Request to the summariser. */
export interface SummaryRequest<M = unknown> {
  /** The complete prompt: instructions, the previous summary, and the messages. */
  prompt: string
  /** Only the instructions, for callers who send the messages themselves. */
  instructions: string
  /** The messages that the summary replaces, oldest first: the same objects, with their full outputs. */
  messages: readonly M[]
  /** `history`: everything before the turns that are kept. `turn`: the beginning of a turn whose rest is kept. */
  part: 'history' | 'turn'
  /** The previous summary, to be updated; `undefined` the first time. */
  previousSummary: string | undefined
  /** Parts of the request besides the history. */
  environment: CompactionEnvironment | undefined
  /** Token limit of the summary. */
  maxTokens: number
  /** The language of the conversation, as far as that is known. */
  language: NoticeLanguage
  /** Aborted when the time limit is reached, or when the caller's signal is aborted. */
  signal: AbortSignal
}
