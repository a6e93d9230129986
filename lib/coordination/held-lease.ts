/** A lease that is renewed until it is released. */

import { SpillwayError } from '../errors'
import { elapsed } from '../util/clock'
import { pause } from '../util/retry'
import { startTimer, type Timer } from '../util/timer'
import { tellCaller } from '../util/warn'
import { withTimeout } from '../util/with-timeout'
import type { Coordination, Lease } from './coordination'

/** The lease that is wanted. */
export interface WantedLease {
  coordination: Coordination
  key: string
  owner: string
  ms: number
  onLost: ((error: SpillwayError) => void) | undefined
}

/** Longest time between two attempts to take a lease that another owner has. */
const RETRY_MS = 250

/** Asks for the lease; if the signal is aborted meanwhile, a lease that comes later is given back. */
function unlessAborted({ coordination, key, owner, ms }: WantedLease, signal: AbortSignal | undefined) {
  let asked: Promise<number | undefined> | undefined
  const ask = () => {
    asked = coordination.lease(key, owner, ms)
    return asked
  }
  return withTimeout(Number.POSITIVE_INFINITY, ask, { signal }).catch((error) => {
    if (signal?.aborted) void asked?.then(() => coordination.release(key, owner)).catch(() => {})
    throw error
  })
}

/** A lease, from when it was taken. */
export class HeldLease {
  private lost: SpillwayError | undefined
  private isReleased = false
  private pause: Timer | undefined

  private constructor(
    private readonly wanted: WantedLease,
    readonly lease: Lease,
    private until: number,
  ) {
    void this.extend()
  }

  /**
   * Takes a lease, waiting for up to `waitMs` while another owner has it.
   * @throws SpillwayError `CONFLICT`, and the reason of the signal
   */
  static async take(wanted: WantedLease, waitMs: number, signal?: AbortSignal): Promise<HeldLease> {
    const { key, ms } = wanted
    const end = elapsed() + waitMs
    for (;;) {
      const asked = elapsed()
      const fence = await unlessAborted(wanted, signal)
      if (fence !== undefined) return new HeldLease(wanted, { key, fence }, asked + ms)
      const left = end - elapsed()
      if (left <= 0) throw new SpillwayError('CONFLICT', 'another worker has the session')
      await pause(Math.min(RETRY_MS, left), signal)
    }
  }

  /** @throws SpillwayError `CONFLICT` or `CLOSED` if the lease is over */
  check(): void {
    if (this.isReleased) throw new SpillwayError('CLOSED', 'the session was closed')
    if (this.lost !== undefined) throw this.lost
  }

  /** Makes a write, and loses the lease if the server says that it is over. */
  async guard<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof SpillwayError) || error.code !== 'CONFLICT') throw error
      throw this.lose('another worker has the session')
    }
  }

  /** Ends it here; the error says why. */
  lose(why: string): SpillwayError {
    this.pause?.cancel()
    if (this.lost === undefined) {
      this.lost = new SpillwayError('CONFLICT', why)
      tellCaller('onLost', this.wanted.onLost, this.lost)
    }
    return this.lost
  }

  /** Gives it back. If the server does not answer, it ends by itself. */
  async release(): Promise<void> {
    if (this.isReleased) return
    this.isReleased = true
    this.pause?.cancel()
    const { coordination, key, owner } = this.wanted
    await coordination.release(key, owner).catch(() => {})
  }

  private get isOver(): boolean {
    return this.isReleased || this.lost !== undefined
  }

  /** The process may end while it waits: the lease does, too. */
  private async extend(): Promise<void> {
    const { coordination, key, owner, ms } = this.wanted
    while (!this.isOver) {
      this.pause = startTimer(ms / 3)
      await this.pause.done
      if (this.isOver) return
      const asked = elapsed()
      const fence = await coordination.lease(key, owner, ms).catch(() => 'unknown' as const)
      if (this.isOver) return
      if (fence === this.lease.fence) this.until = asked + ms
      else if (fence !== 'unknown') this.lose('another worker had the session, or its lease was lost')
      else if (elapsed() > this.until) this.lose('the lease is over: the server could not be reached to extend it')
    }
  }
}
