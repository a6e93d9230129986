/** An MCP server over HTTP that does what a test tells it to, well behaved or not. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Message } from './host'

/** A request as it came. */
export interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  message: Message
}

export interface Exchange extends Seen {
  response: ServerResponse
}

export class HttpServer {
  readonly seen: Seen[] = []
  /** Answers what is not `initialize` and its notification. */
  onRequest: (exchange: Exchange) => unknown = ({ response, message }) => answer(response, message, {})
  /** Opens the stream of the server. */
  onGet: (exchange: Exchange) => unknown = ({ response }) => response.writeHead(405).end()
  /** The id of the session; none for a server without. */
  session: string | undefined = 's-1'
  private readonly server: Server

  constructor() {
    this.server = createServer((request, response) => void this.take(request, response))
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }

  /** The requests of this method of MCP, or of HTTP. */
  of(method: string): Seen[] {
    return this.seen.filter((seen) => seen.message.method === method || seen.method === method)
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    const message = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString())
    const { method = '', url = '', headers } = request
    const seen = { method, url, headers, message }
    this.seen.push(seen)
    const exchange = { ...seen, response }
    if (method === 'GET') this.onGet(exchange)
    else if (method === 'DELETE') response.writeHead(204).end()
    else if (message.method === 'initialize') this.initialize(response, message)
    else if (message.id === undefined) response.writeHead(202).end()
    else this.onRequest(exchange)
  }

  private initialize(response: ServerResponse, message: Message): void {
    if (this.session !== undefined) response.setHeader('Mcp-Session-Id', this.session)
    const serverInfo = { name: 'web', version: '1' }
    answer(response, message, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
  }
}

/** Answers with JSON. */
export function answer(response: ServerResponse, { id }: Message, result: object): void {
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** Begins a stream of events. */
export function events(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.flushHeaders()
  return response
}

export const event = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

export const textResult = (text: string) => ({ content: [{ type: 'text', text }] })
