/** A history read into columns for the binary. */

import { Estimate, PER_SEALED } from '../history/estimate'
import { elementOf, formatOf, type ReadViews } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { knownResults } from '../history/known-results'
import { warnOfLedger } from '../history/ledger'
import { unitsOf } from '../history/message-cache'
import type { CallView, HistoryFormatName, MessageView, ResultView } from '../history/message-view'
import { ROLES } from '../history/roles'
import { savedPathOf } from '../history/saved-path'
import { beginsAsSummary, isMarked, isSummary } from '../history/summary'
import { pairsOf, type ToolPairs } from '../history/tool-pairs'
import { usualPlaceholder } from '../history/usual-placeholder'
import { call, native } from '../native/native'
import { onlyReads } from '../pruning/file-access'
import type { ToolResultRecord } from '../types'
import { warn } from '../util/warn'
import type { CompactSettings } from './options'

/** Formats in which a summary is what a user said, because their providers take no other words inside of a history. */
const SAID_BY_USER: readonly HistoryFormatName[] = ['anthropic', 'gemini', 'bedrock', 'pi']

/** The output of a tool, with the call that it answers. */
export interface OutputAt {
  readonly index: number
  readonly place: number
  readonly view: ResultView
  readonly call: CallView | undefined
  /** The ledger's record of the call. */
  readonly learnt: Readonly<ToolResultRecord> | undefined
  readonly tool: string | undefined
  /** Its replacement; `undefined` if it is kept. */
  readonly placeholder: string | undefined
  readonly size: number
}

/** A history with its sizes. */
export interface ReadHistory<M> {
  readonly messages: readonly M[]
  readonly format: HistoryFormatName | undefined
  readonly views: readonly MessageView[]
  readonly roles: Uint32Array
  readonly sizes: readonly number[]
  readonly chars: number
  readonly pairs: Uint32Array
  readonly toolPairs: ToolPairs | undefined
  /** All outputs, in the order of their messages. */
  readonly outputs: readonly OutputAt[]
  /** How often the model answered. */
  readonly answers: number
  readonly measure: Measure
}

/** Size of each part, in the unit of the decision. */
export class Measure {
  readonly estimate: Estimate
  private readonly media: number
  /** The provider's tokens for one of ours. */
  ratio = 1

  constructor({ options, unit, quarters }: Pick<CompactSettings<never>, 'options' | 'unit' | 'quarters'>) {
    const tell = (error: Error) => warn('compaction', error)
    if (unit === 'chars') {
      this.media = 4
      this.estimate = new Estimate((text) => text.length, tell, { message: 0, media: this.media, sealed: 1 })
    } else if (options.estimateTokens === undefined && quarters) {
      this.media = 1
      this.estimate = new Estimate((text) => text.length / 4, tell, {
        message: 0,
        media: this.media,
        sealed: PER_SEALED,
      })
    } else {
      this.media = 1
      this.estimate = new Estimate(options.estimateTokens, tell)
    }
  }

  text(text: string): number {
    return this.ratio * this.estimate.text(text)
  }

  /** The same of a text that comes again and again. */
  repeated(text: string): number {
    return this.ratio * this.estimate.repeated(text)
  }

  /** The same of each of many texts. */
  texts(texts: readonly string[]): number[] {
    return Array.from(this.estimate.texts(texts), (size) => this.ratio * size)
  }

  /** A message of this text alone. */
  message(text: string): number {
    return this.ratio * (this.estimate.text(text) + this.estimate.beside())
  }

  ofMedia(tokens: number): number {
    return this.ratio * tokens * this.media
  }

  /** The sizes of messages. */
  all(messages: readonly unknown[], views: readonly MessageView[]) {
    const { estimate, ratio } = this
    const outputs: (readonly number[])[] = []
    const sizes = estimate.sizes(views).map((size, at) => {
      const view = views[at] as MessageView
      outputs.push(ratio === 1 ? size.results : size.results.map((tokens) => tokens * ratio))
      if (view === OTHER) return ratio * estimate.unreadable(messages, at)
      return ratio * estimate.message(view, size)
    })
    return { sizes, outputs }
  }
}

/** Reads a history. */
export function readHistory<M>(
  messages: readonly M[],
  { format, views }: ReadViews,
  settings: CompactSettings<M>,
  measure: Measure,
  chinese: boolean,
): ReadHistory<M> {
  const { sizes, outputs: resultSizes } = measure.all(messages, views)
  const roles = rolesOf(messages, views, format)
  const toolPairs = format === undefined ? undefined : pairsOf(format, messages, views)
  return {
    messages,
    format,
    views,
    roles,
    sizes,
    chars: views.reduce((sum, view) => sum + charsOf(view), 0),
    pairs: toolPairs === undefined ? new Uint32Array() : edgesOf(toolPairs, messages.length),
    toolPairs,
    outputs: toolPairs === undefined ? [] : outputsOf(views, toolPairs, resultSizes, settings, measure, chinese),
    answers: answersIn(roles, () => true),
    measure,
  }
}

/** How often the model answered in these messages: an answer can be several of them. */
export function answersIn(roles: Uint32Array, isIn: (index: number) => boolean): number {
  let answers = 0
  for (let at = 0; at < roles.length; at++) {
    if (roles[at] === ROLES.assistant && roles[at - 1] !== ROLES.assistant && isIn(at)) answers++
  }
  return answers
}

/** Who speaks in each message, in the binary's terms. */
export function rolesOf(
  messages: readonly unknown[],
  views: readonly MessageView[],
  format: HistoryFormatName | undefined,
): Uint32Array {
  const newest = views.findLastIndex(({ role }) => role === 'user')
  const roles = new Uint32Array(views.length)
  let leading = true
  for (let at = 0; at < views.length; at++) {
    const view = views[at] as MessageView
    const message = elementOf(messages, at)
    let summary = isSummary(message, view)
    if (!summary && leading && view.role === 'user' && at !== newest && format && SAID_BY_USER.includes(format)) {
      // The mark does not outlive JSON; a text that begins so, before anything else was said, is one.
      summary = beginsAsSummary(view.text)
    }
    // The last user message counts as a summary only if it is marked as one.
    if (summary && at === newest && view.role === 'user' && !isMarked(message)) summary = false
    if (!summary && view.role !== 'system' && view.role !== 'other') leading = false
    roles[at] = ROLES[summary ? 'summary' : view.role]
  }
  return roles
}

/** The messages of each call and of its result; of a call that may still run, the end of the history. */
export function edgesOf(pairs: ToolPairs, length: number): Uint32Array {
  const edges: number[] = []
  for (const { message, call } of pairs.results) {
    const called = call === undefined ? undefined : pairs.calls[call]
    if (called !== undefined) edges.push(called.message, message)
  }
  for (const { call, running } of pairs.open()) {
    const called = pairs.calls[call]
    if (called !== undefined && running) edges.push(called.message, length)
  }
  return Uint32Array.from(edges)
}

/** UTF-16 units of everything that a message says. */
export function charsOf({ text, thinking = '', sealed = 0, calls, results }: MessageView): number {
  let chars = unitsOf(text) + unitsOf(thinking) + sealed
  for (let place = 0; place < calls.length; place++) {
    const { name, argsText } = calls[place] as CallView
    chars += (name?.length ?? 0) + argsText.length
  }
  for (let place = 0; place < results.length; place++) chars += unitsOf((results[place] as ResultView).text)
  return chars
}

function outputsOf<M>(
  views: readonly MessageView[],
  pairs: ToolPairs,
  sizes: readonly (readonly number[])[],
  { protectedTools, placeholder, options }: CompactSettings<M>,
  measure: Measure,
  chinese: boolean,
): OutputAt[] {
  const stays = new Map<string, boolean>()
  const isProtected = (tool: string) => {
    let known = stays.get(tool)
    if (known === undefined) {
      known = call(() => native.isOneOfTools(tool.toWellFormed(), [...protectedTools]))
      stays.set(tool, known)
    }
    return known
  }
  const found = pairs.results.map(({ message, place, call: number }) => {
    const view = views[message]?.results[place] as ResultView
    const called = number === undefined ? undefined : pairs.calls[number]
    const made = called && views[called.message]?.calls[called.place]
    return { message, place, view, made }
  })
  const asked = found.map(({ view, made }) => ({ id: view.callId ?? made?.id, text: view.text, called: made }))
  const known = knownResults(options.ledger, asked, warnOfLedger)
  return found.map(({ message, place, view, made }, at) => {
    const learnt = known[at]
    const tool = learnt?.toolName ?? view.toolName ?? made?.name
    const path = savedPathOf(view, learnt, options.storage, view.text)
    const size = sizes[message]?.[place] ?? 0
    const mayGo =
      made !== undefined && view.replaceable && view.media === 0 && (tool === undefined || !isProtected(tool))
    const text = mayGo ? (placeholder ?? placeholderOf(chinese, path, () => onlyReads(tool, made))) : undefined
    const goes = text !== undefined && size > measure.repeated(text)
    return { index: message, place, view, call: made, learnt, tool, placeholder: goes ? text : undefined, size }
  })
}

const usual = new Map<string, string>()

/** Placeholder of an output, in the pruner's wording. */
function placeholderOf(chinese: boolean, path: string | undefined, isRepeatable: () => boolean): string {
  const language = chinese ? 'zh-CN' : 'en'
  if (path !== undefined) return call(() => usualPlaceholder({ language, path }))
  const repeatable = isRepeatable()
  const key = `${chinese} ${repeatable}`
  let text = usual.get(key)
  if (text === undefined) {
    text = call(() => usualPlaceholder({ language, repeatable }))
    usual.set(key, text)
  }
  return text
}

/** A copy of a message through the format that it was read in. */
export function formatAt<M>({ format, messages }: ReadHistory<M>, index: number) {
  return format === undefined ? undefined : formatOf(format, elementOf(messages, index))
}
