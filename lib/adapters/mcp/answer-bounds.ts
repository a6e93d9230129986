/** The answers of a server within the limits of the host. */

import { randomUUID } from 'node:crypto'
import type { TruncationStorage } from 'spillway'
import type { RemoteStorage } from 'spillway/remote'
import { isRecord } from '../../validation/validate'
import { mcpToolName } from '../shared/mcp-names'
import { ContinuedCalls } from './continued-calls'
import type { HostProfile } from './hosts'
import type { Line } from './json-rpc-stream'
import { boundSkimmed } from './large-result'
import { lengthOf } from './line-reader'
import type { McpProxyOptions } from './options'
import type { Pending } from './pending-requests'
import type { Listing } from './tool-list'
import { Bounding, limitsOf } from './truncate-answer'
import { boundError, boundResult } from './truncate-result'
import type { Message } from './types'

/** Questions of a server of this size pass with what it keeps in them. */
const MAX_ASKED = 2 ** 20

/** The facts that are known of the two sides so far. */
export interface Peers {
  profile: HostProfile
  serverName: string | undefined
}

export class AnswerBounds {
  /** Calls that the server asks about before it answers. */
  readonly continued = new ContinuedCalls()
  private bounding: Bounding | undefined
  private boundingFor: unknown[] = []

  /** @param mark a text that no message contains */
  constructor(
    private readonly options: McpProxyOptions,
    private readonly storage: TruncationStorage | RemoteStorage,
    private readonly listing: Listing,
    private readonly peers: Peers,
    private readonly mark: string,
  ) {}

  /** Describes the output of a call for the service that bounds it. */
  contextOf(pending: Pending | undefined) {
    const { sessionId, truncation } = this.options
    const options = this.listing.sizes.limitsOf(pending?.tool, this.peers.profile, truncation)
    return {
      toolName: mcpToolName(this.peers.serverName ?? 'server', pending?.tool ?? pending?.method ?? 'answer'),
      toolCallId: `${this.mark}${pending?.id ?? randomUUID()}`,
      options,
      command: pending?.command,
      ...(sessionId !== undefined && { sessionId }),
    }
  }

  /** A result of a tool, bounded; the value itself if there is nothing to do. */
  async result(result: unknown, line: Line, pending: Pending | undefined): Promise<unknown> {
    const bounds = this.current()
    const context = this.contextOf(pending)
    if (line.spool === undefined) return boundResult(result, bounds, context)
    return (await boundSkimmed(result, line, bounds, context)) ?? result
  }

  /** An answer with its result bounded; the value itself if there is nothing to do. */
  async answer(line: Line, message: Message, pending: Pending | undefined): Promise<Message> {
    const { result } = message
    // The host reads the server's question; the state that the server keeps with it is opaque.
    if (isRecord(result) && result.resultType === 'input_required' && lengthOf(line) <= MAX_ASKED) {
      const { content, structuredContent, ...question } = result
      const { judged } = pending ?? {}
      if (judged !== undefined && question.requestState !== undefined)
        this.continued.allow(question.requestState, judged)
      return content === undefined && structuredContent === undefined ? message : { ...message, result: question }
    }
    // A task that is done holds the result of its call.
    if (pending?.method.startsWith('tasks/') && isRecord(result) && isRecord(result.result)) {
      const inner = await this.result(result.result, line, pending)
      return inner === result.result ? message : { ...message, result: { ...result, result: inner } }
    }
    const bounded = await this.result(result, line, pending)
    return bounded === result ? message : { ...message, result: bounded }
  }

  /** An answer with its error bounded; the value itself if there is nothing to do. */
  async failure(line: Line, message: Message, pending: Pending | undefined): Promise<Message> {
    const error = isRecord(message.error) ? message.error : { code: -32603, message: message.error }
    const bounds = this.current()
    const context = this.contextOf(pending)
    const { spool } = line
    const answer = spool
      ? await boundError(
          error,
          (failure) => boundSkimmed(failure, line, bounds, context),
          (json) => !line.skim.standIns(json).next().done,
        )
      : await boundError(error, (failure) => boundResult(failure, bounds, context))
    return answer === message.error ? message : { ...message, error: answer }
  }

  /** The limits of this host; the notice names our tools as the host knows them. */
  current(): Bounding {
    const { names } = this.listing
    const known = [names, this.peers.profile, this.listing.isFirst]
    if (this.bounding && known.every((each, index) => each === this.boundingFor[index])) return this.bounding
    const { truncation = {}, outputTools, structuredContent: structured = 'drop' } = this.options
    const isOurs = names !== undefined && this.listing.isFirst
    const tools = outputTools === false ? [] : isOurs ? Object.values(names) : ['read_output', 'search_output']
    const limits = limitsOf(this.peers.profile, truncation)
    this.bounding = new Bounding(limits, structured, truncation, this.storage, tools)
    this.boundingFor = known
    this.listing.setPage(limits)
    return this.bounding
  }
}
