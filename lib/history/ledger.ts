/** Metadata recorded when a tool call finishes, for use after its result has been truncated. */

import { isFoldRecord } from '../fold/restore'
import type { ToolResultRecord } from '../types'
import { isArray } from '../util/guards'
import { warn } from '../util/warn'
import type { Check as OptionCheck } from '../validation/options'
import { checkKeys, invalid, isRecord, readable, wrong } from '../validation/validate'

/** The argument of {@link ToolResultLedger.record}: facts about a call, with defaults for the rest. */
export interface ToolResultEntry extends Omit<ToolResultRecord, 'endedAt' | 'isError' | 'bytes'> {
  /** @default now */
  endedAt?: number
  /** @default whether `exitCode` is another one than 0 */
  isError?: boolean
  /** @default 0 */
  bytes?: number
}

/** Source of recorded tool-call metadata, such as a {@link ToolResultLedger}. */
export interface ToolResultKnowledge {
  get(toolCallId: string): Readonly<ToolResultRecord> | undefined
}

/** Validation of an option that takes a source. */
export const LEDGER_CHECK: OptionCheck = [
  'a ToolResultLedger',
  (value) => typeof (value as ToolResultKnowledge | null)?.get === 'function',
]

/**
 * Returns the record of a call. The source may be the caller's: if it throws, `tell` is called and there is no record; and of
 * each field that is not what it should be, which is left out.
 */
export function knownCall(
  ledger: ToolResultKnowledge | undefined,
  toolCallId: string | undefined,
  tell: (thrown: unknown) => void,
): Readonly<ToolResultRecord> | undefined {
  if (ledger === undefined || toolCallId === undefined) return undefined
  try {
    const known: unknown = ledger.get(toolCallId)
    return ledger.get === ToolResultLedger.prototype.get
      ? (known as ToolResultRecord | undefined)
      : readRecord(known, tell)
  } catch (thrown) {
    tell(thrown)
    return undefined
  }
}

/** Warns that a ledger threw, if there is no `onError`. */
export function warnOfLedger(thrown: unknown): void {
  warn('ledger', thrown)
}

/** Options of {@link ToolResultLedger}. */
export interface ToolResultLedgerOptions {
  /**
   * Maximum number of calls; the oldest records are dropped first, and those of folded results last, until these are more than half.
   * A whole number of at least 1.
   * @default 10000
   */
  maxEntries?: number
}

/** A ledger as JSON. */
export interface ToolResultLedgerState {
  version: 1
  /** @internal */
  entries: ToolResultRecord[]
}

const DEFAULT_MAX_ENTRIES = 10_000

/** Arguments are kept to tell which file or command a result is of; the text of a written file is not needed for that. */
const MAX_ARGS_UNITS = 4096

interface Inner {
  readonly maxEntries: number
  readonly entries: Map<string, ToolResultRecord>
  /** Number of entries with folds. */
  folded: number
  /** Continues after the last removed entry: from the start, every removed entry would be passed again. */
  oldest?: Iterator<string>
}

const inners = new WeakMap<ToolResultLedger, Inner>()

/**
 * Records facts when tools finish, because most histories lack the time, the success and the name of the tool, and a truncated
 * result cannot be parsed any more. `createTruncationMiddleware` and `ToolRegistry` fill
 * it; `simplifyOutdatedTerminalResults` reads it.
 *
 * Recording is safe to repeat: known facts of a call stay, and a later record adds missing ones.
 *
 * @example
 * const ledger = new ToolResultLedger()
 * const middleware = createTruncationMiddleware({ service, ledger })
 * messages = simplifyOutdatedTerminalResults(messages, { ledger })
 */
export class ToolResultLedger {
  /** @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or not allowed */
  constructor(options: ToolResultLedgerOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object')
    checkKeys('options', options, ['maxEntries'])
    const { maxEntries = DEFAULT_MAX_ENTRIES }: ToolResultLedgerOptions = options
    if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
      throw wrong('options.maxEntries', maxEntries, 'a whole number of at least 1')
    }
    inners.set(this, { maxEntries, entries: new Map(), folded: 0 })
  }

  /** Number of recorded calls. */
  get size(): number {
    return innerOf(this).entries.size
  }

  /**
   * Records a call. A second record of a call only adds missing facts; a default counts as missing.
   * @throws SpillwayError `INVALID_ARGUMENT` that names the field if the record is not one
   */
  record(entry: ToolResultEntry): void {
    const inner = innerOf(this)
    const { entries, maxEntries } = inner
    const { assumed, checked } = readable('entry', () => {
      const missing = isRecord(entry) ? DEFAULTED.filter((key) => entry[key] === undefined) : []
      const whole = missing.length === 0 ? entry : withDefaults(entry, missing)
      return { assumed: missing, checked: checkedRecord(whole, 'entry') }
    })
    const { toolCallId } = checked
    const known = entries.get(toolCallId)
    const assumedBefore = known === undefined ? [] : (assumptions.get(known) ?? [])
    const merged = known === undefined ? checked : inOrder({ ...checked, ...without(known, assumedBefore) })
    put(inner, merged)
    const stillAssumed = known === undefined ? assumed : assumed.filter((key) => assumedBefore.includes(key))
    if (stillAssumed.length > 0) assumptions.set(merged, stillAssumed)
    if (entries.size > maxEntries) dropOldest(inner)
  }

  /** Returns the record of a call. It must not be modified. */
  get(toolCallId: string): Readonly<ToolResultRecord> | undefined {
    return innerOf(this).entries.get(toolCallId)
  }

  /** The ledger as plain JSON. */
  toJSON(): ToolResultLedgerState {
    return { version: 1, entries: [...innerOf(this).entries.values()].map((entry) => ({ ...entry })) }
  }

  /**
   * Restores a ledger from the value of {@link toJSON}, or its JSON text.
   * @throws SpillwayError `INVALID_ARGUMENT` that names the invalid part
   */
  static fromJSON(state: ToolResultLedgerState | string, options?: ToolResultLedgerOptions): ToolResultLedger {
    const ledger = new ToolResultLedger(options)
    const inner = innerOf(ledger)
    readable('state', () => {
      const { version, entries } = parsed(state)
      if (version !== 1) throw wrong('state.version', version, '1')
      if (!isArray(entries)) throw wrong('state.entries', entries, 'an array')
      for (const [index, entry] of entries.entries()) {
        put(inner, checkedRecord(entry, `state.entries[${index}]`))
      }
    })
    while (inner.entries.size > inner.maxEntries) dropOldest(inner)
    return ledger
  }
}

function innerOf(ledger: ToolResultLedger): Inner {
  return inners.get(ledger) as Inner
}

function put(inner: Inner, record: ToolResultRecord): void {
  const { entries } = inner
  if (entries.get(record.toolCallId)?.folds !== undefined) inner.folded--
  if (record.folds !== undefined) inner.folded++
  entries.set(record.toolCallId, Object.freeze(record))
}

/**
 * Drops the entry that was added before all others. The record of a fold is all that is known of its pointers, so such an entry is
 * moved to the end instead. Among more than half of them a search could become long.
 */
function dropOldest(inner: Inner): void {
  const { entries, maxEntries } = inner
  for (;;) {
    inner.oldest ??= entries.keys()
    const id = inner.oldest.next().value as string
    const entry = entries.get(id) as ToolResultRecord
    entries.delete(id)
    if (entry.folds === undefined) return
    if (inner.folded > maxEntries / 2) {
      inner.folded--
      return
    }
    entries.set(id, entry)
  }
}

function parsed(state: unknown): Record<string, unknown> {
  let value = state
  try {
    if (typeof state === 'string') value = JSON.parse(state)
  } catch {
    // Told below.
  }
  if (!isRecord(value)) throw wrong('state', value, 'what toJSON gave')
  return value
}

const DEFAULTED = ['endedAt', 'isError', 'bytes'] as const

/** Fields of records that were not given: a later record of the call may still say them. */
const assumptions = new WeakMap<ToolResultRecord, readonly (keyof ToolResultRecord)[]>()

function withDefaults(entry: ToolResultEntry, missing: readonly (typeof DEFAULTED)[number][]): object {
  const { exitCode } = entry
  const defaults: Pick<ToolResultRecord, (typeof DEFAULTED)[number]> = {
    endedAt: Date.now(),
    isError: exitCode !== undefined && exitCode !== 0,
    bytes: 0,
  }
  return { ...entry, ...Object.fromEntries(missing.map((key) => [key, defaults[key]])) }
}

function without(record: ToolResultRecord, keys: readonly (keyof ToolResultRecord)[]): Partial<ToolResultRecord> {
  if (keys.length === 0) return record
  return Object.fromEntries(Object.entries(record).filter(([key]) => !(keys as readonly string[]).includes(key)))
}

type Check = readonly [allowed: string, test: (value: unknown) => boolean, optional?: 'optional']

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isFlag = (value: unknown) => typeof value === 'boolean'

const FIELDS: { readonly [K in keyof Required<ToolResultRecord>]: Check } = {
  toolCallId: ['a string that is not empty', isText],
  toolName: ['a string', (value) => typeof value === 'string'],
  endedAt: ['a number of milliseconds since the epoch', (value) => Number.isFinite(value)],
  isError: ['true or false', isFlag],
  exitCode: ['a whole number', (value) => Number.isSafeInteger(value), 'optional'],
  hasStderr: ['true or false', isFlag, 'optional'],
  bytes: ['a whole number of at least 0', isCount],
  lines: ['a whole number of at least 0', isCount, 'optional'],
  outputPath: ['a string that is not empty', isText, 'optional'],
  args: ['an object', isRecord, 'optional'],
  folds: ['what a FoldSession gave as record', isFoldRecord, 'optional'],
}

const CHECKS = Object.entries(FIELDS)
const FIELD_NAMES = Object.keys(FIELDS)

/** Returns a private copy of a record, with its fields in the order of {@link FIELDS}. */
function checkedRecord(entry: unknown, field: string): ToolResultRecord {
  if (!isRecord(entry)) throw wrong(field, entry, 'an object')
  checkKeys(field, entry, FIELD_NAMES)
  const copy: Record<string, unknown> = {}
  for (const [key, check] of CHECKS) {
    const value = entry[key]
    if (value === undefined && check[2] === 'optional') continue
    const kept = checkedField(key, check, value, field)
    if (kept !== undefined) copy[key] = kept
  }
  return copy as unknown as ToolResultRecord
}

function checkedField(key: string, [allowed, test]: Check, value: unknown, field: string): unknown {
  if (!readable(`${field}.${key}`, () => test(value))) throw wrong(`${field}.${key}`, value, allowed)
  return key === 'args' ? plainArgs(value, `${field}.args`) : value
}

/** Validates the answer of a caller's ledger. It may be a table row: with more or fewer columns, and `null` in them. */
function readRecord(known: unknown, tell: (thrown: unknown) => void): ToolResultRecord | undefined {
  if (known === undefined || known === null) return undefined
  if (!isRecord(known)) throw wrong('ledger.get', known, 'a record, or undefined')
  // Without a name the text of the result decides, as for an unknown tool.
  const read: Record<string, unknown> = { toolName: '' }
  for (const [key, check] of CHECKS) {
    try {
      const value = known[key] ?? undefined
      if (value === undefined || key === 'toolCallId') continue
      read[key] = checkedField(key, check, value, 'ledger.get')
    } catch (thrown) {
      tell(thrown)
    }
  }
  return read as unknown as ToolResultRecord
}

/** The fields always in the same order: the same knowledge gives the same JSON. */
function inOrder(record: ToolResultRecord): ToolResultRecord {
  const known = (FIELD_NAMES as (keyof ToolResultRecord)[]).filter((key) => record[key] !== undefined)
  return Object.fromEntries(known.map((key) => [key, record[key]])) as unknown as ToolResultRecord
}

function plainArgs(args: unknown, field: string): unknown {
  let json: string | undefined
  try {
    json = JSON.stringify(args)
  } catch (cause) {
    throw invalid(field, 'expected a value that JSON can represent', { cause })
  }
  const value: unknown = json === undefined || json.length > MAX_ARGS_UNITS ? undefined : JSON.parse(json)
  return isRecord(value) ? value : undefined
}
