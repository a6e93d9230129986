// An MCP server with one tool, `print_lines`: so many numbered lines, of which one is an error. With a number as its argument a
// command that prints them.

import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const ERROR_LINE = 777

/** The text of the tool. */
export function linesOf(count) {
  const line = (number) =>
    number === ERROR_LINE
      ? `line ${number}: error: unknown type name frobnicate`
      : `line ${number}: all is well, and this line goes on for a while`
  return Array.from({ length: count }, (_, index) => line(index + 1)).join('\n')
}

const TOOL = {
  name: 'print_lines',
  description: 'Prints numbered lines.',
  inputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    ...{ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'lines', version: '1.0.0' } },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { count } }) => ({ content: [{ type: 'text', text: linesOf(count) }] }),
}

async function serve() {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const answer = ANSWERS[method]
    const said = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , count] = process.argv
  if (count === undefined) await serve()
  else process.stdout.write(linesOf(Number(count)))
}
