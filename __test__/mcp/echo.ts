/** A proxy in this process whose server says what the host says. */

import { PassThrough } from 'node:stream'
import { TruncationStorage } from 'spillway'
import { type McpProxy, startMcpProxy } from 'spillway/mcp'
import { tempDir } from '../support/temp'

const running = new Set<McpProxy>()

afterEach(() => {
  for (const proxy of running) proxy.stop('SIGKILL')
  running.clear()
})

export class Echo {
  readonly dir = tempDir()
  readonly storage = new TruncationStorage(this.dir)
  private readonly input = new PassThrough()
  private readonly output = new PassThrough()
  private readonly proxy: McpProxy
  private readonly lines: AsyncGenerator<string>

  constructor(options: Partial<Parameters<typeof startMcpProxy>[0]> = {}) {
    const { input, output, storage } = this
    this.proxy = startMcpProxy({ command: 'cat', input, output, storage, server: 's', ...options })
    running.add(this.proxy)
    this.lines = linesOf(output)
  }

  /** Result for a text, which is handed over in pieces of this size. */
  async send(text: string, pieceBytes = 60_000): Promise<string> {
    const bytes = Buffer.from(`${text}\n`)
    for (let from = 0; from < bytes.length; from += pieceBytes)
      this.input.write(bytes.subarray(from, from + pieceBytes))
    return this.next()
  }

  protected write(message: object): void {
    this.input.write(`${JSON.stringify(message)}\n`)
  }

  async next(): Promise<string> {
    return (await this.lines.next()).value
  }

  /** The output for a message that answers a request. */
  async answer(method: string, message: (id: number) => string, pieceBytes?: number): Promise<string> {
    const id = 7
    await this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { name: 't' } }))
    return this.send(message(id), pieceBytes)
  }

  async close(): Promise<void> {
    this.input.end()
    // Unread output blocks the proxy.
    const drained = (async () => {
      while (!(await this.lines.next()).done);
    })()
    await Promise.race([this.proxy.ended, drained.then(() => this.proxy.ended)])
  }
}

async function* linesOf(stream: PassThrough): AsyncGenerator<string> {
  let rest: Buffer[] = []
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, at)]).toString()
      rest = []
      from = at + 1
    }
    rest.push(bytes.subarray(from))
  }
}

const SAYS = `require('node:readline').createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  const { method, params } = JSON.parse(line)
  if (method === 'say') process.stdout.write(params.line + '\\n')
})`

/** A proxy in this process whose server writes any given line. */
export class Puppet extends Echo {
  constructor(options: Partial<Parameters<typeof startMcpProxy>[0]> = {}) {
    super({ command: process.execPath, args: ['-e', SAYS], ...options })
  }

  private ends = 0

  /** Asks for something, which is not answered yet. */
  ask(method: string, id: number | string = 5, params: object = { name: 't' }): void {
    this.write({ jsonrpc: '2.0', id, method, params })
  }

  say(line: string): void {
    this.write({ jsonrpc: '2.0', method: 'say', params: { line } })
  }

  /** Output for a line: everything up to the answer of a call that follows it. */
  async all(line: string, { isAnswered }: { isAnswered: boolean }): Promise<string[]> {
    this.say(line)
    const lines: string[] = []
    while (isAnswered && !lines.some((each) => JSON.parse(each).id !== undefined)) lines.push(await this.next())
    return [...lines, ...(await this.settled())]
  }

  /** Output until a call is answered that takes as long as any. */
  async settled(): Promise<string[]> {
    this.ends += 1
    const end = `the end ${this.ends}`
    this.ask('tools/call', end)
    const result = { content: [{ type: 'text', text: 'end\n'.repeat(10_000) }] }
    this.say(JSON.stringify({ jsonrpc: '2.0', id: end, result }))
    const lines: string[] = []
    for (let line = await this.next(); !line.includes(`"id":"${end}"`); line = await this.next()) lines.push(line)
    return lines
  }
}
