/**
 * Facts about tool results, cached per message object for as long as the message lives: classifying a
 * text costs more than everything else, and an agent asks about the same messages before every request.
 */

import { call, native } from '../native/native'
import { batchesOf, isLatin1 } from '../native/text-batches'
import type { ToolResultRecord } from '../types'

/** The text of a result: one string, or the texts of its parts. */
export type ResultText = string | readonly string[]

/** Bytes as UTF-8 and estimated tokens. */
export type Cost = readonly [bytes: number, tokens: number]

/** Default placeholder of an outdated result. */
export const DEFAULT_PLACEHOLDER = '此命令返回内容已过时'

/** The same in English. */
export const ENGLISH_PLACEHOLDER = '[Outdated output of a command was removed]'

const { FACT_FAILED, FACT_FIXED, FACT_SUCCEEDED, FACT_STDERR_KNOWN, FACT_STDERR_FILLED } = native
const { TEXT_USUAL_END: USUAL_END, TEXT_USUAL_FACTS: USUAL_FACTS } = native
const BRACE = 0x7b

/** Not read yet. */
export const UNKNOWN = -1

/**
 * Cached facts about one message. Those of its text hold as long as it has that text, those of its
 * tool as long as it has that name and call id.
 */
export class Knowledge {
  text: ResultText = ''
  /** The content has more than text, which no text can replace. Also the state before the first read. */
  mixed = true
  /** Facts about the text, including whether it must be kept, as the core encodes them. */
  facts = FACT_FIXED
  /** The message's `tool_call_id` when {@link toolName} was found. */
  callId: unknown = UNKNOWN
  /** The message's `name` when {@link toolName} was found. */
  name: unknown = undefined
  /** Facts about the tool from the built-in lists, as the core encodes them, or {@link UNKNOWN}. */
  kind = UNKNOWN
  toolName: string | undefined = undefined
  /** How much of the text has been read. */
  depth: 'none' | 'ends' | 'whole' = 'none'
  cost: Cost | undefined = undefined

  constructor(
    /** A plain object whose `role` is not a getter, so that a spread copies it. */
    readonly plain: boolean,
    /** The text that was put here in place of an outdated one. */
    readonly placeholder: string | undefined,
  ) {}

  /** Takes note of the text, and looks whether it ends as most do: that costs less than any question to the binary. */
  see(text: ResultText, mixed: boolean): void {
    if (this.mixed === mixed && sameText(this.text, text)) return
    this.text = text
    this.mixed = mixed
    this.depth = 'none'
    this.cost = undefined
    // A placeholder must not be replaced again: the history would change for nothing.
    this.facts =
      mixed || text === DEFAULT_PLACEHOLDER || text === ENGLISH_PLACEHOLDER || text === this.placeholder
        ? FACT_FIXED
        : 0
    if (typeof text === 'string' && text.charCodeAt(0) === BRACE && text.endsWith(USUAL_END)) {
      this.facts |= USUAL_FACTS
      this.depth = 'whole'
    }
  }
}

// The message object is the one thing that an agent keeps from request to request, whatever it does to its arrays.
const remembered = new WeakMap<object, Knowledge>()

export function knowledgeOf(message: object): Knowledge | undefined {
  return remembered.get(message)
}

export function beginKnowledge(message: object, plain: boolean, placeholder?: string): Knowledge {
  const knowledge = new Knowledge(plain, placeholder)
  remembered.set(message, knowledge)
  return knowledge
}

/** One text of all parts. */
export function joinedText(text: ResultText): string {
  return typeof text === 'string' ? text : text.join('\n')
}

/** True if two results have the same text. */
export function sameText(a: ResultText, b: ResultText): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b
  return a.length === b.length && a.every((text, index) => text === b[index])
}

export function unitsOf(text: ResultText): number {
  return typeof text === 'string' ? text.length : text.reduce((sum, part) => sum + part.length, 0)
}

const HEAD = native.TEXT_HEAD_UNITS
const TAIL = native.TEXT_TAIL_UNITS

/** Length up to which reading a whole text costs about as much as reading its ends. */
const SHORT = 2 * (HEAD + TAIL)

/**
 * Number of texts whose ends cross together: one crossing costs as much as several texts, and a long string more than short
 * ones.
 */
const BATCH = 64

/** Reads one step more of the texts of these results: of a long one its ends, and the whole if they have been read. */
export function learn(results: readonly { readonly known: Knowledge }[], places: Uint32Array): void {
  let batch: Knowledge[] = []
  let ends: string[] = []
  for (const place of places) {
    const { known } = results[place] as { known: Knowledge }
    const { text, depth } = known
    if (depth !== 'none' || typeof text !== 'string' || text.length <= SHORT) {
      readWhole(known)
      continue
    }
    batch.push(known)
    ends.push(text.slice(0, HEAD), text.slice(-TAIL))
    if (batch.length === BATCH) {
      readEnds(batch, ends.join(''))
      batch = []
      ends = []
    }
  }
  if (batch.length > 0) readEnds(batch, ends.join(''))
}

function readEnds(batch: readonly Knowledge[], ends: string): void {
  const facts = call(() => native.textEndFacts(ends, isLatin1(ends)))
  for (let at = 0; at < batch.length; at++) {
    const knowledge = batch[at] as Knowledge
    knowledge.depth = 'ends'
    knowledge.facts |= facts.charCodeAt(at)
  }
}

function readWhole(knowledge: Knowledge): void {
  const { text } = knowledge
  knowledge.depth = 'whole'
  if (typeof text === 'string') knowledge.facts |= factsOf(text)
  else for (const part of text.length > 0 ? text : ['']) knowledge.facts |= factsOf(part)
}

/** Returns the ledger's record of a call, as the core encodes it. */
export function recordFacts({ isError, exitCode, hasStderr }: Readonly<ToolResultRecord>): number {
  let facts = isError || (exitCode !== undefined && exitCode !== 0) ? FACT_FAILED : 0
  if (!isError && exitCode === 0) facts |= FACT_SUCCEEDED
  if (hasStderr !== undefined) facts |= hasStderr ? FACT_STDERR_FILLED : FACT_STDERR_KNOWN
  return facts
}

/** Returns the facts about a text, as the core encodes them. */
export function factsOf(text: string): number {
  return call(() => native.textFacts(text, isLatin1(text)))
}

/** Returns the facts about each of many texts, as the core encodes them. */
export function factsOfAll(texts: readonly string[]): number[] {
  const all: number[] = []
  for (const { joined, lengths, latin1 } of batchesOf(texts)) {
    const facts = call(() => native.textsFacts(joined, lengths, latin1))
    for (let at = 0; at < facts.length; at++) all.push(facts.charCodeAt(at))
  }
  return all
}

/** Token cost of the text. */
export function costOf(knowledge: Knowledge): Cost {
  if (knowledge.cost === undefined) {
    const { text } = knowledge
    const parts = (typeof text === 'string' ? [text] : text).map(textCost)
    knowledge.cost = parts.reduce<Cost>((sum, part) => [sum[0] + part[0], sum[1] + part[1]], [0, 0])
  }
  return knowledge.cost
}

export function textCost(text: string): Cost {
  return call(() => native.textCost(text)) as [number, number]
}
