/** The middleware around a model. */

import type { DropThinkingOptions } from 'spillway/history'
import { isArray } from '../../util/guards'
import { isRecord } from '../../validation/validate'
import { checkControls } from '../shared/controls'
import { type OutgoingRequest, overflowOf, Requests } from '../shared/prepare-request'
import { recipientOf } from '../shared/recipient'
import { type AiSdkControls, OWN_CONTROLS, sessionOf } from './controls'
import { type Peeked, peek, type StreamPart } from './stream'

/** Fields of a model call that the middleware reads. */
export interface ModelCall {
  /** Messages in the SDK's shape. */
  prompt: unknown
  abortSignal?: AbortSignal | undefined
  providerOptions?: unknown
}

/** A middleware for `wrapLanguageModel` of the AI SDK 5, 6 and 7. */
export interface ContextMiddleware {
  /** Each version of the SDK asks for another name here, and none looks at it. */
  // biome-ignore lint/suspicious/noExplicitAny: nothing else is 'v2', 'v3' and 'v4'
  readonly specificationVersion: any
  transformParams<P extends ModelCall>(options: {
    params: P
    model?: { modelId: string; provider?: string }
  }): Promise<P>
  wrapGenerate<P extends ModelCall, R extends object>(options: {
    doGenerate: () => PromiseLike<R>
    params: P
    model: { doGenerate(params: P): PromiseLike<R> }
  }): Promise<R>
  // biome-ignore lint/suspicious/noExplicitAny: the parts of a stream are other ones in each version
  wrapStream<P extends ModelCall, R extends { stream: ReadableStream<any> }>(options: {
    doStream: () => PromiseLike<R>
    params: P
    model: { doStream(params: P): PromiseLike<R> }
  }): Promise<R>
}

/**
 * Returns a middleware that prunes each request (`history`) and retries a request that was too long, shortened (`recovery`).
 * A streamed request is retried only while no part of the answer has arrived. Stored messages and
 * results of the SDK are never changed. A failure in it is reported, and the request is sent unchanged.
 *
 * One middleware serves all sessions; the session of a request is `providerOptions.spillway.sessionId`, unless
 * `sessionOf` says otherwise.
 *
 * @example
 * const model = wrapLanguageModel({ model: base, middleware: contextMiddleware({ history: () => new HistoryPruner() }) })
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid control
 */
export function contextMiddleware(controls: AiSdkControls): ContextMiddleware {
  checkControls(controls, OWN_CONTROLS)
  const requests = new Requests(controls)
  const prepared = new WeakMap<object, OutgoingRequest<unknown>>()
  const { recovery } = controls
  const window = recovery ? recovery.contextWindowTokens : undefined

  const requestOf = (params: ModelCall): OutgoingRequest<unknown> => {
    const messages = params.prompt as unknown[]
    return prepared.get(params) ?? { original: messages, messages, sessionId: undefined }
  }
  const withPrompt = <P extends ModelCall>(params: P, prompt: unknown): P => ({ ...params, prompt })

  return {
    specificationVersion: 'v4',

    async transformParams({ params, model }) {
      if (!isArray(params?.prompt)) return params
      const { prompt } = params
      const request = await requests.prepare(prompt, sessionOf(controls, params), recipientOf(model))
      const made = withDroppedThinking(
        request.messages === prompt ? { ...params } : withPrompt(params, request.messages),
        request.options,
      )
      prepared.set(made, request)
      return made
    },

    async wrapGenerate({ doGenerate, params, model }) {
      if (!isArray(params?.prompt)) return doGenerate()
      const { prompt, abortSignal: signal } = params
      const request = requestOf(params)
      const answer = await requests.send(
        request,
        (messages) => (messages === prompt ? doGenerate() : model.doGenerate(withPrompt(params, messages))),
        { signal, overflowed: (answer) => endOf(answer, window) },
      )
      const { usage, providerMetadata, response } = Object(answer) as Answer
      requests.observe(request.sessionId, usage)
      requests.accept(request.sessionId, [Object(response).body, ...metadataIn(providerMetadata)])
      return answer
    },

    async wrapStream<P extends ModelCall, R extends { stream: ReadableStream<StreamPart> }>({
      doStream,
      params,
      model,
    }: StreamOptions<P, R>): Promise<R> {
      if (!isArray(params?.prompt)) return doStream()
      const { prompt, abortSignal: signal } = params
      const request = requestOf(params)
      const finished = ({ usage, providerMetadata }: StreamPart) => {
        requests.observe(request.sessionId, usage)
        requests.accept(request.sessionId, metadataIn(providerMetadata))
      }
      let last: Peeked<R> | undefined
      const send = async (messages: readonly unknown[]): Promise<Peeked<R>> => {
        const before = last
        const result: R = messages === prompt ? await doStream() : await model.doStream(withPrompt(params, messages))
        before?.cancel()
        last = await peek(result, finished)
        return last
      }
      const options = { signal, overflowed: (peeked: Peeked<R>) => troubleOf(peeked.trouble, window) }
      return (await requests.send(request, send, options)).result
    },
  }
}

/**
 * The call with the provider's option to drop reasoning that no longer fits, in the words of the providers' packages, which add
 * the beta by themselves. One that the caller has set stays. Other providers do not read it.
 */
function withDroppedThinking<P extends ModelCall>(params: P, options: DropThinkingOptions | undefined): P {
  const behavior = options?.thinking?.block_binding?.prefix_mismatch_behavior
  if (behavior === undefined) return params
  const blockBinding = { prefixMismatchBehavior: behavior }
  const given = Object(params.providerOptions) as Record<string, Record<string, object> | undefined>
  const { anthropic, bedrock } = given
  const { reasoningConfig } = Object(bedrock) as Record<string, object>
  const providerOptions = {
    ...given,
    anthropic: { ...anthropic, thinking: { blockBinding, ...anthropic?.thinking } },
    // Amazon Bedrock takes it beside other settings of reasoning only.
    ...(reasoningConfig && { bedrock: { ...bedrock, reasoningConfig: { blockBinding, ...reasoningConfig } } }),
  }
  return { ...params, providerOptions }
}

/** An answer, as far as it is read here. */
interface Answer {
  usage?: unknown
  providerMetadata?: unknown
  response?: unknown
}

/** Returns the metadata of each provider. */
function metadataIn(providerMetadata: unknown): unknown[] {
  return isRecord(providerMetadata) ? Object.values(providerMetadata) : []
}

interface StreamOptions<P extends ModelCall, R> {
  doStream: () => PromiseLike<R>
  params: P
  model: { doStream(params: P): PromiseLike<R> }
}

/** First part of a stream, if it reports an overflow. */
function troubleOf(trouble: StreamPart | undefined, window: number | undefined): unknown {
  if (trouble === undefined) return undefined
  return trouble.type === 'error' ? trouble.error : endOf(trouble, window)
}

/** Answers that came to their end as they should. */
const WELL_ENDED = new Set<unknown>(['stop', 'tool-calls'])

/** How an answer ended, if that is because there was no room for it. */
function endOf(answer: object, window: number | undefined): unknown {
  const { finishReason, usage } = Object(answer) as { finishReason?: unknown; usage?: unknown }
  if (WELL_ENDED.has(isRecord(finishReason) ? finishReason.unified : finishReason)) return undefined
  const end = { finishReason, usage }
  const found = overflowOf(end, window)
  // An answer to a request that was too long is an answer.
  return found === undefined || found.matched === 'usage-over-window' ? undefined : end
}
