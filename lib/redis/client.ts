/** The parts of a client that shared state in Redis needs. */

/** The parts of a client of the package `redis` that are used, so that its types need not be installed. */
export interface RedisClient {
  readonly isOpen: boolean
  readonly isReady: boolean
  connect(): Promise<unknown>
  duplicate(): RedisClient
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  pSubscribe(pattern: string, listener: (message: string, channel: string) => void): Promise<unknown>
  on(event: 'error' | 'ready', listener: (error?: unknown) => void): unknown
  off(event: 'error' | 'ready', listener: (error?: unknown) => void): unknown
  destroy(): void
}
