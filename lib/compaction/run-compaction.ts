/** One compaction: the binary selects the messages, the caller's summariser writes the summary, and the new array is made here. */

import { SpillwayError } from '../errors'
import { withoutStaleThinking } from '../history/bound-thinking'
import { warnUnreadable } from '../history/format-warning'
import { elementOf, summaryAt, viewOf, viewsIn } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { addsChinese } from '../history/language'
import { MediaSaver } from '../history/media-notes'
import type { MessageView } from '../history/message-view'
import { restoreFolds } from '../history/restore-folds'
import { ROLES } from '../history/roles'
import { marked, type SummaryParts, summaryParts, summaryText, wordsOf } from '../history/summary'
import { call, native } from '../native/native'
import { trimmed, trimOf } from '../pruning/trim'
import { sum } from '../util/sum'
import { changesWith } from './changed-files'
import { answersIn, charsOf, formatAt, Measure, type OutputAt, type ReadHistory, readHistory } from './history-reader'
import { tellAfter } from './hooks'
import { COUNTED_CHARS_PER_TOKEN, type CompactionLimits, type CompactSettings } from './options'
import { environmentTexts } from './prompt'
import { lookUpReads } from './read-files'
import {
  hasMedia,
  type MediaRemoval,
  nothingRemoved,
  removeMedia,
  saveRemoved,
  type WithoutMedia,
} from './remove-media'
import type { CompactionPlan, CompactionReason, CompactionReport, CompactionState } from './report'
import { askSummarizer, checkAborted, type NoSummary, noSummary } from './request-summary'

/** Decision of the core. */
interface Decision {
  step: 'none' | 'outputs' | 'summary'
  reason: 'not-needed' | 'nothing-old' | 'no-progress' | null
  total: number
  first: number
  from: number
  turn: number
  head: [number, number]
  outputs: number[]
  afterOutputs: number
  afterCut: number
  room: number
}

/** Outcome for a history, and the steps to repeat it. */
export interface CompactedHistory<M> {
  messages: M[]
  report: CompactionReport
  /** The message of the summary. */
  summary: object | undefined
  /** Outputs that were replaced, and by what. */
  replaced: { index: number; place: number; text: string }[]
  /** Messages of the new history that lost their images and files. */
  withoutMedia: readonly WithoutMedia<M>[]
}

export class Run<M> {
  readonly history: ReadHistory<M>
  readonly measure: Measure
  readonly chinese: boolean
  private readonly limits: CompactionLimits | undefined
  private readonly environment: number
  private readonly state: CompactionState
  private readonly permit: 'go' | 'blocked' | 'thrash'
  private readonly decision: Decision
  /** The outputs that may go, as the binary counts them. */
  private readonly open: readonly OutputAt[]

  /** `originals` are the same messages with their full outputs: they go to the summariser. */
  constructor(
    messages: readonly M[],
    readonly settings: CompactSettings<M>,
    readonly originals: readonly M[] = messages,
    private readonly saver = new MediaSaver(settings.options.storage),
  ) {
    const { options } = settings
    const { format, views } = viewsIn(messages)
    warnUnreadable('compactHistory', messages, format)
    this.chinese = addsChinese(options.language, views)
    this.measure = new Measure(settings as never)
    const texts = environmentTexts(options.environment)
    const beside = () => texts.reduce((sum, text) => sum + this.measure.text(text), 0)
    this.limits = settings.limits
    let history = readHistory(messages, { format, views }, settings, this.measure, this.chinese)
    if (options.usedTokens !== undefined && settings.unit === 'tokens') {
      const estimated = sum(history.sizes) + beside()
      if (estimated > 0) {
        this.measure.ratio = options.usedTokens / estimated
        history = readHistory(messages, { format, views }, settings, this.measure, this.chinese)
      }
    }
    this.history = history
    this.environment = beside()
    this.open = history.outputs.filter(({ placeholder }) => placeholder !== undefined)
    this.state = { answers: 0, recent: [], failures: 0, ...options.state }
    const force = options.force === true
    this.permit = ask(() => native.compactionPermit(JSON.stringify(this.state), history.answers, force))
    this.decision = this.decide()
  }

  /** Plan without side effects. */
  plan(): CompactionPlan {
    const { decision, history } = this
    const { action, reason } = this.first()
    const sizeBefore = sum(history.sizes)
    const sizeAfter = { none: sizeBefore, outputs: decision.afterOutputs, summary: decision.afterCut }[action]
    const before = action === 'outputs' ? this.withoutOutputs([]) : (history.messages as M[])
    // The space left by a summary is unknown in advance.
    const { messages, media } = action === 'summary' ? { messages: before, media: 0 } : this.withoutMedia(before)
    return {
      ...afterMedia({ action, reason }, media),
      trigger: this.trigger(),
      usable: this.limits?.usable ?? Number.POSITIVE_INFINITY,
      sizeBefore,
      sizeAfter: media > 0 ? this.sizeOf(messages) : sizeAfter,
      messages: history.messages.length,
      replacedOutputs: action === 'outputs' ? decision.outputs.length : 0,
      droppedTools: this.droppedTools(action),
      replacedMedia: media,
      kept: this.kept(action),
      room: decision.room,
      format: history.format,
    }
  }

  /** Why compacting is of no use any more: an error, if it was done too often; `undefined` else. */
  thrash(): SpillwayError | undefined {
    return this.first().action === 'summary' && this.permit === 'thrash' ? this.thrashError() : undefined
  }

  /** Message where nothing is done for that reason. */
  async refused(error: SpillwayError): Promise<CompactedHistory<M>> {
    const { state } = this
    const { messages, media, without } = await this.saved(this.withoutMedia(this.history.messages as M[]))
    const action = media > 0 ? 'outputs' : 'none'
    const report = this.report({ action, reason: 'thrash', messages, media, state, summary: undefined, error }, 'none')
    return { messages, report, summary: undefined, replaced: [], withoutMedia: without }
  }

  /** Does it. */
  async go(): Promise<CompactedHistory<M>> {
    checkAborted(this.settings.options.signal)
    const { settings, decision } = this
    let { action, reason } = this.first()
    const thrash = this.thrash()
    if (thrash !== undefined) throw thrash
    let made: { message: object; report: NonNullable<CompactionReport['summary']> } | undefined
    let error: SpillwayError | undefined
    let state = this.state
    if (action === 'summary') {
      const answer = await this.summarize()
      if ('message' in answer) {
        made = answer
        const dropped = this.answersIn((index) => this.isDropped(index))
        const next = () => native.compactionPast(JSON.stringify(this.state), this.history.answers, dropped)
        state = ask(next)
      } else {
        reason = answer.reason
        error = answer.error
        action = decision.outputs.length > 0 ? 'outputs' : 'none'
        // That it frees too little is not the summariser's fault.
        if (reason !== 'summary-no-progress') {
          state = ask(() => native.compactionPast(JSON.stringify(this.state), this.history.answers))
        }
      }
    }
    const replaced: CompactedHistory<M>['replaced'] = []
    let messages: M[]
    if (made !== undefined) messages = this.assembled(made.message)
    else if (action === 'outputs') messages = this.withoutOutputs(replaced)
    else messages = this.history.messages as M[]
    if (action === 'outputs' && replaced.length === 0) action = 'none'
    const { messages: withNotes, media, without } = await this.saved(this.withoutMedia(messages))
    const keepsThinking = settings.options.thinking === 'ignore'
    const restored = restoreFolds(this.history.messages, withNotes, settings.options.ledger) as M[]
    const small = keepsThinking ? restored : withoutStaleThinking(this.history.messages, restored)
    const did = afterMedia({ action, reason }, media)
    const report = this.report({ ...did, messages: small, media, state, summary: made?.report, error }, action)
    report.replacedOutputs = replaced.length
    if (did.action !== 'none') await tellAfter(settings.options.hooks, settings.hookTimeoutMs, report)
    return { messages: small, report, summary: made?.message, replaced, withoutMedia: without }
  }

  private decide(): Decision {
    const { history, settings, limits, permit } = this
    const { options, recentTurns, protectOutput, minOutput, inclusive } = settings
    if (limits === undefined) return nothing(sum(history.sizes) + this.environment, history.messages.length)
    const columns = new Float64Array(2 * history.sizes.length)
    for (let at = 0; at < history.sizes.length; at++) {
      columns[2 * at] = history.roles[at] as number
      columns[2 * at + 1] = history.sizes[at] as number
    }
    const outputs = new Float64Array(3 * this.open.length)
    for (let at = 0; at < this.open.length; at++) {
      const { index, size, placeholder = '' } = this.open[at] as OutputAt
      outputs[3 * at] = index
      outputs[3 * at + 1] = size
      outputs[3 * at + 2] = this.measure.repeated(placeholder)
    }
    const wanted = {
      environment: this.environment,
      recentTurns,
      protectOutput,
      minOutput,
      inclusive,
      force: options.force === true,
      canSummarize: options.summarize !== undefined && permit !== 'blocked' && this.canWrite(),
    }
    const question = JSON.stringify({ ...limits, wanted })
    const answer = () => native.compactionPlan(columns, history.pairs, outputs, question)
    return ask(answer)
  }

  /** Returns the first step and its reason. */
  private first(): { action: CompactionReport['action']; reason: CompactionReason } {
    const { options } = this.settings
    const { step, reason } = this.decision
    if (options.enabled === false && options.force !== true) return { action: 'none', reason: 'disabled' }
    if (this.history.format === undefined && this.history.messages.length > 0) {
      return { action: 'none', reason: reason === 'not-needed' ? reason : 'unreadable' }
    }
    if (step === 'summary') return { action: step, reason: 'summarized' }
    const isBlocked = this.permit === 'blocked' && options.summarize !== undefined
    if (isBlocked && (step === 'outputs' || reason === 'no-progress'))
      return { action: step, reason: 'summary-blocked' }
    if (step === 'none') return { action: step, reason: reason ?? 'nothing-old' }
    return { action: step, reason: options.summarize === undefined ? 'no-summarizer' : 'outputs-suffice' }
  }

  private canWrite(): boolean {
    const { format } = this.history
    return format !== undefined && format !== 'mcp'
  }

  private trigger(): CompactionReport['trigger'] {
    const { limits, decision, settings } = this
    return {
      size: decision.total,
      limit: limits?.trigger ?? Number.POSITIVE_INFINITY,
      unit: settings.unit,
      triggered: decision.reason !== 'not-needed',
    }
  }

  private kept(action: CompactionReport['action']): CompactionReport['kept'] {
    const { first, from, head, turn } = this.decision
    if (action !== 'summary') return { first: 0, head: [0, 0], from: 0, cut: 'turn' }
    return { first, head, from, cut: turn === from ? 'turn' : 'inside' }
  }

  private isDropped(index: number): boolean {
    const { first, from, head } = this.decision
    return index >= first && index < from && !(index >= head[0] && index < head[1])
  }

  private answersIn(isIn: (index: number) => boolean): number {
    return answersIn(this.history.roles, isIn)
  }

  private droppedTools(action: CompactionReport['action']): Record<string, number> {
    const tools = new Map<string, number>()
    const gone =
      action === 'summary'
        ? this.history.outputs.filter(({ index }) => this.isDropped(index))
        : action === 'outputs'
          ? this.decision.outputs.map((at) => this.open[at] as OutputAt)
          : []
    for (const { tool = '?' } of gone) tools.set(tool, (tools.get(tool) ?? 0) + 1)
    return Object.fromEntries(tools)
  }

  /** Asks for the summary. */
  private async summarize(): Promise<
    { message: object; report: NonNullable<CompactionReport['summary']> } | NoSummary
  > {
    const { decision, history, chinese, settings } = this
    const limits = this.limits as CompactionLimits
    const { first, from, turn, head } = decision
    const before = this.partsBefore()
    const changes = changesWith(before.changes, history, (at) => this.isDropped(at))
    const isNews = (index: number) => history.roles[index] !== ROLES.summary
    const range = (start: number, end: number) =>
      Array.from({ length: Math.max(end - start, 0) }, (_, at) => start + at).filter(isNews)
    const old = range(first, Math.min(turn, head[0]))
    const begun = range(Math.max(turn, head[1]), from)
    // The steps of a finished turn belong to the part before it.
    const sameTurn = old.length === 0 && begun.length > 0
    const earlier = sameTurn
      ? before
      : { ...before, history: [before.history, before.turn].filter((text) => text !== '').join('\n\n'), turn: '' }
    const parts: SummaryParts = { ...earlier, changes, ...(await this.filesRead(before.reads)) }
    const both = old.length > 0 && begun.length > 0
    const tokens = Math.min(limits.summary, decision.room) / (settings.unit === 'chars' ? COUNTED_CHARS_PER_TOKEN : 1)
    const maxTokens = Math.max(Math.floor(both ? tokens / 2 : tokens), 1)
    for (const [part, indices] of [
      ['history', old],
      ['turn', begun],
    ] as const) {
      if (indices.length === 0) continue
      const answer = await askSummarizer(this, part, indices, parts[part], maxTokens)
      if (typeof answer !== 'string') return answer
      parts[part] = answer
    }
    return this.judge(parts, before, this.fitted(parts, chinese))
  }

  /** The files that were read in what is replaced, as the options ask for them. */
  private async filesRead(known: readonly string[]): Promise<Pick<SummaryParts, 'reads' | 'files'>> {
    const { settings, history, measure, chinese } = this
    const { readState: asked } = settings.options
    if (asked === undefined) return { reads: [], files: [] }
    const perToken = settings.unit === 'chars' ? COUNTED_CHARS_PER_TOKEN : 1
    const from = { history, isDropped: (at: number) => this.isDropped(at) }
    return lookUpReads(asked, known, from, wordsOf(chinese), (text) => measure.text(text) / perToken)
  }

  /** The summaries that are in the history by now. */
  private partsBefore(): SummaryParts {
    const { views, roles } = this.history
    const all: SummaryParts = { history: '', turn: '', changes: [], reads: [], files: [] }
    for (let index = this.decision.first; index < this.decision.from; index++) {
      if (roles[index] !== ROLES.summary) continue
      const { text } = views[index] ?? OTHER
      const parts = summaryParts(typeof text === 'string' ? text : text.join('\n'))
      all.history = [all.history, all.turn, parts.history].filter((one) => one !== '').join('\n\n')
      all.turn = parts.turn
      all.changes = [...all.changes, ...parts.changes]
      all.reads = [...all.reads, ...parts.reads]
    }
    return all
  }

  /** The text of the summary, no longer than there is room for. */
  private fitted(parts: SummaryParts, chinese: boolean): { text: string; shortened: boolean } {
    const words = wordsOf(chinese)
    const { room } = this.decision
    const size = (text: string) => this.measure.message(text)
    let text = summaryText(parts, words)
    if (parts.files.length > 0 && (size(text) > room || size(text) >= this.inputSize())) {
      // Files can be read again, and go before all that was said.
      return this.fitted({ ...parts, files: parts.files.slice(0, -1) }, chinese)
    }
    // A summary larger than the messages it replaces is rejected, even if there is room.
    if (size(text) <= room || size(text) >= this.inputSize()) return { text, shortened: false }
    for (let share = (0.95 * room) / size(text), tries = 0; tries < 8; share *= 0.8, tries++) {
      const cut = (one: string) => cutTo(one, Math.floor(one.length * share), chinese)
      const changes = parts.changes.slice(-Math.ceil(parts.changes.length * share))
      const reads = parts.reads.slice(-Math.ceil(parts.reads.length * share))
      text = summaryText({ history: cut(parts.history), turn: cut(parts.turn), changes, reads, files: [] }, words)
      if (size(text) <= room) break
    }
    return { text, shortened: true }
  }

  private inputSize(): number {
    return sum(this.history.sizes.filter((_, index) => this.isDropped(index)))
  }

  private judge(
    parts: SummaryParts,
    before: SummaryParts,
    { text, shortened }: { text: string; shortened: boolean },
  ): Awaited<ReturnType<Run<M>['summarize']>> {
    const { history, decision, measure } = this
    const made = history.format && summaryAt(history.format, history.messages, decision.from, text)
    if (made === undefined) return noSummary('summary-failed', 'the format of the history has no message for it')
    const size = measure.message(text)
    const outcome = {
      before: sum(history.sizes),
      after: decision.afterCut + size,
      input: this.inputSize(),
      summary: size,
    }
    const verdict = ask<string>(() => native.compactionVerdict(JSON.stringify(outcome)))
    if (verdict === 'summary-too-large') {
      return noSummary(
        verdict,
        `it has ${Math.round(size)} ${this.settings.unit}, and stands for ${Math.round(outcome.input)}`,
      )
    }
    if (verdict === 'no-progress') return noSummary('summary-no-progress', 'it frees less than a tenth of the history')
    const report = {
      index: decision.first,
      text,
      chars: text.length,
      size,
      updated: before.history !== '' || before.turn !== '',
      hasTurn: parts.turn !== '',
      shortened,
    }
    return { message: marked(made), report }
  }

  private assembled(summary: object): M[] {
    const { first, head, from } = this.decision
    const { messages } = this.history
    return [...messages.slice(0, first), summary as M, ...messages.slice(...head), ...messages.slice(from)]
  }

  private withoutOutputs(replaced: CompactedHistory<M>['replaced']): M[] {
    const { history } = this
    const texts = new Map<number, Map<number, string>>()
    for (const at of this.decision.outputs) {
      const { index, place, placeholder } = this.open[at] as OutputAt
      const changes = texts.get(index) ?? new Map<number, string>()
      texts.set(index, changes.set(place, placeholder as string))
    }
    const copy = history.messages.slice()
    for (const [index, changes] of texts) {
      const message = formatAt(history, index)?.withResults(history.messages[index] as object, changes)
      if (message === undefined) continue
      copy[index] = message as M
      for (const [place, text] of changes) replaced.push({ index, place, text })
    }
    return replaced.length > 0 ? copy : (history.messages as M[])
  }

  /** If it still does not fit, notes take the place of images. */
  private withoutMedia(messages: M[]): MediaRemoval<M> {
    const { history, limits, measure, chinese } = this
    if (limits === undefined || this.first().reason === 'disabled' || this.decision.reason === 'not-needed') {
      return nothingRemoved(messages)
    }
    const views = this.viewsOf(messages)
    const excess = (some: readonly M[], limit: number) => this.sizeOf(some) + this.environment - limit
    if (!views.some(hasMedia) || excess(messages, limits.usable) <= 0) return nothingRemoved(messages)
    return removeMedia({
      messages,
      format: history.format,
      views,
      chinese,
      sizeOfMedia: (tokens) => measure.ofMedia(tokens),
      // To the trigger, for what is full again with the next image would lose one at every request.
      excessOf: (some) => excess(some, Math.min(limits.trigger, limits.usable)),
    })
  }

  private saved(removal: MediaRemoval<M>): Promise<MediaRemoval<M>> {
    return saveRemoved(removal, this.saver, this.chinese)
  }

  private viewsOf(messages: readonly M[]): readonly MessageView[] {
    const { format } = this.history
    if (messages === this.history.messages) return this.history.views
    return messages.map((_, at) => (format ? viewOf(format, elementOf(messages, at)) : OTHER))
  }

  private sizeOf(messages: readonly M[]): number {
    if (messages === this.history.messages) return sum(this.history.sizes)
    return sum(this.measure.all(messages, this.viewsOf(messages)).sizes)
  }

  /** `gone`: the tool outputs that were removed or replaced. */
  private report(
    {
      action,
      reason,
      messages,
      media,
      state,
      summary,
      error,
    }: {
      action: CompactionReport['action']
      reason: CompactionReason
      messages: readonly M[]
      media: number
      state: CompactionState
      summary: CompactionReport['summary']
      error: SpillwayError | undefined
    },
    gone: CompactionReport['action'],
  ): CompactionReport {
    const { history, limits } = this
    const usable = limits?.usable ?? Number.POSITIVE_INFINITY
    const sizeAfter = this.sizeOf(messages)
    const chars = messages === history.messages ? history.chars : sum(this.viewsOf(messages).map(charsOf))
    return {
      action,
      reason,
      trigger: this.trigger(),
      usable,
      fits: sizeAfter + this.environment <= usable,
      sizeBefore: sum(history.sizes),
      sizeAfter,
      charsBefore: history.chars,
      charsAfter: chars,
      messagesBefore: history.messages.length,
      messagesAfter: messages.length,
      replacedOutputs: 0,
      droppedTools: this.droppedTools(gone),
      replacedMedia: media,
      kept: this.kept(action),
      ...(summary && { summary }),
      ...(error && { error }),
      state,
      format: history.format,
    }
  }

  private thrashError(): SpillwayError {
    const { recent } = this.state
    const { total } = this.decision
    const limit = Math.round(this.limits?.trigger ?? 0)
    return new SpillwayError(
      'COMPACTION',
      `the history was compacted ${recent.length} times in ${recent.length} turns and has about ${Math.round(total)} ` +
        `${this.settings.unit} again, where ${limit} start a compaction. What fills it comes back at once: a very long output, a ` +
        'large system prompt, or a window that is too small. Shorten that, use a larger window, or compact with force.',
      { report: this.plan() },
    )
  }
}

/** Returns the steps and reasons, including removed images. */
function afterMedia(
  { action, reason }: { action: CompactionReport['action']; reason: CompactionReason },
  media: number,
): { action: CompactionReport['action']; reason: CompactionReason } {
  return action === 'none' && media > 0 ? { action: 'outputs', reason: 'media' } : { action, reason }
}

function nothing(total: number, length: number): Decision {
  return {
    step: 'none',
    reason: 'not-needed',
    total,
    first: 0,
    from: length,
    turn: length,
    head: [0, 0],
    outputs: [],
    afterOutputs: total,
    afterCut: total,
    room: 0,
  }
}

function ask<T>(question: () => string): T {
  return JSON.parse(call(question)) as T
}

function cutTo(text: string, units: number, chinese: boolean): string {
  const rule = { maxChars: units, headChars: Math.floor(units * 0.7), tailChars: Math.floor(units * 0.2) }
  const trim = trimOf(text, rule, chinese ? 'zh-CN' : 'en', undefined)
  return trim === undefined ? text : trimmed(text, { ...trim, suffix: '' })
}
