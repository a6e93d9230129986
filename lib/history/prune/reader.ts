/** A history read into columns for the pruner; from request to request only what is new is read. */

import { call, native } from '../../native'
import { Estimate, type MessageSizes } from '../estimate'
import { detected, type Remembered, recall, viewOf } from '../formats'
import { OTHER } from '../formats/define'
import { factsOf, type ResultText, recordFacts, sameText, unitsOf } from '../knowledge'
import type { ToolResultRecord } from '../ledger'
import { pairsOf, type ToolPairs } from '../pairs'
import { isSummary } from '../summary'
import type { CallView, HistoryFormatName, MessageView, ResultView } from '../view'
import { Columns, type ItemColumns, type ItemForm } from './columns'
import { fileAccess, shortArguments } from './file-access'
import { type PrunedInfo, type PrunerSettings, pruningError } from './options'
import { Projection } from './projection'
import { type Trim, trimmed, trimOf } from './trim'
import { Watch } from './watch'

const { FACT_FAILED, ITEM_ARGUMENTS, ITEM_FIXED, ITEM_WRITES } = native

/** Something in a history that can be left out. */
export interface HistoryItem {
  readonly kind: PrunedInfo['kind']
  /** Index of the message. */
  readonly index: number
  /** Place among the results or calls of the message. */
  readonly place: number
  /** Names the item for good, also in another process. */
  readonly key: string
  readonly toolName: string | undefined
  readonly toolCallId: string | undefined
  readonly tokens: number
  readonly outputPath: string | undefined
  /** Where it is cut when it is trimmed. */
  readonly trim: Trim | undefined
}

/** A message that was read. */
export interface KnownMessage {
  readonly object: unknown
  readonly view: MessageView
  /** How it was read; `undefined` if it is no message at all. */
  readonly read: Remembered | undefined
  /** UTF-16 units of everything in it: by this it is known again in another process. */
  readonly size: number
  readonly itemsBefore: number
  readonly resultsBefore: number
  /** The names of its items, as far as they count on. */
  readonly names: readonly string[]
}

/** Where an earlier pruner stopped. */
export interface Earlier {
  placeholders: Map<string, string>
  trims: Map<string, Trim>
  carried: readonly (number | null)[]
  sizes: readonly number[]
}

/** A request that had the first `shared` messages, and its time if the account does not have it: milliseconds. */
export interface Resumed {
  shared: number
  lastRequest: number | undefined
}

/** What was new in a history. */
export interface Read {
  /** Messages at the start that were there before and say what they said. */
  shared: number
  /** All others. */
  columns: Columns
  /** With the first history that is read: a request that was made before, if anybody knows of one. */
  resumed: Resumed | undefined
}

/** What the name of a tool says. */
interface ToolFacts {
  /** In the binary's terms. */
  readonly facts: number
  /** Its results stay. */
  readonly stays: boolean
}

/** How an item is sent, and how it could be. */
interface Shape {
  readonly form: ItemForm
  /** What stands for it, or would. */
  readonly placeholder: string
  /** What it is once it is trimmed. */
  readonly trimmed: string | undefined
}

/** What is known of the history of one session. */
export class HistoryReader {
  format: HistoryFormatName | undefined
  /** A history that only begins, such as one message of a user, can be of many formats. */
  private settled = false
  readonly items: HistoryItem[] = []
  /** What stands for items that are left out, by their keys. */
  readonly placeholders: Map<string, string>
  /** Where items are cut that are trimmed, by their keys. */
  readonly trims: Map<string, Trim>
  readonly tokens: Estimate
  /** Items whose text somebody else chose; that holds although the model may not have seen them. */
  private readonly adopted = new Set<string>()
  private readonly projection = new Projection()
  private readonly known: KnownMessage[] = []
  private readonly watch = new Watch()
  /** Messages at the start that are the very objects of the last request. */
  private same = 0
  private pairs: ToolPairs | undefined
  /** How many items have the same name. */
  private readonly namesakes = new Map<string, number>()
  private readonly tools = new Map<string, ToolFacts>()
  /** Nothing has been read yet. */
  private fresh = true
  /** The model has not seen what is in this message and behind it. */
  private unseenFrom = 0
  private readonly usual: Record<HistoryItem['kind'], string>

  constructor(
    private readonly settings: PrunerSettings,
    private earlier?: Earlier,
  ) {
    this.placeholders = earlier?.placeholders ?? new Map()
    this.trims = earlier?.trims ?? new Map()
    this.tokens = new Estimate(settings.estimateTokens, settings.tell)
    this.usual = { result: this.usualPlaceholder('result'), arguments: this.usualPlaceholder('arguments') }
  }

  /** How many items are left out of the history at hand, or trimmed. */
  get gone(): number {
    return this.projection.gone
  }

  sizes(): number[] {
    return this.known.map(({ size }) => size)
  }

  /** Forgets the history, but not what was left out of it. */
  forget(): void {
    this.dropFrom(0)
    this.pairs = undefined
    this.format = undefined
    this.settled = false
  }

  /** Reads what is new in a history. */
  read(messages: readonly unknown[]): Read {
    const { format, settled } = this.settled ? { format: this.format, settled: true } : detected(messages)
    const shared = this.unchanged(messages, format)
    if (format !== this.format) this.pairs = undefined
    this.format = format
    this.settled = settled
    if (shared < this.known.length) this.pairs = undefined
    this.dropFrom(shared)
    if (format !== undefined && this.pairs?.extend(messages, shared) !== true) this.pairs = pairsOf(format, messages)
    this.unseenFrom = format === undefined ? 0 : lastOfModel(messages, format)
    const columns = this.addAll(messages, shared)
    const resumed = this.fresh ? this.requestBefore() : undefined
    this.fresh = false
    this.earlier = undefined
    return { shared, columns, resumed }
  }

  /** Leaves an item out from now on. */
  leaveOut(item: HistoryItem, placeholder: string): void {
    this.placeholders.set(item.key, placeholder)
    this.trims.delete(item.key)
    this.projection.leaveOut(item, placeholder)
  }

  /** Sends these texts in the place of results from the next reading on, which reads everything anew. */
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

  /** Forgets what stands for items that are not there any more. */
  forgetGone(): void {
    const keys = new Set(this.items.map(({ key }) => key))
    for (const kept of [this.placeholders, this.trims, this.adopted]) {
      for (const key of kept.keys()) if (!keys.has(key)) kept.delete(key)
    }
  }

  /** Sends the start and the end of an item from now on. */
  trim(item: HistoryItem): void {
    const trim = item.trim as Trim
    this.trims.set(item.key, trim)
    this.projection.leaveOut(item, trimmed(this.textOf(item), trim))
  }

  /** How much of an item is sent by now: tokens. */
  sizeOf(item: HistoryItem): number {
    const trim = this.trims.get(item.key)
    return trim === undefined ? item.tokens : this.tokens.text(trimmed(this.textOf(item), trim))
  }

  private textOf({ index, place }: HistoryItem): ResultText {
    return this.known[index]?.view.results[place]?.text ?? ''
  }

  /** The messages that were read last, without what is left out. */
  project<M>(messages: readonly M[]): M[] {
    return this.projection.apply(messages, this.known, this.same)
  }

  /** What stands for an item unless the caller wants something else. */
  defaultPlaceholder({ kind, outputPath }: Pick<HistoryItem, 'kind' | 'outputPath'>): string {
    return outputPath === undefined ? this.usual[kind] : this.usualPlaceholder(kind, outputPath)
  }

  private usualPlaceholder(kind: HistoryItem['kind'], outputPath?: string): string {
    return call(() => native.prunedPlaceholder(kind === 'arguments', this.settings.language === 'zh-CN', outputPath))
  }

  /** How many messages at the start say what they said at the last request. */
  private unchanged(messages: readonly unknown[], format: HistoryFormatName | undefined): number {
    this.same = 0
    if (format === undefined) return 0
    const most = Math.min(messages.length, this.known.length)
    // Another format may read the same objects in another way.
    if (format === this.format) this.same = this.watch.unchanged(messages)
    this.watch.dropFrom(this.same)
    let index = this.same
    for (; index < most; index++) {
      const message = messages[index]
      const known = this.known[index] as KnownMessage
      // An agent may build its messages anew for every request.
      const read = readOf(format, message)
      const view = read?.view ?? OTHER
      if (!sameView(view, known.view)) break
      this.known[index] = { ...known, object: message, view, read }
      this.watch.add(message, read?.watched ?? [])
    }
    return index
  }

  /** A request that this process did not see: an earlier pruner made it, or the time when the model spoke last tells. */
  private requestBefore(): Resumed | undefined {
    if (this.earlier !== undefined) return { shared: this.sameSizes(this.earlier.sizes), lastRequest: undefined }
    const time = this.known[this.unseenFrom]?.view.time
    return time === undefined || this.unseenFrom === 0 ? undefined : { shared: this.unseenFrom, lastRequest: time }
  }

  private sameSizes(sizes: readonly number[]): number {
    const differs = this.known.findIndex(({ size }, index) => sizes[index] !== size)
    return differs < 0 ? this.known.length : differs
  }

  private dropFrom(index: number): void {
    const first = this.known[index]
    if (first === undefined) return
    this.items.length = first.itemsBefore
    this.projection.dropFrom(index)
    this.watch.dropFrom(index)
    for (const { names } of this.known.splice(index)) {
      for (const name of names) this.namesakes.set(name, (this.namesakes.get(name) ?? 1) - 1)
    }
  }

  private addAll(messages: readonly unknown[], from: number): Columns {
    const reads: (Remembered | undefined)[] = []
    for (let index = from; index < messages.length; index++) {
      reads.push(this.format === undefined ? undefined : readOf(this.format, messages[index]))
    }
    const sizes = this.tokens.sizes(reads.map((read) => read?.view ?? OTHER))
    const columns = new Columns()
    for (const [at, read] of reads.entries()) {
      this.add(messages[from + at], read, sizes[at] as MessageSizes, from + at, columns)
    }
    return columns
  }

  private add(
    object: unknown,
    read: Remembered | undefined,
    sizes: MessageSizes,
    index: number,
    columns: Columns,
  ): void {
    const view = read?.view ?? OTHER
    const last = this.known.at(-1)
    const message: KnownMessage & { names: string[] } = {
      object,
      view,
      read,
      size: sizeOf(view),
      itemsBefore: this.items.length,
      resultsBefore: last === undefined ? 0 : last.resultsBefore + last.view.results.length,
      names: [],
    }
    let tokens = sizes.said
    const items: ItemColumns[] = []
    for (const [place, called] of view.calls.entries()) {
      const size = sizes.calls[place] as number
      tokens += size
      if (this.settings.prunesArguments) this.addArguments(message, called, { index, place, tokens: size }, items)
    }
    for (const [place, result] of view.results.entries()) {
      const size = sizes.results[place] as number
      tokens += size + this.tokens.beside(result.media)
      this.addResult(message, result, { index, place, tokens: size }, items)
    }
    columns.message(isSummary(object, view) ? 'summary' : view.role, tokens, items)
    this.known.push(message)
    this.watch.add(object, read?.watched ?? [])
  }

  private addResult(message: Named, result: ResultView, at: At, items: ItemColumns[]): void {
    const answered = this.callOf(message.resultsBefore + at.place)
    const toolCallId = result.callId ?? answered?.id
    const learnt = this.learnt(toolCallId)
    const toolName = learnt?.toolName ?? result.toolName ?? answered?.name
    const outputPath = learnt?.outputPath ?? result.outputPath
    // Names of the history itself: what a ledger knows may be another thing in another process.
    const key = this.keyOf(message, toolCallId ?? `@${result.toolName ?? answered?.name ?? ''}`, unitsOf(result.text))
    const { facts, stays } = this.toolFacts(toolName)
    const fixed = answered === undefined || stays || result.media > 0 || !result.replaceable
    const trim = fixed ? undefined : (this.trims.get(key) ?? this.trimOf(result.text, outputPath))
    const item: HistoryItem = { kind: 'result', ...at, key, toolName, toolCallId, outputPath, trim }
    const shape = this.shapeOf(item, result.text)
    const reads = this.settings.needsReads && toolName !== undefined && answered !== undefined
    const failed = learnt === undefined ? (result.isError ? FACT_FAILED : 0) : recordFacts(learnt)
    items.push({
      flags: fixed ? ITEM_FIXED : 0,
      facts: facts | failed | this.textFacts(result.text),
      tokens: at.tokens,
      placeholder: this.tokens.repeated(shape.placeholder),
      trimmed: shape.trimmed === undefined ? undefined : this.tokens.text(shape.trimmed),
      form: shape.form,
      time: learnt?.endedAt ?? result.time,
      carried: this.earlier?.carried[this.items.length],
      read: reads ? fileAccess(toolName, answered).read : undefined,
    })
    this.push(item, shape)
  }

  private addArguments(message: Named, called: CallView, at: At, items: ItemColumns[]): void {
    const { name, id } = called
    if (name === undefined || !called.replaceable || fileAccess(name, called).writes !== true) return
    const key = this.keyOf(message, `arguments of ${id ?? `@${name}`}`, called.argsText.length)
    const named = { key, toolName: name, toolCallId: id, outputPath: undefined, trim: undefined }
    const item: HistoryItem = { kind: 'arguments', ...at, ...named }
    const shape = this.shapeOf(item, '')
    const rest = JSON.stringify(shortArguments(called, shape.placeholder))
    items.push({
      flags: ITEM_ARGUMENTS | ITEM_WRITES | (this.toolFacts(name).stays ? ITEM_FIXED : 0),
      facts: 0,
      tokens: at.tokens,
      placeholder: this.tokens.call(name, rest),
      trimmed: undefined,
      form: shape.form,
      time: undefined,
      carried: this.earlier?.carried[this.items.length],
      read: undefined,
    })
    this.push(item, shape)
  }

  private push(item: HistoryItem, { form, placeholder, trimmed }: Shape): void {
    this.items.push(item)
    if (form === 'gone') this.projection.leaveOut(item, placeholder)
    if (form === 'trimmed') this.projection.leaveOut(item, trimmed as string)
  }

  /** How an item was sent before, and how it could be. */
  private shapeOf(item: HistoryItem, text: ResultText): Shape {
    const { key, trim } = item
    // After a history was rewritten a key may mean something else; what is new to the model is safe from that.
    const seen = item.index < this.unseenFrom || this.adopted.has(key)
    const known = seen ? this.placeholders.get(key) : undefined
    if (known !== undefined) return { form: 'gone', placeholder: known, trimmed: undefined }
    const { placeholder } = this.settings
    return {
      form: seen && this.trims.has(key) ? 'trimmed' : 'whole',
      // A function is asked when something goes, and until then its answer is taken to be as long as the default.
      placeholder: typeof placeholder === 'string' ? placeholder : this.defaultPlaceholder(item),
      trimmed: trim && trimmed(text, trim),
    }
  }

  private trimOf(text: ResultText, outputPath: string | undefined): Trim | undefined {
    const { trim, language } = this.settings
    return trim && trimOf(text, trim, language, outputPath)
  }

  private learnt(toolCallId: string | undefined): Readonly<ToolResultRecord> | undefined {
    const { ledger, tell } = this.settings
    if (ledger === undefined || toolCallId === undefined) return undefined
    try {
      return ledger.get(toolCallId)
    } catch (thrown) {
      tell(pruningError('ledger', thrown))
      return undefined
    }
  }

  /** The call that a result answers; results count over the whole history. */
  private callOf(result: number): CallView | undefined {
    const number = this.pairs?.results[result]?.call
    const found = number === undefined ? undefined : this.pairs?.calls[number]
    return found && this.known[found.message]?.view.calls[found.place]
  }

  /** Ids can come twice, and some formats have none: the count and the length tell such items apart. */
  private keyOf({ names }: Named, name: string, units: number): string {
    const nth = this.namesakes.get(name) ?? 0
    this.namesakes.set(name, nth + 1)
    names.push(name)
    return `${name}#${nth}:${units}`
  }

  private toolFacts(name: string | undefined): ToolFacts {
    const { protectedTools, onlyTools } = this.settings
    if (name === undefined) return { facts: 0, stays: onlyTools !== undefined }
    let known = this.tools.get(name)
    if (known === undefined) {
      const isOneOf = (tools: readonly string[]) => call(() => native.isOneOfTools(name, [...tools]))
      known = {
        facts: call(() => native.toolFacts([name]))[0] as number,
        stays: isOneOf(protectedTools) || (onlyTools !== undefined && !isOneOf(onlyTools)),
      }
      this.tools.set(name, known)
    }
    return known
  }

  private textFacts(text: ResultText): number {
    if (!this.settings.needsFacts) return 0
    const texts = typeof text === 'string' ? [text] : text
    return texts.reduce((facts, part) => facts | factsOf(part), 0)
  }
}

/** A message whose items are being named. */
type Named = KnownMessage & { names: string[] }

/** Where an item is, and its size. */
type At = Pick<HistoryItem, 'index' | 'place' | 'tokens'>

/** The index of the model's last message; 0 if it has said nothing. */
function lastOfModel(messages: readonly unknown[], format: HistoryFormatName): number {
  for (let index = messages.length - 1; index > 0; index--) {
    if (viewOf(format, messages[index]).role === 'assistant') return index
  }
  return 0
}

function readOf(format: HistoryFormatName, message: unknown): Remembered | undefined {
  return typeof message === 'object' && message !== null ? recall(format, message) : undefined
}

/** UTF-16 units of everything in a message, and how much in it is no text: by this it is known again. */
export function sizeOf({ text, calls, results, media }: MessageView): number {
  const written = calls.reduce((sum, { name, argsText }) => sum + (name?.length ?? 0) + argsText.length, 0)
  const answered = results.reduce((sum, result) => sum + unitsOf(result.text) + result.media, 0)
  return unitsOf(text) + written + answered + media
}

/** Whether two messages say the same. */
function sameView(a: MessageView, b: MessageView): boolean {
  return (
    a.role === b.role &&
    a.media === b.media &&
    sameText(a.text, b.text) &&
    a.calls.length === b.calls.length &&
    a.results.length === b.results.length &&
    a.calls.every((called, place) => sameCall(called, b.calls[place] as CallView)) &&
    a.results.every((result, place) => sameResult(result, b.results[place] as ResultView))
  )
}

function sameCall(a: CallView, b: CallView): boolean {
  return a.id === b.id && a.name === b.name && a.argsText === b.argsText
}

function sameResult(a: ResultView, b: ResultView): boolean {
  return (
    a.callId === b.callId &&
    a.toolName === b.toolName &&
    a.isError === b.isError &&
    a.media === b.media &&
    sameText(a.text, b.text)
  )
}
