/** Connects a host with several servers: routes each message, and merges lists. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { native } from '../../../native/native'
import { asText } from '../../../util/guards'
import { stringifyLossless } from '../../../util/lossless-json'
import { messageOf as problemOf } from '../../../util/message-of'
import { isRecord } from '../../../validation/validate'
import { argumentsOf } from '../host-calls'
import { asMessage, type Line } from '../json-rpc-stream'
import { drop, forEachLine, pass, send, warnOfProxy } from '../message-stream'
import { MessageWriter } from '../message-writer'
import type { McpProxyOptions, McpServerExit } from '../options'
import { keyOf } from '../pending-requests'
import { scopeOf } from '../proxy'
import type { Message } from '../types'
import { CatalogOfTools } from './catalog'
import { CALL_TOOL, callIn, DESCRIBE_TOOL } from './lazy-tools'
import { Member } from './member'
import { mergedIntroduction } from './merged-answers'
import { Resources } from './resources'
import { SharedNames } from './shared-names'

/** Hosts wait this long for a server at least. One that needs longer joins later. */
const STARTUP_MS = 8000

/** Pauses before each try to start a server again that has crashed; after the last it is left out. */
const PAUSES_MS = [100, 300, 900, 2700]
/** A server that has run for this long has all tries again. */
const SETTLED_MS = 60_000

const NOT_FOUND = -32601
const WRONG_PARAMS = -32602
const FAILED = -32000

/** A request of the host on its way to a server. */
interface HostRequest {
  line: Line
  message: Message
  /** Its id as a text. */
  key: string
  params: Record<string, unknown>
  /** Aborted when the host cancels it. */
  signal: AbortSignal
}

/** A request of the host that is answered here. */
type Answer = (message: Message) => Promise<unknown>

export class Gateway {
  readonly pid = undefined
  readonly ended: Promise<McpServerExit>
  private readonly members: readonly Member[]
  /** A text that no message contains. */
  private readonly mark = `spillway:${randomUUID()}:`
  private readonly host: MessageWriter
  private readonly storage: TruncationStorage | RemoteStorage
  private readonly tools: CatalogOfTools
  private readonly prompts = new SharedNames<Member>(new Set())
  private readonly resources = new Resources()
  /** Requests of servers that the host has not answered, by the id that the host knows. */
  private readonly asked = new Map<string, { member: Member; id: unknown }>()
  private askedCount = 0
  /** Requests of the host that no server has received yet. */
  private readonly open = new Map<string, AbortController>()
  private readonly work = new Set<Promise<void>>()
  private readonly closing = new AbortController()
  /** The host has ended, or the proxy is to stop: no server is started again. */
  private readonly stopping = new AbortController()
  /** Parameters of the host's `initialize`, and of its last `logging/setLevel`. */
  private hello: unknown
  private level: unknown
  /** The answer to `initialize`. */
  private opening: Promise<unknown> | undefined
  private isInitialized = false
  private isIntroduced = false

  private readonly answers: ReadonlyMap<string, Answer> = new Map<string, Answer>([
    ['ping', async () => ({})],
    ['tools/list', async () => ({ tools: await this.tools.list(this.ready()) })],
    ['prompts/list', () => this.listPrompts()],
    ['resources/list', async () => ({ resources: await this.resources.list(this.ready()) })],
    ['resources/templates/list', async () => ({ resourceTemplates: await this.resources.templates(this.ready()) })],
    ['logging/setLevel', (message) => this.setLevel(message)],
  ])

  constructor(private readonly options: McpProxyOptions) {
    const { servers, output = process.stdout, server = 'server', ...shared } = options
    this.storage = options.storage ?? new TruncationStorage()
    const { command, args, cwd, env, url, headers, tools, input, ...common } = shared
    const own = { ...common, storage: this.storage }
    const group = { scope: scopeOf(options, this.storage) }
    const single = { command, args, cwd, env, url, headers, server: options.server }
    this.members = servers
      ? Object.entries(servers).map(([name, where]) => new Member(name, { ...own, ...where, server: name }, group))
      : [new Member(server, { ...own, ...single }, group)]
    this.tools = new CatalogOfTools(tools === 'lazy', options.host)
    this.host = new MessageWriter(output)
    this.ended = this.run()
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.stopping.abort()
    for (const member of this.members) member.stop(signal)
  }

  private async run(): Promise<McpServerExit> {
    const { input = process.stdin, output = process.stdout } = this.options
    let hasHostEnded = false
    output.on('error', () => {
      this.host.break()
      this.stop()
    })
    const fromHost = forEachLine(input, this.streamOptions(), (line) => this.onHost(line)).finally(() => {
      hasHostEnded = true
      this.stopping.abort()
      for (const member of this.members) member.close()
    })
    fromHost.catch(() => this.stop())
    const ends = await Promise.allSettled(this.members.map((member) => this.follow(member)))
    const isEndOfHost = hasHostEnded
    this.closing.abort()
    await Promise.all(this.work)
    await this.host.flush()
    input.destroy()
    await this.storage.close()
    const exits = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    const [first] = exits
    if (first === undefined) throw (ends[0] as PromiseRejectedResult).reason
    if (isEndOfHost && this.members.length > 1) return { code: 0, signal: null }
    return exits.find(({ code }) => code !== 0) ?? first
  }

  private streamOptions() {
    return { folders: [this.storage.getStorageDir()], mark: this.mark }
  }

  private ready(): Member[] {
    return this.members.filter(({ isListed }) => isListed)
  }

  // From the host -----------------------------------------------------------------------------------------------------

  private onHost(line: Line): Promise<void> | undefined {
    const message = asMessage(line.value)
    if (message === undefined) {
      drop(line)
      return this.refuse(null, -32700, 'The message cannot be read.')
    }
    const { id, method } = message
    if (method === undefined) return this.onHostAnswer(line, message)
    const key = keyOf(id)
    if (key === undefined) return this.onHostNotification(line, message)
    if (method === 'initialize') this.opening = this.initialize(message)
    return this.begin(line, message, key, (signal) => this.reply(line, message, key, signal))
  }

  /** Starts the work on a request; the host gets an answer, however it fails. */
  private begin(line: Line, { id }: Message, key: string, work: (signal: AbortSignal) => Promise<void>): undefined {
    const controller = new AbortController()
    this.open.set(key, controller)
    const done = work(controller.signal)
      .catch((error: unknown) => this.refuse(id, error instanceof Refusal ? error.code : FAILED, problemOf(error)))
      .finally(() => {
        drop(line)
        this.work.delete(done)
        if (this.open.get(key) === controller) this.open.delete(key)
      })
    this.work.add(done)
  }

  private async reply(line: Line, message: Message, key: string, signal: AbortSignal): Promise<void> {
    const { id, method } = message
    if (method === 'initialize') return this.answer(id, await this.opening)
    // A host that does not wait for the answer to `initialize` would find no server.
    if (method !== 'ping') await this.opening?.catch(() => {})
    if (signal.aborted) return undefined
    const answer = this.answers.get(asText(method))
    return answer ? this.answer(id, await answer(message)) : this.route(line, message, key, signal)
  }

  /** Hands a request to the server that it concerns. */
  private async route(line: Line, message: Message, key: string, signal: AbortSignal): Promise<void> {
    const params = isRecord(message.params) ? message.params : {}
    const request = { line, message, key, params, signal }
    switch (message.method) {
      case 'tools/call':
        return this.call(request)
      case 'prompts/get':
        return this.getPrompt(request)
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.forward(line, message, key, this.resources.ownerOf(params.uri, this.ready()))
      case 'completion/complete':
        return this.complete(request)
      default:
        throw new Refusal(NOT_FOUND, `${asText(message.method)} is not known in front of several servers`)
    }
  }

  private async call({ line, message, key, params, signal }: HostRequest): Promise<void> {
    const isLazy = this.tools.isLazy
    if (isLazy && params.name === DESCRIBE_TOOL) {
      const { text, isError, isNew } = await this.tools.describe(argumentsOf(message), this.ready())
      if (isNew) await this.tell('notifications/tools/list_changed')
      return this.answer(message.id, { content: [{ type: 'text', text }], ...(isError && { isError }) })
    }
    const inner = isLazy && params.name === CALL_TOOL ? callIn(params.arguments) : undefined
    const name = inner?.name ?? params.name
    const entry = typeof name === 'string' ? await this.tools.find(name, this.ready()) : undefined
    if (signal.aborted) return undefined
    if (entry === undefined) {
      const text = await this.tools.unknown(asText(name), this.ready())
      return this.answer(message.id, { content: [{ type: 'text', text }], isError: true })
    }
    const isSame = inner === undefined && entry.name === name
    const changed = { ...params, name: entry.name, ...(inner && { arguments: inner.args }) }
    return this.forward(line, isSame ? message : { ...message, params: changed }, key, entry.member, isSame)
  }

  private async getPrompt({ line, message, key, params, signal }: HostRequest): Promise<void> {
    const name = asText(params.name)
    if (this.prompts.find(name) === undefined) await this.listPrompts()
    const entry = this.prompts.find(name)
    if (signal.aborted) return undefined
    if (entry === undefined) throw new Refusal(WRONG_PARAMS, `no server has a prompt ${JSON.stringify(name)}`)
    const changed = { ...message, params: { ...params, name: entry.name } }
    return this.forward(line, changed, key, entry.member, entry.name === name)
  }

  private async complete({ line, message, key, params }: HostRequest): Promise<void> {
    const ref = isRecord(params.ref) ? params.ref : {}
    const entry = typeof ref.name === 'string' ? this.prompts.find(ref.name) : undefined
    const owner = entry?.member ?? this.resources.ownerOf(ref.uri, this.ready())
    const changed = entry && { ...message, params: { ...params, ref: { ...ref, name: entry.name } } }
    return this.forward(line, changed ?? message, key, owner, changed === undefined)
  }

  private async forward(
    line: Line,
    message: Message,
    key: string,
    to: Member | undefined,
    isSame = true,
  ): Promise<void> {
    if (to === undefined) throw new Refusal(NOT_FOUND, `no server answers ${asText(message.method)}`)
    const { signal } = this.open.get(key) ?? {}
    await to.returned()
    if (signal?.aborted) return undefined
    if (to.end !== undefined) throw new Refusal(FAILED, to.end)
    to.pending.add({ method: asText(message.method), id: key, given: message.id })
    // From here on it is cancelled by the server.
    this.open.delete(key)
    await (isSame ? pass(line, to.writer) : send(line, message, to.writer))
  }

  private onHostAnswer(line: Line, message: Message): Promise<void> | undefined {
    const asked = this.asked.get(asText(message.id))
    if (asked === undefined) return drop(line)
    this.asked.delete(asText(message.id))
    return send(line, { ...message, id: asked.id }, asked.member.writer)
  }

  private async onHostNotification(line: Line, message: Message): Promise<void> {
    const { method, params } = message
    const members = this.ready()
    if (method === 'notifications/cancelled') {
      const { requestId } = isRecord(params) ? params : {}
      this.open.get(keyOf(requestId) ?? '')?.abort()
      const owner = members.find(({ pending }) => pending.find(requestId) !== undefined)
      return owner ? pass(line, owner.writer) : drop(line)
    }
    if (method === 'notifications/initialized') this.isInitialized = true
    await Promise.all(members.map((member) => member.writer.write(`${stringifyLossless(message)}\n`)))
    drop(line)
  }

  // Answers of our own ------------------------------------------------------------------------------------------------

  private async initialize({ params }: Message): Promise<unknown> {
    this.tools.learnHost(params)
    this.hello = params
    const stop = new AbortController()
    const all = Promise.all(this.members.map((member) => this.introduce(member, params)))
    const late = pause(STARTUP_MS, undefined, { signal: AbortSignal.any([stop.signal, this.closing.signal]) })
    await Promise.race([all, late]).catch(() => {})
    stop.abort()
    const known = this.ready().map(({ name, introduction }) => ({ server: name, result: introduction! }))
    if (known.length === 0) {
      const problems = this.members.map(({ name, end }) => end ?? `the server "${name}" does not answer`)
      throw new Refusal(FAILED, problems.join('; '))
    }
    this.isIntroduced = true
    return mergedIntroduction(known, native.nativeVersion())
  }

  private async introduce(member: Member, params: unknown): Promise<void> {
    try {
      if (member.end !== undefined) throw new Error(member.end)
      await this.greet(member, params)
    } catch (error) {
      if (!this.closing.signal.aborted)
        warnOfProxy(member.end ?? `the server "${member.name}" is left out: ${problemOf(error)}`)
      return
    }
    if (this.isIntroduced) await this.tell('notifications/tools/list_changed')
  }

  private async greet(member: Member, params: unknown, signal?: AbortSignal): Promise<void> {
    const result = await member.questions.ask('initialize', isRecord(params) ? params : {}, signal)
    if (!isRecord(result)) throw new Error('its answer to initialize is no object')
    member.introduction = result
    if (this.isInitialized)
      await member.writer.write(`${stringifyLossless({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  }

  /** Makes a server that was started again what it was for the host. One that does not answer is ended, for the next try. */
  private async welcome(member: Member): Promise<void> {
    const before = stringifyLossless(member.lastOf('tools/list'))
    try {
      await this.greet(member, this.hello, AbortSignal.timeout(STARTUP_MS))
    } catch (error) {
      if (member.end === undefined) {
        warnOfProxy(`the server "${member.name}" was started again without success: ${problemOf(error)}`)
        member.stop('SIGTERM')
      }
      return
    }
    member.settleReturn()
    if (this.level !== undefined && member.has('logging'))
      await member.questions.ask('logging/setLevel', Object(this.level)).catch(() => {})
    await member.list('tools/list', 'tools')
    if (member.isReady && stringifyLossless(member.lastOf('tools/list')) !== before)
      await this.tell('notifications/tools/list_changed')
  }

  private async listPrompts(): Promise<{ prompts: object[] }> {
    const members = this.ready().filter((member) => member.has('prompts'))
    const lists = await Promise.all(members.map((member) => member.list('prompts/list', 'prompts')))
    const all = members.flatMap((member, index) =>
      lists[index]!.map((prompt) => ({ member, name: asText(prompt.name), isOurs: false, prompt })),
    )
    const named = all.filter(({ name }) => name !== '')
    const names = this.prompts.assign(named)
    return { prompts: named.map(({ prompt }, index) => ({ ...prompt, name: names[index] })) }
  }

  private async setLevel({ params }: Message): Promise<unknown> {
    this.level = params
    const members = this.members.filter((member) => member.isReady && member.has('logging'))
    await Promise.allSettled(members.map(({ questions }) => questions.ask('logging/setLevel', Object(params))))
    return {}
  }

  // From the servers --------------------------------------------------------------------------------------------------

  private async follow(member: Member): Promise<McpServerExit> {
    for (let tries = 0; ; tries += 1) {
      const began = performance.now()
      const read = member.read(this.streamOptions(), (line) => this.onMember(member, line))
      const end = await read.then(
        (exit) => ({ exit, hasCrashed: exit.code !== 0 }),
        (error: unknown) => ({ error, hasCrashed: true }),
      )
      if (performance.now() - began > SETTLED_MS) tries = 0
      const wait = end.hasCrashed && this.mayRestart(member) ? PAUSES_MS[tries] : undefined
      if (wait !== undefined) {
        member.expectReturn()
        await this.answerOpen(member, `${member.end}; it is started again`)
        await pause(wait, undefined, { signal: this.stopping.signal }).catch(() => {})
      }
      if (wait === undefined || this.stopping.signal.aborted) {
        member.settleReturn()
        await this.answerOpen(member, member.end ?? '')
        // The others go on.
        if (this.isIntroduced && this.ready().length > 0) await this.tell('notifications/tools/list_changed')
        if ('error' in end) throw end.error
        return end.exit
      }
      member.restart()
      void this.welcome(member).catch(warnOfProxy)
    }
  }

  /** One server's end is that of the proxy, which its host sees; of several the host would see nothing. */
  private mayRestart(member: Member): boolean {
    const isOneOfSeveral = this.members.length > 1
    return isOneOfSeveral && member.introduction !== undefined && this.isIntroduced && !this.stopping.signal.aborted
  }

  /** Requests of the host to a server that has ended, and those of the server to the host. */
  private async answerOpen(member: Member, problem: string): Promise<void> {
    for (const { given } of member.pending.takeAll()) await this.refuse(given, FAILED, problem)
    for (const [id, { member: of }] of this.asked) {
      if (of !== member) continue
      this.asked.delete(id)
      await this.tell('notifications/cancelled', { requestId: id, reason: problem })
    }
  }

  private onMember(member: Member, line: Line): Promise<void> | undefined {
    const message = asMessage(line.value)
    if (message === undefined) return pass(line, this.host)
    if (member.questions.settle(message)) return drop(line)
    const { method, id, params } = message
    if (method === undefined) {
      if (member.pending.take(id) !== undefined) return pass(line, this.host)
      warnOfProxy(`the server "${member.name}" answered a request that it was not asked; the answer was dropped`)
      return drop(line)
    }
    if (id !== undefined) {
      this.askedCount += 1
      const own = `${this.mark}${this.askedCount}`
      this.asked.set(own, { member, id })
      return send(line, { ...message, id: own }, this.host)
    }
    if (method === 'notifications/cancelled' && isRecord(params)) {
      const [own] = [...this.asked].find(([, asked]) => asked.member === member && asked.id === params.requestId) ?? []
      if (own === undefined) return drop(line)
      this.asked.delete(own)
      return send(line, { ...message, params: { ...params, requestId: own } }, this.host)
    }
    return pass(line, this.host)
  }

  // To the host -------------------------------------------------------------------------------------------------------

  private async answer(id: unknown, result: unknown): Promise<void> {
    await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', id, result })}\n`)
  }

  private async refuse(id: unknown, code: number, message: string): Promise<void> {
    await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', id, error: { code, message } })}\n`)
  }

  private async tell(method: string, params?: object): Promise<void> {
    await this.host.write(`${stringifyLossless({ jsonrpc: '2.0', method, ...(params && { params }) })}\n`)
  }
}

/** A request that is answered with an error of the protocol. */
class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}
