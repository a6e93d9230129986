/** The URL of a server, and the only place that sends requests: none is sent to another host. */

import { Agent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import { TempFile } from '../temp-file'

const MAX_REDIRECTS = 3
/** Requests at a time that wait for answers. Cancellations and answers of the host have connections of their own. */
const MAX_REQUESTS = 256
/** Servers close idle connections after 5 s or more; a request on one that was just closed could not be sent again safely. */
const IDLE_MS = 2000
/** Characters of a page that are shown with an error. */
const MAX_SHOWN = 300
/** Bytes that are read of the page of an error. */
const MAX_READ = 2 ** 16

/** A body that can be sent again: in memory, or in a file. */
export type HttpBody = Buffer | TempFile

/** A request to make. */
export interface HttpRequest {
  method: 'POST' | 'GET' | 'DELETE'
  headers: Readonly<Record<string, string>>
  body?: HttpBody
  signal: AbortSignal
  /** It waits for an answer that may take long. */
  isLong?: boolean
}

/** A problem that the host gets as an error. */
export class HttpFailure extends Error {}

export class Endpoint {
  private readonly isSecure: boolean
  private readonly agents: readonly [short: Agent, long: Agent]
  private url: URL

  constructor(
    url: URL,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    this.url = url
    this.isSecure = url.protocol === 'https:'
    const AgentOf = this.isSecure ? SecureAgent : Agent
    const settings = { keepAlive: true, timeout: IDLE_MS }
    this.agents = [new AgentOf(settings), new AgentOf({ ...settings, maxSockets: MAX_REQUESTS })]
  }

  /** How the server is named in messages: without what may be secret in its address. */
  get name(): string {
    return `${this.url.origin}${this.url.pathname}`
  }

  /**
   * The head of the response, whatever its status; its body is still to be read.
   *
   * @throws HttpFailure where the server cannot be reached, or sends the request to another host
   */
  async send(request: HttpRequest): Promise<IncomingMessage> {
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      const response = await this.sendOnce(request)
      const status = response.statusCode ?? 0
      if (status < 300 || status > 399 || status === 304) return response
      response.destroy()
      this.url = this.redirected(status, response.headers.location)
    }
    throw new HttpFailure(`${this.name} redirects more than ${MAX_REDIRECTS} times`)
  }

  close(): void {
    for (const agent of this.agents) agent.destroy()
  }

  private sendOnce({ method, headers, body, signal, isLong = false }: HttpRequest): Promise<IncomingMessage> {
    const options: RequestOptions = {
      method,
      headers: { ...this.headers, ...headers, ...(body && { 'content-length': String(body.length) }) },
      signal,
      agent: this.agents[isLong ? 1 : 0],
    }
    return new Promise((resolve, reject) => {
      const sent = (this.isSecure ? requestHttps : requestHttp)(this.url, options, resolve)
      sent.on('error', (cause) => reject(new HttpFailure(`${this.name}: ${cause.message}`, { cause })))
      if (body instanceof TempFile) pipeline(Readable.from(copied(body.read())), sent, () => {})
      else sent.end(body)
    })
  }

  /** Another place of the same host. One elsewhere would be sent the credentials. */
  private redirected(status: number, location: string | undefined): URL {
    const target = location !== undefined && URL.canParse(location, this.name) ? new URL(location, this.url) : undefined
    if (target === undefined || (status !== 307 && status !== 308)) {
      throw new HttpFailure(`${this.name} answered with status ${status}, which is no answer to a message of MCP`)
    }
    if (target.origin !== this.url.origin) {
      throw new HttpFailure(
        `${this.name} redirects to ${shown(target.origin)}, which is another host, so the request was not sent there`,
      )
    }
    return target
  }
}

/** A piece of a file is read over by the next. */
function* copied(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece)
}

/** Returns the media type of a response without parameters. */
export function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
}

/** The body of a response as one message in one line. */
export async function* asLine(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    // Between values a line feed is as good as a blank, and within strings JSON has none.
    yield chunk.includes(10) ? Buffer.from(chunk.toString('latin1').replaceAll('\n', ' '), 'latin1') : chunk
  }
  yield Buffer.from('\n')
}

/** The start of a body, as text. */
export async function headOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_READ) break
    }
  } catch {
    // The part that was read is enough.
  }
  response.destroy()
  return Buffer.concat(chunks).toString('utf8', 0, MAX_READ)
}

/** A part of a text of the server that can stand in a sentence of ours. */
export function shown(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim()
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN).toWellFormed()}…` : plain
}
