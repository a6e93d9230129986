/** A server on the loopback interface with a handler, and requests to it as a browser or an attacker would send them. */

import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutputHandler, type OutputHandler, type OutputHandlerOptions } from 'spillway/view'

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
  /** The body, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
  json: any
}

export interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  /** @default the token of the handler */
  token?: string | null
}

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Serves the sources, and returns functions that ask. */
export async function serve(options: OutputHandlerOptions) {
  const handler = createOutputHandler(options)
  const server = createServer(handler)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ask = (path: string, asked: Asked = {}) => send(port, handler, path, asked)
  const get = async (name: string, parameters: Record<string, string | number> = {}) => {
    const query = new URLSearchParams(
      Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)]),
    )
    return (await ask(`/spillway/${name}?${query}`)).json
  }
  const post = async (name: string, body: unknown) => ask(`/spillway/${name}`, { method: 'POST', body })
  return { handler, port, ask, get, post }
}

function send(port: number, handler: OutputHandler, path: string, asked: Asked): Promise<Answer> {
  const { method = 'GET', headers = {}, body, token = handler.token } = asked
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    sent.on('error', reject)
    sent.on('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      const isJson = /^application\/json/.test(response.headers['content-type'] ?? '')
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text,
        json: isJson ? JSON.parse(text) : undefined,
      })
    })
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** Reads a stream of events until there are `count` of them. */
// biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
export function eventsOf(port: number, token: string, path: string, count: number): Promise<any[]> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { authorization: `Bearer ${token}` } })
    sent.on('error', reject)
    sent.on('response', async (response) => {
      let text = ''
      for await (const piece of response) {
        text += piece
        const events = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data!))
        if (events.length < count) continue
        resolve(events)
        return response.destroy()
      }
      reject(new Error(`the stream ended early: ${text}`))
    })
    sent.end()
  })
}
