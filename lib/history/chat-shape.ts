/** Interface of a message format, so that rules need not know formats. One file per format implements it. */

import type { ToolResultRecord } from '../types'
import type { Knowledge } from './message-cache'
import type { ResultView } from './message-view'

/** A tool result, found in a history. */
export interface ChatResult {
  /** The place in the history of the message that holds it. */
  readonly index: number
  /** When the tool finished, in milliseconds since the epoch; not finite if unknown. */
  readonly time: number
  /** The message says that the call failed. */
  readonly failed: boolean
  /** A private copy of the message; results of one message share it. */
  readonly copy: object
  /** Facts from earlier calls, updated from the message. */
  readonly known: Knowledge
  /** The ledger's record of the call. */
  readonly learnt: Readonly<ToolResultRecord> | undefined
}

/** A way of keeping a history. Nothing here changes what is in the history, and nothing throws. */
export interface HistoryFormat {
  /** Finds the tool results of a history, in its order. */
  read(messages: readonly unknown[]): ChatResult[]
  /** Puts a text in place of the result, in the copy. */
  setText(result: ChatResult, text: string): void
  /** Remembers that the text of the result is a placeholder; nothing in the text says so. */
  placed(result: ChatResult, text: string): void
  /** The call that the result answers. */
  toolCallId(result: ChatResult): string | undefined
  /** The view with the path of the saved output, if the history names one: the view, because its source matters. */
  saved(result: ChatResult): Pick<ResultView, 'outputPath'>
}
