/** Truncation strategies. The built-in ones call the binary; a subclass may do anything. */

import { call, native } from '../native/native'
import { encode } from '../settings/settings'
import type {
  SmartRule,
  SmartStrategyOptions,
  StrategyResult,
  TruncationConfig,
  TruncationStrategy,
  TruncationStrategyName,
} from '../types'
import { checkKeys, hasFunctions, isRecord, wrong } from '../validation/validate'

/**
 * The base class of custom strategies. `needsTruncation` and `truncate` apply both limits unless they are overridden, so
 * `super.needsTruncation(content, config)` works.
 */
export abstract class BaseTruncationStrategy implements TruncationStrategy {
  abstract readonly name: string

  /** True if the text exceeds a limit. */
  needsTruncation(content: string, config: TruncationConfig): boolean {
    return !fits(content, config, 'default')
  }

  /** The part of the text that the limits allow, and how much is missing. */
  truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'default')
  }

  /** Lines of a text; a final newline does not start another. */
  protected countLines(content: string): number {
    checkText(content)
    return call(() => native.measure(content)[0]!)
  }

  /** UTF-8 bytes of a text. */
  protected countBytes(content: string): number {
    checkText(content)
    return Buffer.byteLength(content, 'utf8')
  }

  /** The first lines. */
  protected truncateHead(content: string, maxLines: number): string[] {
    checkCount(maxLines)
    return linesOf(content).slice(0, maxLines)
  }

  /** The last lines. */
  protected truncateTail(content: string, maxLines: number): string[] {
    checkCount(maxLines)
    return maxLines > 0 ? linesOf(content).slice(-maxLines) : []
  }
}

/** Keeps both limits. */
export class DefaultTruncationStrategy extends BaseTruncationStrategy {
  readonly name: string = 'default'
}

/**
 * Keeps both limits, and one end, as {@link DefaultTruncationStrategy} does. A document on one line has no end worth showing: JSON
 * is shown as by {@link JsonStrategy}, a report of tests in XML as by {@link TestsStrategy}.
 */
export class AutoStrategy extends BaseTruncationStrategy {
  readonly name: string = 'auto'

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'auto')
  }
}

/** Applies only the limit in lines, whatever their length. In a service the hard ceiling still applies. */
export class LineBasedStrategy extends BaseTruncationStrategy {
  readonly name: string = 'line'

  override needsTruncation(content: string, config: TruncationConfig): boolean {
    return !fits(content, config, 'line')
  }

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'line')
  }
}

/** Applies only the limit in bytes, for any number of lines. */
export class ByteBasedStrategy extends BaseTruncationStrategy {
  readonly name: string = 'byte'

  override needsTruncation(content: string, config: TruncationConfig): boolean {
    return !fits(content, config, 'byte')
  }

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'byte')
  }
}

/**
 * Applies both limits and keeps the lines that a developer would look for: errors and their context, totals and exit codes, and
 * both ends, with an exact gap line at every cut.
 */
export class SmartStrategy extends BaseTruncationStrategy {
  readonly name: string = 'smart'
  /** Rules besides the built-in ones. */
  readonly rules: readonly SmartRule[]
  /** @internal */
  readonly judge: object | undefined

  /** @throws SpillwayError `INVALID_CONFIG` that names the field of the rule, its value and what is allowed */
  constructor(options: SmartStrategyOptions = {}) {
    super()
    if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
    checkKeys('options', options, ['rules'], 'INVALID_CONFIG')
    const { rules = [] } = options as SmartStrategyOptions
    const described = encode(rules)
    this.judge = Array.isArray(rules) && rules.length === 0 ? undefined : call(() => native.smartRulesOpen(described))
    this.rules = [...rules]
  }

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'smart', this.judge)
  }
}

/**
 * Applies both limits and keeps JSON valid: the preview of a JSON text, or of JSON Lines, parses, and every value in it is a value
 * of the text, at the same place and of the same type. The notice says what is missing. Any other text is shown as by
 * {@link SmartStrategy}.
 */
export class JsonStrategy extends BaseTruncationStrategy {
  readonly name: string = 'json'

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'json')
  }
}

/**
 * Applies both limits and keeps the structure of a diff (`git diff`, `git show`, `git log -p`, `diff -u`): commits, files and hunk
 * headers first, then as much of the hunks as fits. Each gap counts the added lines, removed lines and files that are missing in
 * it. Any other text is shown as by {@link SmartStrategy}.
 */
export class DiffStrategy extends BaseTruncationStrategy {
  readonly name: string = 'diff'

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'diff')
  }
}

/**
 * Applies both limits and keeps a table a table: the preview of CSV (also with `;`) or TSV parses with the same columns, and every
 * row in it is a row of the text: the header, the first and the last rows, and rows that differ. The notice says what is missing.
 * Any other text is shown as by {@link SmartStrategy}.
 */
export class CsvStrategy extends BaseTruncationStrategy {
  readonly name: string = 'csv'

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'csv')
  }
}

/**
 * Applies both limits and keeps the failures in the output of a test runner: the totals and the name of every failure first, then
 * as much of the messages and details as fits, shared among the failures. See {@link readTestRun} for the runners. The result has
 * the run as data, `testRun`. A run without failures, and any other text, is shown as by {@link SmartStrategy}.
 */
export class TestsStrategy extends BaseTruncationStrategy {
  readonly name: string = 'tests'

  override truncate(content: string, config: TruncationConfig): StrategyResult {
    return shorten(content, config, 'tests')
  }
}

const BUILT_IN: readonly [TruncationStrategyName, new () => TruncationStrategy][] = [
  ['default', DefaultTruncationStrategy],
  ['auto', AutoStrategy],
  ['line', LineBasedStrategy],
  ['byte', ByteBasedStrategy],
  ['smart', SmartStrategy],
  ['json', JsonStrategy],
  ['diff', DiffStrategy],
  ['csv', CsvStrategy],
  ['tests', TestsStrategy],
]

/** The name of a strategy that is exactly a built-in one, which the binary can carry out without the text crossing back. */
export function builtInName(strategy: TruncationStrategy): TruncationStrategyName | undefined {
  const found = BUILT_IN.find(
    ([, { prototype }]) =>
      Object.getPrototypeOf(strategy) === prototype &&
      strategy.needsTruncation === prototype.needsTruncation &&
      strategy.truncate === prototype.truncate,
  )
  return found?.[0]
}

/** True if something can be used as a strategy. */
export function isStrategy(value: unknown): value is TruncationStrategy {
  if (typeof value !== 'object') return false
  return hasFunctions('strategy', value, ['needsTruncation', 'truncate'], 'INVALID_CONFIG')
}

/** The end of a text with a notice, when there is no way to save it; nothing if it is short enough. */
export function shortenUnsaved(content: string): string | undefined {
  return call(() => native.shorten(content, '{"direction":"tail"}', 'default'))?.content
}

function fits(content: string, config: TruncationConfig, strategy: TruncationStrategyName): boolean {
  checkText(content)
  return call(() => native.fits(content, encode(config), strategy))
}

function shorten(
  content: string,
  config: TruncationConfig,
  strategy: TruncationStrategyName,
  rules?: object,
): StrategyResult {
  checkText(content)
  const cut = call(() => native.shorten(content, encode(config), strategy, rules))
  if (!cut) return { content, removedLines: 0, removedBytes: 0 }
  const { preview, removedLines, removedBytes } = JSON.parse(cut.facts)
  return { content: cut.content.slice(preview.from, preview.to), removedLines, removedBytes }
}

function checkText(content: unknown): asserts content is string {
  if (typeof content !== 'string') throw wrong('content', content, 'a string')
}

function checkCount(maxLines: number): void {
  if (typeof maxLines !== 'number') throw wrong('maxLines', maxLines, 'a number')
}

function linesOf(content: string): string[] {
  checkText(content)
  const lines = content.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
