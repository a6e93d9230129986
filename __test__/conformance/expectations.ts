import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { TruncatedResult, TruncationEvent } from '../../lib/types'
import { product } from './actions'
import type { Outcome } from './outcome'
import { exactBytes, type LineRule, lineCount, type Recipe, textOf } from './recipes'
import type { Check, Setup } from './rows'

const PLACEHOLDER = '此命令返回内容已过时'

/** `{tool}_{milliseconds}_{random}.txt`, alone or in the folder of a session. */
const FILE_NAME = /[A-Za-z0-9_-]{1,48}_\d{13}_[0-9a-z]{13}\.txt$/

const bytesOf = (text: string) => Buffer.byteLength(text)

type Judge = (expected: never, outcome: Outcome, setup: Setup, rule: LineRule) => void | Promise<void>

/** Checks by their keys. An unknown key is an error, so that a typing mistake cannot pass. */
const judges: Record<string, Judge> = {
  // The fields of the result.
  truncated: (expected: boolean | null, { facts }) => expect(facts.truncated).toBe(expected ?? undefined),
  exactKeys: (expected: string[], { returned }) => expect(Object.keys(returned as object).sort()).toEqual(expected),
  removedLines: (expected: number, { facts }) => expect(facts.removedLines).toBe(expected),
  removedBytes: (expected: number, { facts }) => expect(facts.removedBytes).toBe(expected),
  keptLines: (expected: number, { facts }) => expect(facts.keptLines).toBe(expected),
  keptBytes: (expected: number, { facts }) => expect(facts.keptBytes).toBe(expected),
  limitedBy: (expected: string, { facts }) => expect(facts.limitedBy).toBe(expected),
  before: (expected: object, { facts }) => expect(facts.before).toMatchObject(expected),
  saveError: (expected: string, { facts }) => {
    expect(facts.saveError).toMatchObject({ code: expect.any(String), message: expect.stringContaining(expected) })
  },

  // Verdicts of the loop detector, step by step.
  verdicts: (expected: string[], { facts }) => expect(facts.verdicts).toEqual(expected),
  count: (expected: number, { facts }) => expect(facts.count).toBe(expected),
  pending: (expected: string[], { facts }) => expect(facts.pending).toEqual(expected),

  // The records of the audit log.
  auditFile: (expected: string, { facts }) => expect(facts.auditFile).toMatch(new RegExp(expected)),
  auditRecords: (expected: object[], { facts }) => expect(facts.auditRecords).toMatchObject(expected),
  configFound: (expected: object, { facts }) => expect(facts.config).toEqual(expected),
  configProblems: (expected: object[], { facts }) => expect(facts.configProblems).toEqual(expected),
  configMode: (expected: string, { facts }) => expect(facts.configMode).toBe(expected),
  // Written side by side, so in either order.
  configRules: (expected: string[], { facts }) => {
    const { rules } = (facts.config as { agents: { runtime: { permission: { rules: { pattern: string }[] } } } }).agents
      .runtime.permission
    expect(rules.map(({ pattern }) => pattern).sort()).toEqual(expected)
  },
  hooked: (expected: unknown, { facts }) => expect(facts.hooked).toEqual(expected),
  /** How each problem begins. */
  hookProblems: (expected: string[], { facts }) => {
    expect(facts.hookProblems).toEqual(expected.map((start) => expect.stringMatching(`^${start}`)))
  },
  auditAbsent: (expected: string[], { facts }) => {
    for (const secret of expected) expect(facts.auditText).not.toContain(secret)
  },

  // The text for the model.
  preview: (expected: Recipe, { facts }) => expect(facts.preview).toBe(textOf(expected)),
  previewMayBeEmpty: () => {},
  text: (expected: Recipe, outcome) => expect(shown(outcome)).toBe(textOf(expected)),
  startsWith: (expected: Recipe, outcome) => expectStart(shown(outcome), textOf(expected)),
  endsWith: (expected: Recipe, outcome) => {
    const end = textOf(expected)
    expect(shown(outcome).slice(-end.length)).toBe(end)
  },
  contains: (expected: Recipe[], outcome) => {
    for (const recipe of expected) expect(shown(outcome)).toContain(textOf(recipe))
  },
  notContains: (expected: Recipe[], outcome) => {
    expect(shown(outcome)).not.toBe('')
    for (const recipe of expected) expect(shown(outcome)).not.toContain(textOf(recipe))
  },
  matches: (expected: string[], outcome) => {
    for (const pattern of expected) expect(shown(outcome)).toMatch(new RegExp(pattern, 'iu'))
  },
  notMatches: (expected: string[], outcome) => {
    expect(shown(outcome)).not.toBe('')
    for (const pattern of expected) expect(shown(outcome)).not.toMatch(new RegExp(pattern, 'iu'))
  },
  order: (expected: string[], outcome) => {
    const places = expected.map((piece) => shown(outcome).indexOf(piece))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  },
  layout: (expected: { direction: string; marker: string }, { facts, text }) => {
    const { preview, hint } = facts
    const pieces = expected.direction === 'head' ? [preview, expected.marker, hint] : [expected.marker, hint, preview]
    expect(text).toBe(pieces.join('\n\n'))
  },
  textWithin: (expected: { lines?: number; bytes: number }, outcome, _setup, rule) => {
    expect(bytesOf(outcome.text as string)).toBeLessThanOrEqual(expected.bytes)
    if (expected.lines) expect(lineCount(outcome.text as string, rule)).toBeLessThanOrEqual(expected.lines)
  },
  wellFormed: (_expected: true, { text }) => expect(Buffer.from(text as string).toString()).toBe(text),
  pathShown: (expected: number, outcome) => expect(shown(outcome).split('{path}').length - 1).toBe(expected),

  // Permission: what was decided about each call, and what became of each question.
  decisions: (expected: string[], { facts }) => expect(facts.decisions).toEqual(expected),
  targets: (expected: string[][], { facts }) => expect(facts.targets).toEqual(expected),
  patterns: (expected: string[], { facts }) => expect(facts.patterns).toEqual(expected),
  suggested: (expected: string[][], { facts }) => expect(facts.suggested).toEqual(expected),
  answers: (expected: object, { facts }) => expect(facts.answers).toEqual(expected),
  pendingCalls: (expected: string[], { facts }) => expect(facts.pendingCalls).toEqual(expected),
  gateEvents: (expected: string[], { facts }) => expect(facts.gateEvents).toEqual(expected),

  // Identity.
  identical: (_expected: true, { given, returned }) => expect((returned as { content: unknown }).content).toBe(given),
  sameObject: (_expected: true, { given, returned }) => expect(returned).toBe(given),
  sameOutput: (_expected: true, { given, returned }) => {
    expect((returned as { output: unknown }).output).toBe((given as { output: unknown }).output)
  },
  otherKeysKept: (expected: string[], { given, returned }) => {
    for (const key of expected) expect(returned).toHaveProperty(key, (given as Record<string, unknown>)[key])
  },
  metadata: (expected: object, { returned }) => {
    expect((returned as { metadata: unknown }).metadata).toMatchObject(expected)
  },
  noMetadataKey: (expected: string, { returned }) => {
    expect((returned as { metadata?: object }).metadata ?? {}).not.toHaveProperty(expected)
  },
  /** Each part is the one text (`"text"`) or the very part that was given at an index. */
  parts: (expected: ('text' | number)[], { given, returned }) => {
    const givenParts = partsOf(given)
    const parts = partsOf(returned)
    expect(parts).toHaveLength(expected.length)
    expected.forEach((which, n) => {
      if (which === 'text') expect(parts[n]).toEqual({ type: 'text', text: expect.any(String) })
      else expect(parts[n]).toBe(givenParts[which])
    })
  },
  structured: (expected: object, { returned }) => {
    expect((returned as { output: { structured: unknown } }).output.structured).toEqual(expected)
  },
  returnDisplay: (expected: 'as given' | 'the text', { given, returned, text }) => {
    const { returnDisplay } = returned as { returnDisplay: unknown }
    expect(returnDisplay).toBe(expected === 'the text' ? text : (given as { returnDisplay: unknown }).returnDisplay)
  },

  // The files on the disk.
  /** `"the input"`: exactly what was given, byte for byte, in exactly one file; of a value its JSON, on one line or more. */
  file: (expected: 'the input' | { text: Recipe }, { facts, files, dir, given, givenText }) => {
    const path = facts.outputPath as string
    expect(isAbsolute(path)).toBe(true)
    expect(path).toMatch(FILE_NAME)
    expect(files.map((file) => join(dir, file)).filter((file) => FILE_NAME.test(file))).toEqual([path])
    const text = expected === 'the input' ? givenText : textOf(expected.text)
    const allowed = [text, ...(typeof given === 'string' ? [] : onOneLine(text))].map(exactBytes)
    const saved = readFileSync(path)
    expect(allowed.map((bytes) => bytes.length)).toContain(saved.length)
    expect(allowed.some((bytes) => bytes.equals(saved))).toBe(true)
  },
  pathMatches: (expected: string, { facts }) => expect(facts.outputPath).toMatch(new RegExp(expected)),
  nothingWritten: (_expected: true, { files }) => expect(files).toEqual([]),
  noPath: (_expected: true, { facts }) => expect(facts.outputPath ?? '').toBe(''),
  outputPath: (expected: string, { facts }) => expect(facts.outputPath).toBe(expected),
  saved: (expected: { content: Recipe; toolName: string }[], { facts }) => {
    expect(facts.saved).toEqual(expected.map(({ content, toolName }) => ({ content: textOf(content), toolName })))
  },
  readBack: async (_expected: true, { facts, givenText, dir }) => {
    const storage = new product.TruncationStorage((facts.storageDir as string) ?? join(dir, 'outputs'))
    for (const path of (facts.paths as string[]) ?? [facts.outputPath]) expect(await storage.read(path)).toBe(givenText)
  },
  distinctPaths: (expected: number, { facts, files }) => {
    expect(new Set(facts.paths as string[]).size).toBe(expected)
    expect(files.filter((file) => FILE_NAME.test(file))).toHaveLength(expected)
  },
  eachTruncated: (expected: boolean, { facts }) =>
    expect(new Set(facts.each as boolean[])).toEqual(new Set([expected])),
  removed: (expected: number, { facts }) => expect(facts.removed).toBe(expected),
  left: (expected: string[], { files }) => expect(files.map((file) => file.split('/').at(-1)).sort()).toEqual(expected),

  // Events, warnings and errors.
  events: (expected: (Partial<TruncationEvent> & { withPath?: boolean })[], { events, facts }) => {
    expect(events).toHaveLength(expected.length)
    expected.forEach(({ withPath, error, ...fields }, n) => {
      expect(events[n]).toMatchObject({ ...fields, ...(error && { error: expect.stringContaining(error) }) })
      if (withPath) expect(events[n]?.outputPath).toBe(facts.outputPath)
    })
  },
  error: (expected: object, { thrown }) => {
    expect(thrown).toBeInstanceOf(product.SpillwayError)
    expect(thrown).toMatchObject(expected)
  },
  rejectsWithReason: (_expected: true, { thrown, facts }) => expect(thrown).toBe(facts.reason),
  ended: (expected: object, { facts }) => expect(facts.ended).toMatchObject(expected),
  endedWithinMs: (expected: number, { facts }) => {
    expect((facts.ended as { durationMs: number }).durationMs).toBeLessThan(expected)
  },
  updatesAtLeast: (expected: number, { facts }) => expect(facts.updates).toBeGreaterThanOrEqual(expected),
  exitCode: (expected: number, { facts }) => expect(facts).toMatchObject({ exitCode: expected, stderr: '' }),

  // Configuration, strategies, plugins.
  config: (expected: object, { facts }) => expect(facts.config).toMatchObject(expected),
  needed: (expected: boolean, { facts }) => expect(facts.needed).toBe(expected),
  named: (expected: object, { facts }) => expect(facts).toMatchObject(expected),
  atMost: (expected: Record<string, number>, { facts }) => {
    for (const [key, most] of Object.entries(expected)) expect(facts[key]).toBeLessThanOrEqual(most)
  },
  atLeast: (expected: Record<string, number>, { facts }) => {
    for (const [key, least] of Object.entries(expected)) expect(facts[key]).toBeGreaterThanOrEqual(least)
  },

  // Compactions.
  promptHas: (expected: string[], { facts }) => {
    for (const text of expected) expect(facts.prompt).toContain(text)
  },
  firstText: (expected: string, { facts }) => expect((facts.contents as unknown[])[0]).toBe(expected),
  lastText: (expected: string, { facts }) => expect((facts.contents as unknown[]).at(-1)).toBe(expected),

  // Conversations.
  /** The labels of the messages that became the placeholder; all others must be the very objects that were given. */
  kept: (expected: number[], { given, returned, facts }) => {
    const before = given as object[]
    const same = (returned as object[]).filter((message) => before.includes(message))
    expect(same.map((message) => before.indexOf(message))).toEqual(expected)
    expect(facts.again).toBe(returned)
  },
  added: (expected: { at: number; message: object; contains: string }[], { given, returned }) => {
    const after = returned as object[]
    const fresh = [...after.keys()].filter((at) => !(given as object[]).includes(after[at] as object))
    expect(fresh).toEqual(expected.map(({ at }) => at))
    for (const { at, message, contains } of expected) {
      expect(after[at]).toMatchObject(message)
      expect(JSON.stringify(after[at])).toContain(contains)
    }
  },
  replaced: (expected: string[], { given, returned, facts }) => {
    const before = given as Record<string, unknown>[]
    const after = returned as Record<string, unknown>[]
    expect(after).toHaveLength(before.length)
    const changed = before.flatMap((message, n) => {
      if (after[n] === message) return []
      expect(after[n]).toEqual({ ...message, content: PLACEHOLDER })
      return [(facts.labels as string[])[n]]
    })
    expect(changed).toEqual(expected)
    if (expected.length === 0) expect(returned).toBe(given)
  },
  /** The labels of the messages that became this text; all others must be the very objects that were given. */
  pruned: (expected: { labels: string[]; text?: string; contains?: string[] }, { given, returned, facts }) => {
    const before = given as Record<string, unknown>[]
    const after = returned as Record<string, unknown>[]
    expect(after).toHaveLength(before.length)
    const changed = before.flatMap((message, n) => {
      const now = after[n] as Record<string, unknown>
      if (now === message) return []
      expect(now).toEqual({ ...message, content: expected.text ?? now.content })
      const [sent, kept] = [now.content, message.content].map(wordsOf)
      expect(sent?.length).toBeLessThan(kept?.length as number)
      for (const part of expected.contains ?? []) expect(sent).toContain(part)
      return [(facts.labels as string[])[n]]
    })
    expect(changed).toEqual(expected.labels)
    expect(facts.again).toEqual(returned)
  },
  /** Why a first and a second request were pruned, or were not. */
  reasons: (expected: string[], { facts }) => expect(facts.reasons).toEqual(expected),
  inputUnchanged: (_expected: true, { given, facts }) => expect(JSON.stringify(given)).toBe(facts.before),
  againTheSame: (_expected: true, { returned, facts }) => expect(facts.again).toBe(returned),
}

/** A content, or the texts of its parts. */
function wordsOf(content: unknown): string {
  return typeof content === 'string'
    ? content
    : (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
}

/** Holds an outcome against an expectation, and a cut against what every cut promises. */
export async function judge(outcome: Outcome, { setup, expected, split }: Check): Promise<void> {
  const rule: LineRule = split ? 'split' : 'breaks'
  const wantsError = 'error' in expected || 'rejectsWithReason' in expected
  if (outcome.thrown !== undefined && !wantsError) throw outcome.thrown
  if (Object.keys(expected).length === 0) throw new Error('an expectation that expects nothing')
  for (const [key, value] of Object.entries(expected)) {
    const check = judges[key]
    if (!check) throw new Error(`unknown expectation: ${key}`)
    await check(value as never, outcome, setup, rule)
  }
  if (setup.run === 'output' && outcome.facts.truncated === true) expectSoundCut(outcome, setup, expected, rule)
}

function expectSoundCut(outcome: Outcome, setup: Setup, expected: object, rule: LineRule): void {
  const { facts, events, givenText } = outcome
  const { context, service } = setup
  const tool = context ? service?.tools?.[context.toolName] : undefined
  const limits = { ...product.DEFAULT_TRUNCATION_CONFIG, ...service?.global, ...tool, ...context?.options }
  const cut = facts as unknown as Required<TruncatedResult>
  if (!('previewMayBeEmpty' in expected)) expect(cut.preview).not.toBe('')
  expect(bytesOf(cut.preview)).toBeLessThanOrEqual(limits.maxBytes)
  expect(lineCount(cut.preview, 'breaks')).toBeLessThanOrEqual(limits.maxLines)
  expect(cut.keptBytes + cut.removedBytes).toBe(cut.totalBytes)
  expect(cut.keptLines + cut.removedLines).toBe(cut.totalLines)

  // The ranges are a promise about the original: what they name is there, and is what was counted as kept.
  const original = Buffer.from(givenText)
  const pieces = cut.ranges.map(({ fromByte, toByte }) => original.subarray(fromByte, toByte).toString())
  expect(bytesOf(pieces.join(''))).toBe(cut.keptBytes)
  if (limits.direction === 'both') for (const piece of pieces) expect(cut.preview).toContain(piece)
  else expect(pieces.join('')).toBe(cut.preview)

  expect(Buffer.from(cut.content).toString()).toBe(cut.content)
  const notice = service?.noticeInside ? { lines: 0, bytes: 0 } : { lines: 8, bytes: 512 + bytesOf(cut.outputPath) }
  expect(bytesOf(cut.content)).toBeLessThanOrEqual(limits.maxBytes + notice.bytes)
  expect(lineCount(cut.content, rule)).toBeLessThanOrEqual(limits.maxLines + notice.lines)
  expect(events.at(-1)).toMatchObject({ type: 'truncated', truncatedSize: bytesOf(cut.content) })
  expect(events.filter(({ type }) => type !== 'error')).toHaveLength(setup.changes ? 2 : 1)
}

/** The text for the model, its path replaced by `{path}`: a path differs from run to run and may contain any word. */
function shown({ text, facts }: Outcome): string {
  expect(typeof text).toBe('string')
  return facts.outputPath ? (text as string).replaceAll(facts.outputPath as string, '{path}') : (text as string)
}

function partsOf(result: unknown): unknown[] {
  const { output, llmContent } = result as { output?: { content: unknown[] }; llmContent?: unknown[] }
  return output ? output.content : (llmContent ?? [])
}

// Long texts are compared at their heads, so that a failure can be read.
function expectStart(text: string, start: string): void {
  expect(text.slice(0, start.length)).toBe(start)
}

/** The same JSON on one line, if it is JSON. */
function onOneLine(text: string): string[] {
  try {
    return [JSON.stringify(JSON.parse(text))]
  } catch {
    return []
  }
}
