/** Reads the items of a message, which a pruner may leave out: results, and arguments that repeat what a file has. */

import type { Estimate } from '../history/estimate'
import { type ResultText, recordFacts, unitsOf } from '../history/message-cache'
import type { CallView, Medium, MessageView, ResultView, TextSizes } from '../history/message-view'
import { savedPathOf } from '../history/saved-path'
import { native } from '../native/native'
import type { ToolResultRecord } from '../types'
import { fileAccess, onlyReads, shortArguments, shownBy } from './file-access'
import type { FoldedResults } from './folded-results'
import type { ItemForm } from './history-columns'
import { type News, nextFacts, nextWords } from './history-delta'
import type { PrunerSettings } from './options'
import { NOTHING_MORE, Placeholders } from './placeholder'
import { HistoryItem, itemKey, type Namesakes } from './prunable-item'
import type { ToolFacts } from './tool-facts'
import { type Trim, trimmed, trimOf } from './trim'

const { FACT_FAILED, ITEM_ARGUMENTS, ITEM_FIXED, ITEM_WRITES } = native

/** How the keys of arguments begin. */
export const OF_ARGUMENTS = 'arguments of '

/** How an item is sent, and how it could be. */
interface Shape {
  readonly form: ItemForm
  /** Its placeholder. */
  readonly placeholder: string
  /** Its trimmed form. */
  readonly trimmed: string | undefined
}

/** Where an item is, and its size. */
type At = Pick<HistoryItem, 'index' | 'place' | 'tokens'>

/** The history that items belong to. */
export interface ItemHistory {
  readonly items: HistoryItem[]
  /** Placeholders of pruned items, by key. */
  readonly placeholders: ReadonlyMap<string, string>
  /** Where items are cut that are trimmed, by their keys. */
  readonly trims: ReadonlyMap<string, Trim>
  /** Items whose text was chosen elsewhere. */
  readonly adopted: ReadonlySet<string>
  readonly tokens: Estimate
  /** Messages at the start that a model has seen. */
  readonly seenUntil: number
  /** Facts of an earlier pruner about the same items, in their order. */
  readonly carried: readonly (number | null)[] | undefined
  readonly tools: ToolFacts
  readonly namesakes: Namesakes
  readonly folded: FoldedResults
  /** True if arguments are items. */
  readonly readsArguments: boolean
  callOf(result: number): CallView | undefined
  mediaOf(index: number, place: number): readonly Medium[]
  send(item: HistoryItem, text: string): void
}

export class ItemReader {
  private readonly wording: Placeholders

  constructor(
    private readonly settings: PrunerSettings,
    private readonly history: ItemHistory,
  ) {
    this.wording = new Placeholders(settings, history.tokens)
  }

  addItems(
    { calls, results }: MessageView,
    sizes: TextSizes,
    index: number,
    resultsBefore: number,
    news: News,
    records: readonly (Readonly<ToolResultRecord> | undefined)[],
  ): void {
    if (this.history.readsArguments) {
      for (let place = 0; place < calls.length; place++) {
        this.addArguments(calls[place] as CallView, { index, place, tokens: sizes.calls[place] as number }, news)
      }
    }
    for (let place = 0; place < results.length; place++) {
      const answered = this.history.callOf(resultsBefore + place)
      const { mediaTokens } = results[place] as ResultView
      const beside = this.history.tokens.beside(mediaTokens) - this.history.tokens.beside()
      const at = { index, place, tokens: (sizes.results[place] as number) + beside }
      this.addResult(results[place] as ResultView, answered, at, news, records[resultsBefore + place])
    }
  }

  private addResult(
    result: ResultView,
    answered: CallView | undefined,
    at: At,
    news: News,
    learnt: Readonly<ToolResultRecord> | undefined,
  ): void {
    const { index, place, tokens } = at
    const toolCallId = result.callId ?? answered?.id
    const toolName = learnt?.toolName ?? result.toolName ?? answered?.name
    const outputPath = savedPathOf(result, learnt, this.settings.storage, result.text)
    // Names of the history itself: what a ledger knows may be another thing in another process.
    const name = toolCallId ?? `@${result.toolName ?? answered?.name ?? ''}`
    const nth = this.history.namesakes.take(name)
    const units = unitsOf(result.text)
    const tool = this.history.tools.of(toolName)
    const fixed = answered === undefined || tool.stays || !result.replaceable
    const before = this.history.trims.size > 0 ? this.history.trims.get(itemKey(name, nth, units)) : undefined
    // Trimmed items stay trimmed, even where trimming is no longer allowed.
    const trim = before ?? (fixed || result.media > 0 ? undefined : this.trimOf(result.text, outputPath))
    const item = new HistoryItem(
      'result',
      index,
      place,
      tokens,
      name,
      nth,
      units,
      toolName,
      toolCallId,
      outputPath,
      trim,
    )
    if (this.settings.ledger !== undefined) this.history.folded.note(item, result, answered, learnt?.folds)
    const media = result.media > 0 ? this.wording.ofMedia(this.history.mediaOf(index, place)) : ''
    const words = nextWords(news)
    const isRepeatable = () => !fixed && onlyReads(toolName, answered)
    const shape = this.shapeOf(item, result.text, fixed, { media, words, isRepeatable })
    // A text that was chosen elsewhere is beside the media.
    item.hasMedia = result.media > 0 && !(this.history.adopted.size > 0 && this.history.adopted.has(item.key))
    const { needsReads, needsCommands } = this.settings
    const asked = { files: needsReads && tool.handlesFiles, commands: needsCommands && tool.runsCommands }
    const failed = learnt === undefined ? (result.isError ? FACT_FAILED : 0) : recordFacts(learnt)
    news.columns.item({
      flags: fixed ? ITEM_FIXED : 0,
      facts: tool.facts | failed | nextFacts(result.text, news),
      tokens,
      placeholder:
        words === '' ? this.history.tokens.repeated(shape.placeholder) : this.history.tokens.text(shape.placeholder),
      trimmed: shape.trimmed === undefined ? undefined : this.history.tokens.text(shape.trimmed),
      form: shape.form,
      time: learnt?.endedAt ?? result.time,
      carried: this.history.carried?.[this.history.items.length],
      read: answered && toolName !== undefined ? shownBy(toolName, answered, asked) : undefined,
    })
    this.push(item, shape)
  }

  private addArguments(called: CallView, { index, place, tokens }: At, news: News): void {
    const { name, id } = called
    if (name === undefined || !called.replaceable) return
    const tool = this.history.tools.of(name)
    if (!tool.handlesFiles || fileAccess(name, called).writes !== true) return
    const own = `${OF_ARGUMENTS}${id ?? `@${name}`}`
    const nth = this.history.namesakes.take(own)
    const units = called.argsText.length
    const item = new HistoryItem('arguments', index, place, tokens, own, nth, units, name, id, undefined, undefined)
    const shape = this.shapeOf(item, '', tool.stays)
    const rest = JSON.stringify(shortArguments(called, shape.placeholder))
    news.columns.item({
      flags: ITEM_ARGUMENTS | ITEM_WRITES | (tool.stays ? ITEM_FIXED : 0),
      facts: 0,
      tokens,
      placeholder: this.history.tokens.call(name, rest),
      trimmed: undefined,
      form: shape.form,
      time: undefined,
      carried: this.history.carried?.[this.history.items.length],
      read: undefined,
    })
    this.push(item, shape)
  }

  private push(item: HistoryItem, { form, placeholder, trimmed }: Shape): void {
    item.placeholder = placeholder
    this.history.items.push(item)
    if (form === 'gone') this.history.send(item, placeholder)
    if (form === 'trimmed') this.history.send(item, trimmed as string)
  }

  /** How an item was sent before, and how it could be. */
  private shapeOf(item: HistoryItem, text: ResultText, fixed: boolean, about = NOTHING_MORE): Shape {
    const { trim } = item
    let seen = false
    if (this.history.placeholders.size > 0 || this.history.trims.size > 0) {
      const { key } = item
      // After a history was rewritten a key may mean something else; what is new to the model is safe from that.
      seen = item.index < this.history.seenUntil || this.history.adopted.has(key)
      const known = seen ? this.history.placeholders.get(key) : undefined
      if (known !== undefined) return { form: 'gone', placeholder: known, trimmed: undefined }
    }
    const shorter = trim && trimmed(text, trim)
    return {
      form: seen && this.history.trims.has(item.key) ? 'trimmed' : 'whole',
      placeholder: this.wording.of(item, shorter, fixed, about),
      trimmed: shorter,
    }
  }

  private trimOf(text: ResultText, outputPath: string | undefined): Trim | undefined {
    const { trim, language } = this.settings
    return trim && trimOf(text, trim, language, outputPath)
  }
}
