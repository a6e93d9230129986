/** A history read into columns for the pruner; from request to request only what is new is read. */

import { Estimate, messageJson, PER_SEALED } from '../history/estimate'
import { FORMATS, formatNamed, readMessage, remember } from '../history/formats'
import { OTHER } from '../history/formats/define-format'
import { Votes } from '../history/formats/detect-format'
import { KnownResults } from '../history/known-results'
import { factsOfAll, type ResultText } from '../history/message-cache'
import { messageSize, sameView } from '../history/message-identity'
import type { CallView, HistoryFormatName, Medium, MessageView, TextSizes } from '../history/message-view'
import { isAnswer } from '../history/roles'
import { isSummary } from '../history/summary'
import { ToolPairs } from '../history/tool-pairs'
import type { ToolResultRecord } from '../types'
import { Watch } from './change-detector'
import { FoldedResults } from './folded-results'
import { Columns } from './history-columns'
import { type News, textsOfResults } from './history-delta'
import { type ItemHistory, ItemReader, OF_ARGUMENTS } from './item-reader'
import { KnownMessage } from './known-message'
import { type PrunerSettings, pruningError } from './options'
import { type HistoryItem, Namesakes } from './prunable-item'
import { PrunedView } from './pruned-view'
import { ResultIndexes } from './result-indexes'
import type { RestoredPruner } from './state'
import { ToolFacts } from './tool-facts'
import { type Trim, trimmed } from './trim'

/** A request that had the first `shared` messages, and its time if the account does not have it: milliseconds. */
export interface Resumed {
  shared: number
  lastRequest: number | undefined
}

/** New part of a history. */
export interface Read {
  /** Messages at the start that were there before and say what they said. */
  shared: number
  /** All others. */
  columns: Columns
  /** With the first history that is read: the time of an earlier request, if one is known. */
  resumed: Resumed | undefined
  /** The model has not seen this message and those after it. */
  unseenFrom: number
  /** Nothing in front of this message may change. */
  boundTo: number
}

/** Cached facts about the history of one session. */
export class HistoryReader implements ItemHistory {
  format: HistoryFormatName | undefined
  /** A history that only begins, such as one message of a user, can be of many formats. */
  private votes = new Votes(FORMATS)
  readonly items: HistoryItem[] = []
  /** Placeholders of pruned items, by key. */
  readonly placeholders: Map<string, string>
  /** Where items are cut that are trimmed, by their keys. */
  readonly trims: Map<string, Trim>
  readonly tokens: Estimate
  /** Items whose text was chosen elsewhere; that holds although the model may not have seen them. */
  readonly adopted: Set<string>
  /** Indexes of the messages whose signed reasoning is removed: something before it was changed. */
  withoutThinking: Set<number>
  /** Results that have their text back because the provider cleared what they point to. */
  readonly restoredKeys: Set<string>
  /** The account does not know of reasoning that was removed, so everything is read again. */
  private isStale = false
  private readonly projection = new PrunedView()
  private readonly known: KnownMessage[] = []
  private readonly watch = new Watch()
  /** Messages at the start that are the very objects of the last request. */
  private same = 0
  /** Messages at the start that were {@link share}d. */
  private shared = 0
  private pairs: ToolPairs | undefined
  readonly folded = new FoldedResults()
  private readonly recorded: KnownResults
  private readonly indexes: ResultIndexes | undefined
  readonly namesakes = new Namesakes()
  readonly tools: ToolFacts
  /** Messages at the start that the last request of an earlier pruner had, while they are read. */
  private sentBefore = 0
  /** Nothing has been read yet. */
  private fresh = true
  /** The last message of the model: it has not seen that message and those after it. */
  private unseenFrom = 0
  /** Messages of a history without turns that the last request had, if all others are new since. */
  grownFrom: number
  /** Number of results, oldest first, that the provider leaves out by itself. */
  clearedByProvider: number
  private readonly reader: ItemReader
  /** Items that an earlier pruner removed stay pruned, even without the policy that removed them. */
  readonly readsArguments: boolean

  constructor(
    private readonly settings: PrunerSettings,
    private earlier?: RestoredPruner,
  ) {
    this.placeholders = earlier?.placeholders ?? new Map()
    this.trims = earlier?.trims ?? new Map()
    this.adopted = earlier?.adopted ?? new Set()
    this.withoutThinking = earlier?.withoutThinking ?? new Set()
    this.restoredKeys = earlier?.restored ?? new Set()
    this.readsArguments =
      settings.prunesArguments || [...this.placeholders.keys()].some((key) => key.startsWith(OF_ARGUMENTS))
    this.grownFrom = earlier?.unseenFrom ?? Number.POSITIVE_INFINITY
    this.clearedByProvider = earlier?.clearedByProvider ?? 0
    this.tokens = new Estimate(settings.estimateTokens, settings.tell)
    this.indexes =
      settings.index || settings.keepsUsed
        ? new ResultIndexes(settings.index === 'long', this.readsArguments)
        : undefined
    this.tools = new ToolFacts(settings)
    this.recorded = new KnownResults(settings.ledger, (thrown) => settings.tell(pruningError('ledger', thrown)))
    this.reader = new ItemReader(settings, this)
  }

  /** Messages at the start that a model has seen. */
  get seenUntil(): number {
    return Math.max(this.unseenFrom, this.sentBefore)
  }

  /** Facts of an earlier pruner about the same items, while its history is read. */
  get carried(): readonly (number | null)[] | undefined {
    return this.earlier?.carried
  }

  /** How many items are left out of the history at hand, or trimmed. */
  get gone(): number {
    return this.projection.gone
  }

  /** The end of the history: with `carried` of the read items, or as it was set until the first read. */
  state(carried: (number | null)[]): { carried: (number | null)[]; sizes: number[] } {
    if (this.earlier !== undefined) return { carried: [...this.earlier.carried], sizes: [...this.earlier.sizes] }
    return { carried, sizes: this.known.map(({ size }) => size) }
  }

  /** Forgets the history, but not what was left out of it. */
  forget(): void {
    // The same messages are read again.
    const withoutThinking = new Set(this.withoutThinking)
    this.dropFrom(0)
    this.withoutThinking = withoutThinking
    this.pairs = undefined
    this.format = undefined
    this.votes = new Votes(FORMATS)
  }

  /** Reads what is new in a history. */
  read(messages: readonly unknown[]): Read {
    if (this.isStale) this.forget()
    this.isStale = false
    this.same = this.watch.unchanged(messages)
    const format = this.formatOf(messages)
    // Another format may read the same objects in another way.
    if (format !== this.format) this.same = 0
    const shared = this.unchanged(messages, format)
    if (format !== this.format) this.pairs = undefined
    this.format = format
    if (shared < this.known.length) this.pairs = undefined
    const isAnother = shared < this.known.length
    const rewritten = isAnother || shared === 0
    this.dropFrom(shared)
    for (let index = shared; index < messages.length; index++) {
      const read = this.readOf(format, messages[index])
      this.known.push(read)
      this.watch.add(read.object)
    }
    if (format !== undefined) {
      const viewAt = (at: number) => this.known[at]?.view ?? OTHER
      if (this.pairs?.extend(messages, shared, viewAt) !== true) {
        this.pairs = new ToolPairs(format)
        this.pairs.extend(messages, 0, viewAt)
      }
      this.unseenFrom = lastOfModel(messages.length, viewAt)
    } else this.unseenFrom = 0
    const columns = this.addAll(messages, shared, isAnother)
    const resumed = this.fresh ? this.requestBefore() : undefined
    const before = this.earlier?.sizes.length
    const goesOn = before === undefined ? !rewritten : before > 0 && this.sentBefore === before
    this.grow(goesOn ? Math.max(shared, this.sentBefore) : undefined)
    this.fresh = false
    this.earlier = undefined
    this.sentBefore = 0
    const boundTo = this.settings.keepsPrefix ? (this.known[this.known.length - 1]?.boundTo ?? 0) : 0
    return { shared, columns, resumed, unseenFrom: Math.min(this.unseenFrom, this.grownFrom), boundTo }
  }

  /**
   * Where every call is an element of its own, a call does not say that the model saw the results before it: a response
   * of many calls may be kept with each result after its call. It saw the `sent` messages of the last request.
   */
  private grow(sent: number | undefined): void {
    const isFlat = this.format !== undefined && formatNamed(this.format).flat
    if (!isFlat || sent === undefined) this.grownFrom = Number.POSITIVE_INFINITY
    // The same request once more says nothing new.
    else if (sent < this.known.length) this.grownFrom = sent
  }

  /** Shares the views of the current messages, so that they are not read again. */
  share(): void {
    for (; this.shared < this.known.length; this.shared++) {
      const { object, view, format } = this.known[this.shared] as KnownMessage
      if (format === undefined) continue
      const asked = formatNamed(this.format as HistoryFormatName)
      remember(object as object, { asked, format, view, watched: this.watch.valuesOf(this.shared) })
    }
  }

  /** Leaves an item out from now on. */
  leaveOut(item: HistoryItem, placeholder: string): void {
    const { key } = item
    this.placeholders.set(key, placeholder)
    if (this.trims.size > 0) this.trims.delete(key)
    item.restored = false
    item.withPointers = undefined
    this.send(item, placeholder)
  }

  /** Sends these texts in place of results from the next reading on, which reads everything again. */
  adopt(texts: readonly { index: number; place: number; text: string }[]): void {
    const found = new Map(
      this.items.filter(({ kind }) => kind === 'result').map((item) => [`${item.index} ${item.place}`, item]),
    )
    for (const { index, place, text } of texts) {
      const item = found.get(`${index} ${place}`)
      if (item === undefined) continue
      this.placeholders.set(item.key, text)
      this.trims.delete(item.key)
      this.adopted.add(item.key)
    }
    this.forget()
  }

  /** Leaves the signed reasoning of the messages from this index on out from now on. */
  leaveThinkingOut(from: number): void {
    for (let index = from; index < this.known.length; index++) {
      const known = this.known[index] as KnownMessage
      if (known.view.bound === undefined) continue
      this.withoutThinking.add(index)
      this.projection.leaveThinkingOut(index, known)
    }
  }

  /** Forgets the placeholders of items that no longer exist. */
  forgetGone(): void {
    const keys = new Set(this.items.map(({ key }) => key))
    for (const kept of [this.placeholders, this.trims, this.adopted, this.restoredKeys]) {
      for (const key of kept.keys()) if (!keys.has(key)) kept.delete(key)
    }
  }

  /** Sends the start and the end of an item from now on. */
  trim(item: HistoryItem): void {
    const trim = item.trim as Trim
    this.trims.set(item.key, trim)
    item.restored = false
    item.withPointers = undefined
    this.send(item, trimmed(this.textOf(item), trim))
  }

  /** Sends a text in place of an item. */
  send(item: HistoryItem, text: string): void {
    this.projection.leaveOut(item, this.known[item.index] as KnownMessage, text)
  }

  private textOf({ index, place }: HistoryItem): ResultText {
    return this.known[index]?.view.results[place]?.text ?? ''
  }

  /** The messages that were read last, without what is left out. */
  project<M>(messages: readonly M[]): M[] {
    return this.projection.apply(messages, this.known, this.items, this.same)
  }

  /** The format of the history; not detected again for the same messages. */
  private formatOf(messages: readonly unknown[]): HistoryFormatName | undefined {
    if (this.votes.settled) return this.format
    if (this.same < this.votes.seen) this.votes = new Votes(FORMATS)
    this.votes.add(messages)
    return this.votes.format
  }

  /** How many messages at the start say what they said at the last request. */
  private unchanged(messages: readonly unknown[], format: HistoryFormatName | undefined): number {
    if (format === undefined) this.same = 0
    this.watch.dropFrom(this.same)
    this.shared = Math.min(this.shared, this.same)
    if (format === undefined) return 0
    const limit = Math.min(messages.length, this.known.length)
    let index = this.same
    for (; index < limit; index++) {
      const message = messages[index]
      const known = this.known[index] as KnownMessage
      // An agent may build its messages again for every request.
      const read = this.readOf(format, message)
      const { view } = read
      if (!sameView(view, known.view) || (view === OTHER && messageJson(messages, index).length !== known.size)) break
      known.object = message
      known.view = view
      known.format = read.format
      known.copy = undefined
      this.watch.add(message)
    }
    this.watch.dropFrom(index)
    return index
  }

  /** Returns the view of a message; the values it was read from are watched for changes. */
  private readOf(format: HistoryFormatName | undefined, message: unknown): KnownMessage {
    const read = new KnownMessage(message)
    if (format !== undefined && typeof message === 'object' && message !== null) {
      readMessage(formatNamed(format), message, this.watch.values, read)
    }
    return read
  }

  /** A request that this process did not see: an earlier pruner made it, or the time of the model's last message shows it. */
  private requestBefore(): Resumed | undefined {
    if (this.earlier !== undefined) return { shared: this.sentBefore, lastRequest: undefined }
    const time = this.known[this.unseenFrom]?.view.time
    return time === undefined || this.unseenFrom === 0 ? undefined : { shared: this.unseenFrom, lastRequest: time }
  }

  private dropFrom(index: number): void {
    this.watch.dropFrom(index)
    const first = this.known[index]
    if (first === undefined) return
    const items = this.items.splice(first.itemsBefore)
    for (const place of this.withoutThinking) if (place >= index) this.withoutThinking.delete(place)
    for (const { kind, name, toolCallId } of items) {
      this.namesakes.drop(name)
      if (kind === 'result' && toolCallId !== undefined) this.recorded.drop(toolCallId)
    }
    this.shared = Math.min(this.shared, index)
    this.projection.dropFrom(index, this.known.slice(index), items)
    this.known.length = index
  }

  /**
   * Adds the messages from this index on, which were read already. If they are `another` end of a history that is known, signed
   * reasoning after what is left out of it is removed: it was made after other messages.
   */
  private addAll(messages: readonly unknown[], from: number, isAnother: boolean): Columns {
    const views: MessageView[] = []
    for (let index = from; index < this.known.length; index++) views.push((this.known[index] as KnownMessage).view)
    const sizes = this.tokens.sizes(views)
    const facts = this.settings.needsFacts ? factsOfAll(textsOfResults(views)) : undefined
    const read = this.indexes?.read(views, from)
    const words = this.settings.index === false ? undefined : read?.words
    const news: News = { columns: new Columns(), facts, words, next: 0, nextWords: 0 }
    if (this.settings.keepsUsed) news.columns.uses = read?.uses ?? []
    const records = this.recordsFrom(views, from)
    for (let index = from; index < this.known.length; index++) {
      const known = this.known[index] as KnownMessage
      const { view } = known
      const last = this.known[index - 1]
      known.itemsBefore = this.items.length
      known.boundTo = view.bound === undefined ? (last?.boundTo ?? 0) : index + 1
      known.resultsBefore = last === undefined ? 0 : last.resultsBefore + last.view.results.length
      let tokens: number
      if (view.role === 'other') {
        const json = messageJson(messages, index)
        tokens = this.tokens.text(json) + this.tokens.beside()
        known.size = json.length
        this.know(index, known.size)
      } else {
        const size = sizes[index - from] as TextSizes
        tokens = this.tokens.message(view, size)
        known.size = messageSize(view)
        this.know(index, known.size)
        this.reader.addItems(view, size, index, known.resultsBefore, news, records)
      }
      const role = isSummary(known.object, view) ? 'summary' : view.role
      const items = this.items.length - known.itemsBefore
      news.columns.message(role, tokens, items, this.thinkingOf(index, known, isAnother), known.isWithoutThinking)
    }
    return news.columns
  }

  /** Tokens of the signed reasoning of a message, which stays removed if it was. */
  private thinkingOf(index: number, known: KnownMessage, isAnother: boolean): number {
    const { bound, thinking = '', sealed = 0 } = known.view
    if (bound === undefined || !this.settings.removesThinking) return 0
    if (this.withoutThinking.has(index) || (isAnother && this.gone > 0)) {
      this.withoutThinking.add(index)
      this.projection.leaveThinkingOut(index, known)
    }
    return this.tokens.text(thinking) + Math.ceil(sealed * PER_SEALED)
  }

  /** Knows a message again that the last request of an earlier pruner had, and all before it. */
  private know(index: number, size: number): void {
    if (index === this.sentBefore && this.earlier?.sizes[index] === size) this.sentBefore++
  }

  /** The results that the provider leaves out by itself: the oldest of those that it was not asked to keep. */
  cleared(): HistoryItem[] {
    if (this.clearedByProvider === 0) return []
    const mayGo = ({ kind, toolName }: HistoryItem) => kind === 'result' && !this.tools.of(toolName).stays
    return this.items.filter(mayGo).slice(0, this.clearedByProvider)
  }

  /** Remembers the texts of messages that a summary replaces in the histories to come. */
  learnTexts(messages: readonly unknown[]): void {
    const { ledger } = this.settings
    if (ledger !== undefined) this.folded.learn(messages, ledger)
  }

  /**
   * Gives folded results their text back where a target is not sent any more; answers how many tokens that adds. Signed reasoning
   * binds the messages in front of `boundTo`. Where it may be removed instead, it is removed after a result that changed so.
   */
  restoreFolded(boundTo: number): number {
    const { items, restoredKeys: kept } = this
    const before = new Set(kept)
    const restored = this.folded.restore(
      items,
      { cleared: new Set(this.cleared()), boundTo, kept },
      (item) => this.textOf(item),
      (item, text) => this.send(item, text),
    )
    const changed = kept.size > before.size ? items.find(({ key }) => kept.has(key) && !before.has(key)) : undefined
    if (changed !== undefined && this.settings.removesThinking) {
      this.leaveThinkingOut(changed.index)
      this.isStale = true
    }
    return restored.reduce((sum, { sent, tokens, withPointers }) => {
      const before = withPointers === undefined ? tokens : this.tokens.text(withPointers)
      return sum + this.tokens.text(sent as string) - before
    }, 0)
  }

  /** How many of the items that are sent otherwise only have their text back. */
  get restored(): number {
    return this.items.reduce((sum, item) => sum + (item.restored ? 1 : 0), 0)
  }

  mediaOf(index: number, place: number): readonly Medium[] {
    const { format, object } = this.known[index] as KnownMessage
    return format?.mediaOf(object as object, place) ?? []
  }

  /** The ledger's records of the results of these messages, the first of which has the index `from`, by the numbers of the results. */
  private recordsFrom(views: readonly MessageView[], from: number): (Readonly<ToolResultRecord> | undefined)[] {
    const records: (Readonly<ToolResultRecord> | undefined)[] = []
    if (this.settings.ledger === undefined) return records
    const last = this.known[from - 1]
    const first = last === undefined ? 0 : last.resultsBefore + last.view.results.length
    const asked = views
      .flatMap(({ results }) => results)
      .map(({ callId, text }, at) => {
        const called = this.callOf(first + at)
        return { id: callId ?? called?.id, text, called }
      })
    for (const [at, record] of this.recorded.read(asked).entries()) records[first + at] = record
    return records
  }

  /** The call that a result answers; results count over the whole history. */
  callOf(result: number): CallView | undefined {
    const number = this.pairs?.results[result]?.call
    const found = number === undefined ? undefined : this.pairs?.calls[number]
    return found && this.known[found.message]?.view.calls[found.place]
  }
}

/** The index of the last message in which the model says something; 0 if there is none. */
function lastOfModel(length: number, viewAt: (index: number) => MessageView): number {
  for (let index = length - 1; index > 0; index--) {
    if (isAnswer(viewAt(index))) return index
  }
  return 0
}
