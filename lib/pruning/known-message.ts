/** A message of a history, with what the pruner knows of it. */

import type { HistoryReading } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import type { MessageView, ViewFormat } from '../history/message-view'

/** A message that was read. */
export class KnownMessage implements HistoryReading {
  view: MessageView = OTHER
  format: ViewFormat | undefined = undefined
  /** UTF-16 units of everything in it: by this it is known again in another process. */
  size = 0
  itemsBefore = 0
  /** Nothing in front of this index may change: a message up to here has signed reasoning. */
  boundTo = 0
  resultsBefore = 0
  /** How many of its items are left out, and the copy without them, once it was made. */
  gone = 0
  /** True if its signed reasoning is removed. */
  isWithoutThinking = false
  copy: object | undefined = undefined

  constructor(public object: unknown) {}
}
