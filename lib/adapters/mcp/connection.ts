/** The connection of the proxy to its server: where to write, and what it reads. */

import type { Writable } from 'node:stream'
import type { McpServerExit } from './options'

/** The side of the proxy that a connection hands everything to. */
export interface Receiver {
  /** Takes a stream of messages, one a line; resolves when all are handled, rejects where the stream breaks off. */
  take(source: AsyncIterable<Buffer>): Promise<void>
  /** True if a request with this id has no answer yet. */
  isWaiting(id: unknown): boolean
  /** Answers a request that the server will not answer, unless it has an answer. */
  fail(id: unknown, problem: string): void
}

export interface Connection {
  /** The id of the server's process, if it is one. */
  readonly pid: number | undefined
  /** Messages for the server, one a line. Its end is that of the host. */
  readonly input: Writable
  /** Hands over every stream of the server; resolves when the server has ended and everything is handled. */
  read(receiver: Receiver): Promise<McpServerExit>
  /** Receives the protocol version of the answer to `initialize`, before the host does. */
  agree?(version: string): void
  stop(signal: NodeJS.Signals): void
}
