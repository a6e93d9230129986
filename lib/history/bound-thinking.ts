/** Reasoning that its provider only accepts after exactly the messages that it was created after. */

import { elementOf, formatOf, type ReadViews, viewsIn } from './formats'
import { get } from './formats/safe-read'

/** Treatment of signed reasoning in a history that is to change. */
export type ThinkingMode =
  /** Nothing before it changes; if something has to, the reasoning is removed. */
  | 'keep-prefix'
  /** It has no influence: the provider does not check it, or was asked to drop blocks that no longer fit. */
  | 'ignore'

/**
 * The messages without the signed reasoning after the first that differs from `before`: a provider refuses a request in which
 * such a block follows another message than the one it was made after. Blocks in front of it stay.
 */
export function withoutStaleThinking<M>(before: readonly M[], after: M[], read = viewsIn(after)): M[] {
  if (after === before) return after
  let first = 0
  while (first < after.length && after[first] === before[first]) first++
  return withoutBoundThinking(after, read, first)
}

/** Returns the messages without the signed reasoning from `first` up to `end`; the array itself if there is none. */
export function withoutBoundThinking<M>(
  messages: M[],
  { format, views }: ReadViews,
  first = 0,
  end = messages.length,
): M[] {
  let copy: M[] | undefined
  for (let at = first; at < end; at++) {
    if (format === undefined || views[at]?.bound === undefined) continue
    const message = elementOf(messages, at)
    const changed = message && formatOf(format, message)?.withoutThinking(message)
    if (changed === undefined) continue
    copy ??= messages.slice()
    copy[at] = changed as M
  }
  return copy ?? messages
}

/** The messages without all reasoning that the provider ties to where it was made: for a provider that refused it. */
export function withoutRefusedThinking<M>(messages: M[], read: ReadViews): M[] {
  const rest = withoutBoundThinking(messages, read)
  return rest.some(isEncrypted) ? rest.filter((message) => !isEncrypted(message)) : rest
}

/** An item of OpenAI's with nothing but reasoning, which only the organisation that it was made for can send again. */
function isEncrypted(message: unknown): boolean {
  const item = get(message, 'type') === 'response_item' ? get(message, 'payload') : message
  if (get(item, 'type') !== 'reasoning') return false
  const encrypted = get(item, 'encrypted_content') ?? get(get(item, 'providerData'), 'encrypted_content')
  return typeof encrypted === 'string' && encrypted !== ''
}
