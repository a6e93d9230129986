/** Definition of a format; views, copies and their guards are derived from it here. */

import { argumentsText } from '../../util/json'
import { PER_MEDIA, tokensOfMedium } from '../media-tokens'
import type { CallView, HistoryFormatName, MessageView, ResultView, ViewFormat } from '../message-view'
import { rememberClaim } from '../saved-path'
import { type CallReading, type FormatRules, type MessageReading, type ResultReading, readAt } from './format-rules'
import type { Edit } from './immutable-edit'
import {
  mediaIn,
  mediaOf,
  missingResult,
  sealed,
  takeResults,
  withoutMedia,
  withoutThinking,
  withParts,
  write,
} from './rewrite-message'
import { attempt, get, isJsonObject, isObject } from './safe-read'

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
  return {
    name: rules.name,
    flat: rules.flat ?? false,
    summaryOf: (text, like) =>
      attempt(() => {
        const made = rules.summary?.(text)
        return made && like ? sealed(rules, made, like) : made
      }),
    withoutMedia: (message, note) => attempt(() => withoutMedia(rules, message, note)),
    mediaIn: (message) => attempt(() => mediaIn(rules, message)) ?? [],
    inner: (message) => attempt(() => innerIn(rules, message)) ?? message,
    withoutThinking: (message) => attempt(() => withoutThinking(rules, message)),
    missingResult: (message, call, text) => attempt(() => missingResult(rules, message, call, text)),
    takeResults: (message, places) => attempt(() => takeResults(rules, message, places)),
    withParts: (message, parts) => attempt(() => withParts(rules, message, parts)),
    messageOf: (parts, call) => attempt(() => rules.container && sealed(rules, rules.container.around(parts), call)),
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
      write(rules, message, texts, ({ results }, place, text) => results?.[place]?.edits?.(text, alone?.has(place))),
    withToolNames: (message, names) =>
      write(rules, message, names, ({ results }, place, name): Edit[] => {
        const path = results?.[place]?.blankName
        return path === undefined ? [] : [[path, name]]
      }),
    mediaOf: (message, result) => attempt(() => mediaOf(rules, message, result)) ?? [],
    withArguments: (message, args) =>
      write(rules, message, args, ({ calls }, place, value) => calls?.[place]?.edits?.(value)),
  }
}

function innerIn(rules: FormatRules, message: object): unknown {
  const key = rules.envelope?.(message)
  return key === undefined ? message : get(message, key)
}

function recognised(rules: FormatRules, message: object): 0 | 1 | 2 {
  const key = rules.envelope?.(message)
  if (key === undefined) return rules.recognises(message)
  const inner = get(message, key)
  return isObject(inner) && rules.recognises(inner) > 0 ? 2 : 0
}

function viewOf(reading: MessageReading | undefined, format: HistoryFormatName, message: unknown): MessageView {
  if (reading === undefined) return OTHER
  const { role, text = '', aside, thinking, sealed, bound, calls, results, media = 0, blanks, time } = reading
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
    blanks: blanks || undefined,
    time,
    tokens: undefined,
    bytes: undefined,
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
    const value = typeof this.raw === 'string' ? JSON.parse(argumentsText(this.raw)) : this.raw
    return isJsonObject(value) ? value : undefined
  }
}
