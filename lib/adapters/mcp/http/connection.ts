/** A server over HTTP: each message of the host is a request, and its answer comes as JSON or as a stream of events. */

import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { stringifyLossless } from '../../../util/lossless-json'
import { warn } from '../../../util/warn'
import { isRecord } from '../../../validation/validate'
import type { Connection, Receiver } from '../connection'
import { asMessage, type Line, linesOf } from '../json-rpc-stream'
import { readJson } from '../lenient-json'
import type { McpServerExit } from '../options'
import { keyOf } from '../pending-requests'
import type { Message } from '../types'
import { asLine, Endpoint, type HttpBody, HttpFailure, headOf, shown, typeOf } from './endpoint'
import { EventStream } from './event-stream'
import { HttpSession, versionOf } from './session'

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const ACCEPT_EVENTS = { accept: 'text/event-stream' }
/** Until what runs is given up when the host has ended. */
const GRACE_MS = 5000
/** The server may take this long to end the session. */
const END_MS = 2000
const RETRY_MS = 1000
/** However soon a server wants the next connection. */
const MIN_RETRY_MS = 50
const MAX_RETRY_MS = 60_000
/** Attempts to resume the stream of a request. */
const MAX_ATTEMPTS = 5
/** Milliseconds and bytes that a stream may continue after the answer. */
const LEFT_MS = 2000
const MAX_REMAINING_BYTES = 2 ** 20

/** A request of the host that runs. */
interface Exchange {
  message: Message
  controller: AbortController
}

export class HttpConnection implements Connection {
  readonly pid = undefined
  readonly input = new PassThrough()
  private readonly endpoint: Endpoint
  private readonly session = new HttpSession()
  private readonly exchanges = new Map<string, Exchange>()
  private readonly running = new Set<Promise<void>>()
  private readonly closing = new AbortController()
  private receiver!: Receiver
  /** The `initialize` of the host, for a session that is begun again. */
  private opening: Message | undefined
  private renewing: Promise<void> | undefined
  /** Settles when the server may receive more: `initialize` comes first. */
  private ready: Promise<void> = Promise.resolve()
  private exit: McpServerExit | undefined
  private end!: (exit: McpServerExit) => void
  private readonly ended = new Promise<McpServerExit>((resolve) => {
    this.end = resolve
  })

  /** @param folders where long messages may be kept on their way */
  constructor(
    url: URL,
    headers: Readonly<Record<string, string>>,
    private readonly folders: readonly string[],
  ) {
    this.endpoint = new Endpoint(url, headers)
  }

  async read(receiver: Receiver): Promise<McpServerExit> {
    this.receiver = receiver
    this.sendAll().catch((error: unknown) => {
      warn('mcp', error)
      this.finish({ code: 1, signal: null })
    })
    return this.ended
  }

  agree(version: string): void {
    this.session.version = version
  }

  stop(signal: NodeJS.Signals): void {
    this.finish({ code: null, signal })
  }

  // From the host -----------------------------------------------------------------------------------------------------

  private async sendAll(): Promise<void> {
    const mark = `spillway:${randomUUID()}:`
    for await (const line of linesOf(this.input, { folders: this.folders, mark, dropsMembers: false })) {
      const message = asMessage(line.value)
      if (message === undefined) {
        line.spool?.close()
        warn('mcp', `a line of the host is no message, so it was not sent to ${this.endpoint.name}`)
        continue
      }
      this.begin(line, message)
    }
    await Promise.race([
      Promise.all(this.running),
      pause(GRACE_MS, undefined, { signal: this.closing.signal, ref: false }),
    ])
    this.finish({ code: 0, signal: null })
  }

  private begin(line: Line, message: Message): void {
    const done = this.ready
      .then(() => this.deliver(line, message))
      .catch((error: unknown) => {
        if (!this.closing.signal.aborted) warn('mcp', error)
      })
      .finally(() => {
        line.spool?.close()
        this.running.delete(done)
      })
    this.running.add(done)
    if (message.method === 'initialize' || message.method === 'notifications/initialized') this.ready = done
  }

  private async deliver(line: Line, message: Message): Promise<void> {
    const body = line.bytes ?? line.spool
    const key = keyOf(message.id)
    if (key !== undefined && typeof message.method === 'string') return this.request(key, message, body)
    const cancelled = message.method === 'notifications/cancelled' ? this.cancelledBy(message) : undefined
    // Without a session the end of its response is what cancels a request.
    if (cancelled === undefined || versionOf(cancelled.message) === undefined) await this.notify(message, body)
    cancelled?.controller.abort()
    if (message.method === 'notifications/initialized') void this.listen()
  }

  private cancelledBy({ params }: Message): Exchange | undefined {
    return isRecord(params) ? this.exchanges.get(keyOf(params.requestId) ?? '') : undefined
  }

  /** A message that has no answer. */
  private async notify(message: Message, body: HttpBody): Promise<void> {
    const response = await this.post(message, body, this.closing.signal)
    const status = response.statusCode ?? 0
    if (status < 400) response.resume()
    else throw new HttpFailure(await this.refusal(response))
  }

  private async request(key: string, message: Message, body: HttpBody): Promise<void> {
    const controller = new AbortController()
    const exchange = { message, controller }
    this.exchanges.set(key, exchange)
    if (message.method === 'initialize') this.opening = message
    try {
      const response = await this.post(message, body, controller.signal)
      if (message.method === 'initialize') this.session.begin(response)
      await this.receive(response, exchange)
    } catch (error) {
      if (!controller.signal.aborted) this.receiver.fail(message.id, (error as Error).message)
    } finally {
      // A later request may have the same id.
      if (this.exchanges.get(key) === exchange) this.exchanges.delete(key)
    }
  }

  private async post(message: Message, body: HttpBody, signal: AbortSignal): Promise<IncomingMessage> {
    const send = () => {
      const headers = { ...ACCEPT, ...this.session.headersFor(message) }
      return this.endpoint.send({ method: 'POST', headers, body, signal, isLong: message.id !== undefined })
    }
    const { id } = this.session
    const response = await send()
    if (response.statusCode !== 404 || id === undefined || message.method === 'initialize') return response
    response.resume()
    await this.renew(id)
    return send()
  }

  // From the server ---------------------------------------------------------------------------------------------------

  private async receive(response: IncomingMessage, exchange: Exchange): Promise<void> {
    const { id } = exchange.message
    const type = typeOf(response)
    if (response.statusCode !== 200) return this.refuse(response, id)
    if (type === 'text/event-stream') return this.follow(response, exchange)
    if (type !== 'application/json') {
      response.destroy()
      throw new HttpFailure(`${this.endpoint.name} answered with ${shown(type) || 'no type'}, not with JSON or events`)
    }
    await this.receiver.take(asLine(response)).catch(() => {})
    if (this.receiver.isWaiting(id)) throw this.brokenOff()
  }

  private brokenOff(): HttpFailure {
    return new HttpFailure(`${this.endpoint.name} ended its response before the answer was complete`)
  }

  /** The stream of a request, resumed until the answer is there. */
  private async follow(first: IncomingMessage, { message, controller }: Exchange): Promise<void> {
    const stream = new EventStream()
    const { signal } = controller
    for (let response = first; ; ) {
      await this.receiver.take(this.untilAnswered(stream.messages(response), message.id, controller)).catch(() => {})
      if (!this.receiver.isWaiting(message.id) || signal.aborted) return
      if (stream.lastEventId === undefined) throw this.brokenOff()
      response = await this.resume(stream, signal)
    }
  }

  /** Returns the pieces up to the answer. Later ones are read, so that the connection can be used again, and dropped. */
  private async *untilAnswered(
    pieces: AsyncIterable<Buffer>,
    id: unknown,
    controller: AbortController,
  ): AsyncGenerator<Buffer> {
    let left: number | undefined
    let timer: NodeJS.Timeout | undefined
    try {
      for await (const piece of pieces) {
        if (left === undefined) {
          yield piece
          if (this.receiver.isWaiting(id)) continue
          left = 0
          timer = setTimeout(() => controller.abort(), LEFT_MS).unref()
        }
        left += piece.length
        if (left > MAX_REMAINING_BYTES) return
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** @throws HttpFailure where the server does not resume the stream */
  private async resume(stream: EventStream, signal: AbortSignal): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      await pause(waitOf(stream, attempt), undefined, { signal })
      const headers = { ...ACCEPT_EVENTS, ...this.session.headersFor(), ...lastOf(stream) }
      try {
        const response = await this.endpoint.send({ method: 'GET', headers, signal, isLong: true })
        if (isEvents(response)) return response
        throw new HttpFailure(await this.refusal(response))
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || signal.aborted) throw error
      }
    }
  }

  /** The stream of the server itself: requests and notifications that belong to no request of the host. */
  private async listen(): Promise<void> {
    const { id } = this.session
    const { signal } = this.closing
    const stream = new EventStream()
    for (let attempt = 1; !signal.aborted && this.session.id === id; attempt += 1) {
      try {
        const headers = { ...ACCEPT_EVENTS, ...this.session.headersFor(), ...lastOf(stream) }
        const response = await this.endpoint.send({ method: 'GET', headers, signal, isLong: true })
        if (!isEvents(response)) {
          response.destroy()
          // Most servers have none, and say so.
          if ((response.statusCode ?? 0) < 500) return
        }
        const before = stream.lastEventId
        await this.receiver.take(stream.messages(response))
        if (stream.lastEventId !== before) attempt = 1
      } catch {
        // It is opened again.
      }
      await pause(waitOf(stream, attempt), undefined, { signal, ref: false }).catch(() => {})
    }
  }

  // Problems ----------------------------------------------------------------------------------------------------------

  /** An error with a message of MCP in it is the answer; for any other the host gets the status. */
  private async refuse(response: IncomingMessage, id: unknown): Promise<void> {
    const { statusCode } = response
    if (statusCode === 401 || statusCode === 403) throw new HttpFailure(await this.refusal(response))
    const head = await headOf(response)
    const message = asMessage(readJson(head).value)
    if (message?.error === undefined) throw new HttpFailure(this.problemOf(statusCode, head))
    await this.receiver.take(lineOf({ jsonrpc: '2.0', id, error: message.error }))
  }

  private async refusal(response: IncomingMessage): Promise<string> {
    return this.problemOf(response.statusCode, await headOf(response))
  }

  private problemOf(status = 0, page = ''): string {
    const isDenied = status === 401 || status === 403
    const advice = isDenied ? '. The headers that the proxy was started with have no valid credentials for it' : ''
    const says = shown(page)
    return (
      `${this.endpoint.name} answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() +
      advice +
      (says && `: ${says}`)
    )
  }

  /** A server that has forgotten the session is given the `initialize` of the host again. */
  private async renew(forgotten: string): Promise<void> {
    if (this.session.id !== forgotten) return
    this.renewing ??= this.startAgain().finally(() => {
      this.renewing = undefined
    })
    await this.renewing
  }

  private async startAgain(): Promise<void> {
    const { signal } = this.closing
    const id = `spillway-${randomUUID()}`
    const body = Buffer.from(stringifyLossless({ ...this.opening, id }) ?? '')
    const response = await this.endpoint.send({ method: 'POST', headers: ACCEPT, body, signal, isLong: true })
    const answer = response.statusCode === 200 ? await answerIn(response, id) : undefined
    if (!isRecord(answer?.result)) {
      response.destroy()
      throw new HttpFailure(`${this.endpoint.name} has ended the session, and did not begin another`)
    }
    this.session.begin(response)
    const { protocolVersion } = answer.result
    if (typeof protocolVersion === 'string') this.session.version = protocolVersion
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
    await this.notify(initialized, Buffer.from(stringifyLossless(initialized) ?? ''))
    warn('mcp', `${this.endpoint.name} had ended the session; another was begun`)
    void this.listen()
  }

  private finish(exit: McpServerExit): void {
    if (this.exit !== undefined) return
    this.exit = exit
    this.closing.abort()
    for (const { controller } of this.exchanges.values()) controller.abort()
    this.input.destroy()
    void this.endSession().finally(() => {
      this.endpoint.close()
      this.end(exit)
    })
  }

  private async endSession(): Promise<void> {
    if (this.session.id === undefined) return
    const signal = AbortSignal.timeout(END_MS)
    try {
      const response = await this.endpoint.send({ method: 'DELETE', headers: this.session.headersFor(), signal })
      response.destroy()
    } catch {
      // The server ends it in its own time.
    }
  }
}

function isEvents(response: IncomingMessage): boolean {
  return response.statusCode === 200 && typeOf(response) === 'text/event-stream'
}

function lastOf({ lastEventId }: EventStream): Record<string, string> {
  return lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
}

/** The time that the server asked for, or one that grows. */
function waitOf({ retryMs }: EventStream, attempt: number): number {
  const wanted = retryMs ?? RETRY_MS * 2 ** (attempt - 1)
  return Math.min(Math.max(wanted, MIN_RETRY_MS), MAX_RETRY_MS)
}

async function* lineOf(message: object): AsyncGenerator<Buffer> {
  yield Buffer.from(`${stringifyLossless(message)}\n`)
}

/** The answer to a request of ours; what else comes with it is dropped. */
async function answerIn(response: IncomingMessage, id: string): Promise<Message | undefined> {
  const isStream = typeOf(response) === 'text/event-stream'
  let line = ''
  for await (const piece of isStream ? new EventStream().messages(response) : asLine(response)) {
    line += piece.toString('latin1')
    if (line.length > MAX_REMAINING_BYTES) return undefined
    if (!line.endsWith('\n')) continue
    const message = asMessage(readJson(Buffer.from(line, 'latin1').toString()).value)
    if (message?.id === id) return message
    line = ''
  }
  return undefined
}
