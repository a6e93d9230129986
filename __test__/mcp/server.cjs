// A server of MCP without an SDK, for the specs: what it does is the name of the tool that is called.

const { createInterface } = require('node:readline')

const PAGES = JSON.parse(process.env.PAGES ?? 'null')
const waiting = new Map()
let asked = 0
/** The line that came last, as it came. */
let raw = ''

const isStateless = process.env.STATELESS === '1'
/** In the protocol of July 2026 each result says that it is one, and of whom. */
const typed = (result) => ({
  resultType: 'complete',
  ...result,
  _meta: { ...result._meta, 'io.modelcontextprotocol/serverInfo': { name: 'stateless', version: '1' } },
})
const send = (message) => {
  const own = isStateless && message.result ? { ...message, result: typed(message.result) } : message
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...own })}\n`)
}
const lines = (count) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')
/** A log whose error is far from both ends. */
const log = () => `${lines(4000)}\nerror: disk full\n${lines(4000)}`
const text = (value) => ({ content: [{ type: 'text', text: value }] })

/** A result of any size, with its id at the end, as the SDK writes it. */
async function big(id, bytes) {
  const write = (piece) =>
    process.stdout.write(piece) ? undefined : new Promise((resolve) => process.stdout.once('drain', resolve))
  const line = 'a line of \\"text\\" of some length, with \\u4f60\\u597d and \\ud83d\\ude00 in it\\n'
  const piece = line.repeat(1000)
  await write('{"result":{"content":[{"type":"text","text":"')
  for (let left = bytes; left > 0; left -= piece.length) await write(piece)
  await write('"},{"type":"image","mimeType":"image/png","data":"')
  await write('QUJD'.repeat(50_000))
  await write(`"}],"structuredContent":{"a":[${'1,'.repeat(1000)}1]}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`)
}

const TOOLS = {
  echo: (args) => text(args.text),
  lines: (args) => text(lines(args.count)),
  text: (args) => {
    const { unit = 'x' } = args
    const line = unit.repeat(Math.ceil(args.width / unit.length)).slice(0, args.width)
    const whole = text(Array.from({ length: args.lines }, () => line).join('\n'))
    return args.fail ? { ...whole, isError: true } : whole
  },
  log: (args) => ({ ...text(log()), isError: args.fail === true }),
  run_command: (args) => text(args.text ?? log()),
  run_tests: () => text(log()),
  test: () => text(log()),
  fail: (args) => ({ ...text(lines(args.count)), isError: true }),
  media: () => ({
    content: [
      { type: 'image', mimeType: 'image/png', data: 'QUJD'.repeat(30_000) },
      { type: 'text', text: lines(1500), annotations: { priority: 1 } },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: lines(1500) } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'QUJD' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c' },
    ],
    _meta: { 'example.com/own': 1 },
  }),
  twice: (args) => {
    const structuredContent = { rows: Array.from({ length: args.count }, (_, at) => ({ at })) }
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent, null, 2) }], structuredContent }
  },
  beside: (args) => ({
    content: [{ type: 'text', text: 'see the structure' }],
    structuredContent: { needle: 'in the structure', rows: Array.from({ length: args.count }, (_, at) => ({ at })) },
  }),
  liar: () => ({ content: [{ type: 'text', text: 'no structure at all' }], structuredContent: { not: 'as promised' } }),
  odd: (args) => ({ content: [{ type: 'chart', series: 'x '.repeat(args.count) }] }),
  nothing: () => ({ toolResult: 42 }),
  raw: () => text(raw),
  exit: () => process.exit(3),
}

async function call(id, { name, arguments: args = {}, _meta = {}, requestState }) {
  if (name === 'asks') {
    if (requestState) return send({ id, result: text(requestState) })
    const inputRequests = { own: { method: 'elicitation/create', params: { message: 'Own?', requestedSchema: {} } } }
    return send({ id, result: { resultType: 'input_required', inputRequests, requestState: 'of the server' } })
  }
  if (name === 'wait') return waiting.set(id, true)
  if (name === 'big') return big(id, args.bytes)
  if (name === 'crash') return process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(3))
  if (name === 'throw') return send({ id, error: { code: -32000, message: lines(args.count), data: { a: 1 } } })
  if (name === 'progress') {
    for (const progress of [1, 2, 3]) {
      send({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress, total: 3 } })
    }
    return send({ id, result: text(lines(5000)) })
  }
  if (name === 'sample') {
    asked += 1
    waiting.set(`q${asked}`, (answer) => send({ id, result: text(JSON.stringify(answer)) }))
    return send({
      id: `q${asked}`,
      method: 'sampling/createMessage',
      params: { big: 12345678901234567890n.toString() },
    })
  }
  const tool = TOOLS[name]
  if (!tool) return send({ id, result: { ...text(`unknown tool ${name}`), isError: true } })
  send({ id, result: tool(args) })
}

function on(message) {
  const { id, method, params } = message
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true }, logging: {} }
    return send({
      id,
      result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'fixture', version: '1' } },
    })
  }
  if (method === 'server/discover' && isStateless) {
    return send({ id, result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } })
  }
  if (method === 'tools/list') {
    const pages = PAGES ?? [[{ name: 'echo', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }]]
    const at = Number(params?.cursor ?? 0)
    const nextCursor = at + 1 < pages.length ? String(at + 1) : process.env.LAST_CURSOR
    return send({ id, result: { tools: pages[at], nextCursor } })
  }
  if (method === 'tools/call') return void call(id, params)
  if (method === 'notifications/cancelled') {
    const wasWaiting = waiting.delete(params.requestId)
    return send({
      method: 'notifications/message',
      params: { level: 'info', data: { wasWaiting, of: params.requestId } },
    })
  }
  if (method === undefined) return waiting.get(id)?.(message)
  if (id !== undefined) return send({ id, error: { code: -32601, message: `no ${method}` } })
  send({ method: 'notifications/message', params: { level: 'info', data: { heard: method } } })
}

for (const line of JSON.parse(process.env.SAYS ?? '[]')) process.stdout.write(line)
createInterface({ input: process.stdin })
  .on('line', (line) => {
    raw = line
    const message = JSON.parse(line)
    if (Array.isArray(message)) return send({ id: 'batch', result: message.length })
    on(message)
  })
  .on('close', () => process.exit(0))
