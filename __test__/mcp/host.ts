/** A host of MCP without an SDK, over the proxy as users start it. */

import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { CLI, start } from '../cli/support'
import { tempDir } from '../support/temp'

export const SERVER = join(__dirname, 'server.cjs')

export interface Message {
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: ToolResult & Record<string, unknown>
  error?: { code: number; message: string; data?: unknown }
}

export interface ToolResult {
  content: { type: string; text: string; [key: string]: unknown }[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Record<string, { outputPath: string; removedLines: number }>
  tools?: { name: string; [key: string]: unknown }[]
}

export class Host {
  /** Every line that came, as it came. */
  readonly lines: string[] = []
  readonly store: string
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>
  /** Answers what the server asks. */
  onRequest: (message: Message) => object | undefined = () => undefined
  private readonly open = new Map<string | number, (message: Message) => void>()
  private readonly heard: { isIt: (message: Message) => boolean; tell: (message: Message) => void }[] = []
  private count = 0
  private rest: Buffer[] = []

  /** @param options of `spillway mcp`; what follows `--` replaces the fixture, and `whole` all arguments */
  constructor(
    options: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
    server: readonly string[] = [SERVER],
    whole?: readonly string[],
  ) {
    this.store = tempDir()
    const args = whole ?? [CLI, 'mcp', ...options, '--', process.execPath, ...server]
    this.child = start(process.execPath, args, { env: { SPILLWAY_STORAGE_DIR: this.store, ...env } })
    let stderr = ''
    this.child.stderr!.on('data', (bytes: Buffer) => {
      stderr += bytes.toString()
    })
    this.child.stdout!.on('data', (bytes: Buffer) => this.take(bytes))
    this.child.stdin!.on('error', () => {})
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal, stderr }))
    })
  }

  request(method: string, params: object = {}, id: string | number = this.nextId()): Promise<Message> {
    const answer = new Promise<Message>((resolve) => this.open.set(id, resolve))
    this.send({ id, method, params })
    return answer
  }

  async call(name: string, args: object = {}, more: object = {}): Promise<ToolResult> {
    const { result, error } = await this.request('tools/call', { name, arguments: args, ...more })
    if (error) throw new Error(JSON.stringify(error))
    return result!
  }

  async initialize(capabilities: object = {}, name = 'host'): Promise<Message> {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name, version: '1' } }
    const answer = await this.request('initialize', params)
    this.send({ method: 'notifications/initialized' })
    return answer
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  write(text: string): void {
    this.child.stdin!.write(text)
  }

  /** The next message of this kind. */
  next(isIt: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => this.heard.push({ isIt, tell: resolve }))
  }

  async close(): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }> {
    this.child.stdin!.end()
    return this.ended
  }

  private nextId(): number {
    this.count += 1
    return this.count
  }

  private take(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      this.on(Buffer.concat([...this.rest, bytes.subarray(from, at)]).toString())
      this.rest = []
      from = at + 1
    }
    if (from < bytes.length) this.rest.push(bytes.subarray(from))
  }

  private on(line: string): void {
    this.lines.push(line)
    let message: Message
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    for (const { isIt, tell } of this.heard.splice(0)) {
      if (isIt(message)) tell(message)
      else this.heard.push({ isIt, tell })
    }
    const { id, method } = message
    if (id === undefined) return
    if (method === undefined) {
      this.open.get(id)?.(message)
      this.open.delete(id)
      return
    }
    const answer = this.onRequest(message)
    if (answer) this.send({ id, ...answer })
  }
}

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('\n')
export const pathIn = ({ _meta }: ToolResult): string => _meta!['spillway/truncation']!.outputPath
