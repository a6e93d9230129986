/** Recognises a message again: an agent may build its messages again for every request, or in another process. */

import { sameText, unitsOf } from './message-cache'
import type { CallView, MessageView, ResultView } from './message-view'

/** UTF-16 units of everything in a message, and how much in it is not text: by this it is known again. */
export function messageSize({
  text,
  aside = '',
  thinking = '',
  sealed = 0,
  calls,
  results,
  media,
}: MessageView): number {
  let size = unitsOf(text) + aside.length + unitsOf(thinking) + sealed + media
  for (let place = 0; place < calls.length; place++) {
    const { name, argsText } = calls[place] as CallView
    size += (name?.length ?? 0) + argsText.length
  }
  for (let place = 0; place < results.length; place++) {
    const result = results[place] as ResultView
    size += unitsOf(result.text) + result.media
  }
  return size
}

/** True if two messages say the same. */
export function sameView(a: MessageView, b: MessageView): boolean {
  return (
    a.role === b.role &&
    a.media === b.media &&
    a.mediaTokens === b.mediaTokens &&
    a.aside === b.aside &&
    a.sealed === b.sealed &&
    sameText(a.bound ?? '', b.bound ?? '') &&
    sameText(a.thinking ?? '', b.thinking ?? '') &&
    sameText(a.text, b.text) &&
    a.calls.length === b.calls.length &&
    a.results.length === b.results.length &&
    a.calls.every((called, place) => sameCall(called, b.calls[place] as CallView)) &&
    a.results.every((result, place) => sameResult(result, b.results[place] as ResultView))
  )
}

function sameCall(a: CallView, b: CallView): boolean {
  return a.id === b.id && a.name === b.name && a.argsText === b.argsText
}

function sameResult(a: ResultView, b: ResultView): boolean {
  return (
    a.callId === b.callId &&
    a.toolName === b.toolName &&
    a.isError === b.isError &&
    a.media === b.media &&
    a.mediaTokens === b.mediaTokens &&
    sameText(a.text, b.text)
  )
}
