/** Limits the results of a history to a cap for each and a budget for all. */

import { type ReadViews, viewsIn } from '../history/formats'
import type { ResultView } from '../history/message-view'
import { type NamedPlace, placesIn } from '../history/saved-path'
import { call, native } from '../native/native'
import { isSavedOutput, type OutputOwner } from '../storage/saved-outputs'
import type { OverflowProfile } from './limits'
import { removedBefore } from './previous-truncation'
import { type FoundResult, fingerprintOf, measure, type NewTexts, resultsOf, rewrite, weigh, weightOf } from './results'

/** Part of a truncated text that is kept. */
export interface CutText {
  head: number
  tail: number
  middle: string
  suffix: string
}

/** How a result was sent: cut texts (`null` for one that was not), or a line in its place; whole if neither. */
export interface SentResult {
  /** A short name of the texts that it was made from. */
  source: string
  /** Its length as it was sent, as the profile counts. */
  weight: number
  cuts?: readonly (CutText | null)[]
  line?: string
}

/** Limits of all results. */
export interface ResultLimits {
  profile: OverflowProfile
  weighted: boolean
  cap: number
  /** `null`: no limit. */
  budget: number | null
  minKeep: number
  suffix?: string | undefined
  /** The suffix gives way to one that names the saved output, if there is one. */
  suffixGivesWay?: boolean
  outputExists?: ((path: string) => boolean) | undefined
  storage?: OutputOwner | undefined
}

/** Outcome for the results. */
export interface Bounded<M> {
  messages: M[]
  /** Results that have another text than before. */
  count: number
  /** Their length together before and after, as the profile counts. */
  weightBefore: number
  weightAfter: number
  /** True if a result that was sent before has another form now. */
  rebaselined: boolean
  /** How each result is sent now, by its key. */
  sent: Map<string, SentResult>
}

type Form = 'whole' | 'frozen' | 'marker' | 'compact' | number

/** A result with what is known of it. */
interface Known {
  result: FoundResult
  key: string
  weight: number
  frozen: SentResult | undefined
  saved: NamedPlace | undefined
  lines: readonly string[]
}

/**
 * Shortens results. The input is never changed, and if nothing has to be shortened, `messages` itself is returned.
 * `sent` is how results were sent before, by their keys; without it nothing is remembered, and `sent` comes back empty.
 */
export function boundResults<M>(
  messages: readonly M[],
  bounds: ResultLimits,
  before?: ReadonlyMap<string, SentResult>,
  read: ReadViews = viewsIn(messages),
): Bounded<M> {
  const known = learn(resultsOf(read.views), bounds, before)
  const { forms, rebaselined } = decide(known, bounds)
  // Reading a text for its name costs as much as cutting it, and is for who remembers.
  const sourceOf = before === undefined ? () => '' : fingerprintOf
  const texts: NewTexts = new Map()
  const sent = new Map<string, SentResult>()
  const bounded: Bounded<M> = {
    messages: messages as M[],
    count: 0,
    weightBefore: 0,
    weightAfter: 0,
    rebaselined,
    sent,
  }
  known.forEach((one, at) => {
    const { result, key, weight } = one
    const form = shape(one, forms[at] as Form, bounds, sourceOf)
    bounded.weightBefore += weight
    bounded.weightAfter += form?.weight ?? weight
    if (before !== undefined) sent.set(key, form ?? { source: sourceOf(result), weight })
    if (form === undefined || (form.cuts === undefined && form.line === undefined)) return
    bounded.count++
    const changes = texts.get(result.index) ?? new Map<number, readonly string[]>()
    texts.set(result.index, changes.set(result.place, textsOf(result, form)))
  })
  if (bounded.count === 0) return bounded
  const { messages: rewritten, unwritable } = rewrite(messages, read.format, texts)
  bounded.count -= unwritable
  if (bounded.count > 0) bounded.messages = rewritten
  return bounded
}

function learn(
  results: readonly FoundResult[],
  { weighted, budget }: ResultLimits,
  before: ReadonlyMap<string, SentResult> | undefined,
): Known[] {
  const seen = new Map<string, number>()
  const known: Known[] = results.map((result) => {
    const id = result.view.callId ?? `${result.view.toolName ?? ''}@`
    const times = (seen.get(id) ?? 0) + 1
    seen.set(id, times)
    const key = times === 1 ? id : `${id}#${times}`
    const sent = before?.get(key)
    const holds = sent !== undefined && sent.source === fingerprintOf(result) && isNoLonger(result, sent)
    const frozen = holds ? sent : undefined
    return { result, key, weight: weightOf(result, weighted), frozen, saved: undefined, lines: [] }
  })
  const total = known.reduce((sum, { weight }) => sum + weight, 0)
  // Only then can a line have to stand for one of them.
  if (budget !== null && total > budget) {
    for (const one of known) one.lines = UNSAVED
  }
  return known
}

function decide(known: Known[], bounds: ResultLimits): { forms: Form[]; rebaselined: boolean } {
  const { cap, budget } = bounds
  const over = known.some(({ weight }) => weight > cap)
  const tight = known.some(({ lines }) => lines.length > 0)
  const shrunk = known.some(({ frozen, weight }) => frozen !== undefined && frozen.weight < weight)
  if (!over && !tight && !shrunk) return { forms: known.map(() => 'whole'), rebaselined: false }
  for (const one of known) {
    if (!tight && one.weight <= cap) continue
    one.saved = savedAt(one.result, bounds)
    const { saved } = one
    if (tight && saved) one.lines = call(() => native.overflowMarkers(saved.path, saved.partial))
  }
  const columns = known.map(({ result, weight, frozen, lines }) => ({
    weight,
    fresh: result.fresh,
    frozen: frozen?.weight ?? null,
    marker: weigh(lines[0] ?? '', bounds.weighted),
    compact: weigh(lines[1] ?? '', bounds.weighted),
  }))
  return JSON.parse(call(() => native.overflowAggregate(JSON.stringify(columns), cap, budget ?? undefined)))
}

/** The lines that can stand for a result that was not saved. */
const UNSAVED: readonly string[] = native.overflowMarkers(undefined, false)

/** The shortest of them. */
export const MIN_LINE_LENGTH = UNSAVED.at(-1) as string

const named = new WeakMap<ResultView, readonly NamedPlace[]>()

/** Returns the path that the result names if it is a saved output: any program can print such a line. */
function savedAt({ view, texts }: FoundResult, { outputExists, storage }: ResultLimits): NamedPlace | undefined {
  let places = named.get(view)
  if (places === undefined) {
    places = texts.flatMap(placesIn)
    named.set(view, places)
  }
  const isSaved = (path: string) =>
    storage !== undefined || outputExists === undefined ? isSavedOutput(path, storage) : true
  return places.find(({ path }) => isSaved(path) && (outputExists === undefined || outputExists(path) === true))
}

/** True if a form is as short as it says: it was kept by the caller, and the bounds are held by what it says. */
function isNoLonger({ texts }: FoundResult, { weight, cuts, line }: SentResult): boolean {
  if (line !== undefined) return line.length <= weight
  const units = texts.map((text, at) => {
    const cut = cuts?.[at]
    return cut ? cut.head + cut.middle.length + cut.tail + cut.suffix.length : text.length
  })
  return units.reduce((sum, length) => sum + length, 0) <= weight
}

/** How a result is sent in this form; nothing if as it is. */
function shape(
  { result, weight, frozen, saved, lines }: Known,
  form: Form,
  bounds: ResultLimits,
  sourceOf: (result: FoundResult) => string,
): SentResult | undefined {
  if (form === 'whole') return undefined
  if (form === 'frozen') return frozen
  const source = sourceOf(result)
  if (typeof form === 'string') {
    const line = lines[form === 'marker' ? 0 : 1] as string
    return { source, weight: weigh(line, bounds.weighted), line }
  }
  const { profile, weighted, minKeep } = bounds
  const suffix = saved && bounds.suffixGivesWay ? undefined : bounds.suffix
  const rule = { profile, weighted, minKeep, ...(suffix !== undefined && { suffix }), ...(saved && { saved }) }
  const ends = result.texts.flatMap((text) => [text.slice(0, form + 2), text.slice(-native.OVERFLOW_END_UNITS)])
  // The number in the suffix may have more digits than what is there now would need.
  let more = 0
  const sizes = result.texts.flatMap((text) => {
    const { weight, characters } = measure(text, weighted)
    const before = characters + removedBefore(text)
    more = Math.max(more, String(before).length - String(weight).length)
    return [text.length, weight, before]
  })
  const room = Math.max(form - more, 0)
  const answer = () => native.overflowCut(ends, Float64Array.from(sizes), room, JSON.stringify(rule))
  const cuts = call(answer).map((cut) => cut ?? null)
  const cut: SentResult = { source, weight, cuts }
  cut.weight = textsOf(result, cut).reduce((sum, text) => sum + weigh(text, weighted), 0)
  return cut
}

/** The texts of a result as it is sent. */
function textsOf({ texts }: FoundResult, { cuts, line }: SentResult): string[] {
  if (line !== undefined) return texts.length > 1 ? [line, ...texts.slice(1).map(() => '')] : [line]
  return texts.map((text, at) => {
    const cut = cuts?.[at]
    if (cut === undefined || cut === null) return text
    const { head, tail, middle, suffix } = cut
    return (text.slice(0, head) + middle + (tail > 0 ? text.slice(-tail) : '') + suffix).toWellFormed()
  })
}
