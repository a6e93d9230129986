/**
 * Texts that a model would not have had in view: what is in an original result and not in what was sent. An answer
 * that uses one of them could not have been given without it, so that the result would have been fetched again.
 */

import type { ChatMessage } from './requests'

/** Characters of paths, identifiers, numbers and hashes. */
const WORD = /[A-Za-z0-9_$@#%+~./:\\-]{8,}/g

/** Specific texts have a digit, a separator or a capital inside: others are words of a language. */
const isSpecific = (word: string): boolean => word.length >= 8 && /[0-9_./:]|[a-z][A-Z]/.test(word)

function* specificTexts(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) {
    const trimmed = word.replace(/^[./:-]+|[./:-]+$/g, '')
    if (isSpecific(trimmed)) yield trimmed
  }
}

/** Escaped line feeds, tabs and quotes in the JSON of arguments separate words. */
const argumentsOf = ({ tool_calls: calls = [] }: ChatMessage): string =>
  calls.map((call) => call.function.arguments.replace(/\\[nt"]/g, '\n')).join('\n')

/** The texts that are hidden, with the messages that have them. */
export class HiddenTexts {
  /** The newest message that has a text. */
  private readonly owners = new Map<string, ChatMessage>()
  private readonly shown = new Map<ChatMessage, string>()

  /** Notes that a message is sent with another text in place of its whole one. */
  hide(message: ChatMessage, whole: string, sent: string): void {
    if (this.shown.get(message) === sent) return
    this.shown.set(message, sent)
    for (const text of specificTexts(whole)) if (!sent.includes(text)) this.owners.set(text, message)
  }

  /** The messages that an answer refers to without having them: each has a text that is nowhere in what was sent. */
  missing(
    answer: ChatMessage,
    sent: readonly ChatMessage[],
    isInView: (original: ChatMessage) => boolean,
  ): ChatMessage[] {
    const found = new Set<ChatMessage>()
    if (this.owners.size === 0) return []
    for (const text of new Set(specificTexts(`${answer.content}\n${argumentsOf(answer)}`))) {
      const owner = this.owners.get(text)
      if (owner === undefined || found.has(owner) || !isInView(owner)) continue
      const isSent = sent.some((message) => message.content.includes(text) || argumentsOf(message).includes(text))
      if (!isSent) found.add(owner)
    }
    return [...found]
  }
}
