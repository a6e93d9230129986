/** A model that prunes its requests, and retries a request that was too long, shortened. */

import { isArray } from '../../util/guards'
import { isRecord, wrong } from '../../validation/validate'
import { checkControls } from '../shared/controls'
import { overlay } from '../shared/override-methods'
import { firstAttempt, type OutgoingRequest, overflowOf, Requests } from '../shared/prepare-request'
import { recipientOf } from '../shared/recipient'
import { type AgentsControls, OWN_CONTROLS, sessionOf } from './controls'

/** A request of the SDK, as far as it is read here. */
interface RequestLike {
  input: unknown
  conversationId?: string
  previousResponseId?: string
  signal?: AbortSignal
}

/** A model of the SDK, as far as it is used here. */
interface ModelLike {
  getResponse(request: RequestLike): Promise<unknown>
  getStreamedResponse(request: RequestLike): AsyncIterable<unknown>
}

/**
 * Wraps a model: prunes each request (`history`) and retries a request that was too long, shortened (`recovery`). A streamed
 * request is retried only while no part of the answer has arrived. Sessions and results stored by the SDK keep the full history.
 *
 * If the provider stores the conversation (`conversationId`, `previousResponseId`), a request contains only new items: nothing is
 * pruned, and recovery only truncates oversized results.
 *
 * @throws SpillwayError `INVALID_ARGUMENT` for an invalid model or control
 */
export function guardModel<T extends object>(model: T, controls: AgentsControls): T {
  checkControls(controls, OWN_CONTROLS)
  const { getResponse, getStreamedResponse } = Object(model) as Partial<ModelLike>
  if (typeof getResponse !== 'function' || typeof getStreamedResponse !== 'function') {
    throw wrong('model', model, 'a model with getResponse and getStreamedResponse')
  }
  const inner = model as unknown as ModelLike
  const recipient = recipientOf(model)
  const requests = new Requests(controls)
  const { recovery } = controls
  const window = recovery ? recovery.contextWindowTokens : undefined

  const prepare = async ({ input, conversationId, previousResponseId }: RequestLike) => {
    const original = input as unknown[]
    const sessionId = sessionOf(controls, { conversationId })
    const isDelta = conversationId !== undefined || previousResponseId !== undefined
    return isDelta ? { original, messages: original, sessionId } : requests.prepare(original, sessionId, recipient)
  }
  const withInput = (request: RequestLike, { messages }: Pick<OutgoingRequest<unknown>, 'messages'>): RequestLike =>
    messages === request.input ? request : { ...request, input: messages }

  const learn = (sessionId: string | undefined, answer: unknown) => {
    const { usage, providerData } = Object(answer) as { usage?: unknown; providerData?: unknown }
    requests.observe(sessionId, usage)
    requests.accept(sessionId, [answer, providerData])
  }

  return overlay(model, {
    getResponse: async (request: RequestLike): Promise<unknown> => {
      if (!isArray(request?.input)) return inner.getResponse(request)
      const { signal } = request
      const prepared = await prepare(request)
      const answer = await requests.send(prepared, (messages) => inner.getResponse(withInput(request, { messages })), {
        signal,
        overflowed: (answer) => emptyOf(answer, window),
      })
      learn(prepared.sessionId, answer)
      return answer
    },

    getStreamedResponse: async function* (request: RequestLike): AsyncGenerator<unknown> {
      if (!isArray(request?.input)) return yield* inner.getStreamedResponse(request)
      const attempt = firstAttempt()
      for (let current = await prepare(request); ; ) {
        const held: unknown[] = []
        let answering = false
        let failure: unknown
        try {
          for await (const event of inner.getStreamedResponse(withInput(request, current))) {
            failure = failureIn(event)
            if (!answering && (failure !== undefined || isSilent(event))) {
              held.push(event)
              continue
            }
            answering = true
            learn(current.sessionId, answerIn(event))
            yield* held.splice(0)
            yield event
          }
          return yield* held
        } catch (thrown) {
          const trouble = failure ?? thrown
          const shorter = answering ? undefined : await requests.recover(current, trouble, attempt, request.signal)
          if (shorter === undefined) {
            yield* held
            throw thrown
          }
          current = shorter
        }
      }
    },
  })
}

/** An answer with nothing in it because there was no room for it. */
function emptyOf(answer: unknown, window: number | undefined): unknown {
  if (!isRecord(answer) || !isArray(answer.output) || answer.output.length > 0) return undefined
  return overflowOf(answer, window) === undefined ? undefined : answer
}

/** The provider's own events that come before anything of an answer. */
const SILENT = new Set<unknown>(['response.created', 'response.queued', 'response.in_progress'])

function isSilent(event: unknown): boolean {
  return Object(event).type === 'response_started' || SILENT.has(rawOf(event)?.type)
}

/** The provider's own events that say that there will be no answer. */
const FAILED = new Set<unknown>(['response.failed', 'response.error', 'error'])

/** The provider's own message of a failure: the error that the SDK throws later does not say why. */
function failureIn(event: unknown): unknown {
  const raw = rawOf(event)
  return FAILED.has(raw?.type) ? raw : undefined
}

/** The answer in the last event of a stream. */
function answerIn(event: unknown): unknown {
  const { type, response } = Object(event) as { type?: unknown; response?: unknown }
  return type === 'response_done' ? response : undefined
}

/** The event of the provider that an event of the SDK passes on. */
function rawOf(event: unknown): { type?: unknown } | undefined {
  const { type, event: raw } = Object(event) as { type?: unknown; event?: unknown }
  return type === 'model' && isRecord(raw) ? raw : undefined
}
