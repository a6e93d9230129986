/** The time that the MCP proxy adds to a call: a server that answers a kilobyte at once, with and without `spillway mcp` before it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { compare } from '../measure.mjs'
import { makeRow } from '../report.mjs'

const RESULT = 'a line of an output\n'.repeat(51)

const SERVER = `
  const answers = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
    'tools/list': { tools: [{ name: 'say', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: ${JSON.stringify(RESULT)} }] },
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }) + '\\n')
  })
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
    const clients = {
      direct: connect(server),
      proxied: connect([process.execPath, subject.command, 'mcp', '--store', folder, '--', ...server]),
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
      const { direct, proxied } = await compare(sides, { rounds, batchMs: 50, warmUpMs: 300 })
      const ours = proxied.map((milliseconds, round) => milliseconds - direct[round])
      return [makeRow({ work: 'a call with a result of 1 KB, over the server alone', ours, target: 1, unit: 'ms' })]
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
