/** The request to a summariser. */

import type { NoticeLanguage } from '../types'

/** Parts of the request besides the history. They count as tokens, and the summariser receives them. */
export interface CompactionEnvironment {
  systemPrompt?: string
  /** The definitions of tools, in whatever form they are sent. */
  tools?: unknown
  /** Skills, or whatever else is put before the model. */
  skills?: unknown
}

/** Request to the summariser. */
export interface SummaryRequest<M = unknown> {
  /** Everything in one text, ready to be sent: instructions, the summary so far, and the messages. */
  prompt: string
  /** The instructions alone, for callers who send the messages themselves. */
  instructions: string
  /** The messages that the summary replaces, oldest first: the very objects, with their full outputs. */
  messages: readonly M[]
  /** `history`: everything before the turns that are kept. `turn`: the beginning of a turn whose rest is kept. */
  part: 'history' | 'turn'
  /** The summary so far, to be brought up to date; `undefined` the first time. */
  previousSummary: string | undefined
  /** Parts of the request besides the history. */
  environment: CompactionEnvironment | undefined
  /** Token limit of the summary. */
  maxTokens: number
  /** The language of the conversation, as far as that is known. */
  language: NoticeLanguage
  /** Aborted when the time is up, or when the caller's own signal is. */
  signal: AbortSignal
}
