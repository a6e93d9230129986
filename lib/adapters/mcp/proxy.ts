/** Connects a host with a server, and parses only the messages that it has to change. */

import { randomUUID } from 'node:crypto'
import { TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { commandOf } from '../../tools/command-of'
import { asText } from '../../util/guards'
import { stringifyLossless } from '../../util/lossless-json'
import { isRecord } from '../../validation/validate'
import { type SharedApprovals, shareApprovals } from '../../view/shared-approvals'
import { AnswerBounds, type Peers } from './answer-bounds'
import { asToolResult, truncateMethodResult } from './answers'
import type { Connection } from './connection'
import { type AskHost, Asking } from './elicitation'
import { argumentsOf, isNamed, isStateless, NO_ID, NO_METHOD, NO_NAME, UNREADABLE } from './host-calls'
import { hostOf, hostOfClient, limitsAbove } from './hosts'
import { HttpConnection } from './http/connection'
import { asMessage, hasRepeatedNames, type Line } from './json-rpc-stream'
import { lengthOf, readerOf } from './line-reader'
import { drop, forEachLine, type OnLine, pass, send, warnOfProxy } from './message-stream'
import { MessageWriter } from './message-writer'
import type { McpProxyOptions, McpServerExit } from './options'
import { Questions } from './outgoing-requests'
import { idsIn, keyOf, type Pending, PendingRequests } from './pending-requests'
import {
  endText,
  failedAnswer,
  isKnown,
  isList,
  plainAnswer,
  shortNotification,
  withChanges,
  withoutOurMeta,
} from './server-messages'
import { ServerProcess } from './server-process'
import { hostProcess, Siblings } from './sibling-proxies'
import { Listing, mayBeOurs, nextPage } from './tool-list'
import { textBlock } from './truncate-result'
import { CLIENT_CAPABILITIES, CLIENT_INFO, type Message, SERVER_INFO, SUBSCRIPTION_ID } from './types'

/** Bytes of server output in progress at a time; then the server has to wait. */
const MAX_BYTES_IN_PROGRESS = 2 ** 24
const MAX_PAGES = 1000

/** Several proxies in this process, for one host. */
export interface Group {
  /** Proxies with the same one offer the output tools once. */
  scope: readonly string[]
}

/** Proxies with one host and one place for outputs: any of them can read what the others saved. */
export function scopeOf(
  { output, sessionId = '' }: McpProxyOptions,
  storage: TruncationStorage | RemoteStorage,
): string[] {
  const isOwn = output !== undefined && output !== process.stdout
  return [isOwn ? `in ${process.pid}` : hostProcess(), storage.getStorageDir(), sessionId]
}

export class ServerProxy {
  readonly ended: Promise<McpServerExit>
  private readonly connection: Connection
  private readonly host: MessageWriter
  private readonly server: MessageWriter
  /** A text that no message contains. */
  private readonly mark = `spillway:${randomUUID()}:`
  private readonly pending = new PendingRequests()
  /** Calls that wait: for the user, or for one of our tools. */
  private readonly waiting = new Map<string, AbortController>()
  private readonly toHost: Questions
  private readonly toServer: Questions
  private readonly storage: TruncationStorage | RemoteStorage
  private readonly listing: Listing
  private readonly siblings: Siblings | undefined
  /** True if the host has received a list of tools. */
  private hasListed = false
  /** Where a host without `initialize` listens to changes. */
  private readonly subscriptions = new Set<unknown>()
  private readonly asking: Asking | undefined
  private readonly shared: SharedApprovals | undefined
  private readonly peers: Peers
  private readonly bounds: AnswerBounds
  /** The host speaks a protocol without `initialize`, in which each request says who makes it, and servers send none. */
  private isStateless = false
  private atWork = 0
  private readonly work = new Set<Promise<void>>()
  private listed: Promise<void> | undefined

  /** @param group has the storage of {@link options}, and closes it */
  constructor(
    private readonly options: McpProxyOptions,
    private readonly group?: Group,
  ) {
    const { output = process.stdout, permission, sessionId, approvalsDir } = options
    this.storage = options.storage ?? new TruncationStorage()
    const structured = options.structuredContent ?? 'drop'
    const profile = (options.host === undefined ? undefined : hostOf(options.host)) ?? hostOfClient(undefined)
    this.peers = { profile, serverName: options.server }
    this.listing = new Listing(this.storage, options.outputTools !== false, structured, sessionId)
    this.bounds = new AnswerBounds(options, this.storage, this.listing, this.peers, this.mark)
    if (options.outputTools !== false)
      this.siblings = new Siblings(group?.scope ?? scopeOf(options, this.storage), () => this.becomeFirst())
    // Faults of the settings show before the server is started.
    this.bounds.current()
    this.connection = this.connect()
    this.host = new MessageWriter(output)
    this.server = new MessageWriter(this.connection.input)
    this.toHost = new Questions(this.host)
    this.toServer = new Questions(this.server)
    const askHost: AskHost = (...question) => this.toHost.ask(...question)
    this.asking = permission && new Asking(permission, askHost, options)
    if (this.asking && approvalsDir !== undefined)
      this.shared = shareApprovals(this.asking.questions, { dir: approvalsDir })
    this.ended = this.run()
  }

  get pid(): number | undefined {
    return this.connection.pid
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.connection.stop(signal)
  }

  /** True if a listed tool is one of ours, and not the server's. */
  offers(tool: string): boolean {
    return this.listing.isFirst && this.listing.find(tool) !== undefined
  }

  private connect(): Connection {
    const { command, url, headers = {} } = this.options
    if (url !== undefined) return new HttpConnection(new URL(url), headers, [this.storage.getStorageDir()])
    return new ServerProcess({ ...this.options, command: command! })
  }

  private async run(): Promise<McpServerExit> {
    const { connection, options } = this
    const { input = process.stdin, output = process.stdout } = options
    // A server that has ended receives nothing more; its end is reported elsewhere.
    connection.input.on('error', () => this.server.break())
    output.on('error', () => {
      this.host.break()
      this.stop()
    })
    const fromHost = this.listen(input, (line) => this.onHost(line)).finally(() => connection.input.end())
    fromHost.catch(() => this.stop())
    try {
      const exit = await connection.read({
        take: (source) => this.listen(source, (line) => this.onServer(line), true),
        isWaiting: (id) => this.pending.find(id) !== undefined || this.toServer.isOpen(id),
        fail: (id, problem) => this.onFailure(id, problem),
      })
      this.toServer.giveUp()
      for (const waiting of this.waiting.values()) waiting.abort()
      await Promise.all(this.work)
      // In front of several servers the gateway answers.
      if (this.group === undefined) await this.failOpen(exit)
      await this.host.flush()
      return exit
    } finally {
      for (const waiting of this.waiting.values()) waiting.abort()
      this.toHost.giveUp()
      this.toServer.giveUp()
      this.siblings?.leave()
      this.shared?.close()
      input.destroy()
      if (this.group === undefined) await this.storage.close()
    }
  }

  private listen(source: AsyncIterable<Buffer | string>, onLine: OnLine, dropsMembers = false): Promise<void> {
    return forEachLine(source, { folders: [this.storage.getStorageDir()], mark: this.mark, dropsMembers }, onLine)
  }

  // From the host -----------------------------------------------------------------------------------------------------

  private onHost(line: Line): Promise<void> | undefined {
    const message = asMessage(line.value)
    if (message === undefined) {
      // The server may understand anything that is not JSON to us, or too much of it.
      const isSafe = this.asking === undefined || (line.value !== undefined && line.isWhole)
      return isSafe ? pass(line, this.server) : this.begin(0, this.refuse(line, null, UNREADABLE))
    }
    const { id, method } = message
    // Answers to our own questions are not for the server.
    if (this.toHost.settle(message)) return drop(line)
    if (method === undefined) return this.onward(line, message)
    if (method === 'notifications/cancelled') return this.onCancelled(line, message)
    const key = keyOf(id)
    if (method === 'tools/call' && this.asking) {
      if (key === undefined) return this.begin(0, this.refuse(line, id, NO_ID))
      if (!isNamed(message, this.mark)) return this.begin(0, this.refuse(line, id, NO_NAME))
    }
    if (key === undefined) return this.onward(line, message)
    // Over HTTP a server need not answer it.
    if (typeof method !== 'string') return this.begin(0, this.refuse(line, id, NO_METHOD))
    if (isRecord(message.params)) this.learnHost(method, message.params)
    if (method === 'subscriptions/listen') this.subscriptions.add(id)
    if (method === 'tools/list' && !(isRecord(message.params) && message.params.cursor)) this.listing.begin()
    if (method === 'tools/call') return this.onCall(line, message, key)
    this.pending.add({ method, id: key, given: id })
    return this.onward(line, message)
  }

  /** The name of the host: of `initialize`, or of any request of a protocol that has no `initialize`. */
  private learnHost(method: string, params: Record<string, unknown>): void {
    const { _meta } = params
    const info = method === 'initialize' ? params.clientInfo : isRecord(_meta) ? _meta[CLIENT_INFO] : undefined
    if (method === 'initialize') this.asking?.learn(params.capabilities)
    else if (isStateless(params)) {
      this.isStateless = true
      this.asking?.learn(isRecord(_meta) ? (_meta[CLIENT_CAPABILITIES] ?? {}) : {})
    }
    if (!isRecord(info) || this.options.host !== undefined) return
    this.peers.profile = hostOfClient(info.name)
    for (const each of limitsAbove(this.peers.profile, this.options.truncation)) warnOfProxy(each)
  }

  private onCall(line: Line, message: Message, key: string): Promise<void> | undefined {
    const params = isRecord(message.params) ? message.params : {}
    const name = asText(params.name)
    if (mayBeOurs(name) && this.options.outputTools !== false) {
      return this.begin(0, this.answeredByUs(message, this.callOurs(line, message, key, name)))
    }
    if (this.asking) {
      return this.begin(0, this.answeredByUs(message, this.callJudged(line, message, key, name)))
    }
    return this.forwardCall(line, message, key, name)
  }

  /** The judged message is the one sent: with two members of one name another reader may take the other. */
  private onward(line: Line, message: Message): Promise<void> | undefined {
    const isPlain = line.bytes !== undefined && !hasRepeatedNames(line.bytes.toString())
    return this.asking && !isPlain ? send(line, message, this.server) : pass(line, this.server)
  }

  /** A call that cannot be judged does not run. */
  private async refuse(line: Line | undefined, id: unknown, error: { code: number; message: string }): Promise<void> {
    if (line) drop(line)
    if (id === undefined) return
    await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', id, error })}\n`)
  }

  /** A host waits for every answer. */
  private async answeredByUs({ id }: Message, work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      warnOfProxy(error)
      await this.answer(id, { content: [{ type: 'text', text: 'The call could not be made.' }], isError: true })
    }
  }

  private forwardCall(line: Line, message: Message, key: string, tool: string): Promise<void> | undefined {
    const command = commandOf(tool, argumentsOf(message))
    this.pending.add({ method: 'tools/call', tool, id: key, given: message.id, command })
    return pass(line, this.server)
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
        else await this.forwardCall(line, message, key, name)
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
    const asking = this.asking!
    const params = isRecord(message.params) ? message.params : {}
    const args = argumentsOf(message)
    const { sessionId } = this.options
    const call = { tool: `mcp:${this.options.server}/${name}`, args, toolCallId: `${this.mark}${key}`, sessionId }
    const judged = JSON.stringify([name, args])
    const isContinued = this.bounds.continued.isAllowed(params.requestState, judged)
    const answered = isContinued ? ({ isAllowed: true } as const) : await asking.answered(call, params)
    const verdict =
      answered ??
      (isStateless(params)
        ? await asking.judgeByResult(call, controller.signal)
        : await asking.judge(call, controller.signal))
    this.waiting.delete(key)
    if (controller.signal.aborted) {
      line.spool?.close()
    } else if ('isAllowed' in verdict) {
      this.pending.add({
        method: 'tools/call',
        tool: name,
        id: key,
        given: message.id,
        judged,
        command: commandOf(name, args),
      })
      if (answered === undefined || isContinued) {
        await this.onward(line, message)
        return
      }
      // The answer was ours, and the server knows nothing of a question.
      const { inputResponses: _responses, requestState: _state, ...own } = params
      await send(line, { ...message, params: own }, this.server)
    } else {
      line.spool?.close()
      await this.answer(message.id, 'refusal' in verdict ? verdict.refusal : verdict.question)
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
    // The server has not received it.
    waiting.abort()
    return drop(line)
  }

  // From the server ---------------------------------------------------------------------------------------------------

  private onServer(line: Line): Promise<void> | undefined {
    // The end of a message that the server did not finish would be a fault of ours.
    if (line.value === undefined && !line.isWhole) return drop(line)
    const message = asMessage(line.value)
    if (message === undefined) return this.onUnreadable(line)
    if (this.toServer.settle(message)) return drop(line)
    const { method, id } = message
    const isAnswer = message.result !== undefined || message.error !== undefined
    if (isAnswer && (typeof method !== 'string' || this.pending.find(id) !== undefined))
      return this.onAnswer(line, message)
    if (typeof method !== 'string') return this.onUnreadable(line, id)
    return this.onServersOwn(line, message)
  }

  /** Only a short line reaches the host unchanged while a request waits for its answer: hosts accept more than JSON. */
  private onUnreadable(line: Line, known?: unknown): Promise<void> | undefined {
    if (this.pending.count === 0 || lengthOf(line) <= this.bounds.current().limits.maxBytes)
      return pass(line, this.host)
    const { isMessage, ids } = idsIn(line)
    const id = [known, ...ids].find((each) => this.pending.find(each) !== undefined)
    const isWithout = isMessage && known === undefined && ids.length === 0
    const only = isWithout ? this.pending.only()?.given : undefined
    const pending = this.pending.take(id ?? only)
    if (pending === undefined) {
      warnOfProxy(`the server wrote ${lengthOf(line)} bytes that are no message; they were dropped`)
      return drop(line)
    }
    return this.begin(lengthOf(line), this.answerUnreadable(line, pending))
  }

  private async answerUnreadable(line: Line, pending: Pending): Promise<void> {
    const context = this.bounds.contextOf(pending)
    const { service } = this.bounds.current()
    const capture = service.capture(this.bounds.current().optionsFor({ ...context, failed: true }, 0))
    try {
      for (const piece of line.bytes ? [line.bytes] : line.spool.read()) {
        if (!capture.write(Buffer.from(piece))) await new Promise((resolve) => capture.once('drain', resolve))
      }
    } finally {
      drop(line)
    }
    capture.end()
    const answer = await capture.result
    const text = `The server answered with what is no message of MCP.\n${this.bounds.current().finish(answer.content, answer)}`
    if (pending.method === 'tools/call') {
      await this.answer(pending.given, { content: [textBlock(text)], isError: true })
    } else {
      const error = { code: -32603, message: text }
      await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', id: pending.given, error })}\n`)
    }
  }

  /** A request that the server will not answer. */
  private onFailure(id: unknown, message: string): void {
    const error = { code: -32000, message }
    const pending = this.pending.take(id)
    if (pending === undefined) this.toServer.settle({ id, error })
    else this.begin(0, this.refuse(undefined, pending.given, error))
  }

  /** Requests that a server which has ended cannot answer any more. */
  private async failOpen(exit: McpServerExit): Promise<void> {
    const message = endText(this.options.server ?? this.peers.serverName ?? 'server', exit)
    for (const { given } of this.pending.takeAll()) await this.refuse(undefined, given, { code: -32000, message })
  }

  /** A request of the server, or a notification. */
  private onServersOwn(line: Line, message: Message): Promise<void> | undefined {
    const { result, error, ...request } = message
    const isPlain = result === undefined && error === undefined && !line.isMended
    const isLong = lengthOf(line) > this.bounds.current().limits.maxBytes
    if (isLong && message.id === undefined && asText(message.method).startsWith('notifications/')) {
      return this.begin(line.bytes?.length ?? 0, this.sendShort(line, message))
    }
    return isPlain ? pass(line, this.host) : send(line, request, this.host)
  }

  private async sendShort(line: Line, message: Message): Promise<void> {
    await send(line, shortNotification(line, message, this.bounds.current().limits.maxBytes), this.host)
  }

  private onAnswer(line: Line, message: Message): Promise<void> | undefined {
    const pending = this.pending.take(message.id)
    const plain = plainAnswer(line, message)
    const changed = this.changedAnswer(line, plain, pending)
    if (changed === undefined) return plain === message ? pass(line, this.host) : send(line, plain, this.host)
    const done = changed
      .catch((error: unknown) => {
        warnOfProxy(error)
        return failedAnswer(plain)
      })
      .then((answer) => {
        if (answer === message) return pass(line, this.host)
        // However the server wrote the id, the host knows its own.
        return send(line, pending === undefined ? answer : { ...answer, id: pending.given }, this.host)
      })
    // One at a time where a file is read; the next waits in the pipe.
    if (line.spool) return done
    return this.begin(line.bytes.length, done)
  }

  /** Returns the answer as the host gets it; the same object (`===`), or nothing at once, if nothing is to change. */
  private changedAnswer(line: Line, given: Message, pending: Pending | undefined): Promise<Message> | undefined {
    const { method } = pending ?? {}
    const message = this.learnServer(method, withoutOurMeta(given))
    const { result } = message
    if (message.error !== undefined) return this.bounds.failure(line, message, pending)
    // An answer to nothing is bounded as that of a call: a host may know better to what it belongs.
    if (method === undefined || method === 'tools/call' || method.startsWith('tasks/')) {
      return this.bounds.answer(line, message, pending)
    }
    const like = asToolResult(method, result)
    if (like) {
      return this.bounds
        .result(like.given, line, pending)
        .then((bounded) => (bounded === like.given ? message : { ...message, result: like.back(bounded as never) }))
    }
    if (!isKnown(method)) return message === given ? undefined : Promise.resolve(message)
    const short = truncateMethodResult(method, result, readerOf(line))
    if (method === 'tools/list') {
      const tools = isList(short) ? short : { ...(isRecord(short) ? short : {}), tools: [] }
      return this.withOurTools(message, tools)
    }
    const told = this.siblings && (method === 'initialize' || method === 'server/discover') ? withChanges(short) : short
    if (told === result) return message === given ? undefined : Promise.resolve(message)
    return Promise.resolve({ ...message, result: told })
  }

  /** A page of the list of tools, with ours if they are offered here; the same object (`===`) if nothing is to change. */
  private async withOurTools(message: Message, tools: unknown): Promise<Message> {
    await this.siblings?.join()
    this.listing.isFirst = this.siblings?.isFirst === true
    this.hasListed = true
    const page = this.listing.page(tools, this.peers.profile, this.options.truncation?.maxBytes)
    return page === message.result ? message : { ...message, result: page }
  }

  /** The proxy that offered the tools has ended. */
  private becomeFirst(): void {
    this.listing.isFirst = true
    if (!this.hasListed) return
    const method = 'notifications/tools/list_changed'
    const told = this.subscriptions.size === 0 ? [undefined] : [...this.subscriptions]
    for (const id of told) {
      const params = id === undefined ? {} : { params: { _meta: { [SUBSCRIPTION_ID]: id } } }
      this.host.write(`${stringifyLossless({ jsonrpc: '2.0', method, ...params })}\n`)?.catch(() => {})
    }
  }

  /** The name of the server: of the answer to `initialize`, or of any result of a protocol that has no `initialize`. */
  private learnServer(method: string | undefined, message: Message): Message {
    const { result } = message
    if (method === 'initialize' && isRecord(result) && typeof result.protocolVersion === 'string') {
      this.connection.agree?.(result.protocolVersion)
    }
    if (this.peers.serverName !== undefined || !isRecord(result)) return message
    const { serverInfo, _meta } = result
    const says = method === 'initialize' || method === 'server/discover' ? serverInfo : undefined
    const info = isRecord(says) ? says : isRecord(_meta) ? _meta[SERVER_INFO] : undefined
    if (isRecord(info) && typeof info.name === 'string' && !info.name.startsWith(this.mark))
      this.peers.serverName = info.name
    return message
  }

  // Both ways ---------------------------------------------------------------------------------------------------------

  private async answer(id: unknown, result: unknown): Promise<void> {
    const isTyped = !this.isStateless || !isRecord(result) || result.resultType !== undefined
    const typed = isTyped ? result : { resultType: 'complete', ...result }
    await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', id, result: typed })}\n`)
  }

  /** Work that others need not wait for, as long as there is not too much of it. */
  private begin(bytes: number, work: Promise<void>): Promise<void> | undefined {
    this.atWork += bytes
    const done = work.catch(warnOfProxy).finally(() => {
      this.atWork -= bytes
      this.work.delete(done)
    })
    this.work.add(done)
    return this.atWork > MAX_BYTES_IN_PROGRESS ? done : undefined
  }

  // Messages of the proxy --------------------------------------------------------------------------------------------------------

  /** Asks the server for its tools, where the host has not done so, to know which names are free. */
  private async list(): Promise<void> {
    this.listing.begin()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const asked = this.toServer.ask('tools/list', cursor === undefined ? {} : { cursor })
      const result = await asked.catch(() => ({ tools: [] }))
      this.listing.page(result, this.peers.profile)
      const next = nextPage(result)
      // A server that names the same page again would do so indefinitely.
      if (next === undefined || next === cursor) return
      cursor = next
    }
  }
}
