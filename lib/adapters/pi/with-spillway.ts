/** Everything in one call: options of pi's `Agent`. */

import { isArray } from '../../util/guards'
import { isRecord, wrong } from '../../validation/validate'
import { checkNames, checkOptionNames, type SpillwayOptions, spillwayKit } from '../shared/spillway-kit'
import { hooksFor, type PiAgentHooks } from './hooks'
import { hostTools, scoped } from './host-tools'

/** The state that an agent of pi begins with, as far as it is read here. */
export interface PiState {
  /** Its id says the prices, and its `contextWindow` is the default of that option. */
  model?: object
  // biome-ignore lint/suspicious/noExplicitAny: pi's own type of a tool stands here
  tools?: any[]
}

/** Options of {@link withSpillway}. */
export interface PiSpillwayOptions<S> extends Omit<SpillwayOptions, 'recovery'> {
  /** The model, the tools, and whatever else the agent begins with. */
  initialState: S
}

/** Options of pi's `Agent`. */
export interface PiAgentParts<S> extends PiAgentHooks {
  /** The same state, with the two tools that read saved outputs. */
  initialState: S
}

/**
 * Puts all of Spillway around an agent: long outputs are saved and shown as previews, `read_output` and `search_output` read
 * them, repeated lines are folded (with `sessionId`), and each request is pruned by the prices of the model. `permission` judges
 * calls if it is given.
 *
 * @example
 * const agent = new Agent({ streamFn, ...withSpillway({ initialState: { model, tools, systemPrompt }, sessionId }) })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway<S extends PiState>(options: PiSpillwayOptions<S>): PiAgentParts<S> {
  checkOptionNames(options, ['initialState'], {}, ['recovery'])
  const { initialState, ...rest } = options as PiSpillwayOptions<S>
  if (!isRecord(initialState)) throw wrong('options.initialState', initialState, 'an object with model and tools')
  const { model, tools = [] } = initialState as PiState
  if (!isArray(tools)) throw wrong('options.initialState.tools', tools, 'an array')
  const { contextWindow } = Object(model) as { contextWindow?: unknown }
  const isKnown = typeof contextWindow === 'number' && contextWindow > 0
  const { controls, outputTools } = spillwayKit({ ...(isKnown && { contextWindow }), ...rest }, {}, ['recovery'])
  checkNames(
    tools.map((tool) => (Object(tool) as { name?: unknown }).name),
    outputTools.map(({ name }) => name),
  )
  const scope = { service: controls.truncation, sessionId: controls.sessionId }
  const all = [...tools.map((tool) => scoped(tool, scope)), ...hostTools(outputTools)]
  return { initialState: { ...initialState, tools: all } as S, ...hooksFor(controls, model, all) }
}
