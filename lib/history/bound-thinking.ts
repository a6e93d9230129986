/** Reasoning that its provider only accepts after exactly the messages that it was created after. */

import { jsonRecord } from '../util/json'
import { elementOf, formatOf, type ReadViews, viewsIn } from './formats'
import { NO_THINKING } from './formats/content-blocks'
import { type Edit, edited, REMOVED } from './formats/immutable-edit'
import { get, isJsonObject, nonEmpty } from './formats/safe-read'

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
  const made = rest.filter((message) => !isEncryptedItem(message)).map(withoutEncrypted)
  return made.length === rest.length && made.every((message, at) => message === rest[at]) ? rest : made
}

/** An item of OpenAI's with nothing but reasoning, which only the organisation that it was made for can send again. */
function isEncryptedItem(message: unknown): boolean {
  const item = get(message, 'type') === 'response_item' ? get(message, 'payload') : message
  return get(item, 'type') === 'reasoning' && isEncrypted(item)
}

/** The message without such reasoning of OpenAI's among its parts, or beside them as LangChain has it. */
function withoutEncrypted<M>(message: M): M {
  const path = isJsonObject(get(message, 'message')) ? ['message'] : []
  const inner = path.length > 0 ? get(message, 'message') : message
  const edits: Edit[] = []
  for (const keys of LISTS) {
    const list = keys.reduce<unknown>(get, inner)
    const rest = Array.isArray(list) ? list.filter((part) => !isEncrypted(part)) : []
    if (!Array.isArray(list) || rest.length === list.length) continue
    edits.push([[...path, ...keys], rest.length > 0 ? rest : [{ type: 'text', text: NO_THINKING }]])
  }
  if (isEncrypted(get(get(inner, 'additional_kwargs'), 'reasoning'))) {
    edits.push([[...path, 'additional_kwargs', 'reasoning'], REMOVED])
  }
  return edits.length === 0 ? message : (edited(message as object, edits) as M)
}

/** Where messages have parts of reasoning; LangChain also keeps the items of OpenAI's, and sends those. */
const LISTS = [['content'], ['response_metadata', 'output']] as const

function isEncrypted(part: unknown): boolean {
  const options = [get(part, 'providerOptions'), get(part, 'providerMetadata'), get(part, 'providerData')]
  const said = options.flatMap((holder) => (isJsonObject(holder) ? [holder, ...Object.values(holder)] : []))
  return [part, get(part, 'extras'), itemOfPi(get(part, 'thinkingSignature')), ...said].some(
    (holder) => nonEmpty(get(holder, 'encrypted_content') ?? get(holder, 'reasoningEncryptedContent')) !== undefined,
  )
}

/** pi has an item of OpenAI's as JSON in place of a signature. */
function itemOfPi(signature: unknown): unknown {
  return typeof signature === 'string' ? jsonRecord(signature) : undefined
}
