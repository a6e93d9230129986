/** One of several servers: its proxy, and the pending requests of the host. */

import { PassThrough } from 'node:stream'
import { asText } from '../../../util/guards'
import { messageOf as problemOf } from '../../../util/message-of'
import { isRecord } from '../../../validation/validate'
import type { OnLine, StreamOptions } from '../message-stream'
import { forEachLine, warnOfProxy } from '../message-stream'
import { MessageWriter } from '../message-writer'
import type { McpProxyOptions, McpServerExit } from '../options'
import { Questions } from '../outgoing-requests'
import { PendingRequests } from '../pending-requests'
import { type Group, ServerProxy } from '../proxy'
import { endText } from '../server-messages'
import { nextPage } from '../tool-list'

const MAX_PAGES = 1000
/** A server that does not answer is left out of a list. */
const LIST_MS = 30_000

/** The wait for a server that is started again. */
interface Return {
  promise: Promise<void>
  resolve(): void
}

/** One process of the server, or one connection to it. */
interface Run {
  proxy: ServerProxy
  input: PassThrough
  output: PassThrough
  writer: MessageWriter
  questions: Questions
}

export class Member {
  /** Requests of the host that were handed to this server. */
  readonly pending = new PendingRequests()
  /** The answer to `initialize`. */
  introduction: Record<string, unknown> | undefined
  /** How it ended, in words. */
  end: string | undefined
  /** Its last lists, by method: a server that is started again is listed as it was. */
  private readonly known = new Map<string, Record<string, unknown>[]>()
  private run: Run
  private comingBack: Return | undefined

  constructor(
    readonly name: string,
    private readonly options: McpProxyOptions,
    private readonly group: Group,
  ) {
    this.run = this.begin()
  }

  private begin(): Run {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const proxy = new ServerProxy({ ...this.options, input, output }, this.group)
    const writer = new MessageWriter(input)
    input.on('error', () => writer.break())
    return { proxy, input, output, writer, questions: new Questions(writer) }
  }

  get writer(): MessageWriter {
    return this.run.writer
  }

  get questions(): Questions {
    return this.run.questions
  }

  get isReady(): boolean {
    return this.introduction !== undefined && this.end === undefined && this.comingBack === undefined
  }

  /** True if the host sees it: it is there, or it is started again. */
  get isListed(): boolean {
    return this.isReady || this.comingBack !== undefined
  }

  get isComingBack(): boolean {
    return this.comingBack !== undefined
  }

  /** Resolves when it is there again, or is left out. */
  async returned(): Promise<void> {
    await this.comingBack?.promise
  }

  /** The server has crashed, and is started again after a pause. */
  expectReturn(): void {
    this.comingBack ??= returnOf()
  }

  /** The server is there again, or is left out. */
  settleReturn(): void {
    this.comingBack?.resolve()
    this.comingBack = undefined
  }

  restart(): void {
    this.end = undefined
    this.run = this.begin()
  }

  /** Hands over every message of the server. Resolves when it has ended, rejects where it cannot be started. */
  async read(options: StreamOptions, onLine: OnLine): Promise<McpServerExit> {
    const { proxy, output, writer, questions } = this.run
    const read = forEachLine(output, options, onLine)
    try {
      const exit = await proxy.ended
      this.end = endText(this.name, exit)
      return exit
    } catch (error) {
      this.end = `the server "${this.name}" cannot be started: ${problemOf(error)}`
      throw error
    } finally {
      output.end()
      await read
      writer.break()
      questions.giveUp()
    }
  }

  has(capability: string): boolean {
    const { capabilities } = this.introduction ?? {}
    return this.isListed && isRecord(capabilities) && isRecord(capabilities[capability])
  }

  /** True if a tool that it lists is one of ours. */
  offers(tool: string): boolean {
    return this.run.proxy.offers(tool)
  }

  /** All pages of a list; what there is where the server does not answer. */
  async list(method: string, key: string): Promise<Record<string, unknown>[]> {
    if (this.isComingBack) return this.lastOf(method)
    const list = await this.ask(method, key)
    this.known.set(method, list)
    return list
  }

  /** The last list, without tools of ours: another proxy offers them when this one has ended. */
  lastOf(method: string): Record<string, unknown>[] {
    return (this.known.get(method) ?? []).filter(({ name }) => method !== 'tools/list' || !this.offers(asText(name)))
  }

  private async ask(method: string, key: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page += 1) {
      let result: unknown
      try {
        result = await this.questions.ask(method, cursor === undefined ? {} : { cursor }, AbortSignal.timeout(LIST_MS))
      } catch (error) {
        warnOfProxy(`the server "${this.name}" is left out of ${method}: ${problemOf(error)}`)
        return found
      }
      const entries = isRecord(result) ? result[key] : undefined
      if (Array.isArray(entries)) found.push(...entries.filter(isRecord))
      const next = nextPage(result)
      if (next === undefined || next === cursor) return found
      cursor = next
    }
    return found
  }

  /** The host has ended. */
  close(): void {
    this.run.input.end()
  }

  stop(signal: NodeJS.Signals): void {
    this.run.proxy.stop(signal)
  }
}

function returnOf(): Return {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
