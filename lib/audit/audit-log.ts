/** Tamper-evident log of an agent's actions. */

import { resolve } from 'node:path'
import { types } from 'node:util'
import { SpillwayError } from '../errors'
import { background, call, native, toSpillwayError } from '../native/native'
import { encode, wellFormed } from '../settings/settings'
import type { RedactionOptions } from '../types'
import { asyncDispose } from '../util/async-dispose'
import { now } from '../util/clock'
import { definedOf } from '../util/defined'
import { isArray } from '../util/guards'
import { safeStringify } from '../util/safe-stringify'
import { tellCaller, warn } from '../util/warn'
import { checkKeys, checkOneOf, checkSignal, invalid, isRecord, notAnInstance, wrong } from '../validation/validate'

/** Options of {@link AuditLog}. */
export interface AuditLogOptions {
  /** The folder of all logs, created if it does not exist. The agent's own tools should not be able to write to it. */
  dir: string
  /** The session id, any string; its file gets a safe name made from it. */
  sessionId: string
  /** A secret of at least 16 bytes. With it no other process can make records that verify. @default none */
  key?: string | Uint8Array | undefined
  /** Maximum bytes of a file, at least 65,536; then a new one is started, and the old one is kept. @default 16777216 */
  maxFileBytes?: number
  /** Redaction of every text. Well-known forms of secrets are redacted unless `known` is false. @default { known: true } */
  redact?: RedactionOptions
  /** Waits for the disk after every batch, so that a power cut loses no acknowledged record. @default false */
  sync?: boolean
  /**
   * Behaviour if writing fails: with `warn`, `append` resolves to `undefined` and the problem is reported; with `block` it
   * rejects, so that the host does not run the tool. In both cases the event counts as dropped, and a record says so as soon as
   * the log can be written again.
   * @default 'warn'
   */
  onFailure?: 'warn' | 'block'
  /** Receives every failure. @default a warning of the process */
  onProblem?: (error: SpillwayError) => void
}

/**
 * An event. All fields are optional, and others may be added, except `after`, `cut`, `hash`, `prev`, `seq`, `v` and `writer`,
 * which the log sets itself.
 */
export interface AuditEvent {
  /** @default an id that is unique */
  eventId?: string
  /** Milliseconds since the epoch. @default when it is appended */
  timestamp?: number
  type?: string
  mode?: string
  tool?: string
  toolCallId?: string | undefined
  /** `read`, `edit`, `bash`, … */
  permissionDomain?: string
  /** In the form of permission rules: `vault:/a.md`, `shell:…` */
  targets?: readonly string[]
  decision?: 'allow' | 'ask' | 'deny' | (string & {})
  rulePattern?: string
  reason?: string
  /** Source of the approval: a user, a rule, a mode. */
  approver?: string
  outcome?: string
  durationMs?: number
  /** Bytes of the output. */
  bytes?: number
  /** Where the full output is. */
  outputPath?: string
  [field: string]: unknown
}

/** A record that is in the log. */
export interface AuditReceipt {
  eventId: string
  /** Id of the writer: one per `AuditLog`. */
  writer: string
  /** Its place in the writer's chain, from 1. */
  seq: number
  /** Keep the newest one elsewhere: with it `verifyAudit` detects that records were removed from the end. */
  hash: string
}

/** A record that was changed after it was written. */
export interface BadAuditRecord {
  file: string
  /** From 1. */
  line: number
  /** Offset of the line, in bytes. */
  offset: number
  reason: string
  /** Fields of the record itself, if readable. */
  writer?: string
  seq?: number
}

/** Result of {@link verifyAudit}. */
export interface AuditReport {
  /** True if no record was changed. */
  ok: boolean
  /** Records before the first bad one. */
  records: number
  firstBad?: BadAuditRecord
  /**
   * True if the last line is incomplete; the next writer moves it to another file. It does not count as a fault, although a
   * removed end looks the same.
   */
  torn?: { file: string; line: number; offset: number; bytes: number }
  /** The hash of the last record. */
  head?: string
  /** Number of writers. */
  writers: number
  /** Number of events that, according to the log, could not be written. */
  dropped: number
  /** The files, oldest first. */
  files: string[]
}

/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions {
  /** The key that the log was written with. */
  key?: string | Uint8Array | undefined
  /** The hash of a record, or of several, that must be in the log; if one is missing, records were removed from the end. */
  head?: string | readonly string[] | undefined
  signal?: AbortSignal | undefined
}

interface Waiting {
  event: string
  resolve(receipt: AuditReceipt | undefined): void
  reject(error: SpillwayError): void
}

interface Internals {
  readonly handle: object
  readonly onFailure: 'warn' | 'block'
  readonly onProblem: AuditLogOptions['onProblem']
  waiting: Waiting[]
  waitingUnits: number
  /** Record being written, and the queue after it. */
  writing: Promise<void> | undefined
  /** Events lost because the queue was full, not yet passed to the binary. */
  overflowed: number
  dropped: number
  closed: boolean
}

/** Events of one write. */
const BATCH = 1000
/** Events and units that wait at most, while the disk hangs. */
const MAX_WAITING = 100_000
const MAX_WAITING_UNITS = 64 * 1024 * 1024

const RESERVED = ['after', 'cut', 'hash', 'prev', 'seq', 'v', 'writer']

const logs = new WeakMap<AuditLog, Internals>()

const OPTIONS: readonly (keyof AuditLogOptions)[] = [
  'dir',
  'sessionId',
  'key',
  'maxFileBytes',
  'redact',
  'sync',
  'onFailure',
  'onProblem',
]

/**
 * The audit log of a session: one JSON object a line, each with its own hash and that of the record before it. Several
 * processes may write to the same session.
 */
export class AuditLog {
  /** @throws SpillwayError `INVALID_CONFIG` that names the option. Nothing is written before the first event */
  constructor(options: AuditLogOptions) {
    if (!isRecord(options)) throw wrong('options', options, 'an object', 'INVALID_CONFIG')
    const { onFailure = 'warn', onProblem, key, redact, sessionId, ...rest } = options
    checkKeys('', options, OPTIONS, 'INVALID_CONFIG')
    checkOneOf('onFailure', onFailure, ['warn', 'block'], 'INVALID_CONFIG')
    if (onProblem !== undefined && typeof onProblem !== 'function') {
      throw wrong('onProblem', onProblem, 'a function', 'INVALID_CONFIG')
    }
    if (typeof sessionId !== 'string') throw wrong('sessionId', sessionId, 'a string', 'INVALID_CONFIG')
    if (redact !== undefined && !isRecord(redact))
      throw wrong('redact', redact, 'an object such as { known: true }', 'INVALID_CONFIG')
    const { dir } = rest
    const settings = {
      ...rest,
      // Resolved now, because the process may change its folder later.
      ...(typeof dir === 'string' && dir !== '' && { dir: resolve(dir) }),
      sessionId,
      stem: native.sessionFolder(sessionId),
      key: hexKey(key, 'INVALID_CONFIG'),
      redact: { known: true, ...definedOf(redact) },
    }
    logs.set(this, {
      handle: call(() => native.auditOpen(encode(settings))),
      onFailure,
      onProblem,
      waiting: [],
      waitingUnits: 0,
      writing: undefined,
      overflowed: 0,
      dropped: 0,
      closed: false,
    })
  }

  /** The file that records are appended to. When it is full, it is renamed with a number, and a new file takes its name. */
  get path(): string {
    return native.auditPath(of(this).handle)
  }

  /** Number of lost events: writing failed, or too many were waiting. */
  get dropped(): number {
    return of(this).dropped
  }

  /**
   * Appends an event. The promise settles when the operating system has the record; events of one turn of the event loop are
   * written together, in order. The event is read at once and may have any type and size: fields that are too long for a line are
   * truncated and marked.
   *
   * @returns the record's place and hash; `undefined` if it could not be written and `onFailure` is `warn`
   * @throws SpillwayError `INVALID_ARGUMENT` if the value is not an object or has a field that the log sets itself, `CLOSED`, and with
   * `onFailure: 'block'` `STORAGE_WRITE`
   */
  async append(event: AuditEvent): Promise<AuditReceipt | undefined> {
    const internals = of(this)
    if (internals.closed) throw new SpillwayError('CLOSED', 'the audit log was closed')
    const json = read(event)
    if (internals.waiting.length >= MAX_WAITING || internals.waitingUnits + json.length > MAX_WAITING_UNITS) {
      internals.overflowed += 1
      internals.dropped += 1
      return fail(internals, new SpillwayError('STORAGE_WRITE', 'too many events wait for the audit log to be written'))
    }
    return new Promise((resolve, reject) => {
      internals.waiting.push({ event: json, resolve, reject })
      internals.waitingUnits += json.length
      internals.writing ??= writeAll(internals)
    })
  }

  /** Settles when every event appended before is written or has failed. */
  async flush(): Promise<void> {
    await of(this).writing
  }

  /** Writes pending records. After that nothing can be appended. */
  async close(): Promise<void> {
    const internals = of(this)
    internals.closed = true
    await internals.writing
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }
}

/**
 * Checks a log: every record must have a correct hash, and link to the record before it and to the previous record of its writer. Earlier
 * files of the same session are read first. Memory does not depend on the size.
 *
 * Without a `key` the hashes only reveal accidents and careless changes, because a process that can write the file can recompute
 * them. Records removed from the end are only detected with a `head` that was stored elsewhere.
 *
 * @param file the path of the log's current file, or of a copy of one of its files
 * @throws SpillwayError `STORAGE_NOT_FOUND`, `STORAGE_READ`; the reason of an aborted signal
 */
export async function verifyAudit(file: string, options: VerifyAuditOptions = {}): Promise<AuditReport> {
  if (typeof file !== 'string') throw wrong('file', file, 'a string')
  checkOptions(options)
  // A check that is misspelt would be one that never fails.
  checkKeys('options', options, ['key', 'head', 'signal'])
  const { key, head = [], signal } = options
  checkSignal('options.signal', signal)
  const heads: readonly unknown[] = isArray(head) ? head : [head]
  if (!heads.every(isHash)) throw wrong('options.head', head, 'a hash of 64 hexadecimal digits, or an array of them')
  const lowered = heads.map((one) => one.toLowerCase())
  signal?.throwIfAborted()
  const verifier = native.auditVerifier()
  await background(() => native.auditVerifyOpen(verifier, file, hexKey(key, 'INVALID_ARGUMENT'), lowered))
  for (;;) {
    signal?.throwIfAborted()
    const report = await background(() => native.auditVerifyStep(verifier))
    if (report !== null) return JSON.parse(report) as AuditReport
  }
}

/** True for the hash of a record, also in capitals. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/i.test(value)
}

function of(log: AuditLog): Internals {
  const found = logs.get(log)
  if (found === undefined) throw notAnInstance('AuditLog')
  return found
}

function checkOptions(options: object): void {
  if (!isRecord(options)) throw wrong('options', options, 'an object')
}

function hexKey(key: unknown, code: 'INVALID_CONFIG' | 'INVALID_ARGUMENT'): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string') return Buffer.from(wellFormed(key), 'utf8').toString('hex')
  if (types.isUint8Array(key)) return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')
  throw wrong('key', key, 'a string or a Uint8Array', code)
}

function read(event: unknown): string {
  if (!isRecord(event)) throw wrong('event', event, 'an object')
  const taken = RESERVED.find((name) => has(event, name))
  if (taken !== undefined) {
    throw invalid(`event.${taken}`, 'expected nothing: the log sets this field itself')
  }
  // A secret in binary data would be hidden from its redaction.
  const json = safeStringify(event, { bytes: false })
  // A Map, bytes or something with a `toJSON` of its own.
  return json.startsWith('{') && !json.startsWith('{"$') ? json : `{"event":${json}}`
}

function has(event: object, name: string): boolean {
  try {
    return Object.hasOwn(event, name)
  } catch {
    return false
  }
}

async function writeAll(internals: Internals): Promise<void> {
  // Not by a timer or a microtask of the host's: tests fake those.
  await Promise.resolve()
  while (internals.waiting.length > 0) await writeBatch(internals)
  internals.writing = undefined
}

async function writeBatch(internals: Internals): Promise<void> {
  const batch = internals.waiting.splice(0, BATCH)
  internals.waitingUnits -= batch.reduce((sum, { event }) => sum + event.length, 0)
  const { overflowed } = internals
  internals.overflowed = 0
  try {
    const events = batch.map(({ event }) => event)
    const json = await background(() => native.auditAppend(internals.handle, events, now(), overflowed))
    const receipts = JSON.parse(json) as AuditReceipt[]
    for (const [at, { resolve }] of batch.entries()) resolve(receipts[at])
  } catch (thrown) {
    const error = toSpillwayError(thrown)
    internals.dropped += batch.length
    report(internals, error)
    for (const { resolve, reject } of batch) {
      if (internals.onFailure === 'block') reject(error)
      else resolve(undefined)
    }
  }
}

function fail(internals: Internals, error: SpillwayError): undefined {
  report(internals, error)
  if (internals.onFailure === 'block') throw error
}

function report({ onProblem }: Internals, error: SpillwayError): void {
  if (onProblem) tellCaller('onProblem', onProblem, error)
  else warn('audit', error)
}
