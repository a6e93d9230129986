/** Estimates the tokens of a history. */

import { SpillwayError } from '../errors'
import { estimateAll, estimateTokens } from '../tokens/tokens'
import { messageOf } from '../util/message-of'
import { safeStringify } from '../util/safe-stringify'
import { mismatch } from '../validation/validate'
import type { ResultText } from './message-cache'
import type { CallView, MessageView, ResultView, TextSizes } from './message-view'

/** Tokens of a text, estimated. */
export type EstimateTokens = (text: string) => number

/** Tokens of a message, or of a result in it, besides its texts: role and delimiters. */
const PER_MESSAGE = 4

/** Tokens per character of a signature or of encrypted reasoning, which only the provider can read. */
export const PER_SEALED = 1 / 4

/** Names of tools and placeholders are few texts that come again and again. */
const MAX_REPEATED = 1_000

/** Number of UTF-16 units read from a message in an unknown format: more than any window has. */
const MAX_UNREADABLE = 2 ** 23

/** Tokens besides a text. */
export interface Besides {
  /** A message, or a result in it: its role and its delimiters. */
  readonly message: number
  /** A token of an image or a file. */
  readonly media: number
  /** A character that only the provider can read. */
  readonly sealed: number
}

/** An estimate that remembers what it has read. */
export class Estimate {
  /** By the caller's own estimate; the built-in one is remembered with the view. */
  private readonly known = new WeakMap<MessageView, TextSizes>()
  private readonly repeatedTexts = new Map<string, number>()
  private isTold = false

  /**
   * `own` is the caller's; `tell` is called when it throws or returns no number for the first time, and the built-in estimate
   * is used instead.
   */
  constructor(
    private readonly own?: EstimateTokens,
    private readonly tell: (error: SpillwayError) => void = () => {},
    private readonly besides: Besides = {
      message: PER_MESSAGE,
      media: 1,
      sealed: PER_SEALED,
    },
  ) {}

  /** The tokens of a history. */
  of(messages: readonly unknown[], views: readonly MessageView[]): number {
    return this.each(messages, views).reduce((sum, tokens) => sum + tokens, 0)
  }

  /** The tokens of each message. */
  each(messages: readonly unknown[], views: readonly MessageView[]): number[] {
    const sizes = this.sizes(views)
    // A message that is `other` is unreadable, and all such messages share one view.
    return views.map((view, index) =>
      view.role === 'other' ? this.unreadable(messages, index) : this.message(view, sizes[index] as TextSizes),
    )
  }

  /** An unreadable message counts as much as its JSON. */
  unreadable(messages: readonly unknown[], index: number): number {
    return this.besides.message + this.text(messageJson(messages, index))
  }

  /** A message with everything in it. */
  message({ mediaTokens, results }: MessageView, { said, calls, results: texts }: TextSizes): number {
    let sum = said + this.beside(mediaTokens)
    for (let place = 0; place < calls.length; place++) sum += calls[place] as number
    for (let place = 0; place < results.length; place++) {
      sum += (texts[place] as number) + this.beside((results[place] as ResultView).mediaTokens)
    }
    return sum
  }

  /** The sizes of the texts of many messages: those that are not known yet go into the binary together. */
  sizes(views: readonly MessageView[]): TextSizes[] {
    const { own, known } = this
    const sizes = new Array<TextSizes | undefined>(views.length)
    const texts: string[] = []
    let isAllKnown = true
    for (let at = 0; at < views.length; at++) {
      const view = views[at] as MessageView
      const size = own === undefined ? view.tokens : known.get(view)
      if (size === undefined) {
        isAllKnown = false
        pushTexts(view, texts)
      }
      sizes[at] = size
    }
    if (isAllKnown) return sizes as TextSizes[]
    // A message of nothing but pictures has no text.
    const read: Sized = { tokens: texts.length === 0 ? [] : this.texts(texts), next: 0 }
    for (let at = 0; at < views.length; at++) {
      if (sizes[at] !== undefined) continue
      const view = views[at] as MessageView
      const size = this.sized(view, read)
      sizes[at] = size
      if (own !== undefined) known.set(view, size)
      else if (view.role !== 'other') view.tokens = size
    }
    return sizes as TextSizes[]
  }

  private sized({ text, aside, thinking, sealed, calls, results }: MessageView, read: Sized): TextSizes {
    let said = sizeOfText(text, read)
    if (aside !== undefined) said += sizeOfText(aside, read)
    if (thinking !== undefined) said += sizeOfText(thinking, read)
    if (sealed !== undefined) said += Math.ceil(sealed * this.besides.sealed)
    if (calls.length === 0 && results.length === 0) return { said, calls: NONE, results: NONE }
    return { said, calls: this.sizesOfCalls(calls, read), results: sizesOfResults(results, read) }
  }

  private sizesOfCalls(calls: readonly CallView[], read: Sized): readonly number[] {
    if (calls.length === 0) return NONE
    const sizes = new Array<number>(calls.length)
    for (let place = 0; place < calls.length; place++) {
      const { name = '' } = calls[place] as CallView
      sizes[place] = this.repeated(name) + (read.tokens[read.next++] as number)
    }
    return sizes
  }

  call(name: string | undefined, args: string): number {
    return this.repeated(name ?? '') + this.text(args)
  }

  /** Tokens of a message or a result besides its text, with the tokens of its media. */
  beside(mediaTokens = 0): number {
    return this.besides.message + mediaTokens * this.besides.media
  }

  text(text: ResultText): number {
    return typeof text === 'string' ? this.one(text) : text.reduce((sum, part) => sum + this.one(part), 0)
  }

  /** The tokens of each of many texts. */
  texts(texts: readonly string[]): ArrayLike<number> {
    return this.own === undefined ? estimateAll(texts) : texts.map((text) => this.one(text))
  }

  /** The tokens of a text that will come again. */
  repeated(text: string): number {
    let tokens = this.repeatedTexts.get(text)
    if (tokens === undefined) {
      tokens = this.one(text)
      if (this.repeatedTexts.size < MAX_REPEATED) this.repeatedTexts.set(text, tokens)
    }
    return tokens
  }

  private one(text: string): number {
    if (text === '') return 0
    if (this.own !== undefined) {
      // An estimate that is not a number would make everything fit.
      try {
        const tokens: unknown = this.own(text)
        if (typeof tokens === 'number' && tokens >= 0 && Number.isFinite(tokens)) return tokens
        this.tellOnce(`invalid answer: ${mismatch(tokens, 'a finite number of at least 0')}`)
        // An unhandled rejection would end the process.
        Promise.resolve(tokens).catch(() => {})
      } catch (thrown) {
        this.tellOnce(messageOf(thrown), thrown)
      }
    }
    return estimateTokens(text)
  }

  /** A function that is wrong is wrong for each of thousands of texts. */
  private tellOnce(what: string, cause?: unknown): void {
    if (!this.isTold) this.tell(new SpillwayError('CALLBACK', `estimateTokens: ${what}`, { cause }))
    this.isTold = true
  }
}

/** Token counts of texts, and the number of them that are used up. */
interface Sized {
  readonly tokens: ArrayLike<number>
  next: number
}

const NONE: readonly number[] = []

function sizesOfResults(results: readonly ResultView[], read: Sized): readonly number[] {
  if (results.length === 0) return NONE
  const sizes = new Array<number>(results.length)
  for (let place = 0; place < results.length; place++) {
    sizes[place] = sizeOfText((results[place] as ResultView).text, read)
  }
  return sizes
}

function sizeOfText(text: ResultText, read: Sized): number {
  let sum = 0
  for (let part = typeof text === 'string' ? 1 : text.length; part > 0; part--)
    sum += read.tokens[read.next++] as number
  return sum
}

/** Adds all texts of a message, in the order of {@link TextSizes}. */
function pushTexts({ text, aside, thinking, calls, results }: MessageView, texts: string[]): void {
  pushText(text, texts)
  if (aside !== undefined) texts.push(aside)
  if (thinking !== undefined) pushText(thinking, texts)
  for (let place = 0; place < calls.length; place++) texts.push((calls[place] as CallView).argsText)
  for (let place = 0; place < results.length; place++) pushText((results[place] as ResultView).text, texts)
}

function pushText(text: ResultText, texts: string[]): void {
  if (typeof text === 'string') texts.push(text)
  else for (const part of text) texts.push(part)
}

/** Returns any message as text: values that JSON cannot hold are named. Never throws, and takes bounded time. */
export function messageJson(messages: readonly unknown[], index: number): string {
  try {
    const message = messages[index]
    return typeof message === 'string' ? message : safeStringify(message, { proxies: true, units: MAX_UNREADABLE })
  } catch {
    return ''
  }
}
