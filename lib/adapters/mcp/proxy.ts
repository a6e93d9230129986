/** Stands between a host and a server, and looks only at what it has to. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { createTruncation, type Truncation, TruncationStorage } from 'spillway'
import { isRecord } from '../../context'
import { isExactNumber, plainly, toJson } from '../../exact-json'
import { mcpToolName } from '../shared/mcp-names'
import { Asking } from './asking'
import { hasRepeatedNames, type Line, linesOf, messageOf, partsOf, spliced } from './lines'
import { Listing, mayBeOurs, nextPage } from './listing'
import type { McpProxyOptions, McpServerExit } from './options'
import { Questions } from './questions'
import { boundError, boundResult, type StructuredContent } from './result'
import { boundSkimmed } from './spooled'
import type { Message } from './types'
import { MessageWriter } from './writer'

/** So much of what the server said is worked on at a time; then it has to wait. */
const MOST_AT_WORK = 2 ** 24
/** So many requests are remembered whose answer never came. */
const MOST_PENDING = 10_000
const MOST_ANSWERED = 1000
const MOST_PAGES = 1000
const KILL_AFTER_MS = 5000
const LEFT_BEHIND_MS = 1000
/** No system keeps more of what was written into a pipe and not read. */
const MOST_UNREAD = 2 ** 22

/** A request of the host that the server has not answered, as far as its answer is looked at. */
interface Pending {
  method: string
  /** Of `tools/call`. */
  tool?: string
  id: string
}

export class ServerProxy {
  readonly ended: Promise<McpServerExit>
  readonly child: ChildProcess
  private readonly host: MessageWriter
  private readonly server: MessageWriter
  /** What no message contains. */
  private readonly mark = `spillway:${randomUUID()}:`
  private readonly pending = new Map<string, Pending>()
  /** A server that answers once more is no reason to let anything through. */
  private readonly answeredLately = new Map<string, Pending>()
  /** Calls that wait: for the user, or for one of our tools. */
  private readonly waiting = new Map<string, AbortController>()
  private readonly toHost: Questions
  private readonly toServer: Questions
  private readonly storage: TruncationStorage
  private readonly listing: Listing
  private readonly structured: StructuredContent
  private readonly asking: Asking | undefined
  private truncation: Truncation | undefined
  private namesUsed: object | undefined
  private serverName: string | undefined
  private atWork = 0
  private readonly work = new Set<Promise<void>>()
  private listed: Promise<void> | undefined

  constructor(private readonly options: McpProxyOptions) {
    const { command, args = [], cwd, env, output = process.stdout, permission, configFile, sessionId } = options
    this.storage = options.storage ?? new TruncationStorage()
    this.structured = options.structuredContent ?? 'drop'
    this.serverName = options.server
    this.listing = new Listing(this.storage, options.outputTools !== false, this.structured, sessionId)
    // What is wrong with the settings shows before the server is started.
    this.truncator()
    this.child = spawn(command, args, {
      cwd,
      env: env ? { ...process.env, ...env } : process.env,
      stdio: ['pipe', 'pipe', 'inherit'],
      windowsHide: true,
    })
    this.host = new MessageWriter(output)
    this.server = new MessageWriter(this.child.stdin!)
    this.toHost = new Questions(this.host)
    this.toServer = new Questions(this.server)
    this.asking = permission && new Asking(permission, configFile, (...question) => this.toHost.ask(...question))
    this.ended = this.run()
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.child.kill(signal)
    // The others may mean something else to a server: to read its settings again, or to give up one thing.
    if (signal === 'SIGTERM') setTimeout(() => this.child.kill('SIGKILL'), KILL_AFTER_MS).unref()
  }

  private async run(): Promise<McpServerExit> {
    const { child, options } = this
    const { input = process.stdin, output = process.stdout } = options
    // A server that is gone hears nothing more; that it is gone shows in its end.
    child.stdin!.on('error', () => this.server.break())
    output.on('error', () => {
      this.host.break()
      this.stop()
    })
    const exited = new Promise<McpServerExit>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => {
        resolve({ code, signal })
        closeWhenIdle(child.stdout as Socket)
      })
    })
    const fromHost = this.listen(input, (line) => this.onHost(line)).finally(() => child.stdin!.end())
    fromHost.catch(() => this.stop())
    const fromServer = this.listen(child.stdout!, (line) => this.onServer(line))
    try {
      const [exit] = await Promise.all([exited, fromServer.catch(() => {})])
      this.toServer.giveUp()
      for (const waiting of this.waiting.values()) waiting.abort()
      await Promise.all(this.work)
      await this.host.flush()
      return exit
    } finally {
      for (const waiting of this.waiting.values()) waiting.abort()
      this.toHost.giveUp()
      this.toServer.giveUp()
      input.destroy()
      await this.storage.close()
    }
  }

  private async listen(
    source: NodeJS.ReadableStream,
    onLine: (line: Line) => Promise<void> | undefined,
  ): Promise<void> {
    const folders = [this.storage.getStorageDir()]
    const stream = source as AsyncIterable<Buffer | string>
    for await (const line of linesOf(stream, { folders, mark: this.mark })) {
      const isBatch = Array.isArray(line.value) && line.value.length > 0
      const done = isBatch ? this.onBatch(line, line.value as unknown[], onLine) : onLine(line)
      if (done) await done
    }
  }

  /** Of the protocol of March 2025: several messages in one. They go on one by one. */
  private async onBatch(
    line: Line,
    messages: readonly unknown[],
    onLine: (line: Line) => Promise<void> | undefined,
  ): Promise<void> {
    try {
      await this.listen(Readable.from(partsOf(messages, line)), onLine)
    } finally {
      line.spool?.close()
    }
  }

  // From the host -----------------------------------------------------------------------------------------------------

  private onHost(line: Line): Promise<void> | undefined {
    const message = messageOf(line.value)
    if (message === undefined) {
      // The server may understand what is no JSON to us, or too much of it.
      const isSafe = this.asking === undefined || (line.value !== undefined && line.isWhole)
      return isSafe ? this.pass(line, this.server) : this.begin(0, this.refuse(line, null, UNREADABLE))
    }
    const { id, method } = message
    // What a question of ours is answered is not the server's affair.
    if (this.toHost.settle(message)) return drop(line)
    if (method === undefined) return this.onward(line, message)
    if (method === 'notifications/cancelled') return this.onCancelled(line, message)
    const key = keyOf(id)
    if (method === 'tools/call' && this.asking) {
      if (key === undefined) return this.begin(0, this.refuse(line, id, NO_ID))
      if (!isNamed(message, this.mark)) return this.begin(0, this.refuse(line, id, NO_NAME))
    }
    if (key === undefined || typeof method !== 'string') return this.onward(line, message)
    if (method === 'initialize' && isRecord(message.params)) this.asking?.learn(message.params.capabilities)
    if (method === 'tools/list' && !(isRecord(message.params) && message.params.cursor)) this.listing.begin()
    if (method === 'tools/call') return this.onCall(line, message, key)
    this.expect(key, { method, id: key })
    return this.onward(line, message)
  }

  private onCall(line: Line, message: Message, key: string): Promise<void> | undefined {
    const params = isRecord(message.params) ? message.params : {}
    const name = String(params.name)
    if (mayBeOurs(name) && this.options.outputTools !== false) {
      return this.begin(0, this.answeredByUs(message, this.callOurs(line, message, key, name)))
    }
    if (this.asking) {
      return this.begin(0, this.answeredByUs(message, this.callJudged(line, message, key, name)))
    }
    return this.forwardCall(line, key, name)
  }

  /** What was judged is what is sent: of two members with one name another reader may take the other. */
  private onward(line: Line, message: Message): Promise<void> | undefined {
    const isPlain = line.bytes !== undefined && !hasRepeatedNames(line.bytes.toString())
    return this.asking && !isPlain ? this.send(line, message, this.server) : this.pass(line, this.server)
  }

  /** What cannot be judged does not run. */
  private async refuse(line: Line, id: unknown, error: { code: number; message: string }): Promise<void> {
    drop(line)
    if (id === undefined) return
    await this.host.write(`${toJson({ jsonrpc: '2.0', id, error })}\n`)
  }

  /** A host waits for every answer. */
  private async answeredByUs({ id }: Message, work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      warn(error)
      await this.answer(id, { content: [{ type: 'text', text: 'The call could not be made.' }], isError: true })
    }
  }

  private forwardCall(line: Line, key: string, tool: string): Promise<void> | undefined {
    this.expect(key, { method: 'tools/call', tool, id: key })
    return this.pass(line, this.server)
  }

  private async callOurs(line: Line, message: Message, key: string, name: string): Promise<void> {
    const controller = this.hold(key)
    try {
      if (this.listing.names === undefined) {
        this.listed ??= this.list()
        await this.listed
      }
      const tool = this.listing.find(name)
      if (tool === undefined) {
        if (controller.signal.aborted) drop(line)
        else if (this.asking) await this.callJudged(line, message, key, name)
        else await this.forwardCall(line, key, name)
        return
      }
      const args = argumentsOf(message)
      const { success, output } = await tool.execute(args, { signal: controller.signal })
      line.spool?.close()
      if (controller.signal.aborted) return
      const text = name === tool.name ? output : output.replace(`[More: ${tool.name} with`, () => `[More: ${name} with`)
      await this.answer(message.id, { content: [{ type: 'text', text }], ...(success ? {} : { isError: true }) })
    } finally {
      this.waiting.delete(key)
    }
  }

  private async callJudged(line: Line, message: Message, key: string, name: string): Promise<void> {
    const controller = this.hold(key)
    const args = argumentsOf(message)
    // Not the name that a server gives itself: it could be that of one which is trusted.
    const call = {
      tool: `mcp:${this.options.server}/${name}`,
      args,
      toolCallId: `${this.mark}${key}`,
      sessionId: this.options.sessionId,
    }
    const refusal = await this.asking!.judge(call, controller.signal)
    this.waiting.delete(key)
    if (controller.signal.aborted) {
      line.spool?.close()
    } else if (refusal !== undefined) {
      line.spool?.close()
      await this.answer(message.id, refusal)
    } else {
      this.expect(key, { method: 'tools/call', tool: name, id: key })
      await this.onward(line, message)
    }
  }

  private hold(key: string): AbortController {
    const controller = new AbortController()
    this.waiting.set(key, controller)
    return controller
  }

  private onCancelled(line: Line, message: Message): Promise<void> | undefined {
    const { params } = message
    const key = isRecord(params) ? keyOf(params.requestId) : undefined
    const waiting = key === undefined ? undefined : this.waiting.get(key)
    if (waiting === undefined) return this.onward(line, message)
    // The server has not heard of it.
    waiting.abort()
    return drop(line)
  }

  // From the server ---------------------------------------------------------------------------------------------------

  private onServer(line: Line): Promise<void> | undefined {
    // The end of a message that the server did not finish would be a fault of ours.
    if (line.value === undefined && !line.isWhole) return drop(line)
    const message = messageOf(line.value)
    if (message && this.toServer.settle(message)) return drop(line)
    const pending = message && this.answered(message)
    if (message === undefined || pending === undefined) return this.pass(line, this.host)
    const changed = this.changedAnswer(line, message, pending)
    if (changed === undefined) return this.pass(line, this.host)
    const done = changed
      .catch((error: unknown) => {
        // The host gets what the server said, whatever becomes of us.
        warn(error)
        return message
      })
      .then((answer) => (answer === message ? this.pass(line, this.host) : this.send(line, answer, this.host)))
    // One at a time where a file is read; the next waits in the pipe.
    if (line.spool) return done
    return this.begin(line.bytes.length, done)
  }

  /** The request that a message answers, if its answer is looked at. */
  private answered({ id, method }: Message): Pending | undefined {
    const key = method === undefined ? keyOf(id) : undefined
    if (key === undefined) return undefined
    // Clients take the text of a number for the number.
    const [known] = [key, `n${id}`].filter((one) => this.pending.has(one))
    if (known === undefined) return this.answeredLately.get(key)
    const pending = this.pending.get(known)!
    this.pending.delete(known)
    remember(this.answeredLately, key, pending, MOST_ANSWERED)
    return pending
  }

  /** The answer as the host gets it; the very same message, or nothing at once, if nothing is to change. */
  private changedAnswer(line: Line, message: Message, pending: Pending): Promise<Message> | undefined {
    const { result } = message
    if (pending.method === 'tools/call' || pending.method === 'tasks/result') {
      return this.boundAnswer(line, message, pending)
    }
    if (pending.method === 'initialize' && isRecord(result) && isRecord(result.serverInfo)) {
      this.serverName ??= typeof result.serverInfo.name === 'string' ? result.serverInfo.name : undefined
    }
    if (pending.method !== 'tools/list') return undefined
    const page = this.listing.page(result)
    return page === result ? undefined : Promise.resolve({ ...message, result: page })
  }

  private async boundAnswer(line: Line, message: Message, { tool, id }: Pending): Promise<Message> {
    const { service, middleware } = this.truncator()
    const { sessionId } = this.options
    const toolCallId = `${this.mark}${id}`
    const context = {
      toolName: mcpToolName(this.serverName ?? 'server', tool ?? 'task'),
      toolCallId,
      ...(sessionId !== undefined && { sessionId }),
    }
    const { result, error } = message
    if (isRecord(error) && result === undefined) {
      const { spool } = line
      const answer = spool
        ? await boundError(
            error,
            (failure) => boundSkimmed(failure, line, service, context, this.structured),
            (json) => !line.skim.standIns(json).next().done,
          )
        : await boundError(error, (failure) => boundResult(failure, middleware, context, this.structured))
      return answer === error ? message : { ...message, error: answer }
    }
    const bounded = line.spool
      ? ((await boundSkimmed(result, line, service, context, this.structured)) ?? result)
      : await boundResult(result, middleware, context, this.structured)
    return bounded === result ? message : { ...message, result: bounded }
  }

  // Both ways ---------------------------------------------------------------------------------------------------------

  /** Hands a message on as it came. */
  private pass(line: Line, to: MessageWriter): Promise<void> | undefined {
    if (line.bytes) return to.write(line.bytes)
    const { spool } = line
    return to.writePieces(spool.read()).finally(() => spool.close())
  }

  /** Hands a changed message on, with what its stand-ins stand for. */
  private async send(line: Line, message: Message, to: MessageWriter): Promise<void> {
    if (line.spool === undefined) {
      await to.write(`${toJson(message)}\n`)
      return
    }
    const { spool } = line
    await to.writePieces(withLineFeed(spliced(message, line))).finally(() => spool.close())
  }

  private async answer(id: unknown, result: unknown): Promise<void> {
    await this.host.write(`${toJson({ jsonrpc: '2.0', id, result })}\n`)
  }

  /** Work that others need not wait for, as long as there is not too much of it. */
  private begin(bytes: number, work: Promise<void>): Promise<void> | undefined {
    this.atWork += bytes
    const done = work.catch(warn).finally(() => {
      this.atWork -= bytes
      this.work.delete(done)
    })
    this.work.add(done)
    return this.atWork > MOST_AT_WORK ? done : undefined
  }

  private expect(key: string, pending: Pending): void {
    this.answeredLately.delete(key)
    remember(this.pending, key, pending, MOST_PENDING)
  }

  // Of our own --------------------------------------------------------------------------------------------------------

  /** Asks the server for its tools, where the host has not done so, to know which names are free. */
  private async list(): Promise<void> {
    this.listing.begin()
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const asked = this.toServer.ask('tools/list', cursor === undefined ? {} : { cursor })
      const result = await asked.catch(() => ({ tools: [] }))
      this.listing.page(result)
      const next = nextPage(result)
      // A server that names the same page again would do so for ever.
      if (next === undefined || next === cursor) return
      cursor = next
    }
  }

  /** The notice names our tools as the host knows them. */
  private truncator(): Truncation {
    const { names } = this.listing
    if (this.truncation && names === this.namesUsed) return this.truncation
    this.namesUsed = names
    const availableTools =
      this.options.outputTools === false ? [] : names ? Object.values(names) : ['read_output', 'search_output']
    this.truncation = createTruncation({ ...this.options.truncation, storage: this.storage, availableTools })
    return this.truncation
  }
}

/** Answers to what cannot be judged. Without an id nobody can be told what became of a call. */
const NO_ID = { code: -32600, message: 'The id of a call must be a string or a number.' }
const NO_NAME = {
  code: -32602,
  message: 'The name of the tool cannot be read, so the call is not judged and did not run.',
}
const UNREADABLE = { code: -32700, message: 'The message cannot be read, so it is not judged and was not passed on.' }

/** Whether a call says which tool it means, and not in a name that is too long to be read. */
function isNamed({ params }: Message, mark: string): boolean {
  return isRecord(params) && typeof params.name === 'string' && !params.name.startsWith(mark)
}

function argumentsOf({ params }: Message): unknown {
  return isRecord(params) ? plainly(params.arguments ?? {}) : {}
}

function keyOf(id: unknown): string | undefined {
  if (typeof id === 'string') return `s${id}`
  return typeof id === 'number' || isExactNumber(id) ? `n${id}` : undefined
}

/** Adds an entry, and forgets the oldest where there are too many. */
function remember<V>(entries: Map<string, V>, key: string, value: V, most: number): void {
  entries.set(key, value)
  if (entries.size <= most) return
  const [oldest] = entries.keys()
  entries.delete(oldest!)
}

function drop(line: Line): undefined {
  line.spool?.close()
}

function warn(error: unknown): void {
  process.emitWarning(`mcp: ${error instanceof Error ? error.message : String(error)}`, 'SpillwayWarning')
}

function* withLineFeed(pieces: Iterable<Buffer>): Generator<Buffer> {
  yield* pieces
  yield Buffer.from('\n')
}

/**
 * Closes what a server wrote into once nothing more comes: what it left behind may hold it open for ever. What it said itself is
 * read first, however slowly the host takes it.
 */
function closeWhenIdle(pipe: Socket): void {
  const most = pipe.bytesRead + MOST_UNREAD
  let read = pipe.bytesRead
  const timer = setInterval(() => {
    const isIdle = pipe.bytesRead === read && pipe.readableLength === 0
    read = pipe.bytesRead
    if (isIdle || read > most) pipe.destroy()
  }, LEFT_BEHIND_MS).unref()
  pipe.once('close', () => clearInterval(timer))
}
