/** One of several servers: the proxy in front of it, and what the host waits for from it. */

import { PassThrough } from 'node:stream'
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

const MOST_PAGES = 1000
/** A server that does not answer is left out of a list. */
const LIST_MS = 30_000

export class Member {
  readonly writer: MessageWriter
  readonly questions: Questions
  /** Requests of the host that were handed to this server. */
  readonly pending = new PendingRequests()
  /** The answer to `initialize`. */
  introduction: Record<string, unknown> | undefined
  /** How it ended, in words. */
  end: string | undefined
  private readonly input = new PassThrough()
  private readonly output = new PassThrough()
  private readonly proxy: ServerProxy

  constructor(
    readonly name: string,
    options: McpProxyOptions,
    group: Group,
  ) {
    this.proxy = new ServerProxy({ ...options, input: this.input, output: this.output }, group)
    this.writer = new MessageWriter(this.input)
    this.questions = new Questions(this.writer)
    this.input.on('error', () => this.writer.break())
  }

  get isReady(): boolean {
    return this.introduction !== undefined && this.end === undefined
  }

  /** Hands over every message of the server. Resolves when it has ended, rejects where it cannot be started. */
  async read(options: StreamOptions, onLine: OnLine): Promise<McpServerExit> {
    const read = forEachLine(this.output, options, onLine)
    try {
      const exit = await this.proxy.ended
      this.end = endText(this.name, exit)
      return exit
    } catch (error) {
      this.end = `the server "${this.name}" cannot be started: ${problemOf(error)}`
      throw error
    } finally {
      this.output.end()
      await read
      this.writer.break()
      this.questions.giveUp()
    }
  }

  has(capability: string): boolean {
    const { capabilities } = this.introduction ?? {}
    return this.isReady && isRecord(capabilities) && isRecord(capabilities[capability])
  }

  /** True if a tool that it lists is one of ours. */
  offers(tool: string): boolean {
    return this.proxy.offers(tool)
  }

  /** All pages of a list; what there is where the server does not answer. */
  async list(method: string, key: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = []
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page += 1) {
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
    this.input.end()
  }

  stop(signal: NodeJS.Signals): void {
    this.proxy.stop(signal)
  }
}
