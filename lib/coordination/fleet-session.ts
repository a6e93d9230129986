/** A session that any worker can continue, one at a time. */

import { SpillwayError } from '../errors'
import { Tree } from '../session/entry-tree'
import { storedEntry } from '../session/stored-entry'
import type { NewSessionEntry, Session, SessionEntry } from '../session/types'
import { asyncDispose } from '../util/async-dispose'
import { randomUUID, sha256 } from '../util/crypto'
import { asText } from '../util/guards'
import { withRetries } from '../util/retry'
import { withTimeout } from '../util/with-timeout'
import { type Check, checkOptions, fn, signal, wholeFrom } from '../validation/options'
import { isRecord, readable, wrong } from '../validation/validate'
import type { Coordination } from './coordination'
import { HeldLease } from './held-lease'
import { checkNeeded, coordination as coordinationCheck, sessionName } from './options'

/** Options of {@link FleetSession.open}. */
export interface FleetSessionOptions {
  /** Where the session is: `redisCoordination(…)`, `postgresCoordination(…)`, or your own. */
  coordination: Coordination
  sessionId: string
  /**
   * Milliseconds after which another worker may take over the session of one that does not respond. The lease is renewed after a
   * third of this time.
   * @default 30000
   */
  leaseMs?: number
  /** Milliseconds to wait for a session that another worker holds. @default 0 */
  waitMs?: number
  /** Called when another worker holds or may hold the session: no more entries can be appended. */
  onLost?: (error: SpillwayError) => void
  /** Ends the wait for the session. It has no effect on a session that is open. */
  signal?: AbortSignal | undefined
}

const CHECKS: Readonly<Record<keyof FleetSessionOptions, Check>> = {
  coordination: coordinationCheck,
  sessionId: sessionName,
  leaseMs: wholeFrom(100, 'milliseconds'),
  waitMs: wholeFrom(0, 'milliseconds'),
  onLost: fn,
  signal,
}

const OPENING = Symbol('opening')

/**
 * A session that one worker at a time owns. Only the owner can append entries, and a worker that was slow, stopped or disconnected
 * cannot append after another has taken over, so the session never forks.
 *
 * States of a ledger, a detector or a `ContextManager` can be stored with it: see {@link FleetSession.saveState}.
 *
 * @example
 * const session = await FleetSession.open({ coordination, sessionId: 's1', waitMs: 60_000 })
 * await session.append({ type: 'message', message })
 * await session.close() // the next worker need not wait
 */
export class FleetSession implements Session {
  /** Number of the next entry of the log. */
  private next = 0
  private readonly tree = new Tree()
  /** Entries are added one after another. */
  private adding: Promise<unknown> = Promise.resolve()
  /** True if it is not known whether the last entry was added. */
  private isUncertain = false

  /** Use {@link FleetSession.open}. */
  constructor(
    opening: symbol,
    private readonly coordination: Coordination,
    private readonly folder: string,
    private readonly held: HeldLease,
  ) {
    if (opening !== OPENING) throw new SpillwayError('INVALID_ARGUMENT', 'use FleetSession.open(options)')
  }

  /**
   * Takes over a session, or starts a new one.
   * @throws SpillwayError `CONFLICT` if another worker still holds it after `waitMs`, `COORDINATION`, `INVALID_ARGUMENT`;
   * `ABORTED` if the signal is aborted
   */
  static async open(options: FleetSessionOptions): Promise<FleetSession> {
    checkOptions('options', options, CHECKS)
    checkNeeded(options, CHECKS, 'coordination', 'sessionId')
    const { coordination, sessionId, leaseMs = 30_000, waitMs = 0, onLost, signal: stop } = options
    // Ids of sessions may hold anything, and keys may not.
    const folder = sha256(sessionId)
    const lease = { coordination, key: `leases/${folder}`, owner: randomUUID(), ms: leaseMs, onLost }
    let held: HeldLease | undefined
    try {
      held = await HeldLease.take(lease, waitMs, stop)
      const session = new FleetSession(OPENING, coordination, folder, held)
      await withTimeout(Number.POSITIVE_INFINITY, () => session.readOn(), { signal: stop })
      return session
    } catch (error) {
      const released = held?.release()
      if (stop?.aborted)
        throw new SpillwayError('ABORTED', 'the wait for the session was aborted', { cause: stop.reason })
      await released
      throw error
    }
  }

  /** A number that grows with every takeover. Pass it to services that must refuse a worker that has lost the session. */
  get fence(): number {
    return this.held.lease.fence
  }

  /** All entries of all branches, in the order in which they were added. */
  entries(): readonly SessionEntry[] {
    return this.tree.entries.slice()
  }

  /** The id of the entry that the next one follows. After a takeover, this is the last entry. */
  leaf(): string | null {
    return this.tree.leaf
  }

  /**
   * Adds an entry.
   * @throws SpillwayError `CONFLICT` if another worker holds the session, or held it in the meantime; nothing was added.
   * `COORDINATION` if the server does not answer; then {@link leaf} shows after the next call if the entry was added
   */
  append(entry: NewSessionEntry): Promise<string> {
    const added = this.adding.then(() => this.add(entry))
    this.adding = added.catch(() => {})
    return added
  }

  /** @throws SpillwayError `INVALID_ARGUMENT` if there is no such entry */
  branch(id: string | null): void {
    this.tree.branch(id)
  }

  /**
   * Stores a state under a name for the next worker of the session, such as the `toJSON` of a detector.
   * @throws SpillwayError `CONFLICT` if another worker holds the session, `COORDINATION`
   */
  async saveState(name: string, state: unknown): Promise<void> {
    this.held.check()
    const text = readable('state', () => JSON.stringify(state))
    if (text === undefined) throw wrong('state', state, 'what JSON can hold')
    const { lease } = this.held
    await this.held.guard(() => withRetries(() => this.coordination.put(this.stateKey(name), text, { lease })))
  }

  /** Returns the state that was stored under this name, or `undefined`. */
  async loadState(name: string): Promise<unknown> {
    const text = await withRetries(() => this.coordination.get(this.stateKey(name)))
    return text === undefined ? undefined : parsed(text, `the state ${name} of the session`)
  }

  /** Releases the session, so that another worker need not wait for the end of the lease. */
  async close(): Promise<void> {
    await this.adding
    await this.held.release()
  }

  async [asyncDispose](): Promise<void> {
    await this.close()
  }

  private stateKey(name: string): string {
    if (!/^[\w.-]{1,100}$/.test(asText(name))) throw wrong('name', name, '1 to 100 letters, digits and _.-')
    return `states/${this.folder}/${name}`
  }

  private async add(given: NewSessionEntry): Promise<string> {
    this.held.check()
    if (this.isUncertain) await this.readOn()
    const entry = this.tree.next(given)
    const { json, kept } = storedEntry(entry)
    const { lease } = this.held
    this.isUncertain = true
    // The entry has a name of its own: if it is there already, an earlier attempt added it.
    const attempt = () => this.coordination.append(`sessions/${this.folder}`, this.next, json, lease)
    const isThere = await this.held.guard(() => withRetries(attempt))
    if (!isThere) throw this.held.lose('the session was continued by another worker, or its entries are gone')
    this.isUncertain = false
    this.tree.add(kept)
    this.next += 1
    return entry.id
  }

  /** Reads the entries that are in the log and not yet here. */
  private async readOn(): Promise<void> {
    const texts = await withRetries(() => this.coordination.read(`sessions/${this.folder}`, this.next))
    for (const text of texts) this.tree.add(readEntry(text, this.next))
    this.next += texts.length
    this.isUncertain = false
  }
}

function readEntry(text: string, at: number): SessionEntry {
  const entry = parsed(text, `entry ${at} of the session`)
  const isEntry = isRecord(entry) && typeof entry.id === 'string' && typeof entry.type === 'string' && isParent(entry)
  if (!isEntry) throw new SpillwayError('COORDINATION', `entry ${at} of the session is none`)
  return entry as unknown as SessionEntry
}

function isParent({ parentId }: Record<string, unknown>): boolean {
  return parentId === null || typeof parentId === 'string'
}

/** @throws SpillwayError `COORDINATION` for a text that this class did not store */
function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SpillwayError('COORDINATION', `${what} is no JSON`, { cause })
  }
}
