/** Tool results of any format, for the rule about outdated results; chat messages have a faster reader of their own. */

import type { ChatResult, HistoryFormat } from './chat-shape'
import { elementOf, formatNamed, formatOf, viewOf } from './formats'
import { Knowledge } from './message-cache'
import type { HistoryFormatName, ResultView } from './message-view'
import { pairsOf } from './tool-pairs'

/** Facts about the results of a message, by position. */
const remembered = new WeakMap<object, Map<number, Knowledge>>()

/** A result, and where it is. */
interface ViewedResult extends ChatResult {
  copy: object
  readonly message: object
  readonly place: number
  readonly callId: string | undefined
  readonly saved: ResultView
  /** The texts that were put into its message. */
  readonly texts: Map<number, string>
}

/** The results of a history in this format. */
export function viewed(name: HistoryFormatName): HistoryFormat {
  const format = formatNamed(name)
  return {
    read(messages) {
      const found: ViewedResult[] = []
      const texts = new Map<number, Map<number, string>>()
      const pairs = pairsOf(format, messages)
      for (const { message: index, place, call } of pairs.results) {
        const message = elementOf(messages, index)
        const result = message && viewOf(format, message).results[place]
        if (message === undefined || result === undefined) continue
        const called = call === undefined ? undefined : pairs.calls[call]
        const made = called && viewOf(format, elementOf(messages, called.message)).calls[called.place]
        const known = knowledgeAt(message, place)
        known.see(result.text, result.media > 0 || !result.replaceable)
        const toolName = result.toolName ?? made?.name
        if (known.toolName !== toolName) Object.assign(known, { toolName, kind: -1 })
        const shared = texts.get(index) ?? new Map<number, string>()
        texts.set(index, shared)
        found.push({
          index,
          time: result.time ?? Number.NaN,
          failed: result.isError === true,
          copy: message,
          known,
          learnt: undefined,
          message,
          place,
          callId: result.callId ?? made?.id,
          saved: result,
          texts: shared,
        })
      }
      return found
    },
    setText(found, text) {
      const result = found as ViewedResult
      result.texts.set(result.place, text)
      // One that cannot be copied stays as it is.
      result.copy = formatOf(format, result.message)?.withResults(result.message, result.texts) ?? result.message
    },
    placed(found, text) {
      const { copy, message, place } = found as ViewedResult
      if (copy === message) return
      const places = remembered.get(copy) ?? new Map<number, Knowledge>()
      remembered.set(copy, places.set(place, new Knowledge(false, text)))
    },
    toolCallId: (found) => (found as ViewedResult).callId,
    saved: (found) => (found as ViewedResult).saved,
  }
}

function knowledgeAt(message: object, place: number): Knowledge {
  const places = remembered.get(message) ?? new Map<number, Knowledge>()
  const known = places.get(place) ?? new Knowledge(false, undefined)
  remembered.set(message, places.set(place, known))
  return known
}
