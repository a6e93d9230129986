/** Everything in one call: settings for `generateText`, `streamText` and `ToolLoopAgent`. */

import { isRecord, wrong } from '../../validation/validate'
import { overlay } from '../shared/override-methods'
import { checkOptionNames, type SpillwayOptions, spillwayKit, withOutputTools } from '../shared/spillway-kit'
import { type ApprovalRequest, type ApprovalStatus, approvalPolicy } from './approval'
import { type AiSdkControls, OWN_CONTROLS } from './controls'
import { contextMiddleware, type ModelCall } from './middleware'
import { hostTools } from './output-tools'
import { guardTools } from './tools'

/** Options of {@link withSpillway}. */
export interface AiSdkSpillwayOptions<M, T> extends SpillwayOptions, Pick<AiSdkControls, 'sessionOf' | 'hostApproval'> {
  /** The model of a provider; a bare id, which the SDK resolves later, is refused. */
  model: M
  /** @default {} */
  tools?: T
}

/** Settings for a call of the SDK. */
export interface SpillwaySettings<M, T> {
  /** The model: prunes its requests, and retries a request that was too long, shortened. */
  model: M
  /** Guarded tools, and the two that read saved outputs. */
  // biome-ignore lint/suspicious/noExplicitAny: each version of the SDK has another type of a tool
  tools: T & { [name in 'read_output' | 'search_output']: any }
  /** With `permission`: lets version 7 put its questions to the user. Other versions do not read it. */
  toolApproval?: (request: ApprovalRequest) => Promise<ApprovalStatus>
}

/** A model of the SDK, as far as it is used here. */
interface ModelLike {
  readonly modelId: string
  doGenerate(params: ModelCall): PromiseLike<object>
  // biome-ignore lint/suspicious/noExplicitAny: the parts of a stream are other ones in each version
  doStream(params: ModelCall): PromiseLike<{ stream: ReadableStream<any> }>
}

/**
 * Puts all of Spillway around a model and its tools: long outputs are saved and shown as previews, `read_output` and `search_output`
 * read them, repeated lines are folded (with `sessionId`), each request is pruned by the prices of the model, and a request
 * that was too long is retried, shortened. `permission` judges calls if it is given.
 *
 * Give the `tools` that this returns to `convertToModelMessages` as well.
 *
 * @example
 * const agent = withSpillway({ model, tools, contextWindow: 200_000, sessionId })
 * const { text } = await generateText({ ...agent, messages, stopWhen: stepCountIs(20) })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway<M extends object, T extends Record<string, object> = Record<never, never>>(
  options: AiSdkSpillwayOptions<M, T>,
): SpillwaySettings<M, T> {
  checkOptionNames(options, ['model', 'tools'], OWN_CONTROLS)
  const { model, tools = {}, ...rest } = options as AiSdkSpillwayOptions<M, T>
  const { doGenerate, doStream } = Object(model) as Partial<ModelLike>
  if (typeof doGenerate !== 'function' || typeof doStream !== 'function') {
    throw wrong('options.model', model, 'a model with doGenerate and doStream, such as gateway(id) makes of an id')
  }
  if (!isRecord(tools)) throw wrong('options.tools', tools, 'an object of tools')
  const { controls, outputTools } = spillwayKit(rest, OWN_CONTROLS)
  return {
    model: wrapped(model as M & ModelLike, controls),
    tools: withOutputTools(guardTools(tools as T, controls), hostTools(outputTools)) as never,
    ...(controls.permission !== undefined && { toolApproval: approvalPolicy(controls) }),
  }
}

/** Does the work of `wrapLanguageModel` without loading the SDK. */
function wrapped<M extends ModelLike>(model: M, controls: AiSdkControls): M {
  const middleware = contextMiddleware(controls)
  return overlay(model, {
    doGenerate: async (given: ModelCall) => {
      const params = await middleware.transformParams({ params: given, model })
      return middleware.wrapGenerate({ doGenerate: () => model.doGenerate(params), params, model })
    },
    doStream: async (given: ModelCall) => {
      const params = await middleware.transformParams({ params: given, model })
      return middleware.wrapStream({ doStream: () => model.doStream(params), params, model })
    },
  })
}
