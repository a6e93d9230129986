/**
 * View of a message, independent of its format. One file per format under `formats/` makes views; the
 * rules (pruning, overflow, compaction, pairs) read nothing else.
 */

import type { ResultText } from './message-cache'

/** The formats that can be read. */
export type HistoryFormatName =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-agents'
  | 'anthropic'
  | 'ai-sdk'
  | 'langchain'
  | 'gemini'
  | 'bedrock'
  | 'mcp'
  | 'pi'
  | 'snow'

/** The speaker of a message. `other`: unknown, or not a message at all; such an element is never changed. */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool' | 'other'

/** A call of a tool, as the model wrote it. */
export interface CallView {
  readonly id: string | undefined
  readonly name: string | undefined
  /** The arguments as one string: what the model wrote, or the JSON of it. */
  readonly argsText: string
  /** The arguments as an object; `undefined` if they are not one. Must not be changed. */
  args(): Readonly<Record<string, unknown>> | undefined
  /** True if other arguments can be written in their place. */
  readonly replaceable: boolean
}

/** The result of a call. */
export interface ResultView {
  readonly callId: string | undefined
  /** Tool name in the result; most formats have it in the call. */
  readonly toolName: string | undefined
  readonly text: ResultText
  /** Flag of the message; `undefined` if the format has none. */
  readonly isError: boolean | undefined
  /** Milliseconds since the epoch. */
  readonly time: number | undefined
  /** Images, files and whatever else is not text. */
  readonly media: number
  /** Their tokens, as the format's provider counts them; `undefined` without any. */
  readonly mediaTokens?: number | undefined
  /** Path of the saved output, if the message names it. */
  readonly outputPath: string | undefined
  /** True if another text can be written in its place. */
  readonly replaceable: boolean
}

/** A message. Results inside of it are counted from 0, and so are calls. */
export interface MessageView {
  readonly role: MessageRole
  /** Text apart from calls and results. */
  readonly text: ResultText
  /** Calls and results of the provider's own tools: they count as tokens, and no rule reads or changes them. */
  readonly aside?: string | undefined
  /** The reasoning of the model: it takes its room, and no rule reads or changes it. */
  readonly thinking?: ResultText | undefined
  /** Characters of signatures and of reasoning that only the provider can read. */
  readonly sealed?: number | undefined
  /**
   * Signatures of reasoning that its provider accepts only after the very messages it was made after; `undefined` if the message
   * has none.
   */
  readonly bound?: readonly string[] | undefined
  readonly calls: readonly CallView[]
  readonly results: readonly ResultView[]
  /** Images, files and other parts that are not text, outside of results. */
  readonly media: number
  /** Their tokens, as the format's provider counts them; `undefined` without any. */
  readonly mediaTokens?: number | undefined
  /** Blank images in places of others that were taken out; `undefined` without any. */
  readonly blanks?: number | undefined
  /** Milliseconds since the epoch. */
  readonly time: number | undefined
  /** The tokens of its texts by the built-in estimate, computed once: they hold as long as the view. */
  tokens?: TextSizes | undefined
  /** The bytes of the message in a request, computed once in the same way. */
  bytes?: number | undefined
}

/**
 * The tokens of a message's texts: of what it says with its reasoning and what is beside it, of each of its calls with the
 * tool's name, and of each result.
 */
export interface TextSizes {
  readonly said: number
  readonly calls: readonly number[]
  readonly results: readonly number[]
}

/** An image or a file in a message. */
export interface Medium {
  /** Its media type, or a word for it. */
  type: string
  /** Bytes that it takes in a request; 0 if the provider fetches it from elsewhere. */
  bytes: number
  /** Its content; `undefined` if the message does not have it, or it is not base64. */
  content(): Buffer | undefined
  /** The first bytes of its content, of which no more is read. */
  head(maxBytes: number): Buffer | undefined
  /** Bytes of its content; only the head is checked to be base64. */
  size(): number | undefined
  /** A short text by which it is known again. */
  fingerprint(): string
}

/** A part of a message that is not text. `isBlanked`: its place takes no note, so a blank image replaces it. */
export interface MediaPart {
  readonly part: unknown
  readonly isBlanked: boolean
}

/** A note for all media of a message, or one for each; `null` for one that stays. */
export type MediaNotes = string | readonly (string | null)[]

/** A way of keeping a history. Nothing here changes what is in the history, and nothing throws. */
export interface ViewFormat {
  readonly name: HistoryFormatName
  /** How surely this is a message of the format: 0 is no, 1 is perhaps (many formats have it), 2 is nothing else. */
  recognises(message: object): 0 | 1 | 2
  /** `recognised` says that this format recognises the message, and need not look again. */
  view(message: object, recognised?: boolean): MessageView
  /**
   * A copy of the message in which the texts of these results are replaced and everything else is as it was: ids, order,
   * flags, media, unknown fields. `undefined` if it cannot be copied. Results at the places in `alone` have nothing but their
   * text from then on.
   */
  withResults(message: object, texts: ReadonlyMap<number, string>, alone?: ReadonlySet<number>): object | undefined
  /** The same for blank names of tools, where a result has to have one; the message itself if none has. */
  withToolNames(message: object, names: ReadonlyMap<number, string>): object | undefined
  /** The parts of a result that are not text. */
  mediaOf(message: object, result: number): readonly Medium[]
  /** The same for the arguments of calls. */
  withArguments(message: object, args: ReadonlyMap<number, Readonly<Record<string, unknown>>>): object | undefined
  /** Every call and every result is an element of the history of its own, in any order. */
  readonly flat: boolean
  /**
   * A result for this call of the message, marked as failed where the format can: a part if the format keeps results as
   * parts of messages, else a message. `undefined` if the format has no way to answer a call.
   */
  missingResult(message: object, call: number, text: string): ResultPiece | undefined
  /** Takes results out of a message, in their order. */
  takeResults(message: object, places: ReadonlySet<number>): TakenResults | undefined
  /** A copy of the message with these parts after the results that it has. `undefined` if it cannot be copied. */
  withParts(message: object, parts: readonly object[]): object | undefined
  /** A message of these parts, for the results of a call in the message `call`. */
  messageOf(parts: readonly object[], call: object): object | undefined
  /**
   * A message that says a summary of what was before: of the system where the format's providers take that inside of a
   * history, else of the user. `like` is a message of the history. `undefined` if the format has no such message.
   */
  summaryOf(text: string, like: object | undefined): object | undefined
  /**
   * A copy of the message without its images, files and whatever else is not text, with a note in place of each: the same for
   * all, or one for each of {@link mediaIn}, where `null` lets one stay. `undefined` if there is nothing that could be taken out.
   */
  withoutMedia(message: object, note: MediaNotes): object | undefined
  /** The parts of a message that {@link withoutMedia} takes out. */
  mediaIn(message: object): readonly MediaPart[]
  /** The message that is sent: the one in the line of a log, or the message itself. */
  inner(message: object): unknown
  /**
   * A copy of the message without the reasoning that is bound to the messages in front of it. `undefined` if there is none that
   * could be taken out.
   */
  withoutThinking(message: object): object | undefined
}

/** A result by itself: a whole message, or a part that needs one around it. */
export interface ResultPiece {
  readonly kind: 'message' | 'part'
  readonly value: object
}

export interface TakenResults {
  /** The message with nothing but them. */
  readonly taken: object
  /** The message without them; `undefined` if nothing is left of it. */
  readonly rest: object | undefined
  readonly pieces: readonly ResultPiece[]
}
