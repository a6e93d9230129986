/** Metadata recorded when a tool call finishes, for use after its result has been truncated. */

import { isDeepStrictEqual } from 'node:util'
import type { ToolResultRecord } from '../types'
import { isArray } from '../util/guards'
import { warn } from '../util/warn'
import {
  type Check,
  checkGiven,
  flag,
  moment,
  nonEmptyString,
  object,
  parsedState,
  string,
  wholeFrom,
  wrongState,
} from '../validation/options'
import { checkKeys, invalid, isRecord, readable, wrong } from '../validation/validate'
import { isFoldRecord } from './fold-records'

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
  /** Returns the record of the newest call with this id. */
  get(toolCallId: string): Readonly<ToolResultRecord> | undefined
  /** Returns the records of all calls with this id, the newest last. Without it, `get` knows one call of an id that is used again. */
  getAll?(toolCallId: string): readonly Readonly<ToolResultRecord>[]
}

/** Validation of an option that takes a source. */
export const LEDGER_CHECK: Check = [
  'a ToolResultLedger',
  (value) => typeof (value as ToolResultKnowledge | null)?.get === 'function',
]

/**
 * Returns the records of the calls with an id, the newest last. The source may be the caller's: if it throws, `tell` is called and there
 * is no record; and of each field that is not what it should be, which is left out.
 */
export function recordsOf(
  ledger: ToolResultKnowledge,
  toolCallId: string,
  tell: (thrown: unknown) => void,
): readonly Readonly<ToolResultRecord>[] {
  try {
    if (ledger instanceof ToolResultLedger && ledger.getAll === ToolResultLedger.prototype.getAll) {
      return ledger.getAll(toolCallId)
    }
    const all: unknown = ledger.getAll?.(toolCallId) ?? [ledger.get(toolCallId)]
    if (!isArray(all)) throw wrong('ledger.getAll', all, 'an array of records')
    return all.map((known) => readRecord(known, tell)).filter((record) => record !== undefined)
  } catch (thrown) {
    tell(thrown)
    return []
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

/** The record of one call. */
interface Entry {
  record: ToolResultRecord
  /** Fields that were not given: a later record of the call may still say them. */
  assumed: readonly (keyof ToolResultRecord)[]
  /** The times that its records gave, by which one that is repeated is recognised. */
  readonly times: number[]
}

interface Inner {
  readonly maxEntries: number
  /** All entries, the oldest first. */
  readonly entries: Set<Entry>
  /** The entries of each id, the newest last. */
  readonly byId: Map<string, Entry[]>
  /** Ids of known calls with which another call began. */
  readonly begun: Set<string>
  /** Number of entries with folds. */
  folded: number
  /** Continues after the last removed entry: from the start, every removed entry would be passed again. */
  oldest?: Iterator<Entry>
}

const inners = new WeakMap<ToolResultLedger, Inner>()

/**
 * Records facts when tools finish, because most histories lack the time, the success and the name of the tool, and a truncated
 * result cannot be parsed any more. `createTruncationMiddleware` and `ToolRegistry` fill
 * it; `simplifyOutdatedTerminalResults` reads it.
 *
 * Recording is safe to repeat: known facts of a call stay, and a later record adds missing ones. Some providers use an id again; a record
 * with other arguments, another exit code, saved output or folds is that of another call, and so is one after {@link begin}.
 *
 * @example
 * const ledger = new ToolResultLedger()
 * const middleware = createTruncationMiddleware({ service, ledger })
 * const sent = simplifyOutdatedTerminalResults(messages, { ledger })
 */
export class ToolResultLedger {
  /** @throws SpillwayError `INVALID_ARGUMENT` for an option that is unknown or not allowed */
  constructor(options: ToolResultLedgerOptions = {}) {
    if (!isRecord(options)) throw wrong('options', options, 'an object')
    checkKeys('options', options, ['maxEntries'])
    const { maxEntries = DEFAULT_MAX_ENTRIES }: ToolResultLedgerOptions = options
    checkGiven('options.maxEntries', maxEntries, wholeFrom(1))
    inners.set(this, { maxEntries, entries: new Set(), byId: new Map(), begun: new Set(), folded: 0 })
  }

  /** Number of recorded calls. */
  get size(): number {
    return innerOf(this).entries.size
  }

  /**
   * Says that a call begins: what is recorded from now on is about it, and not about an earlier call that had the same id.
   * `ToolRegistry` and `guardTool` do so.
   */
  begin(toolCallId: string): void {
    const { byId, begun } = innerOf(this)
    if (byId.has(toolCallId)) begun.add(toolCallId)
  }

  /**
   * Records a call. A second record of a call only adds missing facts; a default counts as missing.
   * @throws SpillwayError `INVALID_ARGUMENT` that names the field if the record is not one
   */
  record(entry: ToolResultEntry): void {
    const inner = innerOf(this)
    const { assumed, record } = readable('entry', () => {
      const missing = isRecord(entry) ? DEFAULTED.filter((key) => entry[key] === undefined) : []
      const whole = missing.length === 0 ? entry : withDefaults(entry, missing)
      return { assumed: missing, record: checkedRecord(whole, 'entry') }
    })
    const known = inner.byId.get(record.toolCallId) ?? []
    const newest = known.at(-1)
    const hasBegun = inner.begun.delete(record.toolCallId)
    if (!hasBegun && !assumed.includes('endedAt') && known.some((each) => isRepeated(each, record))) return
    if (newest === undefined || hasBegun || contradicts(newest.record, record)) {
      add(inner, record, assumed)
      if (inner.entries.size > inner.maxEntries) dropOldest(inner)
    } else merge(inner, newest, record, assumed)
  }

  /** Returns the record of the newest call with this id. It must not be modified. */
  get(toolCallId: string): Readonly<ToolResultRecord> | undefined {
    return innerOf(this).byId.get(toolCallId)?.at(-1)?.record
  }

  /** Returns the records of all calls with this id, the newest last. They must not be modified. */
  getAll(toolCallId: string): readonly Readonly<ToolResultRecord>[] {
    return (
      innerOf(this)
        .byId.get(toolCallId)
        ?.map(({ record }) => record) ?? NONE
    )
  }

  /** The ledger as plain JSON. */
  toJSON(): ToolResultLedgerState {
    const { entries, byId } = innerOf(this)
    // Folded entries may have been moved to the end; those of one id stay in their order.
    const written = new Map<string, number>()
    const records = [...entries].map(({ record: { toolCallId } }) => {
      const nth = written.get(toolCallId) ?? 0
      written.set(toolCallId, nth + 1)
      return { ...(byId.get(toolCallId) as Entry[])[nth]?.record } as ToolResultRecord
    })
    return { version: 1, entries: records }
  }

  /**
   * Restores a ledger from the value of {@link toJSON}, or its JSON text.
   * @throws SpillwayError `INVALID_ARGUMENT` that names the invalid part
   */
  static fromJSON(state: ToolResultLedgerState | string, options?: ToolResultLedgerOptions): ToolResultLedger {
    const ledger = new ToolResultLedger(options)
    const inner = innerOf(ledger)
    readable('state', () => {
      const { version, entries } = parsedState(state)
      if (version !== 1) throw wrongState('version', version, '1')
      if (!isArray(entries)) throw wrongState('entries', entries, 'an array')
      for (const [index, entry] of entries.entries()) {
        add(inner, checkedRecord(entry, `state.entries[${index}]`), [])
      }
    })
    while (inner.entries.size > inner.maxEntries) dropOldest(inner)
    return ledger
  }
}

function innerOf(ledger: ToolResultLedger): Inner {
  return inners.get(ledger) as Inner
}

const NONE: readonly never[] = []

function add(inner: Inner, record: ToolResultRecord, assumed: Entry['assumed']): void {
  const entry: Entry = { record: Object.freeze(record), assumed, times: [record.endedAt] }
  if (record.folds !== undefined) inner.folded++
  inner.entries.add(entry)
  const others = inner.byId.get(record.toolCallId)
  if (others === undefined) inner.byId.set(record.toolCallId, [entry])
  else others.push(entry)
}

function merge(inner: Inner, entry: Entry, record: ToolResultRecord, assumed: Entry['assumed']): void {
  const merged = inOrder({ ...record, ...without(entry.record, entry.assumed) })
  if (entry.record.folds === undefined && merged.folds !== undefined) inner.folded++
  entry.record = Object.freeze(merged)
  entry.assumed = entry.assumed.filter((key) => assumed.includes(key))
  if (!entry.times.includes(record.endedAt)) entry.times.push(record.endedAt)
}

/** Facts of which a call has only one. */
const SINGLE = ['args', 'exitCode', 'outputPath', 'folds'] as const

function contradicts(known: ToolResultRecord, record: ToolResultRecord): boolean {
  return SINGLE.some(
    (key) => known[key] !== undefined && record[key] !== undefined && !isDeepStrictEqual(known[key], record[key]),
  )
}

/** True for a record that was made before: it has the time of a known one, and nothing to add to it. */
function isRepeated({ record: known, times }: Entry, record: ToolResultRecord): boolean {
  const isKnown = (key: keyof ToolResultRecord) => record[key] === undefined || known[key] !== undefined
  return times.includes(record.endedAt) && NAMES.every(isKnown) && !contradicts(known, record)
}

/**
 * Drops the entry that was added before all others. The record of a fold is all that is known of its pointers, so such an entry is
 * moved to the end instead. Among more than half of them a search could become long.
 */
function dropOldest(inner: Inner): void {
  const { entries, maxEntries } = inner
  for (;;) {
    inner.oldest ??= entries.values()
    const entry = inner.oldest.next().value as Entry
    entries.delete(entry)
    const isFolded = entry.record.folds !== undefined
    if (!isFolded || inner.folded > maxEntries / 2) {
      if (isFolded) inner.folded--
      forget(inner, entry)
      return
    }
    entries.add(entry)
  }
}

function forget({ byId, begun }: Inner, entry: Entry): void {
  const { toolCallId } = entry.record
  const others = (byId.get(toolCallId) as Entry[]).filter((other) => other !== entry)
  if (others.length > 0) byId.set(toolCallId, others)
  else {
    byId.delete(toolCallId)
    begun.delete(toolCallId)
  }
}

const DEFAULTED = ['endedAt', 'isError', 'bytes'] as const

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

const FIELDS: { readonly [K in keyof Required<ToolResultRecord>]: Check } = {
  toolCallId: nonEmptyString,
  toolName: string,
  endedAt: moment,
  isError: flag,
  exitCode: ['a whole number', Number.isSafeInteger],
  hasStderr: flag,
  bytes: wholeFrom(0),
  lines: wholeFrom(0),
  outputPath: nonEmptyString,
  args: object,
  folds: ['what a FoldSession gave as record', isFoldRecord],
}

const NEEDED: readonly string[] = ['toolCallId', 'toolName', ...DEFAULTED]

const CHECKS = Object.entries(FIELDS)
const NAMES = Object.keys(FIELDS) as (keyof ToolResultRecord)[]

/** Returns a private copy of a record, with its fields in the order of {@link FIELDS}. */
function checkedRecord(entry: unknown, field: string): ToolResultRecord {
  if (!isRecord(entry)) throw wrong(field, entry, 'an object')
  checkKeys(field, entry, NAMES)
  const copy: Record<string, unknown> = {}
  for (const [key, check] of CHECKS) {
    const value = entry[key]
    if (value === undefined && !NEEDED.includes(key)) continue
    const kept = checkedField(key, check, value, field)
    if (kept !== undefined) copy[key] = kept
  }
  return copy as unknown as ToolResultRecord
}

function checkedField(key: string, check: Check, value: unknown, field: string): unknown {
  const full = `${field}.${key}`
  readable(full, () => checkGiven(full, value, check))
  return key === 'args' ? plainArgs(value, full) : value
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
  const known = NAMES.filter((key) => record[key] !== undefined)
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
