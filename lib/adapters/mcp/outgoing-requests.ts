/** Requests of the proxy itself to one side, with ids that no request of the other side has. */

import { randomUUID } from 'node:crypto'
import type { MessageWriter } from './message-writer'
import type { Message } from './types'

interface Question {
  resolve(result: unknown): void
  reject(error: Error): void
}

export class Questions {
  // One set of ids for each side: a side that knows the ids of the other must not be able to answer for it.
  private readonly prefix = `spillway-${randomUUID()}-`
  private readonly open = new Map<string, Question>()
  private count = 0

  constructor(private readonly to: MessageWriter) {}

  /** Answers the result; rejects where it is refused or taken back. */
  async ask(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted()
    this.count += 1
    const id = `${this.prefix}${this.count}`
    const answer = new Promise<unknown>((resolve, reject) => this.open.set(id, { resolve, reject }))
    const takeBack = () => {
      this.open.get(id)?.reject(new Error(`${method} was taken back`))
      this.send({ method: 'notifications/cancelled', params: { requestId: id } })
    }
    signal?.addEventListener('abort', takeBack, { once: true })
    this.send({ id, method, params })
    try {
      return await answer
    } finally {
      this.open.delete(id)
      signal?.removeEventListener('abort', takeBack)
    }
  }

  /** True if a question of ours with this id has no answer yet. */
  isOpen(id: unknown): boolean {
    return typeof id === 'string' && this.open.has(id)
  }

  /** True if a message answers a question of ours. */
  settle({ id, method, result, error }: Message): boolean {
    if (method !== undefined || typeof id !== 'string' || !id.startsWith(this.prefix)) return false
    // One that was taken back may be answered all the same.
    if (error === undefined) this.open.get(id)?.resolve(result)
    else this.open.get(id)?.reject(new Error(`refused: ${JSON.stringify(error)}`))
    return true
  }

  /** No more answers will arrive. */
  giveUp(): void {
    for (const { reject } of this.open.values()) reject(new Error('the connection has ended'))
  }

  private send(message: object): void {
    this.to.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)?.catch(() => {})
  }
}
