// The limit of a request in bytes, in every format and at every place of an image or a file.

import { ContextManager, HistoryPruner, MemoryStorage } from 'spillway'
import { detectFormat } from 'spillway/history'
import { png } from '../support/images'
import { bytesOf, historyOf, PLACES, sentJson } from '../support/media-shapes'

const options = { contextWindow: 1_000_000, budget: false, compaction: false } as const
const MEGABYTE = Array.from({ length: 40 }, (_, at) => png(1280, 800, 1_000_000, at))

const SMALL = Array.from({ length: 40 }, (_, at) => png(1280, 800, 20_000, at))

/** The first place of each format with screenshots of a megabyte, the others with smaller ones. */
const SIZES = PLACES.map(([format, place], at) => {
  const isFirst = PLACES[at - 1]?.[0] !== format
  return [format, place, isFirst ? MEGABYTE : SMALL, isFirst ? 20e6 : 400_000] as const
})

describe.each(SIZES)('%s, %s', (format, place, data, limit) => {
  test('forty go out within the limit', async () => {
    const messages = historyOf(format, place, 40, (at) => data[at] as string)
    expect(detectFormat(messages)).toBe(format)
    const manager = new ContextManager({ ...options, maxRequestBytes: limit })
    const { messages: sent, report } = await manager.prepare(messages, { now: 0 })
    expect(bytesOf(sent)).toBeLessThan(limit)
    expect(bytesOf(sent)).toBeGreaterThan(limit * 0.6)
    expect(report.fits).toBe(true)
    expect(sent).toHaveLength(messages.length)
    // The newest stay as they are.
    expect(sent.at(-1)).toBe(messages.at(-1))
    expect(sent.at(-3)).toBe(messages.at(-3))
  })
})

test.each(PLACES)('%s, %s: what leaves is saved as it was, once', async (format, place) => {
  const saved: string[] = []
  const storage = new MemoryStorage()
  storage.saveBytes = async (content) => {
    saved.push(Buffer.from(content).toString('base64'))
    return `/saved/${saved.length}`
  }
  const messages = historyOf(format, place, 10, (at) => png(1280, 800, 5000, at % 2))
  const manager = new ContextManager({ ...options, storage, maxRequestBytes: 20_000 })
  const { messages: sent, report } = await manager.prepare(messages, { now: 0 })
  expect(report.steps.find(({ step }) => step === 'media')?.items).toBeGreaterThan(6)
  expect(saved.toSorted()).toEqual([png(1280, 800, 5000, 0), png(1280, 800, 5000, 1)].toSorted())
  // A blank image says nothing.
  const notes = sentJson(sent).replace(/"([A-Za-z0-9+/=]{60,300})"/g, (_, data) =>
    Buffer.from(data, 'base64').toString(),
  )
  if (!isBlankIn(format, place)) expect(notes).toMatch(/, 5\.0 kB, left out; saved in \/saved\/[12]\]/)
})

const RESULTS = PLACES.filter(([, place]) => /^a result|in a result|^a log|^an entry/.test(place))

test.each(RESULTS)('%s, %s: a pruned result leaves with its media', (format, place) => {
  const messages = historyOf(format, place, 10, (at) => png(1280, 800, 5000, at))
  const pruner = new HistoryPruner({ schedule: 'always', keepRecent: 0, keepUsed: 0 })
  const { messages: sent, report } = pruner.prune(messages, { now: 0 })
  expect(report.pruned.length).toBeGreaterThanOrEqual(9)
  expect(bytesOf(sent)).toBeLessThan(bytesOf(messages) / 5)
  expect(sentJson(sent)).toMatch(/\[\w+ removed: [a-z]+\/\w+( 1280×800)?(, 5\.0 kB)?\]/)
})

/** The values that a provider takes in place of a medium: a part of text in the words of the format, a text file or a blank image. */
const TEXT = /^{"type":"text","text":"\[[^"]*left out\]"}$/
const INSTEAD: Readonly<Record<string, RegExp>> = {
  'openai-chat': TEXT,
  snow: TEXT,
  'openai-responses': /^{"type":"input_text","text":"\[[^"]*left out\]"}$/,
  'openai-agents': /^({"type":"input_text","text":"\[[^"]*left out\]"}|"\[[^"]*left out\]")$/,
  anthropic: TEXT,
  'ai-sdk': TEXT,
  langchain: TEXT,
  gemini: /^({"text":"\[[^"]*left out\]"}|"text\/plain"|"W2ltYWdl[^"]*")$/,
  bedrock: /^{"text":"\[[^"]*left out\]"}$/,
  pi: TEXT,
  mcp: TEXT,
}
const BLANK = /iVBORw0KGgoAAAANSUhEUgAAABAAAAAQ/
const FETCHED = /^{"type":"text","media_type":"text\/plain","data":"\[[^"]*left out\]"}$/

/** True if the place takes no text, so that a blank image stands there. */
function isBlankIn(format: string, place: string): boolean {
  return /computer|drawing|generated|draws|answer with images/.test(place) && format !== 'gemini'
}

/** The outermost values that are other ones in a copy, but for lists and for objects with the same keys. */
function changes(before: unknown, after: unknown): unknown[] {
  if (before === after) return []
  const keys = [before, after].map((value) => (typeof value === 'object' && value !== null ? Object.keys(value) : []))
  const isSame = keys[0]?.length !== 0 && JSON.stringify(keys[0]) === JSON.stringify(keys[1])
  if (!isSame || (typeof Object(after).type === 'string' && Object(before).type !== Object(after).type)) return [after]
  return (keys[0] ?? []).flatMap((key) => changes(Object(before)[key], Object(after)[key]))
}

test.each(PLACES)('%s, %s: notes in place of media are valid for their provider', async (format, place) => {
  const messages = historyOf(format, place, 10, (at) => png(8, 8, 5000, at))
  const { messages: sent } = await new ContextManager({ ...options, maxRequestBytes: 30_000 }).prepare(messages, {
    now: 0,
  })
  const made = changes(messages, sent).map((value) => JSON.stringify(value))
  expect(made.length).toBeGreaterThan(4)
  const isBlank = isBlankIn(format, place)
  const isFetched = place === 'a fetched PDF'
  for (const one of made) expect(one).toMatch(isBlank ? BLANK : isFetched ? FETCHED : (INSTEAD[format] as RegExp))
})
