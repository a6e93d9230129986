/** Shared state in Redis, or in a server that speaks its protocol. */

import { CheckedCoordination, type CoordinationSteps } from '../coordination/checked-coordination'
import { type Coordination, checkKey, type Lease, type ListedValue } from '../coordination/coordination'
import { callServer, FolderListeners } from '../coordination/server-calls'
import { asText } from '../util/guards'
import { messageOf } from '../util/message-of'
import { startTimer } from '../util/timer'
import { warn } from '../util/warn'
import { loadPeer } from '../validation/load-peer'
import { type Check, checkOptions, positiveMilliseconds } from '../validation/options'
import { wrong } from '../validation/validate'
import type { RedisClient } from './client'
import { FromIoredis, type IoredisClient, isIoredis } from './ioredis-client'
import { APPEND, FIRST, GET, LEASE, LIST, PERSISTENCE, PUT, READ, RELEASE, REMOVE, TAKE } from './scripts'

/** Options of {@link redisCoordination}. */
export interface RedisCoordinationOptions {
  /** Your own client: `createClient({ … })` of `redis`, or `new Redis(…)` of `ioredis`. `close` leaves it open. */
  client?: RedisClient | IoredisClient
  /** The URL of the server: `redis://user:password@host:6379/0`, or `rediss://` with TLS. @default that of `client` */
  url?: string
  /** The prefix of every key, for example one per tenant. @default 'spillway' */
  prefix?: string
  /** Milliseconds after which a call has failed. @default 5000 */
  requestTimeoutMs?: number
}

const CHECKS: Readonly<Record<keyof RedisCoordinationOptions, Check>> = {
  client: ['a client of redis or ioredis', (value) => isIoredis(value) || isNodeRedis(value)],
  url: ['a URL that begins with redis:// or rediss://', (value) => /^rediss?:\/\//.test(asText(value))],
  prefix: ['letters, digits and _.-', (value) => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value)],
  requestTimeoutMs: positiveMilliseconds,
}

function isNodeRedis(client: unknown): client is RedisClient {
  const { pSubscribe, on, off } = Object(client) as Partial<RedisClient>
  return [pSubscribe, on, off].every((method) => typeof method === 'function')
}

/** Longest wait before a connection is tried again. */
const RECONNECT_MS = 500

/**
 * Returns shared state in Redis 6.2 or later, or Valkey. Turn its persistence on; otherwise answers and sessions are lost with the server.
 *
 * @example
 * const coordination = redisCoordination({ url: 'redis://127.0.0.1:6379' })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` if `redis` is not installed
 */
export function redisCoordination(options: RedisCoordinationOptions): Coordination {
  checkOptions('options', options, CHECKS)
  const { client, url, prefix = 'spillway', requestTimeoutMs = 5000 } = options
  if (client === undefined && url === undefined) throw wrong('options.url', url, CHECKS.url[0])
  const used = isIoredis(client) ? new FromIoredis(client) : (client ?? makeClient(url as string))
  return new CheckedCoordination(new RedisSteps(used, client === undefined, prefix, requestTimeoutMs))
}

function makeClient(url: string): RedisClient {
  const { createClient } = loadPeer(
    () => require('redis') as { createClient: (options: object) => RedisClient },
    'redisCoordination',
    'redis',
  )
  // A call without a connection fails at once instead of being sent later, when its caller has given up.
  const reconnectStrategy = (retries: number) => Math.min(20 * 2 ** retries, RECONNECT_MS)
  return createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy } })
}

class RedisSteps implements CoordinationSteps {
  private readonly listeners = new FolderListeners()
  private connecting: Promise<void> | undefined
  private subscriber: RedisClient | undefined
  /** Calls that wait for the connection: one listener for all, because a client warns of many. */
  private readonly waiting = new Set<() => void>()
  /** The last failure to connect. */
  private problem: string | undefined
  /** All keys of a script must be in one slot of a cluster: that of the text in braces. */
  private readonly start: string

  constructor(
    private readonly client: RedisClient,
    private readonly isOwn: boolean,
    prefix: string,
    private readonly timeoutMs: number,
  ) {
    this.start = `{${prefix}}:`
    client.on('error', this.onError)
    client.on('ready', this.onReady)
  }

  /** Without a listener a connection that is lost ends the process; calls report it. */
  private readonly onError = (error?: unknown) => {
    this.problem = error === undefined ? undefined : messageOf(error)
  }

  private readonly onReady = () => {
    this.problem = undefined
    for (const tell of this.waiting) tell()
  }

  async storeFirst(key: string, value: string, ttlMs?: number): Promise<string> {
    return (await this.keep(FIRST, key, value, ttlMs, undefined)) as string
  }

  async load(key: string): Promise<string | undefined> {
    return ((await this.run(GET, [this.of('value', key)])) as string | null) ?? undefined
  }

  async store(key: string, value: string, ttlMs?: number, lease?: Lease): Promise<boolean> {
    return (await this.keep(PUT, key, value, ttlMs, lease)) === 1
  }

  async drop(key: string): Promise<void> {
    const { folder } = checkKey(key)
    await this.run(REMOVE, [this.of('value', key), this.of('folder', folder)], [key, this.of('changed', folder)])
  }

  async listOf(folder: string): Promise<ListedValue[]> {
    const found = (await this.run(LIST, [this.of('folder', folder)], [this.of('value', '')])) as string[]
    return Array.from({ length: found.length / 2 }, (_, at) => ({
      key: found[at * 2] as string,
      value: found[at * 2 + 1] as string,
    }))
  }

  listen(folder: string, listener: (key?: string) => void): () => void {
    if (this.subscriber === undefined) this.subscribe()
    return this.listeners.add(folder, listener)
  }

  async add(log: string, at: number, entry: string, lease?: Lease): Promise<boolean | undefined> {
    const keys = [this.leaseOf(lease), this.of('log', log)]
    const answer = await this.run(APPEND, keys, [fenceOf(lease), String(at), entry])
    return answer === -1 ? undefined : answer === 1
  }

  async entriesOf(log: string, from: number): Promise<string[]> {
    return (await this.run(READ, [this.of('log', log)], [String(from)])) as string[]
  }

  async count(counter: string, amount: number, limit: number, ttlMs: number): Promise<number | undefined> {
    const left = await this.run(TAKE, [this.of('counter', counter)], [amount, limit, ttlMs].map(String))
    return left === -1 ? undefined : (left as number)
  }

  async takeLease(key: string, owner: string, ms: number): Promise<number | undefined> {
    const fence = await this.run(LEASE, [this.of('lease', key), this.of('fence', key)], [owner, String(ms)])
    return fence === 0 ? undefined : (fence as number)
  }

  async endLease(key: string, owner: string): Promise<void> {
    await this.run(RELEASE, [this.of('lease', key)], [owner])
  }

  async close(): Promise<void> {
    this.listeners.clear()
    const clients = [this.subscriber, this.isOwn ? this.client : undefined]
    for (const client of clients) if (client?.isOpen) client.destroy()
    if (this.isOwn) return
    this.client.off('error', this.onError)
    this.client.off('ready', this.onReady)
  }

  private of(kind: string, key: string): string {
    return `${this.start}${kind}:${key}`
  }

  private leaseOf(lease: Lease | undefined): string {
    return this.of('lease', lease?.key ?? '')
  }

  private keep(script: string, key: string, value: string, ttlMs: number | undefined, lease: Lease | undefined) {
    const { folder } = checkKey(key)
    const keys = [this.leaseOf(lease), this.of('value', key), this.of('folder', folder)]
    const ttl = ttlMs === undefined ? '' : String(ttlMs)
    return this.run(script, keys, [fenceOf(lease), key, value, ttl, this.of('changed', folder)])
  }

  private run(script: string, keys: string[], args: string[] = []): Promise<unknown> {
    const send = async () => {
      if (!this.client.isReady) await this.connected()
      return this.client.eval(script, { keys, arguments: args })
    }
    return callServer('Redis', this.timeoutMs, send, () => this.problem)
  }

  /** Waits for a connection as long as the caller does: a call that it has given up must not be made later. */
  private async connected(): Promise<void> {
    const { client } = this
    const late = startTimer(this.timeoutMs)
    let tell = () => {}
    const isReady = new Promise<void>((resolve) => {
      tell = resolve
    })
    this.waiting.add(tell)
    try {
      const isOpened = this.connecting === undefined && client.isOpen ? isReady : this.connect()
      const inTime = [isOpened.then(() => client.isReady), late.done.then(() => false)]
      if (!(await Promise.race(inTime))) throw new Error('there is no connection')
    } finally {
      this.waiting.delete(tell)
      late.cancel()
    }
  }

  /** Connects once; after that the client does so by itself. */
  private connect(): Promise<void> {
    this.connecting ??= this.client
      .connect()
      .then(() => warnOfLoss(this.client))
      .catch((error) => {
        this.connecting = undefined
        throw error
      })
    return this.connecting
  }

  /** A subscription needs a connection of its own, which the client makes again when it is lost. */
  private subscribe(): void {
    const subscriber = this.client.duplicate()
    this.subscriber = subscriber
    subscriber.on('error', () => {})
    subscriber.on('ready', () => this.listeners.tellAll())
    const start = this.of('changed', '')
    const subscribed = subscriber
      .connect()
      .then(() =>
        subscriber.pSubscribe(`${start}*`, (key, channel) => this.listeners.tell(channel.slice(start.length), key)),
      )
      // Earlier changes were missed.
      .then(() => this.listeners.tellAll())
    // Waits look again from time to time, also without it.
    subscribed.catch((error) => subscriber.isOpen && warn('redisCoordination', error))
  }
}

let isLossSaid = false

/** Says once that the server keeps nothing of what it acknowledges. A server that does not tell is believed. */
async function warnOfLoss(client: RedisClient): Promise<void> {
  if (isLossSaid) return
  const asked = client.eval(PERSISTENCE, { keys: [], arguments: [] }).catch(() => '')
  if (!/^aof_enabled:0\b/m.test(String(await asked))) return
  isLossSaid = true
  process.emitWarning(
    'Redis writes no append-only file: questions, answers and sessions are lost when it restarts. Set appendonly yes.',
    { type: 'SpillwayWarning', code: 'SPILLWAY_REDIS_PERSISTENCE' },
  )
}

function fenceOf(lease: Lease | undefined): string {
  return lease === undefined ? '' : String(lease.fence)
}
