/** A coordination whose arguments are checked before anything is sent, so that all servers refuse the same. */

import { SpillwayError } from '../errors'
import {
  type Check,
  checkGiven,
  checkOptions,
  number,
  positiveMilliseconds,
  string,
  wholeFrom,
} from '../validation/options'
import { isRecord, wrong } from '../validation/validate'
import {
  type Coordination,
  checkFolder,
  checkKey,
  checkLifetime,
  checkValue,
  type Lease,
  type ListedValue,
  type PutOptions,
} from './coordination'

const PUT_CHECKS: Readonly<Record<keyof PutOptions, Check>> = {
  ttlMs: positiveMilliseconds,
  lease: ['a lease, with key and fence', isRecord],
}
const LEASE_CHECKS: Readonly<Record<keyof Lease, Check>> = {
  key: string,
  fence: number,
}

/** The steps of a server, one for each call of a {@link Coordination}: arguments are right when they arrive. */
export interface CoordinationSteps {
  storeFirst(key: string, value: string, ttlMs: number | undefined): Promise<string>
  load(key: string): Promise<string | undefined>
  /** Returns false if the lease is not held. */
  store(key: string, value: string, ttlMs: number | undefined, lease: Lease | undefined): Promise<boolean>
  drop(key: string): Promise<void>
  listOf(folder: string): Promise<ListedValue[]>
  listen(folder: string, listener: (key?: string) => void): () => void
  /** Returns nothing if the lease is not held. */
  add(log: string, at: number, entry: string, lease: Lease | undefined): Promise<boolean | undefined>
  entriesOf(log: string, from: number): Promise<string[]>
  count(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined>
  takeLease(key: string, owner: string, ms: number): Promise<number | undefined>
  endLease(key: string, owner: string): Promise<void>
  close(): Promise<void>
}

/** Shared state that checks the arguments of each call before a server takes the step. */
export class CheckedCoordination implements Coordination {
  private readonly steps: CoordinationSteps

  constructor(steps: CoordinationSteps) {
    this.steps = steps
  }

  async first(key: string, value: string, ttlMs: number): Promise<string> {
    checkKey(key)
    checkValue('value', value)
    return this.steps.storeFirst(key, value, checkLifetime(ttlMs))
  }

  async get(key: string): Promise<string | undefined> {
    checkKey(key)
    return this.steps.load(key)
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    checkKey(key)
    checkValue('value', value)
    checkOptions('options', options, PUT_CHECKS)
    const { ttlMs, lease } = options
    const isDone = await this.steps.store(key, value, checkLifetime(ttlMs), checkLease(lease))
    if (!isDone) throw lost(lease)
  }

  async remove(key: string): Promise<void> {
    checkKey(key)
    await this.steps.drop(key)
  }

  async list(folder: string): Promise<ListedValue[]> {
    checkFolder(folder)
    const listed = await this.steps.listOf(folder)
    return listed.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  watch(folder: string, listener: (key?: string) => void): () => void {
    checkFolder(folder)
    if (typeof listener !== 'function') throw wrong('listener', listener, 'a function')
    return this.steps.listen(folder, listener)
  }

  async append(log: string, at: number, entry: string, lease?: Lease): Promise<boolean> {
    checkKey(log)
    checkGiven('at', at, wholeFrom(0))
    checkValue('entry', entry)
    const isThere = await this.steps.add(log, at, entry, checkLease(lease))
    if (isThere === undefined) throw lost(lease)
    return isThere
  }

  async read(log: string, from: number): Promise<string[]> {
    checkKey(log)
    checkGiven('from', from, wholeFrom(0))
    return this.steps.entriesOf(log, from)
  }

  async take(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined> {
    checkKey(counter)
    checkGiven('amount', amount, wholeFrom(0))
    checkGiven('limit', limit, wholeFrom(0))
    checkGiven('ttlMs', ttlMs, wholeFrom(1))
    return this.steps.count(counter, amount, limit, ttlMs)
  }

  async lease(key: string, owner: string, ms: number): Promise<number | undefined> {
    checkKey(key)
    checkValue('owner', owner)
    checkGiven('ms', ms, wholeFrom(1))
    return this.steps.takeLease(key, owner, ms)
  }

  async release(key: string, owner: string): Promise<void> {
    checkKey(key)
    checkValue('owner', owner)
    await this.steps.endLease(key, owner)
  }

  async close(): Promise<void> {
    await this.steps.close()
  }
}

function checkLease(lease: Lease | undefined): Lease | undefined {
  if (lease === undefined) return undefined
  checkOptions('lease', lease, LEASE_CHECKS)
  checkKey(lease.key)
  checkGiven('lease.fence', lease.fence, wholeFrom(1))
  return lease
}

function lost(lease: Lease | undefined): SpillwayError {
  return new SpillwayError('CONFLICT', `the lease ${lease?.key} is over: nothing was written`)
}
