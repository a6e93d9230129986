/** A client of `ioredis`, with the methods that one of `redis` has. */

import type { RedisClient } from './client'

/** The parts of a client of the package `ioredis` that are used, so that its types need not be installed. */
export interface IoredisClient {
  readonly status: string
  connect(): Promise<unknown>
  duplicate(): IoredisClient
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  psubscribe(pattern: string): Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: every event has other arguments.
  on(event: string, listener: (...args: any[]) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  off(event: string, listener: (...args: any[]) => void): unknown
  disconnect(): void
}

/** Returns whether a client is one of `ioredis`. */
export function isIoredis(client: unknown): client is IoredisClient {
  const { psubscribe, status } = Object(client) as Partial<IoredisClient>
  return typeof psubscribe === 'function' && typeof status === 'string'
}

const CLOSED = new Set(['wait', 'close', 'end'])

/** Makes the calls of a `redis` client with one of `ioredis`. */
export class FromIoredis implements RedisClient {
  constructor(private readonly client: IoredisClient) {}

  get isOpen(): boolean {
    return !CLOSED.has(this.client.status)
  }

  get isReady(): boolean {
    return this.client.status === 'ready'
  }

  async connect(): Promise<void> {
    if (CLOSED.has(this.client.status)) await this.client.connect()
  }

  duplicate(): RedisClient {
    return new FromIoredis(this.client.duplicate())
  }

  eval(script: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }): Promise<unknown> {
    return this.client.eval(script, keys.length, ...keys, ...args)
  }

  async pSubscribe(pattern: string, listener: (message: string, channel: string) => void): Promise<unknown> {
    this.client.on('pmessage', (_pattern: string, channel: string, message: string) => listener(message, channel))
    return this.client.psubscribe(pattern)
  }

  on(event: 'error' | 'ready', listener: (error?: unknown) => void): unknown {
    return this.client.on(event, listener)
  }

  off(event: 'error' | 'ready', listener: (error?: unknown) => void): unknown {
    return this.client.off(event, listener)
  }

  destroy(): void {
    this.client.disconnect()
  }
}
