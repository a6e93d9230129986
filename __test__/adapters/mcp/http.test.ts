import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { ElicitRequestSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { makeServer } from './make-server.ts'
import { type Any, tempDir } from './support.ts'

const require = createRequire(import.meta.url)
const CLI = join(dirname(require.resolve('spillway/package.json')), 'dist', 'cli', 'main.js')

/** Keeps events, so that streams can be resumed. */
function eventStore(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = []
  return {
    async storeEvent(stream, message) {
      const id = `${events.length}`
      events.push({ id, stream, message })
      return id
    },
    async replayEventsAfter(last, { send }) {
      const { stream } = events[Number(last)]!
      for (const event of events.slice(Number(last) + 1))
        if (event.stream === stream) await send(event.id, event.message)
      return stream
    },
  }
}

/** A server of the SDK with sessions. */
async function listen(options: { enableJsonResponse?: boolean; eventStore?: EventStore; retryInterval?: number } = {}) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization !== 'Bearer made-up') {
      response.writeHead(401).end()
      return
    }
    const id = request.headers['mcp-session-id']
    let transport = sessions.get(String(id))
    if (transport === undefined && id !== undefined) {
      response.writeHead(404).end()
      return
    }
    if (transport === undefined) {
      const made = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, made),
        ...options,
      })
      await makeServer().connect(made as Any)
      transport = made
    }
    await transport.handleRequest(request, response)
  }
  const server = createServer((request, response) => void open(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { sessions, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

async function connect(url: string, capabilities: object = {}, authorization = 'Bearer made-up') {
  const client = new Client({ name: 'host', version: '1' }, { capabilities })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', '--store', tempDir(), '--url', url, '--header', `Authorization: ${authorization}`],
    stderr: 'pipe',
  })
  const problems: Error[] = []
  client.onerror = (error) => problems.push(error)
  after(() => client.close())
  await client.connect(transport)
  return { client, transport, problems }
}

const textOf = (result: Any): string => result.content[0].text
const pathIn = (result: Any): string => result._meta['spillway/truncation'].outputPath

for (const enableJsonResponse of [true, false]) {
  test(`a server of the SDK answers with ${enableJsonResponse ? 'JSON' : 'events'}`, async () => {
    const { url, sessions } = await listen({ enableJsonResponse })
    const { client, problems } = await connect(url)
    assert.equal((await client.listTools()).tools.at(-1)!.name, 'search_output')
    const long = await client.callTool({ name: 'lines', arguments: { count: 5000 } })
    assert.equal(readFileSync(pathIn(long), 'utf8').split('\n').length, 5000)
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, count) => client.callTool({ name: 'lines', arguments: { count: count + 1 } })),
    )
    for (const [count, result] of many.entries()) assert.match(textOf(result), new RegExp(`line ${count + 1}$`))
    await client.close()
    assert.deepEqual(problems, [])
    assert.equal(sessions.size, 1)
  })
}

test('progress, questions of the server and cancellation go through', async () => {
  const { url } = await listen()
  const { client, problems } = await connect(url, { elicitation: {} })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Ada' } }))
  const seen: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
  await client.callTool({ name: 'steps', arguments: { count: 5000 } }, undefined, { onprogress })
  assert.deepEqual(seen, [1, 2, 3])
  assert.equal(textOf(await client.callTool({ name: 'asks' })), 'Ada')
  const stop = new AbortController()
  const call = client.callTool({ name: 'forever' }, undefined, { signal: stop.signal })
  stop.abort()
  await assert.rejects(call)
  assert.equal(textOf(await client.callTool({ name: 'lines', arguments: { count: 1 } })), 'line 1')
  assert.deepEqual(problems, [])
})

test('a stream that the server closes is resumed', async () => {
  const { url } = await listen({ eventStore: eventStore(), retryInterval: 10 })
  const { client, problems } = await connect(url)
  assert.equal(textOf(await client.callTool({ name: 'closes' })), 'after the stream was closed')
  assert.deepEqual(problems, [])
})

test('a session that the server has forgotten is begun again', async () => {
  const { url, sessions } = await listen()
  const { client } = await connect(url)
  await client.listTools()
  sessions.clear()
  assert.equal(textOf(await client.callTool({ name: 'lines', arguments: { count: 1 } })), 'line 1')
  assert.equal(sessions.size, 1)
})

test('wrong credentials are an error that says so', async () => {
  const { url } = await listen()
  await assert.rejects(connect(url, {}, 'Bearer wrong'), /401 Unauthorized/)
})
