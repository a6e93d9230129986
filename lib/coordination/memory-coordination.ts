/** Shared state in the memory of one process, for tests and for one worker. */

import { elapsed } from '../util/clock'
import { tellCaller } from '../util/warn'
import { CheckedCoordination, type CoordinationSteps } from './checked-coordination'
import { checkKey, type Lease, type ListedValue } from './coordination'

interface Held {
  owner: string
  fence: number
  until: number
}

interface Kept<T> {
  value: T
  until: number
}

class MemorySteps implements CoordinationSteps {
  private readonly values = new Map<string, Kept<string>>()
  private readonly logs = new Map<string, string[]>()
  private readonly counters = new Map<string, Kept<number>>()
  private readonly leases = new Map<string, Held>()
  private readonly listeners = new Map<string, Set<(key?: string) => void>>()
  private fence = 0

  async storeFirst(key: string, value: string, ttlMs?: number): Promise<string> {
    const known = this.current(key)
    if (known !== undefined) return known
    this.keep(key, value, ttlMs)
    return value
  }

  async load(key: string): Promise<string | undefined> {
    return this.current(key)
  }

  async store(key: string, value: string, ttlMs?: number, lease?: Lease): Promise<boolean> {
    if (!this.isHeld(lease)) return false
    this.keep(key, value, ttlMs)
    return true
  }

  async drop(key: string): Promise<void> {
    if (this.values.delete(key)) this.tell(key)
  }

  async listOf(folder: string): Promise<ListedValue[]> {
    return [...this.values.keys()].flatMap((key) => {
      const value = checkKey(key).folder === folder ? this.current(key) : undefined
      return value === undefined ? [] : { key, value }
    })
  }

  listen(folder: string, listener: (key?: string) => void): () => void {
    const listeners = this.listeners.get(folder) ?? new Set()
    this.listeners.set(folder, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  async add(log: string, at: number, entry: string, lease?: Lease): Promise<boolean | undefined> {
    if (!this.isHeld(lease)) return undefined
    const entries = this.logs.get(log) ?? []
    this.logs.set(log, entries)
    if (entries.length === at) entries.push(entry)
    return entries[at] === entry
  }

  async entriesOf(log: string, from: number): Promise<string[]> {
    return this.logs.get(log)?.slice(from) ?? []
  }

  async count(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined> {
    const known = this.counters.get(counter)
    const isOver = known === undefined || known.until <= elapsed()
    const { value, until } = isOver ? { value: 0, until: elapsed() + ttlMs } : known
    if (value + amount > limit) return undefined
    this.counters.set(counter, { value: value + amount, until })
    return limit - value - amount
  }

  async takeLease(key: string, owner: string, ms: number): Promise<number | undefined> {
    const held = this.leases.get(key)
    const isOver = held === undefined || held.until <= elapsed()
    if (!isOver && held.owner !== owner) return undefined
    const fence = isOver ? this.nextFence() : held.fence
    this.leases.set(key, { owner, fence, until: elapsed() + ms })
    return fence
  }

  async endLease(key: string, owner: string): Promise<void> {
    if (this.leases.get(key)?.owner === owner) this.leases.delete(key)
  }

  async close(): Promise<void> {
    this.listeners.clear()
  }

  private nextFence(): number {
    this.fence += 1
    return this.fence
  }

  private isHeld(lease: Lease | undefined): boolean {
    if (lease === undefined) return true
    const held = this.leases.get(lease.key)
    return held !== undefined && held.fence === lease.fence && held.until > elapsed()
  }

  private current(key: string): string | undefined {
    const kept = this.values.get(key)
    if (kept === undefined || kept.until > elapsed()) return kept?.value
    this.values.delete(key)
    return undefined
  }

  private keep(key: string, value: string, ttlMs = Number.POSITIVE_INFINITY): void {
    this.values.set(key, { value, until: elapsed() + ttlMs })
    this.tell(key)
  }

  private tell(key: string): void {
    const { folder } = checkKey(key)
    // Later, as from a server: no listener is called before the change has returned.
    for (const listener of this.listeners.get(folder) ?? []) queueMicrotask(() => tellCaller('watch', listener, key))
  }
}

/** A {@link Coordination} that lasts as long as the process. Several workers in the process may share it. */
export class MemoryCoordination extends CheckedCoordination {
  constructor() {
    super(new MemorySteps())
  }
}
