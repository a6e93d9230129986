/** Everything in one call: the model, the tools and the MCP servers of an `Agent`. */

import { isArray } from '../../util/guards'
import { isRecord, wrong } from '../../validation/validate'
import { checkNames, checkOptionNames, type SpillwayOptions, spillwayKit } from '../shared/spillway-kit'
import { type AgentsControls, OWN_CONTROLS } from './controls'
import { guardModel } from './model'
import { hostTools } from './output-tools'
import { guardFunctionTool, guardMcpServer } from './tools'

/** Options of {@link withSpillway}. */
export interface AgentsSpillwayOptions<M, T, S> extends SpillwayOptions, Pick<AgentsControls, 'sessionOf'> {
  /** A model, such as `await new OpenAIProvider().getModel(id)`; a bare id, which the SDK resolves later, is refused. */
  model: M
  /** @default [] */
  tools?: readonly T[]
  /** @default [] */
  mcpServers?: readonly S[]
}

/** Settings for an `Agent`. */
export interface SpillwaySettings<M, T, S> {
  /** The model: prunes its requests, and retries a request that was too long, shortened. */
  model: M
  /** Guarded tools, and the two that read saved outputs. */
  tools: T[]
  /** Guarded servers. */
  mcpServers: S[]
}

/**
 * Puts all of Spillway around the parts of an agent: long outputs are saved and shown as previews, `read_output` and
 * `search_output` read them, repeated lines are folded (with `sessionId`), each request is pruned by the prices of the model, and a
 * request that was too long is retried, shortened. `permission` judges calls if it is given, and interrupts the run where it asks.
 *
 * @example
 * const agent = new Agent({ name: 'coder', ...withSpillway({ model, tools, contextWindow: 200_000, sessionId }) })
 * @throws SpillwayError `INVALID_ARGUMENT` that names the option, `INVALID_CONFIG` for one of `truncation`
 */
export function withSpillway<M extends object, T extends object, S extends object = never>(
  options: AgentsSpillwayOptions<M, T, S>,
): SpillwaySettings<M, T, S> {
  checkOptionNames(options, ['model', 'tools', 'mcpServers'], OWN_CONTROLS)
  const { model, tools = [], mcpServers = [], ...rest } = options as AgentsSpillwayOptions<M, T, S>
  if (!isRecord(model)) {
    throw wrong('options.model', model, 'a model, such as await new OpenAIProvider().getModel(id) makes of an id')
  }
  for (const [name, list] of Object.entries({ tools, mcpServers })) {
    if (!isArray(list)) throw wrong(`options.${name}`, list, 'an array')
  }
  const { controls, outputTools } = spillwayKit(rest, OWN_CONTROLS)
  const names = tools.map((tool) => (tool as { name?: unknown }).name)
  checkNames(
    names,
    outputTools.map(({ name }) => name),
  )
  return {
    model: guardModel(model as M, controls),
    tools: [...tools.map((tool) => guardFunctionTool(tool, controls)), ...hostTools(outputTools)],
    mcpServers: mcpServers.map((server) => guardMcpServer(server, controls)),
  }
}
