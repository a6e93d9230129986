/** Reads outputs of an object store in parts, and remembers where their lines begin. */

import { SpillwayError } from '../errors'
import { messageOf } from '../util/message-of'
import { withRetries } from '../util/retry'
import { decodeIndex, LineCounter, type LineIndex } from './line-index'
import type { ObjectRange, ObjectStore } from './object-store'
import { INDEX_SUFFIX, type OutputKey } from './output-keys'
import type { RemoteOutput } from './range'

/** Outputs whose index is remembered. The index of an output of 1 GiB takes 8 KiB. */
const MAX_INDEXES = 64

/** Most bytes of a saved index: that of 84 GB, the most that 10,000 parts hold. */
const MAX_INDEX_BYTES = 2 ** 20

/** Reads outputs, which never change once they are there. */
export class OutputReader {
  /** By key, the oldest first. */
  private readonly indexes = new Map<string, LineIndex>()

  constructor(
    private readonly objects: Pick<ObjectStore, 'get'>,
    /** Outputs that wait here are read here. */
    private readonly spool: Pick<ObjectStore, 'get'> | undefined,
    private readonly windowBytes: number,
  ) {}

  /** Returns an output to be read in parts. */
  open({ key, name }: OutputKey, path: string): RemoteOutput {
    // An output of one window is held as long as the question lasts: its lines were counted in it, and are then read from it.
    let whole: ObjectRange | undefined
    const fetch = async (from: number, to: number, signal?: AbortSignal) => {
      if (whole !== undefined) return { bytes: whole.bytes.subarray(from, to), total: whole.total }
      const range = await this.fetch(key, path, from, to, signal)
      if (range.bytes.length === range.total) whole = range
      return range
    }
    return { name, fetch, index: (signal, fresh) => this.index(key, fetch, fresh === true, signal) }
  }

  private async fetch(key: string, path: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange> {
    const range = await this.request(() => this.get(key, from, to, signal), path, signal)
    if (range !== undefined) return range
    const problem = `${JSON.stringify(path)}: is not there; it was removed, or is still on its way`
    throw new SpillwayError('STORAGE_NOT_FOUND', problem, { field: 'path' })
  }

  private async get(key: string, from: number, to: number, signal?: AbortSignal): Promise<ObjectRange | undefined> {
    return (await this.spool?.get(key, from, to)) ?? this.objects.get(key, from, to, signal)
  }

  private async request<T>(get: () => Promise<T>, path: string, signal?: AbortSignal): Promise<T> {
    try {
      return await withRetries(get, signal)
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof SpillwayError) throw cause
      throw new SpillwayError('STORAGE_READ', `${JSON.stringify(path)}: ${messageOf(cause)}`, { cause })
    }
  }

  private async index(
    key: string,
    fetch: RemoteOutput['fetch'],
    isFresh: boolean,
    signal?: AbortSignal,
  ): Promise<LineIndex> {
    const known = isFresh ? undefined : (this.indexes.get(key) ?? (await this.savedIndex(key, signal)))
    const index = known ?? (await this.count(fetch, signal))
    this.indexes.delete(key)
    this.indexes.set(key, index)
    if (this.indexes.size > MAX_INDEXES) this.indexes.delete(this.indexes.keys().next().value!)
    return index
  }

  private async savedIndex(key: string, signal?: AbortSignal): Promise<LineIndex | undefined> {
    // One that waits in the spool has none yet, and is counted without a request.
    if ((await this.spool?.get(key, 0, 0)) !== undefined) return undefined
    const path = `${key}${INDEX_SUFFIX}`
    const saved = await this.request(() => this.objects.get(path, 0, MAX_INDEX_BYTES, signal), path, signal)
    return saved && decodeIndex(key, saved.bytes)
  }

  /** Counts the lines of an output without an index: one request if it is short. */
  private async count(fetch: RemoteOutput['fetch'], signal?: AbortSignal): Promise<LineIndex> {
    const counter = new LineCounter()
    for (let from = 0, total = 1; from < total; from += this.windowBytes) {
      const window = await fetch(from, from + this.windowBytes, signal)
      counter.add(window.bytes)
      total = window.total
    }
    return counter.index()
  }
}
