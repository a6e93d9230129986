/** How many tokens a history takes, about. */

import { describe } from '../context'
import { messageOf, SpillwayError } from '../errors'
import { estimateAll, estimateTokens } from '../tokens'
import { elementOf, viewsOf } from './formats'
import type { ResultText } from './knowledge'
import type { MessageView } from './view'

/** Tokens of a text, estimated. */
export type EstimateTokens = (text: string) => number

/** What a message, or a result in it, takes beside its texts: its role and its delimiters. */
const PER_MESSAGE = 4

/** What an image or a file takes: an image of a megapixel, at the rate of the large providers. */
const PER_MEDIA = 1_500

/** Names of tools and placeholders are few texts that come again and again. */
const MOST_REPEATED = 1_000

/** What is beside a text, in tokens. */
export interface Besides {
  /** A message, or a result in it: its role and its delimiters. */
  readonly message: number
  /** An image or a file. */
  readonly media: number
}

/** The tokens of a message in parts: of what it says, of each of its calls, and of the text of each result. */
export interface MessageSizes {
  readonly said: number
  readonly calls: readonly number[]
  readonly results: readonly number[]
}

/** An estimate that remembers what it has read. */
export class Estimate {
  private readonly messages = new WeakMap<MessageView, number>()
  private readonly repeatedTexts = new Map<string, number>()

  /** `own` is the caller's; `tell` is told when it throws or answers no number, and the built-in estimate stands in. */
  constructor(
    private readonly own?: EstimateTokens,
    private readonly tell: (error: SpillwayError) => void = () => {},
    private readonly besides: Besides = { message: PER_MESSAGE, media: PER_MEDIA },
  ) {}

  /** The tokens of a history. */
  of(messages: readonly unknown[]): number {
    return viewsOf(messages).reduce((sum, view, index) => {
      // Nobody can read it, and the view of all such messages is one.
      if (view.role === 'other') return sum + this.unreadable(messages, index)
      return sum + this.message(view)
    }, 0)
  }

  /** A message that nobody can read. */
  unreadable(messages: readonly unknown[], index: number): number {
    return this.besides.message + this.text(jsonOf(messages, index))
  }

  message(view: MessageView): number {
    let sum = this.messages.get(view)
    if (sum === undefined) {
      sum = this.said(view)
      for (const { name, argsText } of view.calls) sum += this.call(name, argsText)
      for (const { text, media } of view.results) sum += this.text(text) + this.beside(media)
      this.messages.set(view, sum)
    }
    return sum
  }

  /** The sizes of many messages: their texts go into the binary together. */
  sizes(views: readonly MessageView[]): MessageSizes[] {
    const texts = views.flatMap(textsOf)
    const tokens = this.own === undefined ? estimateAll(texts) : texts.map((text) => this.one(text))
    let next = 0
    const one = () => tokens[next++] as number
    const size = (text: ResultText) => {
      let sum = 0
      for (let part = typeof text === 'string' ? 1 : text.length; part > 0; part--) sum += one()
      return sum
    }
    return views.map(({ text, media, calls, results }) => ({
      said: size(text) + this.beside(media),
      calls: calls.map(({ name }) => this.repeated(name ?? '') + one()),
      results: results.map(({ text }) => size(text)),
    }))
  }

  /** A message without its calls and results. */
  said({ text, media }: MessageView): number {
    return this.text(text) + this.beside(media)
  }

  call(name: string | undefined, args: string): number {
    return this.repeated(name ?? '') + this.text(args)
  }

  /** What a message or a result takes beside its text. */
  beside(media: number): number {
    return this.besides.message + media * this.besides.media
  }

  text(text: ResultText): number {
    return typeof text === 'string' ? this.one(text) : text.reduce((sum, part) => sum + this.one(part), 0)
  }

  /** The tokens of a text that will come again. */
  repeated(text: string): number {
    let tokens = this.repeatedTexts.get(text)
    if (tokens === undefined) {
      tokens = this.one(text)
      if (this.repeatedTexts.size < MOST_REPEATED) this.repeatedTexts.set(text, tokens)
    }
    return tokens
  }

  private one(text: string): number {
    if (text === '') return 0
    if (this.own !== undefined) {
      // An estimate that is no number would make everything fit.
      try {
        const tokens: unknown = this.own(text)
        if (typeof tokens === 'number' && tokens >= 0 && Number.isFinite(tokens)) return tokens
        this.tell(problem(`answered ${describe(tokens)}, allowed is a finite number of at least 0`))
      } catch (thrown) {
        this.tell(problem(messageOf(thrown), thrown))
      }
    }
    return estimateTokens(text)
  }
}

/** All texts of a message, in the order of {@link MessageSizes}. */
function textsOf({ text, calls, results }: MessageView): string[] {
  const texts = typeof text === 'string' ? [text] : [...text]
  for (const { argsText } of calls) texts.push(argsText)
  for (const { text } of results) {
    if (typeof text === 'string') texts.push(text)
    else texts.push(...text)
  }
  return texts
}

function problem(what: string, cause?: unknown): SpillwayError {
  return new SpillwayError('CALLBACK', `estimateTokens: ${what}`, { cause })
}

/** A message as JSON, or nothing if it cannot be written. */
export function jsonOf(messages: readonly unknown[], index: number): string {
  try {
    const message = elementOf(messages, index) ?? messages[index]
    return typeof message === 'string' ? message : (JSON.stringify(message) ?? '')
  } catch {
    return ''
  }
}
