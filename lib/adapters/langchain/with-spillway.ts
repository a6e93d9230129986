/** Everything in one call: parameters of `createAgent`. */

import { isArray } from '../../util/guards'
import { isRecord, wrong } from '../../validation/validate'
import { checkNames, checkOptionNames, type SpillwayOptions, spillwayKit } from '../shared/spillway-kit'
import { type LangChainControls, OWN_CONTROLS } from './controls'
import { contextControl, type LangChainMiddleware, type NeedsApproval, needsApprovalOf } from './middleware'
import { hostTools } from './output-tools'

/** Options of {@link withSpillway}. */
export interface LangChainSpillwayOptions<M, T> extends SpillwayOptions, Pick<LangChainControls, 'sessionOf'> {
  /** A chat model, or its id. */
  model: M
  /** @default [] */
  tools?: readonly T[]
}

/** Parameters of `createAgent`. */
export interface AgentParts<M, T> {
  /** The model as it was given: the middleware prunes its requests, and retries a request that was too long, shortened. */
  model: M
  /** The tools, and the two that read saved outputs. */
  tools: T[]
  middleware: [LangChainMiddleware]
  /** With `permission`: `when` of a `humanInTheLoopMiddleware`, to stand before this middleware. `createAgent` does not read it. */
  needsApproval?: NeedsApproval
}

/**
 * Puts all of Spillway around an agent: long outputs are saved and shown as previews, `read_output` and `search_output` read
 * them, repeated lines are folded (with `sessionId`), each request is pruned by the prices of the model, and a request that
 * was too long is retried, shortened. `permission` judges calls if it is given. Without `sessionId` a session is a `thread_id`.
 *
 * @example
 * const agent = createAgent({ ...withSpillway({ model, tools, contextWindow: 200_000 }), checkpointer })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway<M, T = never>(options: LangChainSpillwayOptions<M, T>): AgentParts<M, T> {
  checkOptionNames(options, ['model', 'tools'], OWN_CONTROLS)
  const { model, tools = [], ...rest } = options as LangChainSpillwayOptions<M, T>
  if (typeof model !== 'string' && !isRecord(model)) throw wrong('options.model', model, 'a chat model or its id')
  if (!isArray(tools)) throw wrong('options.tools', tools, 'an array')
  const { controls, outputTools } = spillwayKit(rest, OWN_CONTROLS)
  checkNames(
    tools.map((tool) => (Object(tool) as { name?: unknown }).name),
    outputTools.map(({ name }) => name),
  )
  return {
    model,
    tools: [...tools, ...hostTools(outputTools)],
    middleware: [contextControl(controls)],
    ...(controls.permission !== undefined && { needsApproval: needsApprovalOf(controls, tools) }),
  }
}
