/**
 * The time that the MCP proxy adds to a call: a server that answers a kilobyte at once, with and without `spillway mcp` before it,
 * over standard input and over HTTP.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { compare } from '../measure.mjs'
import { makeRow } from '../report.mjs'

const RESULT = 'a line of an output\n'.repeat(51)

const ANSWERS = `
  const answers = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'say', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: ${JSON.stringify(RESULT)} }] },
  }
`

const SERVER = `${ANSWERS}
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }) + '\\n')
  })
`

const HTTP_SERVER = `${ANSWERS}
  require('node:http').createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method } = text === '' ? {} : JSON.parse(text)
    if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }))
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

export const proxy = {
  name: 'proxy',
  title: 'The proxy of MCP',

  async run({ subject, shortRounds: rounds, folder, log }) {
    if (!subject.command) {
      log('proxy: skipped, the reference has no command')
      return []
    }
    const server = [process.execPath, '-e', SERVER]
    const http = await listen([process.execPath, '-e', HTTP_SERVER])
    const before = [process.execPath, subject.command, 'mcp', '--store', folder]
    const clients = {
      direct: connect(server),
      proxied: connect([...before, '--', ...server]),
      directHttp: http,
      proxiedHttp: connect([...before, '--url', http.url]),
    }
    try {
      for (const client of Object.values(clients)) await client.ask('initialize', { capabilities: {} })
      const sides = Object.entries(clients).map(([name, client]) => ({
        name,
        async batch(count) {
          const start = performance.now()
          for (let at = 0; at < count; at++) {
            const { content } = await client.ask('tools/call', { name: 'say', arguments: {} })
            if (content[0].text !== RESULT) throw new Error(`${name}: another result`)
          }
          return performance.now() - start
        },
      }))
      const times = await compare(sides, { rounds, batchMs: 50, warmUpMs: 300 })
      const over = (proxied, direct) => times[proxied].map((milliseconds, round) => milliseconds - times[direct][round])
      const stdio = over('proxied', 'direct')
      const ours = over('proxiedHttp', 'directHttp')
      const work = 'a call with a result of 1 KB, over the server alone'
      return [
        makeRow({ work, ours: stdio, target: 1, unit: 'ms' }),
        makeRow({ work: `${work}, HTTP`, ours, yardstick: stdio, yardstickName: 'standard input', target: 2 }),
      ]
    } finally {
      for (const client of Object.values(clients)) client.close()
    }
  },
}

/** A host that asks one thing after the other. */
function connect([file, ...args]) {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  return {
    ask(method, params) {
      const id = ++last
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
    close: () => child.kill(),
  }
}

/** A server over HTTP, and a host that asks it one thing after the other. */
async function listen([file, ...args]) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  const url = `http://127.0.0.1:${port}/mcp`
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return {
    url,
    async ask(method, params) {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result } = await response.json()
      return result
    },
    close: () => child.kill(),
  }
}
