/** Definition of a format; views, copies and their guards are derived from it here. */

import { PER_MEDIA, tokensOfMedium } from '../media-tokens'
import type { ResultText } from '../message-cache'
import type {
  CallView,
  HistoryFormatName,
  MessageRole,
  MessageView,
  ResultPiece,
  ResultView,
  TakenResults,
  ViewFormat,
} from '../message-view'
import { rememberClaim } from '../saved-path'
import { type Edit, edited } from './immutable-edit'
import { kindOfMedia } from './reasoning-and-files'
import { get, isBlank, isJsonObject, isObject, timeOf, unnoted } from './safe-read'

/** A call, and how its arguments are written. */
export interface CallReading {
  id: string | undefined
  name: string | undefined
  /** A string as the model wrote it, or a value. */
  args: unknown
  /** The changes for other arguments; without it they cannot be written. */
  edits?(args: Readonly<Record<string, unknown>>): readonly Edit[]
}

/** A result, and how its text is written. */
export interface ResultReading {
  callId: string | undefined
  toolName?: string | undefined
  text: ResultText
  isError?: boolean | undefined
  media?: number
  outputPath?: string | undefined
  /** True if the flag is the tool's own data, not the host's. */
  isToolsPath?: boolean | undefined
  /** Where results are parts: the place of the part. */
  at?: number
  /** The changes for another text, and with `alone` for nothing else; without it the result must stay as it is. */
  edits?(text: string, alone?: boolean): readonly Edit[]
  /** The place of a name that a result must have, if it is blank. */
  blankName?: readonly PropertyKey[] | undefined
  /** The changes that take out anything that is not text. */
  withoutMedia?: MediaEdits | undefined
}

/** Puts a note in place of everything that is not text. */
export type MediaEdits = (note: string) => readonly Edit[]

/** A message, read. */
export interface MessageReading {
  /** The changes that take out anything that is not text, outside of results; without it nothing can be taken out. */
  withoutMedia?: MediaEdits | undefined
  role: MessageRole
  text?: ResultText
  /** Calls and results of the provider's own tools, as {@link asideOf} writes them. */
  aside?: string | undefined
  /** The reasoning of the model. */
  thinking?: ResultText | undefined
  /** Characters of it that only the provider can read. */
  sealed?: number | undefined
  /** Signatures of the blocks of it that are bound to the messages in front. */
  bound?: readonly string[] | undefined
  /** The changes that take those blocks out. */
  withoutThinking?: (() => readonly Edit[]) | undefined
  calls?: readonly CallReading[]
  results?: readonly ResultReading[]
  media?: number
  time?: number | undefined
}

/** Definition of a format. Its functions may throw: such a message counts as unreadable. */
export interface FormatRules {
  readonly name: HistoryFormatName
  recognises(message: object): 0 | 1 | 2
  /** `outer` is the line of a log that holds the message, or the message itself. */
  read(message: object, outer: object): MessageReading
  /** The key under which a line of a log has the message; `undefined` for other lines. */
  envelope?(line: object): string | undefined
  /** A line of a log that holds this message; it has nothing that only the log's owner knows, such as an id. */
  seal?(message: object): object
  readonly flat?: boolean
  /** Where results are parts: the array that they are in, and a message around some. */
  readonly container?: { readonly key: string; around(parts: readonly object[]): object }
  /** A message that says this as a summary of what was before; see {@link ViewFormat.summaryOf}. */
  summary?(text: string): object
  /** Makes the replacement of a missing result: a part if results are parts, else a message. */
  missing?(call: CallReading, text: string, reading: MessageReading, message: object): object | undefined
}

/** View of an unreadable message. */
export const OTHER: MessageView = Object.freeze({
  role: 'other',
  text: '',
  calls: Object.freeze([]) as readonly CallView[],
  results: Object.freeze([]) as readonly ResultView[],
  media: 0,
  time: undefined,
})

export function defineFormat(rules: FormatRules): ViewFormat {
  const read = (message: object): { reading: MessageReading; path: readonly string[] } | undefined => {
    const key = rules.envelope?.(message)
    const reading = readAt(rules, message, key, false)
    return reading && { reading, path: key === undefined ? [] : [key] }
  }

  const write = <T>(message: object, values: ReadonlyMap<number, T>, editsOf: EditsOf<T>): object | undefined => {
    try {
      const key = rules.envelope?.(message)
      const reading = readAt(rules, message, key, false)
      if (reading === undefined) return undefined
      const edits: Edit[] = []
      for (const [place, value] of values) {
        const made = editsOf(reading, place, value)
        if (made === undefined) return undefined
        if (values.size === 1 && key === undefined) return edited(message, made)
        for (const edit of made) edits.push(key === undefined ? edit : [[key, ...edit[0]], edit[1]])
      }
      return edited(message, edits)
    } catch {
      return undefined
    }
  }

  /** The message again if it was in a line of a log. */
  const sealed = (made: object, like: object): object =>
    rules.envelope?.(like) === undefined ? made : (rules.seal?.(made) ?? made)

  const missingResult = (message: object, place: number, text: string): ResultPiece | undefined => {
    const { reading, path } = read(message) ?? {}
    const call = reading?.calls?.[place]
    if (reading === undefined || call === undefined || path === undefined) return undefined
    // A blank name is none: providers refuse it.
    const called = call.name !== undefined && isBlank(call.name) ? { ...call, name: undefined } : call
    const made = rules.missing?.(called, text, reading, innerOf(message, path))
    if (made === undefined) return undefined
    return rules.container ? { kind: 'part', value: made } : { kind: 'message', value: sealed(made, message) }
  }

  const takeResults = (message: object, places: ReadonlySet<number>): TakenResults | undefined => {
    const { reading, path } = read(message) ?? {}
    if (reading === undefined || path === undefined) return undefined
    if (rules.container === undefined) {
      return { taken: message, rest: undefined, pieces: [{ kind: 'message', value: message }] }
    }
    const { key } = rules.container
    const parts = get(innerOf(message, path), key) as readonly object[]
    const results = reading.results ?? []
    const taken = new Set([...places].map((place) => results[place]?.at))
    const values = parts.filter((_, at) => taken.has(at))
    const pieces = values.map((value) => ({ kind: 'part', value }) as const)
    const rest = parts.filter((_, at) => !taken.has(at))
    if (rest.length === 0) return { taken: message, rest: undefined, pieces }
    const withOnly = (some: readonly object[]) => edited(message, [[[...path, key], some]])
    return { taken: withOnly(values), rest: withOnly(rest), pieces }
  }

  const withParts = (message: object, added: readonly object[]): object | undefined => {
    const { reading, path } = read(message) ?? {}
    if (reading === undefined || path === undefined || rules.container === undefined) return undefined
    const { key } = rules.container
    const parts = [...(get(innerOf(message, path), key) as readonly object[])]
    parts.splice(Math.max(-1, ...(reading.results ?? []).map(({ at = -1 }) => at)) + 1, 0, ...added)
    return edited(message, [[[...path, key], parts]])
  }

  const mediaEdits = (reading: MessageReading, note: string): readonly Edit[] =>
    [reading, ...(reading.results ?? [])].flatMap((holder) => holder.withoutMedia?.(note) ?? [])

  const mediaIn = (message: object): readonly unknown[] => {
    const { reading, path } = read(message) ?? {}
    if (reading === undefined || path === undefined) return []
    return mediaEdits(reading, '').map(([keys]) => keys.reduce<unknown>(get, innerOf(message, path)))
  }

  const withoutMedia = (message: object, note: string | readonly string[]): object | undefined => {
    const { reading, path } = read(message) ?? {}
    if (reading === undefined || path === undefined) return undefined
    const edits =
      typeof note === 'string'
        ? mediaEdits(reading, note)
        : note.flatMap((one, place) => mediaEdits(reading, one).slice(place, place + 1))
    if (edits.length === 0) return undefined
    return edited(
      message,
      edits.map(([keys, value]): Edit => [[...path, ...keys], value]),
    )
  }

  const withoutThinking = (message: object): object | undefined => {
    const { reading, path } = read(message) ?? {}
    const edits = reading?.withoutThinking?.() ?? []
    if (edits.length === 0 || path === undefined) return undefined
    return edited(
      message,
      edits.map(([keys, value]): Edit => [[...path, ...keys], value]),
    )
  }

  const mediaOf = (message: object, place: number): readonly string[] => {
    const { reading, path } = read(message) ?? {}
    const result = reading?.results?.[place]
    if (result === undefined || path === undefined) return []
    const places = result.withoutMedia?.('') ?? []
    const kinds = places.map(([keys]) => kindOfMedia(keys.reduce<unknown>(get, innerOf(message, path))))
    while (kinds.length < (result.media ?? 0)) kinds.push('file')
    return kinds
  }

  return {
    name: rules.name,
    flat: rules.flat ?? false,
    summaryOf: (text, like) =>
      attempt(() => {
        const made = rules.summary?.(text)
        return made && like ? sealed(made, like) : made
      }),
    withoutMedia: (message, note) => attempt(() => withoutMedia(message, note)),
    mediaIn: (message) => attempt(() => mediaIn(message)) ?? [],
    withoutThinking: (message) => attempt(() => withoutThinking(message)),
    missingResult: (message, call, text) => attempt(() => missingResult(message, call, text)),
    takeResults: (message, places) => attempt(() => takeResults(message, places)),
    withParts: (message, parts) => attempt(() => withParts(message, parts)),
    messageOf: (parts, call) => attempt(() => rules.container && sealed(rules.container.around(parts), call)),
    // Every message of a history is read by these two, so they allocate no functions.
    recognises(message) {
      try {
        return recognised(rules, message)
      } catch {
        return 0
      }
    },
    view(message, recognised) {
      try {
        const key = rules.envelope?.(message)
        const reading = readAt(rules, message, key, recognised === true)
        return viewOf(reading, rules.name, key === undefined ? message : get(message, key))
      } catch {
        return OTHER
      }
    },
    withResults: (message, texts, alone) =>
      write(message, texts, ({ results }, place, text) => results?.[place]?.edits?.(text, alone?.has(place))),
    withToolNames: (message, names) =>
      write(message, names, ({ results }, place, name): Edit[] => {
        const path = results?.[place]?.blankName
        return path === undefined ? [] : [[path, name]]
      }),
    mediaOf: (message, result) => attempt(() => mediaOf(message, result)) ?? [],
    withArguments: (message, args) => write(message, args, ({ calls }, place, value) => calls?.[place]?.edits?.(value)),
  }
}

function innerOf(message: object, [key]: readonly string[]): object {
  return key === undefined ? message : (get(message, key) as object)
}

/** Reads a message that is in the line of a log under this key, or that is one by itself. */
function readAt(
  rules: FormatRules,
  message: object,
  key: string | undefined,
  isSure: boolean,
): MessageReading | undefined {
  const inner = key === undefined ? message : get(message, key)
  if (!isObject(inner) || (!isSure && unnoted(recognisedBy, rules, inner) === 0)) return undefined
  const reading = rules.read(inner, message)
  if (key !== undefined) reading.time ??= timeOf(get(message, 'timestamp'))
  return reading
}

function recognisedBy(rules: FormatRules, message: object): 0 | 1 | 2 {
  return rules.recognises(message)
}

type EditsOf<T> = (reading: MessageReading, place: number, value: T) => readonly Edit[] | undefined

function recognised(rules: FormatRules, message: object): 0 | 1 | 2 {
  const key = rules.envelope?.(message)
  if (key === undefined) return rules.recognises(message)
  const inner = get(message, key)
  return isObject(inner) && rules.recognises(inner) > 0 ? 2 : 0
}

function viewOf(reading: MessageReading | undefined, format: HistoryFormatName, message: unknown): MessageView {
  if (reading === undefined) return OTHER
  const { role, text = '', aside, thinking, sealed, bound, calls, results, media = 0, time } = reading
  return {
    role,
    text,
    aside,
    thinking,
    sealed,
    bound,
    calls: callsOf(calls),
    results: resultsOf(results, time, format, message),
    media,
    mediaTokens: mediaTokens(reading, format, message),
    time,
    tokens: undefined,
  }
}

function callsOf(calls: readonly CallReading[] | undefined): readonly CallView[] {
  return calls === undefined || calls.length === 0 ? OTHER.calls : calls.map(callOf)
}

/** The tokens of all media of a message or of a result. */
function mediaTokens(
  { media = 0, withoutMedia }: Pick<ResultReading, 'media' | 'withoutMedia'>,
  format: HistoryFormatName,
  message: unknown,
): number | undefined {
  if (media === 0) return undefined
  const places = withoutMedia?.('') ?? []
  const parts = places.map(([keys]) => keys.reduce<unknown>(get, message))
  const known = parts.reduce<number>((sum, part) => sum + tokensOfMedium(part, format), 0)
  return known + Math.max(media - parts.length, 0) * PER_MEDIA
}

function resultsOf(
  results: readonly ResultReading[] | undefined,
  time: number | undefined,
  format: HistoryFormatName,
  message: unknown,
): readonly ResultView[] {
  if (results === undefined || results.length === 0) return OTHER.results
  // As long as it gets: an array that grows has room for seventeen, and most messages have one result.
  const views = new Array<ResultView>(results.length)
  for (let place = 0; place < results.length; place++)
    views[place] = resultOf(results[place] as ResultReading, time, format, message)
  return views
}

function callOf({ id, name, args, edits }: CallReading): CallView {
  return new CallOf(id, name, args, edits !== undefined)
}

function resultOf(
  result: ResultReading,
  time: number | undefined,
  format: HistoryFormatName,
  message: unknown,
): ResultView {
  const view: ResultView = {
    callId: result.callId,
    toolName: result.toolName,
    text: result.text,
    isError: result.isError,
    time,
    media: result.media ?? 0,
    mediaTokens: mediaTokens(result, format, message),
    outputPath: result.outputPath,
    replaceable: result.edits !== undefined,
  }
  if (result.isToolsPath && result.outputPath !== undefined) rememberClaim(view)
  return view
}

/** A call whose arguments are serialized or parsed on demand, which most calls never need. */
class CallOf implements CallView {
  private written: string | undefined
  private parsed: Readonly<Record<string, unknown>> | null | undefined

  constructor(
    readonly id: string | undefined,
    readonly name: string | undefined,
    private readonly raw: unknown,
    readonly replaceable: boolean,
  ) {}

  get argsText(): string {
    this.written ??= typeof this.raw === 'string' ? this.raw : (attempt(() => JSON.stringify(this.raw)) ?? '')
    return this.written
  }

  args(): Readonly<Record<string, unknown>> | undefined {
    this.parsed ??= attempt(() => this.parse()) ?? null
    return this.parsed ?? undefined
  }

  private parse(): Readonly<Record<string, unknown>> | undefined {
    // A call without arguments is often written as nothing at all.
    const value = typeof this.raw === 'string' ? JSON.parse(this.raw === '' ? '{}' : this.raw) : this.raw
    return isJsonObject(value) ? value : undefined
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
