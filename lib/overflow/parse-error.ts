/**
 * Collects the facts in an error or an answer: statuses, codes, messages, stop reasons, usage. Reads only members that have
 * such meanings, never what a model wrote, and takes anything: cycles, proxies, getters that throw.
 */

import { parsedJson } from '../util/json'

/** Facts read from one error or answer; see `Facts` in the core. */
export interface ErrorFacts {
  statuses: number[]
  codes: string[]
  texts: string[]
  stopReasons: string[]
  inputTokens?: number
  outputTokens?: number
  windowTokens?: number
}

/** Deeper than any chain of causes that a client makes. */
const MAX_DEPTH = 12

/** Objects that are looked into. */
const MAX_OBJECTS = 200

/** Number of elements read from the end of an array. */
const MAX_ELEMENTS = 20

/** Messages, codes and so on, each. */
const MAX_FOUND = 64

const TEXTS = ['message', 'errorMessage', 'apiMessage', 'detail', 'msg', 'error_description'] as const
const CODES = ['code', 'type', 'name', 'errorCode', 'lc_error_code', '__type', 'x-amzn-errortype'] as const
const STATUSES = ['status', 'statusCode', 'httpStatusCode', 'code'] as const
const STOPS = ['stop_reason', 'stopReason', 'finish_reason', 'finishReason', 'rawFinishReason'] as const

/** Where the next layer may be, in the order in which it is looked for. */
const NESTED = [
  'error',
  'data',
  'response',
  'responseBody',
  'body',
  'metadata',
  'raw',
  'detail',
  'details',
  'cause',
  'lastError',
  'originalError',
  'delta',
  'choices',
  'candidates',
  'response_metadata',
  'incomplete_details',
  '$metadata',
  'responseHeaders',
  'headers',
] as const

/** The facts of the error itself, then those of the errors that it gathers, in order. */
export function gather(value: unknown): ErrorFacts[] {
  const walk: Walk = { seen: new Set(), gathered: [] }
  const own = begin()
  look(value, 0, own, walk)
  const all = [own]
  // A collected error may itself hold several.
  for (let at = 0; at < walk.gathered.length && at < MAX_ELEMENTS; at++) {
    const facts = begin()
    look(walk.gathered[at], 1, facts, walk)
    all.push(facts)
  }
  return all
}

interface Walk {
  readonly seen: Set<object>
  /** Members of `errors`. */
  readonly gathered: unknown[]
}

function begin(): ErrorFacts {
  return { statuses: [], codes: [], texts: [], stopReasons: [] }
}

function look(value: unknown, depth: number, facts: ErrorFacts, walk: Walk): void {
  if (typeof value === 'string') {
    lookAtText(value, depth, facts, walk)
    return
  }
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
  if (depth > MAX_DEPTH || walk.seen.size >= MAX_OBJECTS || walk.seen.has(value)) return
  walk.seen.add(value)
  const elements = elementsOf(value)
  if (elements !== undefined) {
    for (const element of elements) look(element, depth + 1, facts, walk)
    return
  }
  readOwn(value, depth, facts, walk)
  for (const key of NESTED) look(get(value, key), depth + 1, facts, walk)
  // A retry names the error that counts.
  const errors = get(value, 'lastError') === undefined ? get(value, 'errors') : undefined
  if (typeof errors === 'object' && errors !== null) walk.gathered.push(...(elementsOf(errors) ?? []))
}

function readOwn(value: object, depth: number, facts: ErrorFacts, walk: Walk): void {
  // Its message repeats that of the last error.
  const isRetry = get(value, 'lastError') !== undefined
  for (const key of isRetry ? [] : TEXTS) {
    const text = get(value, key)
    if (typeof text === 'string') lookAtText(text, depth, facts, walk)
    else if (key === 'message' && isPlainMessage(text)) look(text, depth + 1, facts, walk)
  }
  for (const key of CODES) {
    const code = get(value, key)
    if (typeof code === 'string') add(facts.codes, code)
    else if (typeof code === 'number' && !isStatus(code)) add(facts.codes, String(code))
  }
  for (const key of STATUSES) {
    const status = get(value, key)
    if (isStatus(status)) add(facts.statuses, Number(status))
    // Google names its statuses.
    else if (key === 'status' && typeof status === 'string') add(facts.codes, status)
  }
  for (const key of STOPS) {
    const reason = get(value, key)
    if (typeof reason === 'string') add(facts.stopReasons, reason)
    else if (typeof reason === 'object' && reason !== null) {
      for (const inner of [get(reason, 'unified'), get(reason, 'raw')]) {
        if (typeof inner === 'string') add(facts.stopReasons, inner)
      }
    }
  }
  const reason = get(value, 'reason')
  if (typeof reason === 'string') add(facts.stopReasons, reason)
  readUsage(value, facts)
}

/** Mistral puts an object where others put a text; a chat message at the same place is ignored. */
function isPlainMessage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && get(value, 'role') === undefined
}

function readUsage(value: object, facts: ErrorFacts): void {
  for (const key of ['usage', 'usageMetadata', 'usage_metadata']) {
    const usage = get(value, key)
    if (typeof usage !== 'object' || usage === null) continue
    facts.inputTokens ??= sum(usage, INPUTS)
    facts.outputTokens ??= sum(usage, OUTPUTS)
  }
  facts.inputTokens ??= count(get(value, 'n_prompt_tokens'))
  facts.windowTokens ??= count(get(value, 'n_ctx'))
}

/** For each way to name it: the count, then what is not in it. */
const INPUTS = [
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ['prompt_tokens'],
  ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'],
  ['promptTokens'],
  ['promptTokenCount'],
  ['input', 'cacheRead', 'cacheWrite'],
] as const

const OUTPUTS = [
  ['output_tokens'],
  ['completion_tokens'],
  ['outputTokens'],
  ['completionTokens'],
  ['candidatesTokenCount', 'thoughtsTokenCount'],
  ['output'],
] as const

function sum(usage: object, ways: readonly (readonly string[])[]): number | undefined {
  for (const [first, ...others] of ways) {
    const own = get(usage, first as string)
    // The AI SDK's providers split it: the total has everything in it.
    const total = typeof own === 'object' && own !== null ? count(get(own, 'total')) : count(own)
    if (total === undefined) continue
    return others.reduce((sum, key) => sum + (count(get(usage, key)) ?? 0), total)
  }
  return undefined
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** A message, and the JSON in it: clients put a status before the body, and Google's puts nothing but the body. */
function lookAtText(text: string, depth: number, facts: ErrorFacts, walk: Walk): void {
  add(facts.texts, text)
  if (depth > MAX_DEPTH || walk.seen.size >= MAX_OBJECTS) return
  const from = text.indexOf('{')
  const to = text.lastIndexOf('}')
  if (from === -1 || to < from) return
  const inner =
    parsedJson(text.slice(from, to + 1)) ?? (text.trimStart().startsWith('[') ? parsedJson(text) : undefined)
  look(inner, depth + 1, facts, walk)
}

function add<T extends string | number>(found: T[], value: T): void {
  // The binary reads JSON, which has no lone surrogates.
  const clean = (typeof value === 'string' ? value.toWellFormed() : value) as T
  if (found.length < MAX_FOUND && !found.includes(clean)) found.push(clean)
}

function isStatus(value: unknown): boolean {
  const number = typeof value === 'string' && /^[1-5][0-9][0-9]$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 599
}

/** The last elements of an array; `undefined` for any other value. */
function elementsOf(value: object): unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined
    return Array.prototype.slice.call(value, -MAX_ELEMENTS)
  } catch {
    return undefined
  }
}

function get(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}
