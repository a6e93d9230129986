/** Number of tokens of a text: estimated, calibrated, or counted by the caller's tokenizer. */

import { call, native } from '../native/native'
import { batchesOf, isLatin1 } from '../native/text-batches'
import { isArray } from '../util/guards'
import { checkKeys, checkOneOf, invalid, isRecord, listed, wrong } from '../validation/validate'

/** Counts the tokens of a text, exactly for one model. */
export type TokenCounter = (text: string) => number

/** Options of {@link estimateTokens}. */
export interface EstimateTokensOptions {
  /**
   * `'typical'`: as close as possible. `'upper'`: hardly ever below the count of a tokenizer, for decisions that must be safe;
   * usually 30 to 50 % more. Figures are in docs/tokens.md.
   * @default 'typical'
   */
  mode?: 'typical' | 'upper'
  /** Calibration from real usage of a model; estimates are multiplied by its factor. */
  calibration?: TokenCalibration
  /**
   * Estimate as another agent does. `'opencode'`: UTF-16 units / 4, rounded. `'openclaw'`: the same rounded up, with a
   * Chinese, Japanese or Korean character counted as four. The mode has no effect then.
   */
  profile?: 'opencode' | 'openclaw'
}

/** One request: what was estimated, and what the provider counted, both in tokens. */
export interface TokenSample {
  estimated: number
  actual: number
}

/** Newer pairs say more about the model and the language that is used now. */
const MAX_PAIRS = 32

const MODES = ['typical', 'upper'] as const
const PROFILES = ['opencode', 'openclaw'] as const
const OPTIONS = ['mode', 'calibration', 'profile'] as const

/**
 * Estimates the number of tokens of a text, by its scripts and its kind: prose, code, JSON, hashes, white space, digits, Chinese,
 * Cyrillic, emoji. It uses no vocabulary; for exact numbers see {@link loadTokenCounter}.
 *
 * Linear and fast enough for every tool result. An empty text has 0 tokens.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for anything but a text, or for an invalid option
 */
export function estimateTokens(text: string, options: EstimateTokensOptions = {}): number {
  if (typeof text !== 'string') throw wrong('text', text, 'a string')
  checkOptions(options)
  const { mode, profile, calibration } = options
  const tokens = profile === undefined ? tokensOf(text, mode) : byProfile(text, profile)
  return calibration === undefined ? tokens : Math.ceil(tokens * calibration.factor)
}

function tokensOf(text: string, mode: EstimateTokensOptions['mode']): number {
  return call(() => native.textTokens(text, isLatin1(text), mode === 'upper'))
}

const CJK = /[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]|[\u{20000}-\u{2fa1f}]/gu

function byProfile(text: string, profile: 'opencode' | 'openclaw'): number {
  if (profile === 'opencode') return Math.round(text.length / 4)
  // A character of two units counts once.
  const weight = (text.match(CJK) ?? []).reduce((sum, char) => sum + 4 - char.length, text.length)
  return Math.ceil(weight / 4)
}

/**
 * Estimates many texts, with few crossings into the binary.
 * @internal
 */
export function estimateAll(texts: readonly string[], mode?: EstimateTokensOptions['mode']): Uint32Array {
  // Whole numbers: what is kept of a double is an object of its own.
  let tokens: Uint32Array | undefined
  for (const { joined, lengths, from, latin1 } of batchesOf(texts)) {
    const counts = call(() => native.textsTokens(joined, lengths, latin1, mode === 'upper'))
    if (counts.length === texts.length) return counts
    tokens ??= new Uint32Array(texts.length)
    tokens.set(counts, from)
  }
  return tokens ?? new Uint32Array()
}

function checkOptions(options: EstimateTokensOptions): void {
  const given: unknown = options
  if (!isRecord(given)) throw wrong('options', given, 'an object')
  checkKeys('options', options, OPTIONS)
  const { mode, profile, calibration } = options
  checkOneOf('options.mode', mode, MODES)
  checkOneOf('options.profile', profile, PROFILES)
  if (calibration !== undefined && !isFactor(calibration)) {
    throw wrong('options.calibration', calibration, 'a TokenCalibration')
  }
}

// By what it gives, so that one made by another copy of the package does too.
function isFactor(calibration: unknown): boolean {
  const factor = (calibration as { factor?: unknown } | null)?.factor
  return typeof factor === 'number' && factor > 0 && Number.isFinite(factor)
}

const learnt = new WeakMap<TokenCalibration, { pairs: TokenSample[]; factor: number }>()

function memory(calibration: TokenCalibration): { pairs: TokenSample[]; factor: number } {
  return learnt.get(calibration) as { pairs: TokenSample[]; factor: number }
}

/**
 * Learns from real usage how far estimates are off for one model and one kind of work. Keep one per model.
 *
 * The factor is the median of actual / estimated over the last 32 requests, weighted by size, so that one unusual request changes
 * little. It stays between 1/8 and 8, and is 1 until there is a request to learn from.
 *
 * @example
 * const calibration = new TokenCalibration()
 * calibration.add({ estimated: estimateTokens(text), actual: response.usage.input_tokens })
 * estimateTokens(next, { calibration })
 */
export class TokenCalibration {
  /**
   * @param usage the `toJSON()` of an earlier calibration
   * @throws SpillwayError `INVALID_ARGUMENT` unless these are pairs of numbers above 0
   */
  constructor(usage: readonly TokenSample[] = []) {
    if (!isArray(usage)) throw wrong('usage', usage, 'an array of { estimated, actual }')
    const pairs = usage.map((pair, index) => readPair(pair, `usage[${index}]`)).slice(-MAX_PAIRS)
    learnt.set(this, { pairs, factor: factorOf(pairs) })
  }

  /** Factor of estimates. */
  get factor(): number {
    return memory(this).factor
  }

  /**
   * Learns from a request. The estimate must be one without this calibration.
   * @throws SpillwayError `INVALID_ARGUMENT` if a number is not finite and above 0
   */
  add(usage: TokenSample): this {
    const held = memory(this)
    held.pairs = [...held.pairs, readPair(usage, 'usage')].slice(-MAX_PAIRS)
    held.factor = factorOf(held.pairs)
    return this
  }

  /** Returns the state for `new TokenCalibration(…)`. */
  toJSON(): TokenSample[] {
    return memory(this).pairs.map((pair) => ({ ...pair }))
  }
}

function factorOf(pairs: readonly TokenSample[]): number {
  return call(() =>
    native.calibrationFactor(
      pairs.map((pair) => pair.estimated),
      pairs.map((pair) => pair.actual),
    ),
  )
}

function readPair(pair: unknown, field: string): TokenSample {
  if (!isRecord(pair)) throw wrong(field, pair, '{ estimated, actual }')
  const { estimated, actual } = pair as Partial<TokenSample>
  return { estimated: tokenCount(estimated, `${field}.estimated`), actual: tokenCount(actual, `${field}.actual`) }
}

function tokenCount(value: unknown, field: string): number {
  if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return value
  throw wrong(field, value, 'a number of tokens above 0')
}

/** Packages that count exactly, and how each is asked. None comes with Spillway. */
const COUNTERS: Readonly<Record<string, (loaded: Loaded, encoding: string | undefined) => TokenCounter>> = {
  'gpt-tokenizer': ({ countTokens, encode }) =>
    countTokens === undefined ? (text) => encode(text, PLAIN).length : (text) => countTokens(text, PLAIN),
  'js-tiktoken': ({ getEncoding }, encoding = 'o200k_base') => {
    const tokenizer = getEncoding(encoding)
    return (text) => tokenizer.encode(text, [], []).length
  },
  tiktoken: ({ get_encoding }, encoding = 'o200k_base') => {
    const tokenizer = get_encoding(encoding)
    return (text) => tokenizer.encode(text, [], []).length
  },
  '@anthropic-ai/tokenizer': ({ countTokens }) => {
    if (countTokens === undefined) throw new Error('it has no countTokens')
    return (text) => countTokens(text)
  },
}

// Special tokens in an output are text.
const PLAIN = { disallowedSpecial: new Set<string>() }

interface Loaded {
  countTokens?(text: string, options?: object): number
  encode(text: string, options?: object): ArrayLike<number>
  getEncoding(name: string): Tokenizer
  get_encoding(name: string): Tokenizer
}

interface Tokenizer {
  encode(text: string, special: [], refused: []): ArrayLike<number>
}

/** The packages that {@link loadTokenCounter} knows. */
export type TokenCounterPackage = 'gpt-tokenizer' | 'js-tiktoken' | 'tiktoken' | '@anthropic-ai/tokenizer'

/**
 * Loads a tokenizer package that you have installed, and returns its counting function.
 *
 * @param name the package
 * @param options.encoding which vocabulary; of `gpt-tokenizer` the module, such as `'gpt-tokenizer/encoding/cl100k_base'`
 * is loaded. @default 'o200k_base'
 * @throws SpillwayError `INVALID_ARGUMENT` for a package that is unknown or not installed, or an unknown encoding
 */
export async function loadTokenCounter(
  name: TokenCounterPackage,
  options: { encoding?: string } = {},
): Promise<TokenCounter> {
  const known = Object.keys(COUNTERS)
  if (!known.includes(name)) throw wrong('name', name, listed(known))
  if (!isRecord(options)) throw wrong('options', options, 'an object')
  checkKeys('options', options, ['encoding'])
  const { encoding }: { encoding?: unknown } = options
  if (encoding !== undefined && !(typeof encoding === 'string' && /^\w+$/.test(encoding))) {
    throw wrong('options.encoding', encoding, 'the name of an encoding')
  }
  const path = name === 'gpt-tokenizer' && encoding !== undefined ? `${name}/encoding/${encoding}` : name
  try {
    const loaded = (await load(path)) as Loaded & { default?: Loaded }
    const counter = (COUNTERS[name] as (typeof COUNTERS)[string])({ ...loaded.default, ...loaded }, encoding)
    counter('')
    return counter
  } catch (cause) {
    const problem = `got '${name}', which cannot be loaded; install it beside spillway: npm install ${name}`
    throw invalid('name', problem, { cause })
  }
}

/** Test runners have no `import()`, and older versions of Node cannot `require` a package that is an ES module only. */
async function load(path: string): Promise<unknown> {
  try {
    return require(path)
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_REQUIRE_ESM') throw error
    return import(path)
  }
}
