// A server that answers each call with the line it is started with.

import { createInterface } from 'node:readline'

const [, , line] = process.argv
const text = 'needle line of text\n'.repeat(30_000)
const TEXT = JSON.stringify(text)
const TEXTS = JSON.stringify([{ type: 'text', text }])
const RESULT = `{"content":${TEXTS}}`
const write = (message) => process.stdout.write(`${message}\n`)

createInterface({ input: process.stdin }).on('line', (request) => {
  const { id, method } = JSON.parse(request)
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    }
    write(JSON.stringify({ jsonrpc: '2.0', id, result }))
  } else if (method === 'tools/list') {
    const tools = [{ name: 'x', inputSchema: { type: 'object' } }]
    write(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }))
  } else if (method === 'tools/call') {
    const parts = { RESULT, TEXTS, TEXT, ID: String(id) }
    write(line.replaceAll(/RESULT|TEXTS|TEXT|ID/g, (name) => parts[name]))
  }
})
