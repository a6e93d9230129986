// An MCP server with one tool, `print_lines`: so many numbered lines, of which one is an error. With a number as its argument a
// command that prints them. `--record FILE` writes down what clients ask.

const { appendFileSync } = require('node:fs')
const { createInterface } = require('node:readline')

const ERROR_LINE = 777

/** The text of the tool; `more` stands at the end of each line. */
function linesOf(count, more = '') {
  const line = (number) =>
    number === ERROR_LINE
      ? `line ${number}: error: unknown type name frobnicate`
      : `line ${number}: all is well, and this line goes on for a while`
  return Array.from({ length: count }, (_, index) => line(index + 1) + more).join('\n')
}

const TOOL = {
  name: 'print_lines',
  description: 'Prints numbered lines.',
  inputSchema: {
    type: 'object',
    properties: { count: { type: 'integer' }, more: { type: 'string' } },
    required: ['count'],
  },
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'lines', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { count, more } }) => ({ content: [{ type: 'text', text: linesOf(count, more) }] }),
}

async function serve(record) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line)
    if (record) appendFileSync(record, `${JSON.stringify({ method, params })}\n`)
    if (id === undefined) continue
    const answer = ANSWERS[method]
    const said = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`)
  }
}

module.exports = { linesOf }

if (require.main === module) {
  const [, , first, file] = process.argv
  if (first === undefined || first === '--record') serve(file)
  else process.stdout.write(linesOf(Number(first)))
}
